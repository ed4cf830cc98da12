"""Runs a program in the sandbox: one process, which is given a job and reports what came of it (design: ship-gate).

A program is a module with a function `run(link, plan)`, as those of `inside` are, and may import these. Nothing else of the
package that holds it can be imported there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.sandbox.exchange import Exchange
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.plan import Plan
from ship_gate.sandbox.process import start
from ship_gate.sandbox.stream import Ledger, RunEnd


class Program(NamedTuple):
    """A program, and what it may see.

    Args:
        package: The import name of the folder that holds it.
        folder: That folder; its other modules can be imported by the program.
        module: The program's module in the package.
        scratch: The folder that it works in; it may write there and in nothing else.
        reads: What it may read besides Python and its own folder.
        site: A folder of third-party packages.
        more: Entries of its plan.
    """

    package: str
    folder: Path
    module: str
    scratch: Path
    reads: tuple[Path, ...] = ()
    site: Path | None = None
    more: Mapping[str, str | bool] = {}


class ProgramRun(NamedTuple):
    """What a program reported, and how it ended."""

    events: list[dict[str, Any]]
    ended: RunEnd


def run(program: Program, job: dict[str, Any], sandbox: Sandbox, seconds: float) -> ProgramRun:
    """Run a program to its end.

    Args:
        program: It.
        job: What it is given.
        sandbox: In what it runs.
        seconds: For all of it, by the clock, without what it waits for a processor.

    Raises:
        ShipGateError: the process could not be started, or hardly came to run.
    """
    sandbox = sandbox.within(seconds)
    plan = Plan(
        program.module,
        program.scratch,
        program.scratch,
        program.reads,
        program.site,
        sandbox.limits,
        program.more,
        package=(program.package, program.folder),
    )
    child, ledger = start(plan, sandbox.kind), _Reports()
    try:
        exchange = Exchange(child, None, plan.writes, sandbox.limits)
        return ProgramRun(ledger.events, exchange.run(job, {}, ledger, seconds))
    finally:
        child.stop()


class _Reports(Ledger):
    """What was reported (a `Ledger`); nothing else calls here."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def reported(self, header: dict[str, Any]) -> None:
        """Keep it."""
        self.events.append(header)

    def called(self, call: dict[str, Any], payload: bytes) -> None:
        """Nothing is called through the gate."""

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """As above."""
