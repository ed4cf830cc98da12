"""The project loop of `project.workbench` as tests of its Wires use it: who halts, what is answered, what was said."""

from collections.abc import Callable
from typing import Any

from specwright.application.escalation import offers
from specwright.domain.escalation import HumanResolution
from testkit.loop.project_workbench import ProjectWorkbench, halt_stub, lose_checkpoints, seal_stub
from testkit.wires_heard import Wire, of_stream

__all__ = ["CHAIN", "FIRST", "SECOND", "THIRD", "answer", "go_on", "halting", "wires"]

FIRST, SECOND, THIRD = (f"task:TSK-00{n}:attempt:1" for n in (1, 2, 3))
CHAIN = ([], [0], [1])
"""Each task waits for the one before it."""


def wires(bench: ProjectWorkbench, stream: str = "") -> list[Wire]:
    """What the log holds, of one stream or of all."""
    return of_stream(bench.log, stream)


def halting(*spec_ids: str) -> Callable[..., dict[str, Any]]:
    """An engineering loop in which these tasks halt and the others ship."""
    return lambda factory, task: (halt_stub if task.entry.spec_task_id in spec_ids else seal_stub)(
        factory, task
    )


def answer(bench: ProjectWorkbench, action: str, **payload: Any) -> list[Wire]:
    """Answer the escalation that waits; the Wires that this appended."""
    before = len(wires(bench))
    offers.resolve(bench.factory, HumanResolution(action=action, payload=payload))
    return wires(bench)[before:]


def go_on(bench: ProjectWorkbench) -> None:
    """Run on from the state that an answer made; how the graph itself is answered is not asked here."""
    lose_checkpoints(bench.runtime.parent)
    bench.run()
