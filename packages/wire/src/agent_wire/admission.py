"""Decides whether a Wire is admissible; producer, log and reducer share these rules (design: wire).

The checks run in this order: canonical bytes, JSON Schema, date, credentials, extensions, `state`, repeated ids, place
in the stream, context and cause, transition, then the rules of single events.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from jsonschema_rs import Draft202012Validator, Registry, ValidationError

from agent_wire.canonical_json import JsonObject
from agent_wire.credentials import check_credentials
from agent_wire.envelope import StreamId, encode, task_stream_id
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.stream import AdmissionState, Change, StreamState, TaskState, advance, change_of, version_of
from agent_wire.tables import EventRule, Tables, Transition, default_tables, schemas

JsonMap: TypeAlias = Mapping[str, Any]

_ENVELOPE = "envelope.schema.json"
_REFERENCE = re.compile(r"[A-Za-z0-9][!#-;=?-\[\]-~]{0,95}")
_MOST_ITEMS = 8


class Schemas:
    """The JSON Schemas of Wires and related documents, compiled.

    Args:
        documents: File name -> JSON Schema, as `agent_wire.tables.schemas` returns them.
        tables: The event map, which names the schema of each event type.
    """

    def __init__(self, documents: Mapping[str, JsonObject], tables: Tables) -> None:
        registry = Registry([(str(document["$id"]), document) for document in documents.values()])
        self._compiled = {
            name: Draft202012Validator(document, registry=registry, validate_formats=False)
            for name, document in documents.items()
        }
        self._by_type = {event: self._compiled[rule.schema] for event, rule in tables.events.items()}

    def check(self, wire: JsonObject) -> Rejection | None:
        """Return the first violation of the schema for the Wire's type, or None if it is valid."""
        validator = self._by_type.get(str(wire.get("type")))
        if validator is None:
            unknown = Rejection("wire.unknown_type", "this event type has no schema", "/type", "schema")
            return self.check_document(_ENVELOPE, wire) or unknown
        return None if validator.is_valid(wire) else _first(validator.iter_errors(wire))

    def check_document(self, name: str, document: JsonObject) -> Rejection | None:
        """Return the first violation of the schema with this file name, or None if the document is valid."""
        validator = self._compiled[name]
        return None if validator.is_valid(document) else _first(validator.iter_errors(document))


@cache
def default_schemas() -> Schemas:
    """Return the schemas of Agent Wire 1.1 that ship."""
    return Schemas(schemas(), default_tables())


def _first(errors: Iterable[ValidationError]) -> Rejection:
    """Return the first violation by pointer and keyword, which does not depend on the validator's order."""
    pointer, keyword, message = min(
        ("".join(f"/{_escaped(str(part))}" for part in error.instance_path), error.kind.name, error.message)
        for error in errors
    )
    return Rejection("wire.schema", message, pointer, "schema", keyword)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


class CheckedWire(NamedTuple):
    """A Wire that passed every check that needs no other Wire, with its canonical bytes and their SHA-256."""

    wire_id: str
    wire: JsonObject
    body: bytes
    digest: bytes


class RepeatedWire(NamedTuple):
    """The decision on a Wire that was admitted before with the same bytes: ignore it (design: wire)."""

    wire_id: str


class Admission:
    """The admission rules, with the tables and schemas that they use."""

    def __init__(self, tables: Tables, schemas: Schemas) -> None:
        self.tables = tables
        self._schemas = schemas

    def admit(self, state: AdmissionState, wire: JsonObject) -> Change | RepeatedWire | Rejection:
        """Decide whether a Wire is admissible now.

        Args:
            state: Everything admitted before. This method does not change it; the caller calls `state.add(change)`.
            wire: Any JSON object.

        Returns:
            The change to add to the state, `RepeatedWire`, or the first rule that the Wire breaks.
        """
        result = self.inspect(wire)
        return self.place(state, result) if isinstance(result, CheckedWire) else result

    def inspect(self, wire: JsonObject) -> CheckedWire | Rejection:
        """Check a Wire on its own: bytes, schema, date, credentials, extensions, `state`."""
        try:
            body = encode(wire)
        except WireRefusedError as error:
            return error.rejection
        rejection = (
            self._schemas.check(wire)
            or _check_date(wire)
            or check_credentials(body)
            or _check_extensions(wire)
            or _check_state(self.tables.events[str(wire["type"])], wire)
        )
        return rejection or CheckedWire(str(wire["wire_id"]), wire, body, hashlib.sha256(body).digest())

    def rejection_of(self, wire: JsonObject) -> Rejection | None:
        """Return the first rule that a Wire breaks on its own, or None."""
        result = self.inspect(wire)
        return result if isinstance(result, Rejection) else None

    def place(self, state: AdmissionState, checked: CheckedWire) -> Change | RepeatedWire | Rejection:
        """Check an inspected Wire against the Wires that were admitted before."""
        wire_id, wire, _, digest = checked
        known = state.digest(wire_id)
        if known == digest:
            return RepeatedWire(wire_id)
        if known is not None:
            return _no("wire.id_conflict", "/wire_id", "another Wire with different bytes has this id")
        stream = _stream(wire)
        stream_id: str = stream["stream_id"]
        after = self._on_its_stream(state, wire, stream, state.stream(stream_id))
        return after if isinstance(after, Rejection) else change_of(wire, digest, after)

    def replay(self, state: AdmissionState, wire: JsonObject, body: bytes) -> None:
        """Add a Wire from a log to the state without checking it again.

        Args:
            state: Everything admitted before this Wire; this method adds the Wire to it.
            wire: The Wire.
            body: Its stored canonical bytes.
        """
        stream_id = str(_stream(wire)["stream_id"])
        after = advance(self.tables, state.stream(stream_id), wire)
        state.add(change_of(wire, hashlib.sha256(body).digest(), after))

    def _on_its_stream(
        self, state: AdmissionState, wire: JsonObject, stream: JsonMap, before: StreamState | None
    ) -> StreamState | Rejection:
        event = str(wire["type"])
        rule = self.tables.events[event]
        rejection = _check_place(before, stream, rule) or _check_cause(state, stream)
        if rejection is not None or not rule.is_task_event:
            return rejection or advance(self.tables, before, wire)
        task = (before.task if before is not None else None) or TaskState(self.tables.initial)
        step = self.tables.step(task.state, event, claimed=task.claimed)
        rejection = (
            _check_transition(task, event, step)
            or _check_attempt(state, stream)
            or _check_parent(stream)
            or _check_payload(state, task, wire)
        )
        return rejection or advance(self.tables, before, wire, step)


@cache
def default_admission() -> Admission:
    """Return the admission rules of Agent Wire 1.1 that ship."""
    return Admission(default_tables(), default_schemas())


def _check_date(wire: JsonObject) -> Rejection | None:
    """Reject a `ts` with an impossible date, such as February 30; the schema has already checked its form."""
    try:
        date.fromisoformat(str(wire["ts"])[:10])
    except ValueError:
        return Rejection("wire.date", "this date does not exist", "/ts", "admission")
    return None


def _check_extensions(wire: JsonObject) -> Rejection | None:
    """Reject prose in extensions, which may hold only numbers, references and single words (design: wire)."""
    extensions = wire.get("extensions")
    return _check_extension(extensions, "/extensions") if extensions else None


def _check_extension(value: object, pointer: str) -> Rejection | None:
    if isinstance(value, str):
        if not value or _REFERENCE.fullmatch(value):
            return None
        message = "a text in extensions must be one word or reference of at most 96 ASCII characters"
        return Rejection("wire.extension_text", message, pointer, "admission")
    if not isinstance(value, list | dict):
        return None
    inner = cast("list[object] | dict[str, object]", value)
    if len(inner) > _MOST_ITEMS:
        message = f"a list or object in extensions has at most {_MOST_ITEMS} values"
        return Rejection("wire.extension_text", message, pointer, "admission")
    for key, item in enumerate(inner) if isinstance(inner, list) else inner.items():
        place = f"{pointer}/{_escaped(str(key))}"
        named = None if isinstance(key, int) else _check_extension(key, place)
        if rejection := named or _check_extension(item, place):
            return rejection
    return None


def _check_place(before: StreamState | None, stream: JsonMap, rule: EventRule) -> Rejection | None:
    kind = stream["stream_id"].partition(":")[0]
    if kind not in rule.streams:
        return _no("stream.kind", "/stream/stream_id", f"this event is not allowed on a {kind} stream")
    if before is not None and before.task is not None and before.task.terminal:
        return _no("stream.terminal", "/stream/stream_id", f"the stream ended as {before.task.state}")
    expected = before.seq + 1 if before is not None else 1
    if stream["stream_seq"] != expected:
        return _no("stream.sequence", "/stream/stream_seq", f"the next stream_seq is {expected}")
    if before is not None and stream["context_id"] != before.context_id:
        return _no("stream.context", "/stream/context_id", f"the stream's context is {before.context_id}")
    return None


def _check_cause(state: AdmissionState, stream: JsonMap) -> Rejection | None:
    cause = stream.get("causation_id")
    if cause is not None and not state.has_cause(cause):
        return _no("stream.causation", "/stream/causation_id", "no earlier Wire has this id")
    return None


def _check_state(rule: EventRule, wire: JsonObject) -> Rejection | None:
    """Compare `state` with the event map (design: wire); an event outside tasks may omit it."""
    state: Any = wire.get("state") or rule._asdict()
    if state["category"] != rule.category:
        return _no("state.category", "/state/category", f"the category of this event is {rule.category}")
    if state["terminal"] is not rule.terminal:
        return _no("state.terminal", "/state/terminal", f"terminal is {rule.terminal} for this event".lower())
    return None


def _check_transition(task: TaskState, event: str, step: Transition | None) -> Rejection | None:
    if step is None:
        claim = f" ({'claimed' if task.claimed else 'unclaimed'})" if task.blocked else ""
        return _no("task.transition", "/type", f"{event} is not legal in the state {task.state}{claim}")
    return None


def _check_attempt(state: AdmissionState, stream: JsonMap) -> Rejection | None:
    """Check that a retry keeps the context and that the attempt before it has ended (design: wire)."""
    if stream["stream_seq"] != 1 or not state.is_whole:
        return None
    _, task_id, attempt = StreamId.parse(stream["stream_id"])
    if attempt == 1:
        return None
    previous = state.stream(task_stream_id(task_id, attempt - 1))
    if previous is None or previous.task is None or not previous.task.terminal:
        return _no("task.attempt", "/stream/stream_id", f"attempt {attempt - 1} of {task_id} has not ended")
    if previous.context_id != stream["context_id"]:
        return _no("stream.context", "/stream/context_id", f"the task's context is {previous.context_id}")
    return None


def _check_parent(stream: JsonMap) -> Rejection | None:
    parent = stream.get("parent_task_id")
    if parent is not None and parent == StreamId.parse(stream["stream_id"]).id:
        return _no("stream.parent", "/stream/parent_task_id", "a task cannot be its own parent")
    return None


def _check_payload(state: AdmissionState, task: TaskState, wire: JsonObject) -> Rejection | None:
    event = str(wire["type"])
    if event == "artifact.ready":
        return _check_lineage(wire) or _check_announcement(state, wire)
    if event == "task.complete":
        return _check_completion(task, _payload(wire))
    return None


def _check_lineage(wire: JsonObject) -> Rejection | None:
    """Check that the lineage names the attempt that announces the artifact, and counts its inputs."""
    lineage, stream_id = _payload(wire)["lineage"], _stream(wire)["stream_id"]
    if task_stream_id(lineage["task"], lineage["attempt"]) != stream_id:
        return _no("artifact.lineage", "/payload/lineage", f"the lineage does not match {stream_id}")
    carried = len(lineage["inputs"])
    if lineage.get("input_count", carried + 1) <= carried:
        message = f"input_count must be greater than the number of listed inputs, {carried}"
        return _no("artifact.lineage", "/payload/lineage/input_count", message)
    return None


def _check_announcement(state: AdmissionState, wire: JsonObject) -> Rejection | None:
    """Check that a version has the hash of its first announcement, whichever task of the context made that."""
    known = state.announced(version_of(wire))
    if known is not None and known != _payload(wire)["sha256"]:
        return _no("artifact.conflict", "/payload/sha256", "this version was announced with another hash")
    return None


def _check_completion(task: TaskState, payload: JsonMap) -> Rejection | None:
    """Check that a completion names announced artifacts, among them all required ones (design: wire)."""
    artifact_ids: list[str] = payload["artifact_ids"]
    announced = {artifact.artifact_id for artifact in task.artifacts}
    pointer = "/payload/artifact_ids"
    if unknown := [name for name in artifact_ids if name not in announced]:
        return _no("task.complete.unannounced", pointer, f"no artifact.ready announced {unknown[0]}")
    if isinstance(task.required, int):
        if len(artifact_ids) < task.required:
            return _no("task.complete.missing_artifact", pointer, f"the task needs {task.required} artifacts")
    elif missing := [name for name in task.required if name not in artifact_ids]:
        return _no("task.complete.missing_artifact", pointer, f"the required {missing[0]} is missing")
    if payload["primary_artifact_id"] not in artifact_ids:
        return _no("task.complete.primary", "/payload/primary_artifact_id", "it is not in artifact_ids")
    return None


def _no(code: str, pointer: str, message: str) -> Rejection:
    return Rejection(code, message, pointer)


def _payload(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["payload"])  # the schema has been checked


def _stream(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["stream"])  # the schema has been checked
