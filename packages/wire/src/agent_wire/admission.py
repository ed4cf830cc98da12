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
_CONFLICT = "another Wire with different bytes has this id"


class Schemas:
    """The compiled schemas.

    Args:
        documents: File name -> JSON Schema, as `schemas` gives them.
        tables: Name the schema of each event type.
    """

    def __init__(self, documents: Mapping[str, JsonObject], tables: Tables) -> None:
        registry = Registry([(str(document["$id"]), document) for document in documents.values()])
        self._compiled = {
            name: Draft202012Validator(document, registry=registry, validate_formats=False)
            for name, document in documents.items()
        }
        self._by_type = {event: self._compiled[rule.schema] for event, rule in tables.events.items()}

    def check(self, wire: JsonObject) -> Rejection | None:
        """The first violation of the Wire's own schema, None if it is valid."""
        validator = self._by_type.get(str(wire.get("type")))
        if validator is None:
            unknown = Rejection("wire.unknown_type", "this event type has no schema", "/type", "schema")
            return self.check_document(_ENVELOPE, wire) or unknown
        return None if validator.is_valid(wire) else _first(validator.iter_errors(wire))

    def check_document(self, name: str, document: JsonObject) -> Rejection | None:
        """The first violation of the schema of this file name by any document."""
        validator = self._compiled[name]
        return None if validator.is_valid(document) else _first(validator.iter_errors(document))


@cache
def default_schemas() -> Schemas:
    """The schemas of Agent Wire 1.1 as they ship."""
    return Schemas(schemas(), default_tables())


def _first(errors: Iterable[ValidationError]) -> Rejection:
    """The first violation by pointer and keyword, whatever the validator's order."""
    pointer, keyword, message = min(
        ("".join(f"/{_escaped(str(part))}" for part in error.instance_path), error.kind.name, error.message)
        for error in errors
    )
    return Rejection("wire.schema", message, pointer, "schema", keyword)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


class CheckedWire(NamedTuple):
    """A Wire that breaks no rule by itself, with its canonical bytes and their SHA-256."""

    wire_id: str
    wire: JsonObject
    body: bytes
    digest: bytes


class RepeatedWire(NamedTuple):
    """A Wire that was admitted before with the same bytes: nothing to do (design: wire)."""

    wire_id: str


class Admission:
    """The rules, with the tables and schemas that they read."""

    def __init__(self, tables: Tables, schemas: Schemas) -> None:
        self.tables = tables
        self._schemas = schemas

    def admit(self, state: AdmissionState, wire: JsonObject) -> Change | RepeatedWire | Rejection:
        """Decide on the next Wire.

        Args:
            state: Everything that was admitted before; `state.add(change)` changes it, this method does not.
            wire: Any JSON object.

        Returns:
            The change that accepting it makes, or `RepeatedWire`, or the first rule that it breaks.
        """
        result = self.inspect(wire)
        return self.place(state, result) if isinstance(result, CheckedWire) else result

    def inspect(self, wire: JsonObject) -> CheckedWire | Rejection:
        """Apply the rules that need no other Wire: bytes, schema, date, credentials, extensions, state."""
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
        """The first rule that a Wire breaks by itself."""
        result = self.inspect(wire)
        return result if isinstance(result, Rejection) else None

    def place(self, state: AdmissionState, checked: CheckedWire) -> Change | RepeatedWire | Rejection:
        """Apply the other rules, those of a Wire among the Wires that were admitted before."""
        wire_id, wire, _, digest = checked
        known = state.digest(wire_id)
        if known is not None:
            return (
                RepeatedWire(wire_id) if known == digest else _no("wire.id_conflict", "/wire_id", _CONFLICT)
            )
        stream = _stream(wire)
        stream_id: str = stream["stream_id"]
        after = self._on_its_stream(state, wire, stream, state.stream(stream_id))
        return after if isinstance(after, Rejection) else change_of(wire, digest, after)

    def replay(self, state: AdmissionState, wire: JsonObject, body: bytes) -> None:
        """Add a Wire that a log has admitted before, without checking it again.

        Args:
            state: Everything that was admitted before this Wire; it is changed.
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
    """The admission of Agent Wire 1.1 as it ships."""
    return Admission(default_tables(), default_schemas())


def _check_date(wire: JsonObject) -> Rejection | None:
    """The rejection of a `ts` whose day no calendar has; the schema has seen to its form."""
    try:
        date.fromisoformat(str(wire["ts"])[:10])
    except ValueError:
        return Rejection("wire.date", "there is no such day", "/ts", "admission")
    return None


def _check_extensions(wire: JsonObject) -> Rejection | None:
    """The rejection of prose in extensions: they hold numbers, references and single words (design: wire)."""
    extensions = wire.get("extensions")
    return _check_extension(extensions, "/extensions") if extensions else None


def _check_extension(value: object, pointer: str) -> Rejection | None:
    if isinstance(value, str):
        if not value or _REFERENCE.fullmatch(value):
            return None
        message = "an extension holds no prose: one word or reference of at most 96 ASCII characters"
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
        return _no("stream.kind", "/stream/stream_id", f"this event has no place on a {kind} stream")
    if before is not None and before.task is not None and before.task.terminal:
        return _no("stream.terminal", "/stream/stream_id", f"the stream ended as {before.task.state}")
    expected = before.seq + 1 if before is not None else 1
    if stream["stream_seq"] != expected:
        return _no("stream.sequence", "/stream/stream_seq", f"the next place in this stream is {expected}")
    if before is not None and stream["context_id"] != before.context_id:
        return _no("stream.context", "/stream/context_id", f"this stream's context is {before.context_id}")
    return None


def _check_cause(state: AdmissionState, stream: JsonMap) -> Rejection | None:
    cause = stream.get("causation_id")
    if cause is not None and not state.has_cause(cause):
        return _no("stream.causation", "/stream/causation_id", "no earlier Wire has this id")
    return None


def _check_state(rule: EventRule, wire: JsonObject) -> Rejection | None:
    """`state` is verified, never trusted (design: wire); outside tasks it may be left out."""
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
    """A retry keeps its context and follows an attempt that is over (design: wire)."""
    if stream["stream_seq"] != 1 or not state.is_whole:
        return None
    _, task_id, attempt = StreamId.parse(stream["stream_id"])
    if attempt == 1:
        return None
    previous = state.stream(task_stream_id(task_id, attempt - 1))
    if previous is None or previous.task is None or not previous.task.terminal:
        return _no("task.attempt", "/stream/stream_id", f"attempt {attempt - 1} of {task_id} is not over")
    if previous.context_id != stream["context_id"]:
        return _no("stream.context", "/stream/context_id", f"the task's context is {previous.context_id}")
    return None


def _check_parent(stream: JsonMap) -> Rejection | None:
    parent = stream.get("parent_task_id")
    if parent is not None and parent == StreamId.parse(stream["stream_id"]).id:
        return _no("stream.parent", "/stream/parent_task_id", "a task is not its own parent")
    return None


def _check_payload(state: AdmissionState, task: TaskState, wire: JsonObject) -> Rejection | None:
    event = str(wire["type"])
    if event == "artifact.ready":
        return _check_lineage(wire) or _check_announcement(state, wire)
    if event == "task.complete":
        return _check_completion(task, _payload(wire))
    return None


def _check_lineage(wire: JsonObject) -> Rejection | None:
    """An artifact comes from the attempt that announces it."""
    lineage, stream_id = _payload(wire)["lineage"], _stream(wire)["stream_id"]
    if task_stream_id(lineage["task"], lineage["attempt"]) != stream_id:
        return _no("artifact.lineage", "/payload/lineage", f"the artifact is announced on {stream_id}")
    carried = len(lineage["inputs"])
    if lineage.get("input_count", carried + 1) <= carried:
        return _no(
            "artifact.lineage", "/payload/lineage/input_count", "it is for inputs that are not carried"
        )
    return None


def _check_announcement(state: AdmissionState, wire: JsonObject) -> Rejection | None:
    """A version keeps the hash that it was first announced with, by whichever task of its context."""
    known = state.announced(version_of(wire))
    if known is not None and known != _payload(wire)["sha256"]:
        return _no("artifact.conflict", "/payload/sha256", "this version was announced with another hash")
    return None


def _check_completion(task: TaskState, payload: JsonMap) -> Rejection | None:
    """A task is complete when its required artifacts were announced (design: wire)."""
    artifact_ids: list[str] = payload["artifact_ids"]
    announced = {artifact.artifact_id for artifact in task.artifacts}
    pointer = "/payload/artifact_ids"
    if unknown := [name for name in artifact_ids if name not in announced]:
        return _no("task.complete.unannounced", pointer, f"no artifact.ready announced {unknown[0]}")
    if isinstance(task.required, int):
        if len(artifact_ids) < task.required:
            return _no("task.complete.missing_artifact", pointer, f"the task needs {task.required} artifacts")
    elif missing := [name for name in task.required if name not in artifact_ids]:
        return _no("task.complete.missing_artifact", pointer, f"the required {missing[0]} is not among them")
    if payload["primary_artifact_id"] not in artifact_ids:
        return _no("task.complete.primary", "/payload/primary_artifact_id", "it is not among artifact_ids")
    return None


def _no(code: str, pointer: str, message: str) -> Rejection:
    return Rejection(code, message, pointer)


def _payload(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["payload"])  # the schema has been checked


def _stream(wire: JsonObject) -> JsonMap:
    return cast("JsonMap", wire["stream"])  # the schema has been checked
