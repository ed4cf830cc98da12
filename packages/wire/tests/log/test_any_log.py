"""A log under anything: what it holds is the state at every step, and no damage to it goes unseen (D29, D31, D36)."""

import sqlite3
import tempfile
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent_wire.admission import default_admission
from agent_wire.errors import WireRefusedError
from agent_wire.log import SqliteWireLog
from agent_wire.reducer import reduce_wires
from agent_wire.stream import AdmissionState, StreamState
from agent_wire.verify import verify
from wire_testkit.damage import START, TOPIC, stored, tamper
from wire_testkit.story import HAPPY_PATH, TASK, Story

EVENTS = st.sampled_from([*HAPPY_PATH, "task.blocked", "task.failed", "task.cancelled", "review.recorded"])
STREAMS = st.sampled_from(
    [TASK, "task:TSK-001:attempt:2", "task:TSK-002:attempt:1", "project:notes-1f0c9a2e"]
)
NEXT = st.sampled_from([1, 1, 1, 0, 2])
"""Where a Wire is sent, seen from the end of its stream: mostly the next place."""


class AnyLog(RuleBasedStateMachine):
    """Appends, good and bad, by two handles; then damage to copies of what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "log.sqlite"
        self.clock = count(START, 1_000_000_000)
        self.story = Story()
        self.handles = [self.opened(), self.opened()]
        self.accepted: list[dict[str, Any]] = []
        self.states: list[dict[str, StreamState]] = [{}]
        self.copies = count()

    def opened(self) -> SqliteWireLog:
        """A handle of the log."""
        return SqliteWireLog(self.path, TOPIC, lambda: next(self.clock))

    def teardown(self) -> None:
        """Let go of the files."""
        for handle in self.handles:
            handle.close()
        self.folder.cleanup()

    @rule(handle=st.integers(0, 1), sent=st.lists(st.tuples(EVENTS, STREAMS, NEXT), min_size=1, max_size=3))
    def append(self, handle: int, sent: list[tuple[str, str, int]]) -> None:
        """Send one or several Wires at once; the log takes all or none, as a ledger of its own would."""
        streams, wires = self.states[-1], []
        places = {name: stream.seq for name, stream in streams.items()}
        for event, stream_id, offset in sent:
            place = max(1, places.get(stream_id, 0) + offset)
            places[stream_id] = place
            wires.append(self.story.wire(event, stream_id, stream_seq=place))
        expected = reduce_wires([*self.accepted, *wires])
        if expected.rejected:
            with pytest.raises(WireRefusedError) as refused:
                self.handles[handle].append(wires)
            assert refused.value.rejection == expected.rejected[0].rejection
            return
        self.handles[handle].append(wires)
        for place, wire in enumerate(wires, start=len(self.accepted)):
            self.accepted.append(wire)
            self.states.append(reduce_wires([*self.accepted[:place], wire]).streams)

    @precondition(lambda self: self.accepted)
    @rule(handle=st.integers(0, 1), data=st.data())
    def append_again(self, handle: int, data: st.DataObject) -> None:
        """Repeat an accepted Wire, as it is or with another body: nothing, or a conflict."""
        wire = data.draw(st.sampled_from(self.accepted))
        self.handles[handle].append([wire])
        with pytest.raises(WireRefusedError) as refused:
            self.handles[handle].append([wire | {"sender": "human:owner"}])
        assert refused.value.rejection.code == "wire.id_conflict"

    @rule(handle=st.integers(0, 1))
    def open_again(self, handle: int) -> None:
        """Somebody comes later."""
        self.handles[handle].close()
        self.handles[handle] = self.opened()

    @rule(data=st.data())
    def replay_a_prefix(self, data: st.DataObject) -> None:
        """The first Wires of the log give the state that was there when they were all."""
        length = data.draw(st.integers(0, len(self.accepted)))
        ledger = AdmissionState()
        for entry in list(self.handles[0].stored())[:length]:
            default_admission().replay(ledger, orjson.loads(entry.body), entry.body)

        assert dict(ledger.streams()) == self.states[length]
        assert reduce_wires(self.accepted[:length]).streams == self.states[length]

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def rearrange(self, data: st.DataObject) -> None:
        """Any permutation, with doubles and gaps: harmless or reported, by the reducer and in the file."""
        order = data.draw(st.permutations(range(len(self.accepted))))
        doubles = data.draw(st.lists(st.sampled_from(range(len(self.accepted))), max_size=2))
        moved = [self.accepted[place] for place in [*order, *doubles]]
        reduction = reduce_wires(moved)
        assert reduction.rejected or reduction.streams == self.states[-1]

        rows = [stored(self.path)[place] for place in [*order, *doubles]]
        damaged = self.copy()
        tamper(
            damaged,
            "DELETE FROM entry",
            rows=[(row[0], number, *row[2:]) for number, row in enumerate(rows, start=1)],
        )
        assert bool(verify(damaged)) == (stored(damaged) != stored(self.path))

    @precondition(lambda self: self.accepted)
    @rule(
        data=st.data(), column=st.integers(1, 5), at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7)
    )
    def change(self, data: st.DataObject, column: int, at: float, bit: int) -> None:
        """Any bit of any entry: it is named."""
        rows = stored(self.path)
        number = data.draw(st.integers(1, len(rows)))
        row = list(rows[number - 1])
        if isinstance(row[column], int):
            row[column] ^= 1 << (8 * int(at * 7) + bit)
        else:
            changed = bytearray(row[column])
            changed[int(at * len(changed))] ^= 1 << bit
            row[column] = bytes(changed)
        if column == 1 and row[1] in range(1, len(rows) + 1):
            return  # that place is taken
        damaged = self.copy()
        tamper(damaged, f"DELETE FROM entry WHERE sequence_number = {number}", rows=[tuple(row)])

        assert number in {finding.sequence_number for finding in verify(damaged)}

    def copy(self) -> Path:
        """A copy of the file, whole."""
        copy = self.path.with_name(f"copy-{next(self.copies)}.sqlite")
        with closing(sqlite3.connect(self.path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy

    @invariant()
    def the_log_holds_what_it_acknowledged(self) -> None:
        """Both handles see the same Wires in the same order, and where every stream ends."""
        for handle in self.handles:
            assert [entry.wire for entry in handle.entries()] == self.accepted
            for stream_id, stream in self.states[-1].items():
                assert (handle.stream_end(stream_id).stream_seq, handle.stream_end(stream_id).wire_id) == (
                    stream.seq,
                    stream.last_wire_id,
                )


TestAnyLog = AnyLog.TestCase
TestAnyLog.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
