"""Amendments of contracts that code applies: new texts, further texts, and statements that go (design: amendments).

A detail is the new text itself. One that reads as an instruction is for the planner, and so is whatever is no text of a
contract.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.answers.answers import Amendment
from specwright.domain.answers.plan_answers import PlanAnswer

_TEXTS = re.compile(
    r"/(purpose|modes/notes|error_cases/\d+|inputs/\d+/constraints/\d+|outputs/\d+/invariants/\d+"
    r"|error_surfaces/\d+/when|effects/\d+/(target|description))"
)
_LISTS = re.compile(r"/(error_cases|inputs/\d+/constraints|outputs/\d+/invariants)/-")
_REMOVABLE = re.compile(
    r"/(error_cases|inputs/\d+/constraints|outputs/\d+/invariants|error_surfaces|effects)/\d+"
)
_SURFACE = re.compile(r"/error_surfaces/\d+")
_INSTRUCTION = re.compile(
    r"(?i)^(add|append|change|clarify|cut|declare|define|delete|describe|drop|extend|fix|insert|let|make|mention|modify|move"
    r"|name|put|reduce|remove|rename|reorder|replace|restate|reword|rewrite|say|set|shorten|specify|split|state|strike"
    r"|swap|turn|update|use|write)\b"
    r"|\b(instead of|should (be|say|read)|must (be changed|say|read)|to read|the (text|statement|constraint|sentence))\b"
)


def applied_by_code(
    amendments: Sequence[Amendment], answer: PlanAnswer, contracts: Mapping[str, MicroModuleContract]
) -> PlanAnswer | None:
    """A plan with amendments applied; None if they are more than code can apply.

    Args:
        amendments: Their targets exist.
        answer: The plan as it was approved.
        contracts: As they were judged, in normal form; pointers are into these.
    """
    by_name: dict[str, list[tuple[str, str, str]]] = {}
    for amendment in amendments:
        name, _, pointer = amendment.target.removeprefix("contract:").partition("#")
        if name not in contracts or not _is_simple(amendment, pointer):
            return None
        by_name.setdefault(name, []).append(_of_surface(contracts[name], amendment, pointer))
    modules: list[Any] = []
    for module in answer.modules:
        given, changes = module.to_json(), by_name.get(module.name, [])
        if len({pointer for action, pointer, _ in changes if action != "ADD"}) < sum(
            a != "ADD" for a, *_ in changes
        ):
            return None  # two of one statement
        changed = _changed(contracts[module.name].to_json(), changes) if changes else {}
        for field in {pointer.split("/")[1] for _, pointer, _ in changes}:
            if not changed[field]:
                return None  # what is empty has a reason, which is the planner's to give
            given[field] = changed[field]
        modules.append(given)
    try:
        return PlanAnswer.model_validate({**answer.to_json(), "modules": modules})
    except ValidationError:
        return None


def _of_surface(contract: MicroModuleContract, amendment: Amendment, pointer: str) -> tuple[str, str, str]:
    """Action, pointer and text; the text of an error surface, as it is told with the error's name, is that of its `when`."""
    action, detail = amendment.action, amendment.detail
    surface = contract.at(pointer) if _SURFACE.fullmatch(pointer) and action == "MODIFY" else None
    if not isinstance(surface, dict):
        return action, pointer, detail
    return action, f"{pointer}/when", _text(detail).removeprefix(f"{surface['name']}: ")


def _is_simple(amendment: Amendment, pointer: str) -> bool:
    if amendment.action == "REMOVE":
        return _REMOVABLE.fullmatch(pointer) is not None
    form = _LISTS if amendment.action == "ADD" else _TEXTS
    known = form.fullmatch(pointer) or (amendment.action == "MODIFY" and _SURFACE.fullmatch(pointer))
    return bool(known) and not _INSTRUCTION.search(amendment.detail)


def _changed(contract: dict[str, Any], changes: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """A contract with its changes. The last statement of a list goes first, so that the places of others stay."""
    for action, pointer, detail in sorted(changes, key=lambda change: (_ORDER[change[0]], _place(change[1]))):
        *path, last = pointer.split("/")[1:]
        owner: Any = contract
        for token in path:
            owner = cast(Any, owner[int(token)] if isinstance(owner, list) else owner[token])
        if action == "ADD":
            owner.insert(_end(owner), _text(detail))
        elif action == "REMOVE":
            del owner[int(last)]
        else:
            owner[int(last) if isinstance(owner, list) else last] = _text(detail)
    return contract


_ORDER = {"MODIFY": 0, "REMOVE": 1, "ADD": 2}


def _place(pointer: str) -> int:
    last = pointer.rpartition("/")[2]
    return -int(last) if last.isdecimal() else 0


def _end(texts: list[str]) -> int:
    """Where a statement is added: a default stays the last one."""
    return len(texts) - bool(texts and texts[-1].startswith("defaults to "))


def _text(detail: str) -> str:
    """A detail without the quotes around the whole of it."""
    for quote in "\"'`":
        if len(detail) > 1 and detail[0] == detail[-1] == quote and quote not in detail[1:-1]:
            return detail[1:-1]
    return detail
