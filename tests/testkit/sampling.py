"""Which cases of an exhaustive test run when: some always, more of them in CI, all of them at night."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

__all__ = ["nightly", "slow", "spread"]


def spread(cases: Iterable[Any], *, fast: int = 0, slow: int = 1) -> list[Any]:
    """Parameters: one case in `fast` is a fast test, one in `slow` of the others a slow one, the rest is nightly.

    Args:
        cases: Values of one argument, tuples of several, or parameters of pytest's.
        fast: 0 for no fast test.
        slow: 1 leaves nothing for the night.
    """
    parameters: list[Any] = []
    for place, case in enumerate(cases):
        mark = pytest.mark.slow if place % slow == 0 else pytest.mark.nightly
        marks = [] if fast and place % fast == 0 else [mark]
        if hasattr(case, "marks"):
            parameters.append(pytest.param(*case.values, id=case.id, marks=[*case.marks, *marks]))
        else:
            values: Sequence[Any] = (
                case if isinstance(case, tuple) and not hasattr(case, "_fields") else (case,)
            )
            parameters.append(pytest.param(*values, marks=marks))
    return parameters


def slow(*values: Any, timeout: int = 120) -> Any:
    """A slow case."""
    return pytest.param(*values, marks=[pytest.mark.slow, pytest.mark.timeout(timeout)])


def nightly(*values: Any, timeout: int = 120) -> Any:
    """A case that only the nightly tests run."""
    return pytest.param(*values, marks=[pytest.mark.nightly, pytest.mark.timeout(timeout)])
