"""Builds, encodes and parses Wires; stream ids (design: wire).

The builders check nothing; `agent_wire.admission` decides whether a Wire is valid. A Wire is RFC 8785 JSON without floats
or duplicate keys, with integers within +-(2^53-1), and at most 1,024 bytes. Most Wires take a faster path: orjson's sorted
output is RFC 8785 when every byte is ASCII and no float occurs. A property test compares it with the reference
implementation.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import orjson

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.tables import Tables, default_tables

_VERSION = "1.1"
MAX_BYTES = 1024
_MAX_INTEGER = 2**53 - 1
_MAX_DEPTH = 16
_MAX_REFERENCES = 16
"""The most `reference_task_ids` in a Wire; the task's definition has all of them."""


class StreamId(NamedTuple):
    """The parts of a stream id.

    `project:<id>`, `phase:<id>`, `task:<id>:attempt:<n>`, `agent:<id>` or `artifact:<id>`.

    Args:
        kind: The word before the first colon.
        id: The project, phase, task, agent or artifact.
        attempt: The number of the attempt at a task; 0 for other kinds.
    """

    kind: str
    id: str
    attempt: int = 0

    @classmethod
    def parse(cls, text: str) -> "StreamId":
        """Parse a stream id.

        Raises:
            ValueError: the text has none of the five forms.
        """
        match text.split(":"):
            case ["task", task_id, "attempt", attempt] if task_id and attempt.isdecimal():
                return cls("task", task_id, int(attempt))
            case ["project" | "phase" | "agent" | "artifact" as kind, name] if name:
                return cls(kind, name)
            case _:
                raise ValueError(f"{text!r} is not a stream id")

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}" + (f":attempt:{self.attempt}" if self.kind == "task" else "")


def task_stream_id(task_id: str, attempt: int) -> str:
    """Return the stream id of one attempt at a task, `task:TSK-014:attempt:1` (design: wire)."""
    return str(StreamId("task", task_id, attempt))


def make_stream(
    *,
    stream_id: str,
    stream_seq: int,
    context_id: str,
    causation_id: str | None = None,
    correlation_id: str | None = None,
    reference_task_ids: Sequence[str] = (),
    parent_task_id: str | None = None,
) -> JsonObject:
    """Build the `stream` object of a Wire.

    Args:
        stream_id: The stream.
        stream_seq: The number of the Wire in the stream, from 1 without gaps.
        context_id: The project, `project:<id>`.
        causation_id: The id of the Wire that caused this one, if any.
        correlation_id: By default the context.
        reference_task_ids: The tasks that this one continues or depends on; only the first 16 are included.
        parent_task_id: The task that spawned this one.
    """
    stream: JsonObject = {
        "stream_id": stream_id,
        "stream_seq": stream_seq,
        "context_id": context_id,
        "correlation_id": correlation_id or context_id,
    }
    if causation_id is not None:
        stream["causation_id"] = causation_id
    if reference_task_ids:
        stream["reference_task_ids"] = list(reference_task_ids[:_MAX_REFERENCES])
    if parent_task_id is not None:
        stream["parent_task_id"] = parent_task_id
    return stream


def make_wire(
    *,
    wire_id: str,
    ts: str,
    type: str,
    sender: str,
    stream: Mapping[str, Any],
    payload: Mapping[str, Any],
    state: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Any] | None = None,
    tables: Tables | None = None,
) -> JsonObject:
    """Build a Wire.

    Args:
        wire_id: `wire_` and a ULID, generated together with `ts`.
        ts: The producer's time, ISO 8601 in UTC.
        type: The event type.
        sender: `agent:<slug>`, `runner:<id>`, `system` or `human:<id>`.
        stream: The result of `make_stream`.
        payload: An object that matches the schema of the event type.
        state: By default the state that the event map defines for the type.
        extensions: Namespaced metadata.
        tables: Tables to use instead of the ones that ship.
    """
    wire: JsonObject = {
        "wire": _VERSION,
        "wire_id": wire_id,
        "type": type,
        "sender": sender,
        "ts": ts,
        "stream": dict(stream),
    }
    effective = dict(state) if state is not None else (tables or default_tables()).state_of(type)
    if effective is not None:
        wire["state"] = effective
    wire["payload"] = dict(payload)
    if extensions:
        wire["extensions"] = dict(extensions)
    return wire


def wire_id_of(wire: object) -> str:
    """Return the id of a value that may not be a valid Wire, or an empty string."""
    value = cast("JsonObject", wire).get("wire_id") if isinstance(wire, dict) else None
    return value if isinstance(value, str) else ""


def encode(wire: JsonObject) -> bytes:
    """Encode a Wire as canonical bytes.

    Raises:
        WireRefusedError: a Wire cannot hold one of the values, or the Wire has more than 1,024 bytes.
    """
    if type(wire) is not dict:
        raise WireRefusedError(_no("wire.not_json", "a Wire is a JSON object"))
    if rejection := _check_value(wire, "", 0):
        raise WireRefusedError(rejection, wire_id_of(wire))
    try:
        body = orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)
        if not body.isascii():
            body = canonical_json.canonical(wire)
    except (TypeError, ValueError) as error:
        rejection = _no("wire.text", f"a text of the Wire is not valid Unicode: {error}")
        raise WireRefusedError(rejection, wire_id_of(wire)) from error
    if len(body) > MAX_BYTES:
        message = f"the Wire has {len(body)} canonical bytes; at most {MAX_BYTES} are allowed"
        raise WireRefusedError(_no("wire.too_large", message), wire_id_of(wire))
    return body


def parse(data: bytes) -> JsonObject:
    """Parse a Wire from bytes, which need not be canonical.

    Raises:
        WireRefusedError: the bytes are not a JSON object, or there are duplicate keys, floats, integers out of range,
            or too many bytes.
    """
    try:
        wire: JsonObject = orjson.loads(data)
    except ValueError as error:
        raise WireRefusedError(_no("wire.not_json", f"the Wire is not JSON: {error}")) from error
    if encode(wire) != data:
        # Only the formatting may differ, but orjson does not report a duplicate key.
        try:
            canonical_json.loads(data)
        except (ValueError, RecursionError) as error:
            rejection = _no("wire.duplicate_key", f"the Wire has a duplicate key: {error}")
            raise WireRefusedError(rejection, wire_id_of(wire)) from error
    return wire


def _check_value(value: object, pointer: str, depth: int) -> Rejection | None:
    """Find the first value that a Wire cannot hold. Types must match exactly: a subclass could encode differently."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return None
    if kind is int:
        is_safe = -_MAX_INTEGER <= cast("int", value) <= _MAX_INTEGER
        return None if is_safe else _no("wire.integer_range", "an integer is outside +-(2^53-1)", pointer)
    if kind is float:
        return _no("wire.float", "a Wire cannot hold floating-point numbers", pointer)
    if kind is not dict and kind is not list:
        return _no("wire.type", f"a {kind.__name__} is not a JSON value", pointer)
    if depth == _MAX_DEPTH:
        return _no("wire.too_deep", f"values are nested more than {_MAX_DEPTH} levels deep", pointer)
    inner = cast("dict[str, object] | list[object]", value)
    for key, item in enumerate(inner) if isinstance(inner, list) else inner.items():
        if rejection := _check_value(item, f"{pointer}/{key}", depth + 1):
            return rejection
    return None


def _no(code: str, message: str, pointer: str = "") -> Rejection:
    return Rejection(code, message, pointer, "parse")
