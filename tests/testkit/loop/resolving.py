"""A person's answers to the escalations of a workbench."""

from typing import Any

from testkit.loop.debate_workbench import DebateWorkbench


def answer(bench: DebateWorkbench, action: str, payload: dict[str, Any]) -> str:
    """Answer the escalation that waits, and run on; how the task stands then."""
    del bench.trace[:]
    given = {"action": action, "payload": payload, "escalation_id": bench.escalation.escalation_id}
    bench.run(answer=given)
    return bench.status()


def override(bench: DebateWorkbench, module: str = "") -> str:
    return answer(
        bench, "APPROVE_OVERRIDE", {"rationale": "The criteria are met as I read them.", "module": module}
    )
