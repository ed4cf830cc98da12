"""Statements that were amended in one contract and stand in another as they were (design: tasks-together).

Whether the amendment holds there too is for judges to read. Code compares words: a statement is the same if nearly all of
them are, in their order.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from specwright.domain.answers.answers import Amendment
from specwright.domain.base.record import Record
from specwright.domain.contract.contract import MicroModuleContract

FEWEST_WORDS = 4
"""Of a statement that can be told from others by its words."""

ALIKE = 0.8
"""The share of words, in order, from which two statements say the same."""

_STATEMENT = re.compile(
    r"/(purpose|modes/notes|error_cases/\d+|inputs/\d+/constraints/\d+|outputs/\d+/invariants/\d+"
    r"|error_surfaces/\d+/(when|shared)|effects/\d+/description)"
)


class AmendedStatement(Record):
    """A statement that a ruling amended.

    Args:
        module: Whose contract it is.
        before: As it was.
        after: As it is; empty if it was removed.
    """

    module: str
    before: str
    after: str = ""


def amended_statements(
    amendments: Sequence[Amendment], contracts: Sequence[MicroModuleContract]
) -> Iterator[AmendedStatement]:
    """What amendments of contracts change or remove.

    Args:
        amendments: Of a ruling.
        contracts: As they were judged.
    """
    by_name = {contract.name: contract for contract in contracts}
    for one in amendments:
        name, _, pointer = one.target.removeprefix("contract:").partition("#")
        value: Any = by_name[name].at(pointer) if name in by_name and one.action != "ADD" else None
        after = one.detail if one.action == "MODIFY" else ""
        if isinstance(value, dict) and "when" in value:
            surface = cast(dict[str, str], value)
            value, after = surface["when"], after.removeprefix(f"{surface['name']}: ")
        if isinstance(value, str):
            yield AmendedStatement(module=name, before=value, after=after)


def statements_left(
    amended: Sequence[AmendedStatement], contracts: Sequence[MicroModuleContract]
) -> Iterator[str]:
    """A line for each statement of contracts that says what another contract said before it was amended."""
    for contract in contracts:
        for pointer, text in _statements(contract.to_json()):
            for one in amended:
                if one.module != contract.name and _is_alike(text, one):
                    became = f'now "{one.after}"' if one.after else "removed"
                    yield f'`{one.module}`: "{one.before}", {became}; `{contract.name}` {pointer} says: "{text}"'


def _statements(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if _STATEMENT.fullmatch(pointer):
            yield pointer, value
        return
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(cast(dict[str, Any], value).items())
    elif isinstance(value, list):
        items = list(enumerate(cast(list[Any], value)))
    for key, item in items:
        yield from _statements(item, f"{pointer}/{key}")


def _is_alike(text: str, amended: AmendedStatement) -> bool:
    """Whether a text says what was amended, and not what came of it."""
    if text == amended.after or len(text.split()) < FEWEST_WORDS:
        return False
    likeness = _likeness(text, amended.before)
    return likeness >= ALIKE and likeness > _likeness(text, amended.after)


def _likeness(one: str, other: str) -> float:
    words = re.findall(r"\w+", one.lower()), re.findall(r"\w+", other.lower())
    return SequenceMatcher(None, *words, autojunk=False).ratio()
