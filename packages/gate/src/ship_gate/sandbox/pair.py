"""The sandboxed processes of one run, started before they are needed and used once (design: ship-gate).

Starting takes most of a run's time: Python, pytest, the sandbox. It happens while the gate still reads the candidate's
source; a pair that is not needed then is stopped.

A program is a run of one process: a module with a function `run(link, plan)`, as those of `inside` are, and it may import
these. Nothing else of the package that holds it can be imported there.
"""

import secrets  # noqa: TID251 - what a module must not foretell is no input
import sys
from contextlib import AbstractContextManager, ExitStack, nullcontext
from string import ascii_lowercase
from typing import Any, Literal, NamedTuple, Self

from ship_gate.sandbox.exchange import Exchange, Ledger, RunEnd
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.packages import TEST_TOOLS, link_packages
from ship_gate.sandbox.process import Child, Plan, Surrounding, start
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.starvation import OwnTime

_LETTERS = 9
"""Of a package as which a consumer could import a product."""

Role = Literal["test_runner", "example_runner", "fuzz.runner", "fuzz.properties", "variants.repetition"]


class Pair:
    """A runner that waits for its job, with a module's host in most runs; as a context manager it leaves nothing running."""

    def __init__(self, runner: Child, module: Child | None, plan: Plan, other: Child | None = None) -> None:
        self._children = [child for child in (runner, module, other) if child]
        self.scratch = plan.scratch
        """The folder that the runner works in."""
        self.exchange = Exchange(runner, module, plan.scratch, plan.limits, other)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def own_time(self) -> OwnTime:
        """Of the runner and the module's usual process, from here on."""
        return OwnTime(child.pid for child in self._children[:2])

    def stop(self) -> None:
        """End all processes."""
        with ExitStack() as stack:
            for child in self._children:
                stack.callback(child.stop)


def prepare(staged: Staged, role: Role) -> Pair:
    """Start the processes of a run over folders that may still be empty.

    Args:
        staged: Its folders exist; its sandbox is used, or the best of this machine.
        role: What runs beside the module.

    Raises:
        ShipGateError: a process could not be started.
    """
    sandbox = staged.sandbox or Sandbox.best()
    (staged.scratch / role).mkdir()
    plan = _plan(staged, role, role, sandbox, TEST_TOOLS | sandbox.packages)
    if role == "variants.repetition":
        plan = plan._replace(more={**plan.more, "forks": True})
    host = host_plan(staged, role, sandbox)
    plans = [plan, host]
    if role == "variants.repetition":
        plans.append(_surrounded(host, frozenset(Surrounding)))
    with ExitStack() as stack:
        children: list[Child] = []
        for one in plans:
            children.append(start(one, sandbox.kind))
            stack.callback(children[-1].stop)
        stack.pop_all()
    return Pair(children[0], children[1], plan, *children[2:])


def started(staged: Staged, role: Role, pair: Pair | None = None) -> AbstractContextManager[Pair]:
    """A pair for a run: one that was started before, which the caller stops, or one of its own."""
    return nullcontext(pair) if pair else prepare(staged, role)


def prepare_variants(staged: Staged, listing: str, *, draws: bool, seconds: float) -> Pair:
    """Start the process that runs variants of a module together with their tests; it may fork.

    Args:
        staged: Laid out by `stage`.
        listing: The name of the file, in the run's folder, that lists the variants when the job comes.
        draws: Whether the tests draw their examples with Hypothesis.
        seconds: How long the run may last.

    Raises:
        ShipGateError: the process could not be started, or there is no sandbox.
    """
    sandbox = (staged.sandbox or Sandbox.best()).within(seconds)
    role = "variants.runner"
    (staged.scratch / role).mkdir()
    plan = _plan(staged, role, role, sandbox, TEST_TOOLS | sandbox.packages)
    more = {"lib": str(staged.lib), "listing": str(plan.scratch / listing), "draws": draws, "forks": True}
    plan = plan._replace(reads=(*plan.reads, staged.lib), more={**plan.more, **more})
    return Pair(start(plan, sandbox.kind), None, plan)


def host_plan(
    staged: Staged, run: str, sandbox: Sandbox, surroundings: frozenset[Surrounding] = frozenset()
) -> Plan:
    """The plan of the process that holds the module in a run.

    Args:
        staged: Its folders exist.
        run: The name of the run's folder.
        sandbox: In what it runs.
        surroundings: What is another there than usual.
    """
    return _surrounded(_plan(staged, run, "module_host", sandbox, sandbox.packages), surroundings)


def _surrounded(plan: Plan, surroundings: frozenset[Surrounding]) -> Plan:
    lib = plan.more["lib"]
    package, folder = "modules", f"{lib}/modules/"
    if Surrounding.NAME in surroundings:
        package = "".join(secrets.choice(ascii_lowercase) for _ in range(_LETTERS))
        folder = f"/opt/application/lib/python{sys.version_info[0]}/site-packages/{package}/"
    more = {"package": package, "folder": folder, "surroundings": " ".join(one.name for one in surroundings)}
    return plan._replace(more={**plan.more, **more}, surroundings=surroundings)


def _plan(staged: Staged, run: str, role: str, sandbox: Sandbox, packages: frozenset[str]) -> Plan:
    scratch = staged.scratch / run
    site = staged.root / f"{run}-{role}" / "site-packages" if packages else None
    places = link_packages(packages, site) if site else []
    own = staged.lib if role == "module_host" else staged.tests
    reads = (own, *([site] if site else []), *places)
    more = {"lib": str(staged.lib)} if role == "module_host" else {"tests": str(staged.tests)}
    return Plan(role, scratch, reads, site, sandbox.limits, more)


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
