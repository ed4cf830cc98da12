"""Runs an installed product in the sandbox: its import, its examples and the approved properties (design: release).

Each job has a process of its own, which imports the package itself: there are no modules to be kept apart any more. What
the package says of itself is compared elsewhere.
"""

import ast
import base64
import contextlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, cast

from ship_gate.contract.examples_file import Outcome
from ship_gate.contract.network import network_effects
from ship_gate.contract.properties import Property
from ship_gate.fuzz.properties import broken_off, request_for, tried
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.packages import TEST_TOOLS, link_packages
from ship_gate.sandbox.program import Program, ProgramRun
from ship_gate.sandbox.program import run as run_program
from ship_gate.sandbox.stream import RunEnd
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import TriedProperty
from specwright.ports import (
    CommandEnd,
    HttpAnswer,
    HttpRequest,
    ImportedPackage,
    InstalledProduct,
    NoReportError,
    ToolCalls,
    ToolErrors,
)
from specwright.wheels.wheel import SERVER_PACKAGES

_INSIDE = Path(__file__).parent / "inside"
_LARGER = 4
"""So many times what a module may use a product may."""
_PATIENCE = 10
"""So many times its limit an execution gets that did not end: the machine may be busy."""
_MOST_SECONDS = 120.0
_SHOWN = 300


class SandboxedTrials:
    """Implements `ports.packaging.ProductTrials` with one sandboxed process for each job.

    Each may use more memory and larger files than a module, since it calls several of them at once (design: release).

    Args:
        gate: In whose sandbox they run.
    """

    def __init__(self, gate: SandboxedShipGate) -> None:
        self._gate = gate

    def imported(self, installed: InstalledProduct, seconds: float) -> ImportedPackage | Outcome:
        """Import the package (port)."""
        job = {"package": installed.product.import_name, "distribution": installed.product.distribution}
        event = self._reported(installed, "import", job, seconds)
        if "errors" in event:
            return _outcome(event)
        exports = cast(dict[str, bool], event.get("exports", {}))
        versions = str(event.get("version")), str(event.get("installed_version"))
        return ImportedPackage(str(event.get("file")), *versions, exports)

    def outcome(self, installed: InstalledProduct, place: str, code: str, seconds: float) -> Outcome:
        """Execute an example (port)."""
        code = _from_package(code, installed.product.import_name)
        return _outcome(self._reported(installed, place, {"code": code}, seconds))

    def run_command(
        self,
        installed: InstalledProduct,
        place: str,
        arguments: Sequence[str],
        seconds: float,
        *,
        interrupted: bool = False,
    ) -> CommandEnd:
        """Call the product's command (port)."""
        interface = installed.product.interface
        assert interface is not None  # only a product with a command is called by it
        name = interface["command"]["name"]
        job = {"command": name, "arguments": list(arguments), "interrupted": interrupted}
        program = self._program(installed, place)._replace(
            module="command", more={"product": str(installed.site / installed.product.import_name)}
        )
        return _command_end(_reported(run_program(program, job, self._sandbox(), seconds), seconds))

    def ask_api(
        self, installed: InstalledProduct, place: str, requests: Sequence[HttpRequest], seconds: float
    ) -> list[HttpAnswer]:
        """Send requests to the product's HTTP API (port)."""
        asked = [
            {**one._asdict(), "body": None if one.body is None else base64.b64encode(one.body).decode()}
            for one in requests
        ]
        event = self._served(installed, place, {"kind": "http", "requests": asked}, seconds)
        with _readable():
            answers = cast("list[dict[str, Any]]", event["answers"])
            return [HttpAnswer(int(one["status"]), base64.b64decode(one["body"])) for one in answers]

    def call_tools(
        self, installed: InstalledProduct, place: str, calls: ToolCalls, seconds: float
    ) -> ToolErrors:
        """Call the tools of the product's MCP server (port)."""
        job: dict[str, Any] = {"kind": "mcp", **calls._asdict()}
        event = self._served(installed, place, job, seconds)
        with _readable():
            tools, errors = (map(str, cast("list[object]", event[name])) for name in ("tools", "errors"))
            return ToolErrors(str(event["revision"]), dict(zip(tools, errors, strict=True)))

    def _served(
        self, installed: InstalledProduct, place: str, job: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """What a process reports that starts a server."""
        job = {**job, "package": installed.product.import_name}
        program = self._with_packages(installed, place, "server", frozenset(SERVER_PACKAGES))
        event = _reported(run_program(program, job, self._sandbox(), seconds), seconds)
        if "problem" in event:
            raise NoReportError(str(event["problem"]))
        return event

    def try_property(self, installed: InstalledProduct, place: str, one: Property) -> TriedProperty:
        """Look for values that make a property false (port)."""
        contracts = [module.contract for module in installed.product.modules]
        request = request_for([one], contracts, installed.product.import_name)
        job = {"package": installed.product.import_name, "request": request, "web": _asks_hosts(installed)}
        program = self._with_packages(installed, place, "properties", TEST_TOOLS)
        ran = run_program(program, job, self._sandbox(), _MOST_SECONDS)
        if _hung(ran):
            patient = {**request, "call_seconds": _PATIENCE * request["call_seconds"]}
            again = self._with_packages(installed, f"{place}-again", "properties", TEST_TOOLS)
            ran = run_program(again, {**job, "request": patient}, self._sandbox(), _MOST_SECONDS)
        (found,) = tried([one], ran.events, _broken_off(ran))
        return found

    def _reported(
        self, installed: InstalledProduct, place: str, job: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        job = {**job, "web": _asks_hosts(installed)}
        return _reported(run_program(self._program(installed, place), job, self._sandbox(), seconds), seconds)

    def _sandbox(self) -> Sandbox:
        sandbox = self._gate.sandbox
        limits = sandbox.limits
        return sandbox._replace(
            limits=limits._replace(
                memory=_LARGER * limits.memory,
                file_size=_LARGER * limits.file_size,
                scratch_size=_LARGER * limits.scratch_size,
            )
        )

    def _program(self, installed: InstalledProduct, place: str) -> Program:
        scratch = installed.scratch / place
        scratch.mkdir(parents=True, exist_ok=True)
        site = installed.site
        return Program("specwright.wheels.inside", _INSIDE, "runner", scratch, (site,), site)

    def _with_packages(
        self, installed: InstalledProduct, place: str, module: str, packages: frozenset[str]
    ) -> Program:
        """A program that needs packages of this installation, which the product must not find by itself."""
        program, folder = self._program(installed, place), installed.scratch / f"{place}-packages"
        places = link_packages(packages, folder)
        reads = (installed.site, folder, *places)
        return program._replace(
            module=module, reads=reads, site=folder, more={"product": str(installed.site)}
        )


def _asks_hosts(installed: InstalledProduct) -> bool:
    return any(network_effects(module.contract) for module in installed.product.modules)


def _reported(ran: ProgramRun, seconds: float) -> dict[str, Any]:
    event = next((event for event in ran.events if event.get("event") == "outcome"), None)
    if event is None:
        raise NoReportError(_without_report(ran.ended, seconds))
    return event


def _command_end(event: dict[str, Any]) -> CommandEnd:
    """What a process said of its command.

    Raises:
        NoReportError: it printed too much to be compared, or the report is none.
    """
    if not isinstance(event.get("stdout"), str) or not isinstance(event.get("stderr"), str):
        raise NoReportError("it printed too much to be compared")
    with _readable():
        printed = base64.b64decode(event["stdout"]), base64.b64decode(event["stderr"])
        return CommandEnd(int(event["code"]), *printed, bool(event["interrupted"]))


@contextlib.contextmanager
def _readable() -> Generator[None]:
    """Read a report of a process.

    Raises:
        NoReportError: it is none.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NoReportError("its report cannot be read") from error


def _hung(ran: ProgramRun) -> bool:
    return any(event.get("event") == "hang" for event in ran.events)


def _broken_off(ran: ProgramRun) -> tuple[int, str] | None:
    if ran.ended.how == "finished" and not _hung(ran):
        return None
    call = next((event for event in reversed(ran.events) if event.get("event") == "calling"), None)
    if call is None:
        return 0, f"the package cannot be called: {ran.ended.message or ran.ended.output[-_SHOWN:]}"
    return broken_off(call, ran.ended.how)


def _outcome(event: dict[str, Any]) -> Outcome:
    if isinstance(value := event.get("value"), str):
        return Outcome(value=value)
    errors: Sequence[object] = event.get("errors") or ["nothing"]
    return Outcome(errors=tuple(map(str, errors)), message=str(event.get("message", "")))


def _without_report(ended: RunEnd, seconds: float) -> str:
    match ended.how:
        case "timeout":
            return f"it was not done after {seconds:g} s"
        case "processor":
            return f"it used up its processor time; {ended.message}"
        case "output":
            return "it printed or sent too much"
        case "disk":
            return "it wrote too many or too large files"
        case "forged":
            return f"it was stopped: {ended.message}"
        case _:
            said = " ".join(ended.output.split())[-_SHOWN:]
            return f"the process ended without a report{f': {said}' if said else ''}"


def _from_package(code: str, package: str) -> str:
    """An example of a module, as a user of the package executes it."""
    return ast.unparse(ast.fix_missing_locations(_FromPackage(package).visit(ast.parse(code))))


class _FromPackage(ast.NodeTransformer):
    """`from modules.<name> import` becomes `from <package>.<name> import` (design: contracts), but for the gate's own."""

    def __init__(self, package: str) -> None:
        self._package = package

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        head, _, tail = (node.module or "").partition(".")
        if node.level == 0 and head == "modules" and tail not in {"", "testing"}:
            node.module = f"{self._package}.{tail}"
        return node
