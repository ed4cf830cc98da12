"""Builders of Wires, and stream ids (design: wire).

Builders check nothing; `agent_wire.admission` decides whether a Wire is valid.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent_wire.canonical_json import JsonObject
from agent_wire.tables import Tables, default_tables

WIRE_VERSION = "1.1"
MAX_REFERENCES = 16
"""How many `reference_task_ids` a Wire carries; the referenced definition has all of them."""


class StreamId(NamedTuple):
    """The parts of a stream id.

    `project:<id>`, `phase:<id>`, `task:<id>:attempt:<n>`, `agent:<id>` or `artifact:<id>`.

    Args:
        kind: The word before the first colon.
        id: What the stream is about.
        attempt: Of a task stream; 0 for the others.
    """

    kind: str
    id: str
    attempt: int = 0

    @classmethod
    def parse(cls, text: str) -> "StreamId":
        """Parse a stream id.

        Raises:
            ValueError: it is not of one of the five kinds.
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
    """The stream of one attempt at a task, `task:TSK-014:attempt:1` (design: wire)."""
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
    """The `stream` part of a Wire.

    Args:
        stream_id: The stream.
        stream_seq: The place in it, from 1 without gaps.
        context_id: The broad work context, `project:<id>`.
        causation_id: The Wire that caused this one, if one did.
        correlation_id: The context by default.
        reference_task_ids: The tasks that this one continues or depends on; the first 16 are carried.
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
        stream["reference_task_ids"] = list(reference_task_ids[:MAX_REFERENCES])
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
    """A Wire.

    Args:
        wire_id: `wire_` and a ULID, drawn once together with `ts`.
        ts: The producer's time, ISO-8601 UTC.
        type: The event type.
        sender: `agent:<slug>`, `runner:<id>`, `system` or `human:<id>`.
        stream: What `make_stream` returns.
        payload: By the schema of the event type.
        state: By default that of the tables.
        extensions: Namespaced metadata.
        tables: Other tables than those that ship.
    """
    wire: JsonObject = {
        "wire": WIRE_VERSION,
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
