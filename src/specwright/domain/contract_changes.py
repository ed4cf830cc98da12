"""What is another in a contract than it was, for those who worked to the earlier one (D10).

Statement by statement and in words: where a statement stands says the list of obligations. Left out: tags, budgets and
whatever else nobody implements.
"""

from collections.abc import Iterator
from typing import Any, cast

from specwright import canonical_json
from specwright.domain.contract import DIMENSIONS, MicroModuleContract

__all__ = ["contract_changes"]

_FIELDS = ("purpose", *DIMENSIONS, "error_cases", "dependencies")
_STATEMENTS = ("constraints", "invariants")


def contract_changes(before: MicroModuleContract, after: MicroModuleContract) -> list[str]:
    """A line for each statement that is gone, `-`, or new, `+`, by field; one for a field in another order.

    Args:
        before: The contract as it was.
        after: As it is now.
    """
    lines: list[str] = []
    was, now = before.to_json(), after.to_json()
    for field in _FIELDS:
        old, new = list(_said(was[field])), list(_said(now[field]))
        lines += [f"- {field}: {text}" for text in old if text not in new]
        lines += [f"+ {field}: {text}" for text in new if text not in old]
        if sorted(old) == sorted(new) and old != new:
            lines.append(f"~ {field}: the same statements in another order")
    return lines


def _said(value: Any) -> Iterator[str]:
    """The statements of a field."""
    for item in cast(list[Any], value if isinstance(value, list) else [value]):
        if not isinstance(item, str) and (kind := next((k for k in _STATEMENTS if k in item), "")):
            yield f"{item['name']} is {item['type']}"
            yield from (f"{item['name']}: {text}" for text in item[kind])
        else:
            yield item if isinstance(item, str) else canonical_json.canonical(item).decode()
