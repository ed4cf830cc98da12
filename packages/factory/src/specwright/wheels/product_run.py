"""Runs an installed product in the sandbox: its import, examples, interfaces and approved properties (design: release).

Each job has a process of its own, which imports the package itself: there are no modules to be kept apart any more. What
the package says of itself is compared elsewhere.
"""

import ast
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import TypeAdapter, ValidationError

from ship_gate.contract.contract import network_effects
from ship_gate.contract.examples import Outcome
from ship_gate.contract.independent_tests import Property
from ship_gate.fuzz.properties import broken_off, request_for, tried
from ship_gate.sandbox.exchange import RunEnd
from ship_gate.sandbox.packages import TEST_TOOLS, link_packages
from ship_gate.sandbox.pair import ProgramRun, run_program
from ship_gate.sandbox.process import Plan
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.syntax_tree import parse_module
from ship_gate.verdict import TriedProperty
from specwright.ports import ProductPackage
from specwright.wheels.wheel import SERVER_PACKAGES

_INSIDE = Path(__file__).parent / "inside"
_LARGER = 4
"""So many times what a module may use a product may."""
_PATIENCE = 10
"""So many times its limit an execution gets that did not end: the machine may be busy."""
_MOST_SECONDS = 120.0
_SHOWN = 300

Kind: TypeAlias = Literal["command", "http", "mcp"]
"""Of an interface."""

Report = TypeVar("Report")


@dataclass(frozen=True)
class ImportedPackage:
    """What an imported package says of itself.

    Args:
        file: That it was loaded from.
        version: By its `__version__`.
        installed_version: By its metadata.
        exports: Its names, and whether each is callable.
    """

    file: str
    version: str
    installed_version: str
    exports: Mapping[str, bool]


@dataclass(frozen=True)
class CommandEnd:
    """How a call of a command ended, with what it printed."""

    code: int
    stdout: str
    stderr: str


class HttpAnswer(NamedTuple):
    """What an HTTP API answers."""

    status: int
    body: str


class ToolAnswer(NamedTuple):
    """What a call of a tool gives; the error is empty if it succeeds."""

    error: str
    result: Any


@dataclass(frozen=True)
class CalledExample:
    """What became of an example whose calls went through an interface.

    Args:
        outcome: Of its code.
        calls: How many went through it; the interface has no form for others.
        problem: Of the first answer that is wrong; empty if there is none.
        writes: Whether its first call changes files, or a function with effects is called.
        before: The files, each with its hash, before its first call.
        after: Those after it.
    """

    outcome: Outcome
    calls: int
    problem: str
    writes: bool
    before: Mapping[str, str]
    after: Mapping[str, str]


class NoReportError(Exception):
    """A process that tried a product was stopped, or ended without a usable report."""


class InstalledProduct(NamedTuple):
    """A product whose wheel is installed, run where it can do no harm, each time in a process of its own.

    Each may use more memory and larger files than a module, since it calls several of them at once (design: release).
    Whatever runs one raises NoReportError if there is no report. Its `place` is the name of the job's folder.

    Args:
        site: The folder that it is imported from.
        scratch: Where it is tried, each time in a folder of its own.
        product: Itself.
        gate: In whose sandbox it runs.
        seconds: For each use.
    """

    site: Path
    scratch: Path
    product: ProductPackage
    gate: SandboxedShipGate
    seconds: float

    def imported(self) -> ImportedPackage | Outcome:
        """Import the package; an error of the import is the outcome."""
        event = self._event(self._program("import"), {"distribution": self.product.distribution})
        return _outcome(event) if "errors" in event else read_report(ImportedPackage, event)

    def outcome(self, place: str, code: str) -> Outcome:
        """Execute an example; one that imports from `modules` imports from the package instead."""
        return _outcome(self._event(self._program(place), {"code": self._from_package(code)}))

    def run_command(self, place: str, arguments: Sequence[str]) -> CommandEnd:
        """Call the product's command."""
        interface = self.product.interface
        assert interface is not None  # only a product with a command is called by it
        name = interface["command"]["name"]
        job = {"command": name, "arguments": list(arguments)}
        event = self._event(self._program(place)._replace(role="command"), job)
        if None in (event.get("stdout"), event.get("stderr")):
            raise NoReportError("it printed too much to be compared")
        return read_report(CommandEnd, event)

    def ask(self, place: str, kind: Kind, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Call an interface by requests in the form of `inside.interfaces`; the answers, which `read_report` reads."""
        event = self._event(self._interface_program(place, kind), {"kind": kind, "requests": list(requests)})
        if "problem" in event:
            raise NoReportError(str(event["problem"]))
        answers = read_report(list[dict[str, Any]], event.get("answers"))
        if len(answers) != len(requests):
            raise NoReportError("its report cannot be read")
        return answers

    def call_with_examples(self, place: str, kind: Kind, codes: Sequence[str]) -> list[CalledExample]:
        """Execute examples in one process, with the calls of the functions that an interface calls going through it."""
        ran = self._through(place, kind, codes, killed=False)
        _reported(ran, self.seconds)
        return read_report(
            list[CalledExample], [event for event in ran.events if event.get("event") == "example"]
        )

    def killed_request(self, place: str, kind: Kind, code: str) -> dict[str, Any] | None:
        """Kill the process in the first call of an example by an interface, in the folder `work` of the job's folder.

        Returns:
            The call; None if the process ended otherwise.
        """
        ran = self._through(place, kind, [code], killed=True)
        return next((event["request"] for event in ran.events if event.get("event") == "killed"), None)

    def _through(self, place: str, kind: Kind, codes: Sequence[str], *, killed: bool) -> ProgramRun:
        job = {"kind": kind, "examples": [self._from_package(code) for code in codes], "killed": killed}
        return self._run(self._interface_program(place, kind), job, self.seconds * len(codes))

    def try_property(self, place: str, one: Property) -> TriedProperty:
        """Look for values that make a property false."""
        contracts = [module.contract for module in self.product.modules]
        request = request_for([one], contracts, self.product.import_name)
        program = self._with_packages(place, "properties", TEST_TOOLS)
        ran = self._run(program, {"request": request}, _MOST_SECONDS)
        if _hung(ran):
            patient = {**request, "call_seconds": _PATIENCE * request["call_seconds"]}
            again = self._with_packages(f"{place}-again", "properties", TEST_TOOLS)
            ran = self._run(again, {"request": patient}, _MOST_SECONDS)
        (found,) = tried([one], ran.events, _broken_off(ran))
        return found

    def _event(self, program: Plan, job: dict[str, Any]) -> dict[str, Any]:
        return _reported(self._run(program, job, self.seconds), self.seconds)

    def _run(self, program: Plan, job: dict[str, Any], seconds: float) -> ProgramRun:
        asks_hosts = any(network_effects(module.contract) for module in self.product.modules)
        job = {"package": self.product.import_name, **job, "web": asks_hosts}
        sandbox = self.gate.sandbox
        limits = sandbox.limits
        larger = limits._replace(
            memory=_LARGER * limits.memory,
            file_size=_LARGER * limits.file_size,
            scratch_size=_LARGER * limits.scratch_size,
        )
        return run_program(program, job, sandbox._replace(limits=larger), seconds)

    def _program(self, place: str) -> Plan:
        scratch = self.scratch / place
        scratch.mkdir(parents=True, exist_ok=True)
        return Plan("runner", scratch, (self.site,), self.site, package=("specwright.wheels.inside", _INSIDE))

    def _interface_program(self, place: str, kind: Kind) -> Plan:
        if kind == "command":
            return self._program(place)._replace(role="interfaces")
        return self._with_packages(place, "interfaces", frozenset(SERVER_PACKAGES))

    def _with_packages(self, place: str, module: str, packages: frozenset[str]) -> Plan:
        """A program that needs packages of this installation, which the product must not find by itself."""
        program = self._program(place)
        folder = Path(tempfile.mkdtemp(prefix="packages-", dir=self.scratch)) / "site"
        reads = (self.site, folder, *link_packages(packages, folder))
        return program._replace(role=module, reads=reads, site=folder, more={"product": str(self.site)})

    def _from_package(self, code: str) -> str:
        """An example of a module, as a user of the package executes it."""
        return imported_from(code, {"modules.testing": "modules.testing"}, self.product.import_name)


def _reported(ran: ProgramRun, seconds: float) -> dict[str, Any]:
    event = next((event for event in ran.events if event.get("event") == "outcome"), None)
    if event is None:
        raise NoReportError(_without_report(ran.ended, seconds))
    return event


def read_report(kind: type[Report], report: object) -> Report:
    """What a process of the product reported, as a record.

    Raises:
        NoReportError: it is none.
    """
    try:
        return TypeAdapter(kind).validate_python(report)
    except ValidationError as error:
        raise NoReportError("its report cannot be read") from error


def _outcome(event: Mapping[str, Any]) -> Outcome:
    return read_report(Outcome, {name: event[name] for name in Outcome._fields if name in event})


def _hung(ran: ProgramRun) -> bool:
    return any(event.get("event") == "hang" for event in ran.events)


def _broken_off(ran: ProgramRun) -> tuple[int, str] | None:
    if ran.ended.how == "finished" and not _hung(ran):
        return None
    call = next((event for event in reversed(ran.events) if event.get("event") == "calling"), None)
    if call is None:
        return 0, f"the package cannot be called: {ran.ended.message or ran.ended.output[-_SHOWN:]}"
    return broken_off(call, ran.ended.how)


def _without_report(ended: RunEnd, seconds: float) -> str:
    match ended.how:
        case "timeout":
            return f"it was not done after {seconds:g} s"
        case "output" | "disk":
            return "it printed, sent or wrote too much"
        case "processor" | "forged":
            return f"it was stopped: {ended.message}"
        case _:
            said = " ".join(ended.output.split())[-_SHOWN:]
            return f"the process ended without a report{f': {said}' if said else ''}"


def imported_from(source: str, homes: Mapping[str, str], package: str = "") -> str:
    """A source whose `from modules.<name> import` names the package, and what else it imports its new home."""
    lines = source.encode().splitlines(keepends=True)
    for node in ast.walk(parse_module(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            head, _, rest = node.module.partition(".")
            home = homes.get(
                node.module, f"{package}.{rest}" if package and head == "modules" else node.module
            )
            # the name stands behind `from`, perhaps on a line of its own after a backslash
            row, column, old = node.lineno - 1, node.col_offset, node.module.encode()
            while old not in lines[row][column:]:
                row, column = row + 1, 0
            lines[row] = lines[row][:column] + lines[row][column:].replace(old, home.encode(), 1)
    return b"".join(lines).decode()
