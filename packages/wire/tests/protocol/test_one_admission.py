"""One admission serves producer, log and reducer (D31)."""

import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from agent_wire.admission import RepeatedWire, default_admission
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.log import SqliteWireLog
from agent_wire.reducer import reduce_wires
from agent_wire.stream import AdmissionState, Change, StreamState
from wire_testkit.story import HAPPY_PATH, TASK, Story, expectations, fixture

EXPECTED = expectations()
BAD = {name: row for name, row in EXPECTED["invalid"].items() if row["layer"] == "admission"}
GOOD = {name: row for name, row in EXPECTED["valid"].items() if "after" in row}


def three_verdicts(path: Path, before: list[Any], wire: Any) -> list[str]:
    """What producer, log and reducer say to a Wire after others: a code, or `ok`."""
    ledger = AdmissionState()
    for earlier in before:
        change = default_admission().admit(ledger, earlier)
        assert isinstance(change, Change)
        ledger.add(change)
    decision = default_admission().admit(ledger, wire)
    producer = decision.code if isinstance(decision, Rejection) else "ok"

    log = SqliteWireLog(path / "log.sqlite", "0.0.1001", lambda: 1)
    log.append(before)
    try:
        log.append([wire])
        logged = "ok"
    except WireRefusedError as error:
        logged = error.rejection.code
    finally:
        log.close()

    rejected = reduce_wires([*before, wire]).rejected
    return [producer, logged, rejected[0].rejection.code if rejected else "ok"]


@pytest.mark.parametrize("name", sorted(GOOD | BAD))
def test_producer_log_and_reducer_give_the_same_verdict(name: str, tmp_path: Path):
    """The same table of good and bad events through all three (D-31-01, W-1-06)."""
    row = (GOOD | BAD)[name]
    verdicts = three_verdicts(tmp_path, [fixture(earlier) for earlier in row.get("after", [])], fixture(name))

    assert verdicts == [row.get("code", "ok")] * 3


@pytest.mark.parametrize("subject", ["causation_id", "stream_seq", "context_id"])
def test_a_cause_that_comes_later_is_unknown(subject: str):
    """causation_id names an existing earlier Wire, not a later one nor itself (W-6-02)."""
    story = Story()
    first = story.wire("task.created")
    own = {"causation_id": first["wire_id"], "stream_seq": 1, "context_id": first["stream"]["context_id"]}
    wire = first | {"stream": first["stream"] | {"causation_id": first["wire_id"], subject: own[subject]}}

    assert reduce_wires([wire]).rejected[0].rejection.code == "stream.causation"


def test_the_protocol_imports_no_framework_and_no_other_package_of_the_repository():
    """What makes, validates, reduces and maps Wires needs the JSON libraries alone (W-7-07)."""
    program = "import sys, agent_wire; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()

    assert {"agent_wire", "orjson", "jsonschema_rs"} <= set(loaded)
    others = {
        "specwright",
        "ship_gate",
        "pydantic",
        "langgraph",
        "langchain_core",
        "sqlite3",
        "numpy",
        "typer",
        "a2a",
    }
    assert not others & set(loaded)


EVENTS = st.sampled_from(
    ["task.created", "task.available", "task.claimed", "task.started", "task.blocked", "artifact.ready",
     "task.complete", "task.failed", "task.cancelled", "review.recorded"]
)  # fmt: skip
STREAMS = st.sampled_from(
    [TASK, "task:TSK-001:attempt:2", "task:TSK-002:attempt:1", "project:notes-1f0c9a2e"]
)


class OneLogThreeReaders(RuleBasedStateMachine):
    """Anything may be sent; the incremental state is the replay of what was admitted, at every step."""

    def __init__(self) -> None:
        super().__init__()
        self.story = Story()
        self.places = count(1)
        self.ledger = AdmissionState()
        self.admitted: list[Any] = []
        self.sent: list[Any] = []

    @rule(event=EVENTS, stream_id=STREAMS, offset=st.sampled_from([1, 1, 1, 1, 0, 2]), caused=st.booleans())
    def send(self, event: str, stream_id: str, offset: int, caused: bool) -> None:
        """Send an event to a stream, mostly at its next place."""
        stream = self.ledger.stream(stream_id)
        place = max(1, (stream.seq if stream else 0) + offset)
        cause = {"causation_id": self.admitted[-1]["wire_id"]} if caused and self.admitted else {}
        self._offer(self.story.wire(event, stream_id, stream_seq=place, **cause))

    @rule(data=st.data())
    def send_again(self, data: st.DataObject) -> None:
        """Repeat something that was sent, admitted or not."""
        if self.sent:
            self._offer(data.draw(st.sampled_from(self.sent)))

    def _offer(self, wire: Any) -> None:
        before = dict(self.ledger.streams())
        decision = default_admission().admit(self.ledger, wire)
        self.sent.append(wire)
        if isinstance(decision, Change):
            self.ledger.add(decision)
            self.admitted.append(wire)
        else:
            assert isinstance(decision, Rejection | RepeatedWire)
            assert dict(self.ledger.streams()) == before

    @invariant()
    def replay_equals_the_incremental_state(self) -> None:
        """Replaying what was admitted gives the state; so does reducing everything that was sent."""
        state: dict[str, StreamState] = dict(self.ledger.streams())
        replayed = reduce_wires(self.admitted)

        assert replayed.streams == state
        assert replayed.rejected == ()
        assert reduce_wires(self.sent).streams == state

    @invariant()
    def terminal_streams_hold_what_they_held(self) -> None:
        """Nothing follows the end of a task."""
        for stream_id, stream in self.ledger.streams():
            if stream.task is not None and stream.task.terminal:
                last = [wire for wire in self.admitted if wire["stream"]["stream_id"] == stream_id][-1]
                assert last["state"]["terminal"]


TestOneLogThreeReaders = OneLogThreeReaders.TestCase
TestOneLogThreeReaders.settings = settings(stateful_step_count=20, deadline=None)


def test_every_prefix_of_a_story_reduces_to_the_state_at_that_point():
    """Replay of any prefix equals the incremental state (W-5-03)."""
    wires = Story().wires(*HAPPY_PATH)
    ledger = AdmissionState()
    for length, wire in enumerate(wires, start=1):
        change = default_admission().admit(ledger, wire)
        assert isinstance(change, Change)
        ledger.add(change)
        assert reduce_wires(wires[:length]).streams == dict(ledger.streams())
