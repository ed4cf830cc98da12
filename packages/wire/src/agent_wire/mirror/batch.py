"""The rows that entries of a log make (design: mirrors).

The state of the streams is not read back from the tables: a mirror that starts replays the log, which is faster than it
writes, and cannot be led astray by what somebody changed in the tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson

from agent_wire.admission import Admission, default_admission
from agent_wire.canonical_json import JsonObject
from agent_wire.entries import StoredEntry
from agent_wire.errors import CorruptionError
from agent_wire.reducer import artifact_view, decision_view, task_view
from agent_wire.stream import AdmissionState

Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class Batch:
    """The rows of entries that follow each other.

    Args:
        log_id: The log.
        after: The sequence number before its first entry.
        end: Its last entry; None if it has none.
        events: A row for each entry.
        tasks: By stream, as they are after the last entry; so are the others.
        task_lineage: Of the same streams.
        artifacts: By stream, artifact and version.
        artifact_lineage: By the same.
        decisions: By stream, event, subject and reference.
        announced_again: The artifacts whose lineage may have rows from before.
    """

    log_id: str
    after: int
    end: StoredEntry | None = None
    events: list[Row] = field(default_factory=list[Row])
    tasks: dict[str, Row] = field(default_factory=dict[str, Row])
    task_lineage: list[Row] = field(default_factory=list[Row])
    artifacts: dict[Key, Row] = field(default_factory=dict[Key, Row])
    artifact_lineage: dict[Key, list[Row]] = field(default_factory=dict[Key, list[Row]])
    decisions: dict[Key, Row] = field(default_factory=dict[Key, Row])
    announced_again: set[Key] = field(default_factory=set[Key])


class LogReplay:
    """Replays a log from its first entry, and makes rows of the entries that are not mirrored yet.

    Args:
        admission: Other rules than those that ship.
    """

    def __init__(self, admission: Admission | None = None) -> None:
        self._admission = admission or default_admission()
        self._state = AdmissionState()
        self._announced: set[Key] = set()
        self.sequence_number = 0
        self.log_id = ""
        self.context_id = ""

    def pass_over(self, entries: Iterable[StoredEntry]) -> None:
        """Take in the next entries, which are mirrored already.

        Raises:
            CorruptionError: one is no Wire that was admitted.
        """
        for entry in entries:
            if artifact := artifact_view(self._replay(entry)):
                self._announced.add(_artifact_key(artifact))

    def batch(self, entries: Iterable[StoredEntry]) -> Batch:
        """Take in the next entries, and make their rows.

        Raises:
            CorruptionError: one is no Wire that was admitted.
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
                f"entry {entry.sequence_number} of the Wire log is not a Wire that was admitted",
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


ARTIFACT_KEY = ("stream_id", "artifact_id", "version")


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
        "wire_id": wire["wire_id"],
        "type": wire["type"],
        "sender": wire["sender"],
        "ts": wire["ts"],
        "stream_id": stream["stream_id"],
        "stream_seq": stream["stream_seq"],
        "context_id": stream["context_id"],
        "correlation_id": stream["correlation_id"],
        "causation_id": stream.get("causation_id"),
        "category": state.get("category"),
        "terminal": state.get("terminal"),
        "body": entry.body.decode(),
    }
