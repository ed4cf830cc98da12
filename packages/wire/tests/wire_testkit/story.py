"""Wires for the tests: fixtures by name, and a builder that numbers them."""

import json
from itertools import count
from typing import Any

from agent_wire.envelope import StreamId, make_stream, make_wire
from testkit.paths import ROOT

FIXTURES = ROOT / "fixtures" / "agent-wire" / "v1.1"
CONTRACTS = ROOT / "contracts" / "agent-wire" / "v1.1"
SCHEMAS = ROOT / "schemas" / "agent-wire" / "v1.1"

CONTEXT = "project:notes-1f0c9a2e"
TASK = "task:TSK-001:attempt:1"
HASH = "a" * 64
MODULE = "MM-5f3a9c01"


def fixture(name: str) -> Any:
    """One fixture as JSON."""
    return json.loads((FIXTURES / name).read_bytes())


def expectations() -> dict[str, dict[str, Any]]:
    """What each fixture must come to."""
    return json.loads((FIXTURES / "expectations.json").read_bytes())


def artifact(artifact_id: str = MODULE, **changes: Any) -> dict[str, Any]:
    """The payload of `artifact.ready`."""
    return {
        "artifact_id": artifact_id,
        "name": "parse_note",
        "media_type": "text/x-python",
        "uri": f"state_store/modules/{artifact_id}/1.0.0",
        "sha256": HASH,
        "version": "1.0.0",
        "size_bytes": 512,
        "lineage": {"task": "TSK-001", "attempt": 1, "inputs": []},
    } | changes


def payload(event: str, stream_id: str = TASK) -> dict[str, Any]:
    """A payload that the event's schema takes; an artifact is the task's own."""
    kind, task, attempt = StreamId.parse(stream_id)
    own = {"lineage": {"task": task, "attempt": attempt, "inputs": []}} if kind == "task" else {}
    return {
        "task.created": {"definition_sha256": HASH},
        "task.claimed": {"claimed_by": "agent:quinn-03"},
        "task.blocked": {"reason": "human_input", "reference": "ESC-9a1b2c3d"},
        "artifact.ready": artifact(**own),
        "task.complete": {
            "artifact_ids": [MODULE],
            "primary_artifact_id": MODULE,
            "verification": {"mechanical": "pass"},
        },
        "task.failed": {"failure": {"kind": "error", "retryable": True}},
        "review.recorded": {"subject": "plan.locked", "definition_sha256": HASH},
        "inbox.received": {"message_id": "msg_01", "message_sha256": HASH},
        "routing.assigned": {"task_id": "TSK-001", "assignee": "agent:quinn-03"},
        "gate.decided": {"gate": "ship", "verdict": "pass", "evidence_sha256": HASH},
        "health.reported": {"status": "ok"},
        "capacity.reported": {"slots": 2, "free": 1},
    }.get(event, {})


class Story:
    """Writes Wires one after the other, each at the next place of its stream."""

    def __init__(self, first_id: int = 1) -> None:
        self._ids = count(first_id)
        self._places: dict[str, int] = {}

    def wire(self, event: str, stream_id: str = TASK, body: Any = None, **stream: Any) -> dict[str, Any]:
        """The next Wire of a stream; its payload is the usual one if none is given."""
        place = stream.pop("stream_seq", None) or self._places.get(stream_id, 0) + 1
        self._places[stream_id] = place
        return make_wire(
            wire_id=f"wire_01JZ{next(self._ids):022d}",
            ts="2026-05-06T16:00:00Z",
            type=event,
            sender="system",
            stream=make_stream(
                **{"stream_id": stream_id, "stream_seq": place, "context_id": CONTEXT} | stream
            ),
            payload=payload(event, stream_id) if body is None else body,
        )

    def wires(self, *events: str, stream_id: str = TASK) -> list[dict[str, Any]]:
        """Several Wires of one stream."""
        return [self.wire(event, stream_id) for event in events]


HAPPY_PATH = (
    "task.created",
    "task.available",
    "task.claimed",
    "task.started",
    "artifact.ready",
    "task.complete",
)
