"""A mirror of the log in SQL tables: it follows the log and writes the rows of each entry (design: mirrors).

The mirror only reads the log. After a crash, or when its database was unreachable, it resumes from the position that
the database holds. It does not read the state of streams back from the tables but replays the log: that is faster than
writing, and a change that somebody made in the tables cannot mislead it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple

import orjson

from agent_wire.admission import Admission, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.entries import StoredEntry, StoredLog
from agent_wire.errors import CorruptionError, DatabaseUnavailableError
from agent_wire.mirror.model import ARTIFACT_KEY, Batch, Key, Position, ReadModel, Row, other_log
from agent_wire.reducer import artifact_view, decision_view, task_view
from agent_wire.stream import AdmissionState

BATCH = 1_000
"""The number of entries per transaction."""

_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class LogReplay:
    """Replays a log from its first entry, and builds the rows of entries that are not mirrored yet.

    Args:
        admission: Rules to use instead of the ones that ship.
    """

    def __init__(self, admission: Admission | None = None) -> None:
        self._admission = admission or default_admission()
        self._state = AdmissionState()
        self._announced: set[Key] = set()
        self.sequence_number = 0
        self.log_id = ""
        self.context_id = ""

    def pass_over(self, entries: Iterable[StoredEntry]) -> None:
        """Replay the next entries, which are already mirrored.

        Raises:
            CorruptionError: an entry is not an admissible Wire.
        """
        for entry in entries:
            if artifact := artifact_view(self._replay(entry)):
                self._announced.add(_artifact_key(artifact))

    def batch(self, entries: Iterable[StoredEntry]) -> Batch:
        """Replay the next entries and build their rows.

        Raises:
            CorruptionError: an entry is not an admissible Wire.
        """
        batch = Batch(self.log_id, self.sequence_number)
        moved: dict[str, str] = {}
        for entry in entries:
            wire = self._replay(entry)
            row = _event_row(self.log_id, entry, wire)
            owner = {"log_id": self.log_id, "context_id": row["context_id"]}
            moved[row["stream_id"]] = row["context_id"]
            batch.events.append(row)
            batch.end = entry
            if artifact := artifact_view(wire):
                self._add_artifact(artifact, batch, owner)
            elif decision := decision_view(wire):
                names = ("stream_id", "event", "subject", "reference")
                batch.decisions[tuple(str(decision[name]) for name in names)] = owner | decision
        batch.log_id = self.log_id
        for stream_id, context_id in moved.items():
            self._add_task(stream_id, batch, {"log_id": self.log_id, "context_id": context_id})
        return batch

    def _replay(self, entry: StoredEntry) -> JsonObject:
        try:
            wire: JsonObject = orjson.loads(entry.body)
            self._admission.replay(self._state, wire, entry.body)
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptionError(
                f"entry {entry.sequence_number} of the Wire log is not an admissible Wire",
                remedy="run `specwright wire verify` to see what was changed",
            ) from error
        if not self.log_id:
            stream: Any = wire["stream"]
            self.log_id, self.context_id = str(wire["wire_id"]), str(stream["context_id"])
        self.sequence_number = entry.sequence_number
        return wire

    def _add_task(self, stream_id: str, batch: Batch, owner: Row) -> None:
        stream = self._state.stream(stream_id)
        if stream is None or stream.task is None:
            return
        task = task_view(stream_id, stream) or {}
        names = ("reference_task_ids", "artifact_ids", "artifacts")
        row = {name: value for name, value in task.items() if name not in names}
        batch.tasks[stream_id] = owner | {"stream_id": stream_id} | row
        batch.task_lineage += [
            owner | {"stream_id": stream_id, "reference_task_id": name, "place": place}
            for place, name in enumerate(stream.task.references)
        ]

    def _add_artifact(self, artifact: JsonObject, batch: Batch, owner: Row) -> None:
        lineage: Any = artifact["lineage"]
        key = _artifact_key(artifact)
        if key in self._announced:
            batch.announced_again.add(key)
        self._announced.add(key)
        row = {name: value for name, value in artifact.items() if name != "lineage"}
        made_by = {
            "task_id": lineage["task"],
            "attempt": lineage["attempt"],
            "input_count": lineage.get("input_count"),
        }
        batch.artifacts[key] = owner | row | made_by
        named = owner | dict(zip(ARTIFACT_KEY, key, strict=True))
        batch.artifact_lineage[key] = [
            named | {"input": name, "place": place} for place, name in enumerate(lineage["inputs"])
        ]


def _artifact_key(artifact: JsonObject) -> Key:
    return tuple(str(artifact[name]) for name in ARTIFACT_KEY)


def _event_row(log_id: str, entry: StoredEntry, wire: JsonObject) -> Row:
    stream: Any = wire["stream"]
    state: Any = wire.get("state") or {}
    return {
        "log_id": log_id,
        "sequence_number": entry.sequence_number,
        "consensus_seconds": entry.consensus_seconds,
        "consensus_nanos": entry.consensus_nanos,
        "running_hash": entry.running_hash.hex(),
        **{name: wire[name] for name in ("wire_id", "type", "sender", "ts")},
        **{name: stream[name] for name in ("stream_id", "stream_seq", "context_id", "correlation_id")},
        "causation_id": stream.get("causation_id"),
        "category": state.get("category"),
        "terminal": state.get("terminal"),
        "body": entry.body.decode(),
    }


class MirrorStatus(NamedTuple):
    """How far a log is mirrored.

    Args:
        log_id: The id of the log's first Wire; empty if the log is empty.
        position: The last mirrored entry.
        log_end: The sequence number of the last entry of the log.
        behind: The consensus time between these two, in seconds.
        problem: Why the database cannot be reached; empty if it can.
    """

    log_id: str
    position: Position
    log_end: int
    behind: float = 0.0
    problem: str = ""

    @property
    def lag(self) -> int:
        """The number of entries that are not mirrored yet."""
        return self.log_end - self.position.sequence_number


@dataclass
class Mirror:
    """Mirrors a log to a read model.

    Args:
        log: The log.
        topic_id: Its topic.
        model: The read model to write to.
        admission: Rules to use instead of the ones that ship.
        batch: The number of entries per transaction.
    """

    log: StoredLog
    topic_id: str
    model: ReadModel
    admission: Admission | None = None
    batch: int = BATCH
    _replay: LogReplay | None = field(default=None, init=False)
    _pending: Batch | None = field(default=None, init=False)
    _position: Position = field(default=Position(), init=False)

    def status(self) -> MirrorStatus:
        """Return how far the log is mirrored, without writing.

        Raises:
            CorruptionError: the mirrored entries are not the beginning of the log.
            DatabaseUnavailableError: the database cannot be reached.
            RefusedError: the database rejected a statement.
        """
        first = next(self.log.stored(), None)
        if first is None:
            return MirrorStatus("", Position(), 0)
        log_id = _log_id(first)
        return self._status(log_id, self.model.position(log_id))

    def catch_up(self) -> MirrorStatus:
        """Mirror the entries that the log has now, and return the status.

        Raises:
            CorruptionError: the mirrored entries are not the beginning of the log, or an entry was altered.
            DatabaseUnavailableError: the database cannot be reached; a later call continues.
            RefusedError: the database rejected a statement.
        """
        replay = self._replay or self._begin()
        while batch := self._pending or self._next(replay):
            self._pending = batch  # written again if the connection is lost
            self._position = self.model.write(batch, replay.context_id, self.topic_id)
            self._pending = None
            if self._position.sequence_number < replay.sequence_number:
                replay = self._begin()  # somebody removed mirrored rows
        return MirrorStatus(replay.log_id, self._position, self._position.sequence_number)

    def rebuild(self) -> MirrorStatus:
        """Replace the mirrored rows of the log in one transaction; until it commits, readers see the old rows.

        Raises:
            CorruptionError: an entry was altered.
            DatabaseUnavailableError: the database cannot be reached; nothing has changed.
            RefusedError: the database rejected a statement.
        """
        replay = LogReplay(self.admission)
        first = self._next(replay)
        if first is None:
            return MirrorStatus("", Position(), 0)
        self._replay = self._pending = None
        batches = chain([first], iter(lambda: self._next(replay), None))
        position = self.model.rebuild(batches, replay.log_id, replay.context_id, self.topic_id)
        return MirrorStatus(replay.log_id, position, position.sequence_number)

    def follow(self, pause: Callable[[float], object]) -> Iterator[MirrorStatus]:
        """Keep mirroring the log as long as the caller iterates; retry while the database cannot be reached.

        Args:
            pause: Waits for a number of seconds.

        Yields:
            The status whenever the position has moved or the database cannot be reached.

        Raises:
            CorruptionError: see `catch_up`.
            RefusedError: the database rejected a statement.
        """
        shown, seconds = -1, _PAUSE
        while True:
            try:
                status = self.catch_up()
                seconds = _PAUSE
                if status.position.sequence_number != shown:
                    shown = status.position.sequence_number
                    yield status
            except DatabaseUnavailableError as error:
                shown, seconds = -1, min(2 * seconds, _LONGEST_PAUSE)
                yield self._status("", self._position)._replace(problem=str(error.what))
            pause(seconds)

    def _begin(self) -> LogReplay:
        """Replay the entries that are already mirrored."""
        replay = LogReplay(self.admission)
        first = next(self.log.stored(), None)
        if first is not None:
            self._position = self.model.position(_log_id(first))
            self._check(_log_id(first), self._position)
            mirrored = takewhile(
                lambda entry: entry.sequence_number <= self._position.sequence_number, self.log.stored()
            )
            replay.pass_over(mirrored)
        self._replay, self._pending = replay, None
        return replay

    def _next(self, replay: LogReplay) -> Batch | None:
        entries = list(islice(self.log.stored(replay.sequence_number), self.batch))
        return replay.batch(entries) if entries else None

    def _status(self, log_id: str, position: Position) -> MirrorStatus:
        self._check(log_id, position)
        rest = deque(self.log.stored(position.sequence_number), maxlen=1)
        if not rest:
            return MirrorStatus(log_id, position, position.sequence_number)
        (last,) = rest
        behind = _seconds(last) - _seconds(position) if position.sequence_number else 0.0
        return MirrorStatus(log_id, position, last.sequence_number, behind)

    def _check(self, log_id: str, position: Position) -> None:
        """Raise an error if the log does not have the entry at the mirrored position."""
        if position.sequence_number:
            entry = next(self.log.stored(position.sequence_number - 1), None)
            if entry is None or entry.running_hash.hex() != position.running_hash:
                raise other_log(log_id)


def _log_id(first: StoredEntry) -> str:
    replay = LogReplay()
    replay.pass_over([first])
    return replay.log_id


def _seconds(entry: StoredEntry | Position) -> float:
    return entry.consensus_seconds + entry.consensus_nanos / 1_000_000_000
