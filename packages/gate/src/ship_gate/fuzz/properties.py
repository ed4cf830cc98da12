"""Tries the approved properties of a task on a candidate: whether any value of their variables makes one false (design:
executable-spec).

They run as tests do: beside the module's process, not in it. The values are drawn as those of the contract fuzz, from what
the approved examples and criteria mention and from what breaks programs, but nothing of the candidate's own.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ship_gate import canonical_json
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import Property
from ship_gate.fuzz.check import (
    BROKEN_OFF,
    FuzzRun,
    before_any_answer,
    described_classes,
    meets_files,
    run_fuzz,
    speaks_of_zones,
    unanswered_call,
)
from ship_gate.fuzz.hints import constants_in, numbers, quoted
from ship_gate.sandbox.exchange import Ending
from ship_gate.sandbox.pair import Pair
from ship_gate.sandbox.staging import Staged
from ship_gate.verdict import Candidate, TriedProperty

_EXAMPLES = 200
"""Values that are drawn at most, beside those that are always tried."""
_SECONDS = 1.0
_MOST_SECONDS = 12.0
"""Of processor time for one property, and for all."""
_CALL_SECONDS = 1.5


def run_properties(
    staged: Staged, candidate: Candidate, properties: Sequence[Property], pair: Pair
) -> tuple[TriedProperty, ...]:
    """Try properties, one pair of processes for all.

    Args:
        staged: Laid out by `stage`.
        candidate: Its contract and those of its dependencies.
        properties: Which import from its modules.
        pair: Of the role `inside.fuzz.properties`; the caller stops it.

    Returns:
        What became of each, in order; behind one that ends the run nothing was tried.

    Raises:
        ShipGateError: the processes did not come up, or there is no sandbox.
    """
    contracts = [*(dependency.contract for dependency in candidate.dependencies), candidate.contract]
    request = request_for(properties, contracts)
    ran = run_fuzz(staged, {**request, "name": candidate.contract.name}, pair, "fuzz.properties")
    broken = _broken_off(ran)
    return tuple(
        one._replace(problem=staged.anonymous(one.problem)) for one in tried(properties, ran.events, broken)
    )


def tried(
    properties: Sequence[Property], events: Sequence[Mapping[str, Any]], broken: tuple[int, str] | None
) -> list[TriedProperty]:
    """What became of each property.

    Args:
        properties: In order.
        events: That the runner sent.
        broken: The property that ended the run, and how.
    """
    done = {event["place"]: event for event in events if event.get("event") == "tried"}
    # the last one is the smallest
    failed = {event["place"]: event for event in events if event.get("event") == "counterexample"}
    found: list[TriedProperty] = []
    for place, one in enumerate(properties):
        problem = ""
        if event := failed.get(place):
            problem = f"for {event['values']} its code {event['happened']}"
        elif broken and broken[0] == place:
            problem = broken[1]
        counts = done.get(place, {})
        held, refused = int(counts.get("held", 0)), int(counts.get("refused", 0))
        found.append(TriedProperty(one.heading, problem, held, refused))
    return found


def _broken_off(ran: FuzzRun) -> tuple[int, str] | None:
    if ran.finished():
        return None
    if (call := unanswered_call(ran)) is None:
        return 0, before_any_answer(ran, "this property")
    return broken_off(call, ran.ended.how)


def broken_off(call: Mapping[str, Any], how: Ending) -> tuple[int, str]:
    """The property that ended a run, and how."""
    did, _, _ = BROKEN_OFF[how].format(seconds=_CALL_SECONDS).partition(";")
    return int(call["place"]), f"for {call['call']} a call {did}"


def request_for(
    properties: Sequence[Property], contracts: Sequence[MicroModuleContract], package: str = "modules"
) -> dict[str, Any]:
    """What the runner is asked.

    Args:
        properties: Which import from the package.
        contracts: Of its modules.
        package: That holds them.
    """
    codes = dict.fromkeys(code for one in properties for code in (one.code, *one.examples))
    constants = constants_in(map(ast.parse, codes), {})
    texts = list(dict.fromkeys(text for one in properties for text in one.texts))
    return {
        "errors": [],
        "files": False,
        "found": [],
        "writes": False,
        "lays_out": any(map(meets_files, contracts)),
        "properties": [_stated(one) for one in properties],
        "classes": described_classes(contracts, package),
        "constants": constants.values,
        "given": {},
        "ranges": {},
        "aware": constants.aware or any(map(speaks_of_zones, texts)),
        "numbers": numbers(texts),
        "texts": quoted(texts),
        "confined": any(contract.effects for contract in contracts),
        "ordinary": True,
        "huge": False,
        "examples": _EXAMPLES,
        "seconds": min(_SECONDS, _MOST_SECONDS / len(properties)),
        # the values that are always tried, those that are drawn, and making one smaller
        "whole_seconds": 3 * min(_SECONDS * len(properties), _MOST_SECONDS),
        "call_seconds": _CALL_SECONDS,
    }


def _stated(one: Property) -> dict[str, Any]:
    stated = {"code": one.code, "variables": dict(one.variables), "errors": list(one.errors)}
    return {**stated, "seed": int(canonical_json.digest(stated)[:12], 16)}
