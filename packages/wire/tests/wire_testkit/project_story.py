"""The Wires of a small project in which everything happens that the read model has a column for."""

from typing import Any

from wire_testkit.story import CONTEXT, TASK, Story, artifact

__all__ = ["FOLLOW_UP", "SECOND", "project"]

SECOND = "task:TSK-001:attempt:2"
FOLLOW_UP = "task:TSK-002:attempt:1"
_INPUTS = ["MM-0b7d22e4@1.0.0", "MM-1c8e33f5@2.1.0"]


def project(context: str = CONTEXT, first_id: int = 1) -> list[dict[str, Any]]:
    """A project whose first task failed once and then completed, and whose second task refers to it and is blocked.

    Args:
        context: The project.
        first_id: The number in the id of the first Wire; the others follow.
    """
    story = Story(first_id)

    def wire(event: str, stream_id: str = TASK, body: Any = None, **stream: Any) -> dict[str, Any]:
        return story.wire(event, stream_id, body, context_id=context, **stream)

    def wires(*events: str, stream_id: str = TASK) -> list[dict[str, Any]]:
        return [wire(event, stream_id) for event in events]

    told = [wire("review.recorded", context)]
    told += [wire("task.created", causation_id=told[0]["wire_id"])]
    told += wires("task.available", "task.claimed", "task.started", "task.failed")
    told += [wire("task.created", SECOND, causation_id=told[-1]["wire_id"])]
    told += wires("task.available", "task.claimed", "task.started", stream_id=SECOND)
    for version in ("1.0.0", "1.0.1"):
        changes = {"version": version, "sha256": version[-1] * 64}
        lineage = {"task": "TSK-001", "attempt": 2, "inputs": _INPUTS}
        if version == "1.0.1":
            lineage["input_count"] = 3
        told += [wire("artifact.ready", SECOND, artifact(**changes, lineage=lineage))]
    told += [wire("gate.decided", context, causation_id=told[-1]["wire_id"])]
    told += wires("task.complete", stream_id=SECOND)
    follow = {"reference_task_ids": ["TSK-001"], "parent_task_id": "TSK-009"}
    told += [wire("task.created", FOLLOW_UP, causation_id=told[-1]["wire_id"], **follow)]
    told += [wire("task.available", FOLLOW_UP, reference_task_ids=["TSK-003", "TSK-001"])]
    told += wires("task.blocked", stream_id=FOLLOW_UP)
    return told
