"""One test for all rows of a table, which reports every row that fails."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

__all__ = ["table"]


def table(rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make one test of a check and the rows that it is called with; a row that is a tuple holds several arguments."""

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        @wraps(check)
        def test() -> None:
            wrong: list[str] = []
            for row in rows:
                try:
                    check(*(row if isinstance(row, tuple) else (row,)))
                except Exception as error:  # a row that breaks is one that fails
                    wrong.append(f"{row}: {type(error).__name__}: {error}")
            assert not wrong, f"{len(wrong)} rows fail:\n" + "\n".join(wrong)

        del test.__wrapped__  # pytest would take the arguments of the check for fixtures
        return test

    return decorate
