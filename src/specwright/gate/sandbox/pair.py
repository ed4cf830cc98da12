"""The two sandboxed processes of one run, started before they are needed and used once (DESIGN §8).

Starting takes most of a run's time: Python, pytest, the sandbox. It happens while the gate still reads the candidate's
source; a pair that is not needed then is stopped."""

from typing import Any, Literal, Self

from specwright.gate.sandbox.exchange import Ended, Exchange, Ledger
from specwright.gate.sandbox.kind import Sandbox
from specwright.gate.sandbox.packages import TEST_TOOLS, link_packages
from specwright.gate.sandbox.plan import Plan
from specwright.gate.sandbox.process import Child, start
from specwright.gate.sandbox.starvation import OwnTime
from specwright.gate.staging import Staged

__all__ = ["Pair", "host_plan", "prepare"]

Role = Literal["test_runner", "example_runner", "fuzz_runner"]


class Pair:
    """A runner and a module's host that wait for their jobs; used as a context manager, it leaves nothing running."""

    def __init__(self, staged: Staged, runner: Child, module: Child | None, plan: Plan) -> None:
        self._staged = staged
        self._runner = runner
        self._module = module
        self._plan = plan

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(
        self,
        job: dict[str, Any],
        surface: dict[str, Any],
        ledger: Ledger,
        timeout_seconds: float,
        *,
        tells_unfit: bool = False,
    ) -> Ended:
        """Run a job to its end, as `Exchange.run`."""
        exchange = Exchange(self._runner, self._module, self._plan.writes, self._plan.limits)
        return exchange.run(job, surface, ledger, timeout_seconds, tells_unfit=tells_unfit)

    def own_time(self) -> OwnTime:
        """Of both processes, from here on."""
        return OwnTime(child.pid for child in (self._runner, self._module) if child)

    def stop(self) -> None:
        """End both processes."""
        try:
            self._runner.stop()
        finally:
            if self._module:
                self._module.stop()


def prepare(staged: Staged, role: Role, *, silent: bool = False) -> Pair:
    """Start the processes of a run over folders that may still be empty.

    Args:
        staged: Its folders exist; its sandbox is used, or the best of this machine.
        role: What runs beside the module.
        silent: Without the module: nobody answers the runner's calls.

    Raises:
        SpecwrightError: a process could not be started.
    """
    sandbox = staged.sandbox or Sandbox.best()
    scratch = staged.scratch / role
    scratch.mkdir()
    runner = _plan(staged, role, role, sandbox, TEST_TOOLS | sandbox.packages)
    started = start(runner, sandbox.kind)
    if silent:
        return Pair(staged, started, None, runner)
    try:
        return Pair(staged, started, start(host_plan(staged, role, sandbox), sandbox.kind), runner)
    except BaseException:
        started.stop()
        raise


def host_plan(staged: Staged, run: str, sandbox: Sandbox) -> Plan:
    """The plan of the process that holds the module in a run.

    Args:
        staged: Its folders exist.
        run: The name of the run's folder.
        sandbox: In what it runs.
    """
    return _plan(staged, run, "module_host", sandbox, sandbox.packages)


def _plan(staged: Staged, run: str, role: str, sandbox: Sandbox, packages: frozenset[str]) -> Plan:
    scratch = staged.scratch / run
    site = staged.root / f"site-{run}-{role}" if packages else None
    places = link_packages(packages, site) if site else []
    own = staged.lib if role == "module_host" else staged.tests
    reads = (own, *([site] if site else []), *places)
    more = {"lib": str(staged.lib)} if role == "module_host" else {"tests": str(staged.tests)}
    return Plan(role, scratch, scratch, reads, site, sandbox.limits, more)
