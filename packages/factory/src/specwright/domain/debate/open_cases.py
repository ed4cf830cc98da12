"""What a Challenger of contracts finds late, or beyond a scope limit (design: late-findings, scope-limits).

A debate ends if each round has less to find than the one before. So from its second round on a failure of contracts has a
kind that code checks: an earlier one that is not mended, something that the last revision brought, or a contradiction.
Without it, it is an open case: it stays in the challenge, which stays a FAIL, and goes to the Arbiter with the change that
would close it. The same becomes of a failure that contests a scope without naming a criterion that it drops, or too late.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ship_gate.contract.contract import MISSING, MicroModuleContract, was_changed
from ship_gate.contract.rules import is_scope_limit
from specwright.domain.answers.answers import Failure, FailureKind
from specwright.domain.debate.answer_rules import MILD_REVIEW

_POINTER = re.compile(
    r"(?:\b(?P<name>[a-z][a-z0-9_]*)`?\s*#?\s*)?(?<![\w/])(?P<pointer>/[a-z_]+(?:/(?:\d+|[a-z_]+))*)"
)
_CRITERION = re.compile(r"\bcriteri(?:on|a)\s+#?(\d+)", re.IGNORECASE)
_FAILURE = re.compile(r"\bfailures?\s+#?(\d+)", re.IGNORECASE)
_RULING = re.compile(r"\bruling\b", re.IGNORECASE)
_NEW = "a new module"


class EarlierRounds(NamedTuple):
    """What a round of a contract debate may go back to.

    Args:
        contracts: As they are judged.
        criteria: How many acceptance criteria the task has.
        number: The round.
        failures: How many failures the longest list of an earlier round has.
        ruled: Whether an earlier round has a ruling.
        changes: What the last revision changed in the contracts, a line for each statement, by the modules' names.
    """

    contracts: Sequence[MicroModuleContract]
    criteria: int
    number: int = 1
    failures: int = 0
    ruled: bool = False
    changes: Sequence[str] = ()


class _Place(NamedTuple):
    """A statement that a failure cites."""

    contract: MicroModuleContract
    pointer: str


def open_cases(failures: Sequence[Failure], earlier: EarlierRounds) -> list[Failure]:
    """The failures that cost no revision."""
    return [one for one in failures if one.invariant != MILD_REVIEW and not _costs_a_revision(one, earlier)]


def _costs_a_revision(failure: Failure, earlier: EarlierRounds) -> bool:
    if scopes := list(_scope_limits(failure, earlier)):
        seen_first = earlier.number == 1 or any(_is_changed(place, earlier) for place in scopes)
        return seen_first and bool(_criteria(_text(failure), earlier))
    return earlier.number == 1 or _has_kind(failure, earlier)


def _scope_limits(failure: Failure, earlier: EarlierRounds) -> Iterator[_Place]:
    """The scope limits that a failure cites. A pointer without a module's name is one in the contracts that the failure
    names, or in all, and cites a limit only if it does in each of these that has it."""
    text = _text(failure)
    said = "\n".join((text, *(change.target for change in failure.exact_changes)))
    named = [one for one in earlier.contracts if re.search(rf"\b{one.name}\b", said)]
    about = earlier._replace(contracts=named or earlier.contracts)
    for found in _POINTER.finditer(text):
        places = list(_places(found[0], earlier if found["name"] in _names(earlier) else about))
        if places and all(map(_is_scope_limit, places)):
            yield from places


def _names(earlier: EarlierRounds) -> set[str]:
    return {contract.name for contract in earlier.contracts}


def _has_kind(failure: Failure, earlier: EarlierRounds) -> bool:
    cited = failure.cites
    match failure.kind:
        case FailureKind.NOT_MENDED:
            numbers = map(int, _FAILURE.findall(cited))
            ruled = earlier.ruled and bool(_RULING.search(cited))
            return ruled or any(0 < number <= earlier.failures for number in numbers)
        case FailureKind.CHANGED:
            return any(_is_changed(place, earlier) for place in _places(cited, earlier))
        case FailureKind.CONTRADICTION:
            named = len({(place.contract.name, place.pointer) for place in _places(cited, earlier)})
            return named > 0 and named + len(_criteria(cited, earlier)) > 1
        case None:
            return False


def _text(failure: Failure) -> str:
    targets = (change.target for change in failure.exact_changes if change.action != "ADD")
    return "\n".join((failure.invariant, failure.evidence, failure.required_change, failure.cites, *targets))


def _places(text: str, earlier: EarlierRounds) -> Iterator[_Place]:
    """The statements that a text cites, with the contracts in which they are: of the module that is named, else of each."""
    by_name = {contract.name: contract for contract in earlier.contracts}
    for found in _POINTER.finditer(text):
        named = by_name.get(found["name"] or "")
        for contract in [named] if named else earlier.contracts:
            if contract.at(found["pointer"]) is not MISSING:
                yield _Place(contract, found["pointer"])


def _criteria(text: str, earlier: EarlierRounds) -> set[int]:
    return {number for number in map(int, _CRITERION.findall(text)) if 0 < number <= earlier.criteria}


def _is_scope_limit(place: _Place) -> bool:
    value = place.contract.at(place.pointer)
    return isinstance(value, str) and is_scope_limit(value)


def _is_changed(place: _Place, earlier: EarlierRounds) -> bool:
    own = _changes_of(place.contract.name, earlier.changes)
    return _NEW in own or was_changed(place.contract, place.pointer, own)


def _changes_of(name: str, changes: Collection[str]) -> list[str]:
    """The lines about one module, without its name."""
    found = (line.removeprefix(name) for line in changes if line.startswith((f"{name} ", f"{name}: ")))
    return [line.removeprefix(":").lstrip() for line in found]
