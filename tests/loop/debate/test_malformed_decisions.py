"""Decisions about interface change exceptions that cannot be taken: one clear message each, and nothing changed (F§13.5)."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ship_gate.base.record import validation_messages
from specwright.application.interface_change import decide
from specwright.domain.interface_change import DecisionRequest
from specwright.errors import SpecwrightError
from testkit.cli.commands import everything
from testkit.loop.exceptions import CHAIN, Story, raising

GOOD = {"exception_id": "the one", "decision": "DEFER"}
REJECTED = {**GOOD, "decision": "REJECT_CHANGE", "reason": "Ask the module twice."}


def without(name: str) -> dict[str, Any]:
    """A decision that lacks a field."""
    return {key: value for key, value in GOOD.items() if key != name}


MALFORMED: list[tuple[Any, str]] = [
    (without("exception_id"), "exception_id: Field required"),
    (without("decision"), "decision: Field required"),
    ({**GOOD, "exception_id": "ESC-00000000"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": "ICE-0000000"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": "ICE-0000000G"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": "ICE-0000000A"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": "ICE-00000000\n"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": "../ICE-00000000"}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": ""}, "exception_id: String should match pattern"),
    ({**GOOD, "exception_id": None}, "exception_id: Input should be a valid string"),
    ({**GOOD, "exception_id": "ICE-00000000"}, "there is no interface change exception ICE-00000000"),
    ({**GOOD, "decision": "APPROVE"}, "decision: Input should be 'APPROVE_CHANGE', 'REJECT_CHANGE' or 'DEFER'"),
    ({**GOOD, "decision": "defer"}, "decision: Input should be 'APPROVE_CHANGE', 'REJECT_CHANGE' or 'DEFER'"),
    ({**GOOD, "decision": "REVISE_PLAN"}, "decision: Input should be 'APPROVE_CHANGE'"),
    ({**GOOD, "decision": ["DEFER"]}, "decision: Input should be 'APPROVE_CHANGE'"),
    ({**GOOD, "decision": None}, "decision: Input should be 'APPROVE_CHANGE'"),
    ({**GOOD, "reason": None}, "reason: Input should be a valid string"),
    ({**GOOD, "reason": 7}, "reason: Input should be a valid string"),
    ({**GOOD, "reason": "x" * 4_001}, "reason: String should have at most 4000 characters"),
    ({**GOOD, "requeue": True}, "only a rejection runs the task again"),
    ({**GOOD, "decision": "APPROVE_CHANGE", "requeue": True}, "only a rejection runs the task again"),
    ({**REJECTED, "reason": ""}, "a rejection needs a reason"),
    ({**REJECTED, "reason": " \n\t"}, "a rejection needs a reason"),
    ({**REJECTED, "requeue": "yes"}, "requeue: Input should be a valid boolean"),
    ({**REJECTED, "requeue": 1}, "requeue: Input should be a valid boolean"),
    ({**REJECTED, "requeue": None}, "requeue: Input should be a valid boolean"),
    ({**REJECTED, "hold": True}, "hold: Extra inputs are not permitted"),
    ({**GOOD, "number": 1}, "number: Extra inputs are not permitted"),
    ({**GOOD, "decided_by": "human:other"}, "decided_by: Extra inputs are not permitted"),
    ([GOOD], "Input should be a valid dictionary"),
    ("DEFER", "Input should be a valid dictionary"),
    (None, "Input should be a valid dictionary"),
]  # fmt: skip


def test_a_malformed_decision_gets_one_clear_message(tmp_path: Path):
    """F-13-19, F-13-20, D-26-01: what is wrong, at which field; the store, the log and the task are as before."""
    story = Story(tmp_path, {"TSK-002.1/triple/round-1/proposer": raising()})
    story.bench.begin(CHAIN)
    before = everything(story.bench.base), story.bench.wires()
    for given, says in MALFORMED:
        raw: Any = given
        if isinstance(raw, dict) and raw.get("exception_id") == "the one":
            raw = {**raw, "exception_id": story.record()["exception_id"]}  # pyright: ignore
        with pytest.raises((ValidationError, SpecwrightError)) as refused:
            decide(story.bench.factory, DecisionRequest.model_validate(raw))
        error = refused.value
        (message,) = validation_messages(error) if isinstance(error, ValidationError) else [str(error)]
        assert says in message
        assert len(message) < 600
        assert (everything(story.bench.base), story.bench.wires()) == before
        assert story.bench.status(1) == "HALTED"
