"""The one admission of Wires, for producer, log and reducer (D31).

In this order: canonical bytes (D30), schema, secrets (W HCS Content Boundary), idempotency (D32), the place
in the stream, causes and context (W Context And Lineage), state and transition (D33, D34), then the rules of
single events.
"""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from specwright.canonical_json import JsonObject
from specwright.wire import canonical
from specwright.wire.content import secret_fault
from specwright.wire.envelope import StreamId, task_stream_id
from specwright.wire.ledger import Change, Ledger
from specwright.wire.rejection import Rejection, WireRefusedError
from specwright.wire.stream import StreamState, TaskState, advance
from specwright.wire.tables import EventRule, Tables, Transition, default_tables
from specwright.wire.validation import Schemas, default_schemas

__all__ = ["Admission", "Repeated", "Sound", "default_admission"]

JsonMap: TypeAlias = Mapping[str, Any]


class Sound(NamedTuple):
    """A Wire that breaks no rule by itself; its place among the others is still to be asked.

    Args:
        wire_id: Its id.
        wire: The Wire.
        body: Its canonical bytes.
        digest: Their SHA-256.
    """

    wire_id: str
    wire: JsonObject
    body: bytes
    digest: bytes


class Repeated(NamedTuple):
    """A Wire that is there already with the same bytes: nothing to do (D32)."""

    wire_id: str


class Admission:
    """The rules, with the tables and schemas that they read.

    Args:
        tables: The contracts.
        schemas: The compiled schemas.
    """

    def __init__(self, tables: Tables, schemas: Schemas) -> None:
        self.tables = tables
        self._schemas = schemas

    def admit(self, ledger: Ledger, wire: JsonObject) -> Change | Repeated | Rejection:
        """Decide on the next Wire.

        Args:
            ledger: What was admitted before; it is not changed, `ledger.add(change)` does that.
            wire: Any JSON object.

        Returns:
            The change that accepting it makes, or `Repeated`, or the first rule that it breaks.
        """
        sound = self.inspect(wire)
        return self.place(ledger, sound) if isinstance(sound, Sound) else sound

    def inspect(self, wire: JsonObject) -> Sound | Rejection:
        """Ask the rules that need no ledger: bytes, schema, content boundary."""
        try:
            body = canonical.encode(wire)
        except WireRefusedError as error:
            return error.rejection
        fault = self._schemas.check(wire) or secret_fault(body)
        return fault or Sound(str(wire["wire_id"]), wire, body, hashlib.sha256(body).digest())

    def place(self, ledger: Ledger, sound: Sound) -> Change | Repeated | Rejection:
        """Ask the other rules: what the Wire is among those that were admitted before.

        Args:
            ledger: What was admitted before; it is not changed.
            sound: The next Wire.
        """
        wire_id, wire, body, digest = sound
        known = ledger.digest(wire_id)
        if known is not None:
            return Repeated(wire_id) if known == digest else _no("wire.id_conflict", "/wire_id", _CONFLICT)
        stream = _stream(wire)
        stream_id: str = stream["stream_id"]
        after = self._on_its_stream(ledger, wire, stream, ledger.stream(stream_id))
        if isinstance(after, Rejection):
            return after
        return Change(wire_id, digest, stream_id, after, body)

    def fault_of(self, wire: JsonObject) -> Rejection | None:
        """The first rule that a Wire breaks by itself: bytes, schema, content boundary."""
        found = self.inspect(wire)
        return found if isinstance(found, Rejection) else None

    def replay(self, ledger: Ledger, wire: JsonObject, body: bytes) -> None:
        """Take a Wire that a log has admitted before into a ledger, without asking again.

        Args:
            ledger: What was admitted before this Wire; it is changed.
            wire: The Wire.
            body: Its stored canonical bytes.
        """
        stream_id = str(_stream(wire)["stream_id"])
        after = advance(self.tables, ledger.stream(stream_id), wire)
        ledger.add(Change(str(wire["wire_id"]), hashlib.sha256(body).digest(), stream_id, after, body))

    def _on_its_stream(
        self, ledger: Ledger, wire: JsonObject, stream: JsonMap, before: StreamState | None
    ) -> StreamState | Rejection:
        event = str(wire["type"])
        rule = self.tables.events[event]
        fault = _place_fault(before, stream, rule) or _cause_fault(ledger, stream) or _state_fault(rule, wire)
        if fault is not None or not rule.is_task_event:
            return fault or advance(self.tables, before, wire)
        task = (before.task if before is not None else None) or TaskState(self.tables.initial)
        step = self.tables.step(task.state, event, claimed=task.claimed)
        fault = (
            _transition_fault(task, event, step)
            or _attempt_fault(ledger, stream)
            or _payload_fault(task, event, wire)
        )
        return fault or advance(self.tables, before, wire, step)


_CONFLICT = "another Wire with other bytes has this id already"


@cache
def default_admission() -> Admission:
    """The admission of Agent Wire 1.1 as it ships."""
    return Admission(default_tables(), default_schemas())


def _place_fault(before: StreamState | None, stream: JsonMap, rule: EventRule) -> Rejection | None:
    kind = stream["stream_id"].partition(":")[0]
    if kind not in rule.streams:
        return _no("stream.kind", "/stream/stream_id", f"this event stands on no {kind} stream")
    if before is not None and before.task is not None and before.task.terminal:
        return _no(
            "stream.terminal",
            "/stream/stream_id",
            f"the stream ended as {before.task.state}",
        )
    expected = before.seq + 1 if before is not None else 1
    if stream["stream_seq"] != expected:
        return _no("stream.sequence", "/stream/stream_seq", f"the next place in this stream is {expected}")
    if before is not None and stream["context_id"] != before.context_id:
        return _no("stream.context", "/stream/context_id", f"this stream's context is {before.context_id}")
    return None


def _cause_fault(ledger: Ledger, stream: JsonMap) -> Rejection | None:
    cause = stream.get("causation_id")
    if cause is not None and ledger.digest(cause) is None:
        return _no("stream.causation", "/stream/causation_id", "the Wire that it names as cause is unknown")
    return None


def _state_fault(rule: EventRule, wire: JsonObject) -> Rejection | None:
    """`state` is verified, never trusted (D34); outside tasks it may be left out."""
    state: Any = wire.get("state")
    if state is None:
        return None
    if state["category"] != rule.category:
        return _no("state.category", "/state/category", f"the category of this event is {rule.category}")
    if state["terminal"] is not rule.terminal:
        return _no("state.terminal", "/state/terminal", f"terminal is {rule.terminal} for this event".lower())
    return None


def _transition_fault(task: TaskState, event: str, step: Transition | None) -> Rejection | None:
    if step is None:
        held = f" ({'claimed' if task.claimed else 'unclaimed'})" if task.blocked else ""
        return _no("task.transition", "/type", f"{event} is not legal in the state {task.state}{held}")
    return None


def _attempt_fault(ledger: Ledger, stream: JsonMap) -> Rejection | None:
    """A retry keeps its context and follows an attempt that is over (W Context And Lineage, D33)."""
    if stream["stream_seq"] != 1:
        return None
    _, task_id, attempt = StreamId.parse(stream["stream_id"])
    if attempt == 1:
        return None
    previous = ledger.stream(task_stream_id(task_id, attempt - 1))
    if previous is None or previous.task is None or not previous.task.terminal:
        return _no("task.attempt", "/stream/stream_id", f"attempt {attempt - 1} of {task_id} is not over")
    if previous.context_id != stream["context_id"]:
        return _no("stream.context", "/stream/context_id", f"the task's context is {previous.context_id}")
    return None


def _payload_fault(task: TaskState, event: str, wire: JsonObject) -> Rejection | None:
    if event == "artifact.ready":
        return _announcement_fault(task, _payload(wire))
    if event == "task.complete":
        return _completion_fault(task, _payload(wire))
    return None


def _announcement_fault(task: TaskState, payload: JsonMap) -> Rejection | None:
    name, version = payload["artifact_id"], payload["version"]
    for old in task.artifacts:
        same = old.artifact_id == name and old.version == version
        if same and old.sha256 != payload["sha256"]:
            return _no("artifact.conflict", "/payload/sha256", "this version was announced with another hash")
    return None


def _completion_fault(task: TaskState, payload: JsonMap) -> Rejection | None:
    """Nothing is done because somebody said so: required, announced, verified (D33)."""
    claimed: list[str] = payload["artifact_ids"]
    announced = {artifact.artifact_id for artifact in task.artifacts}
    place = "/payload/artifact_ids"
    if unknown := [name for name in claimed if name not in announced]:
        return _no("task.complete.unannounced", place, f"no artifact.ready announced {unknown[0]}")
    if isinstance(task.required, int):
        if len(claimed) < task.required:
            return _no("task.complete.missing_artifact", place, f"the task needs {task.required} artifacts")
    elif missing := [name for name in task.required if name not in claimed]:
        return _no("task.complete.missing_artifact", place, f"the required {missing[0]} is not among them")
    if payload["primary_artifact_id"] not in claimed:
        return _no("task.complete.primary", "/payload/primary_artifact_id", "it is not among artifact_ids")
    return None


def _no(code: str, pointer: str, message: str) -> Rejection:
    return Rejection(code, message, pointer)


def _payload(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["payload"])  # the schema has been checked


def _stream(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["stream"])  # the schema has been checked
