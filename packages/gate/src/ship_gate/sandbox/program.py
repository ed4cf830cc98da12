"""Runs a program in the sandbox: one process, which is given a job and reports what came of it (design: ship-gate).

A program is a module with a function `run(link, plan)`, as those of `inside` are, and may import these. Nothing else of the
package that holds it can be imported there.
"""

from typing import Any, NamedTuple

from ship_gate.sandbox.exchange import Exchange
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.plan import Plan
from ship_gate.sandbox.process import start
from ship_gate.sandbox.stream import Ledger, RunEnd


class ProgramRun(NamedTuple):
    """What a program reported, and how it ended."""

    events: list[dict[str, Any]]
    ended: RunEnd


def run_program(plan: Plan, job: dict[str, Any], sandbox: Sandbox, seconds: float) -> ProgramRun:
    """Run a program to its end.

    Args:
        plan: Of its process, without limits.
        job: What it is given.
        sandbox: In what it runs, with the limits.
        seconds: For all of it, by the clock, without what it waits for a processor.

    Raises:
        ShipGateError: the process could not be started, or hardly came to run.
    """
    limits = sandbox.within(seconds).limits
    child, ledger = start(plan._replace(limits=limits), sandbox.kind), _Reports()
    try:
        exchange = Exchange(child, None, plan.scratch, limits)
        return ProgramRun(ledger.events, exchange.run(job, {}, ledger, seconds))
    finally:
        child.stop()


class _Reports(Ledger):
    """What was reported (a `Ledger`)."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def reported(self, header: dict[str, Any]) -> None:
        """Keep it."""
        self.events.append(header)
