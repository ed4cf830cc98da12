"""Contract fuzz: inputs of the declared types give only declared outputs and errors (design: module-directory, ship-gate).

A contract is total. So the module is called with a few hundred drawn inputs, the same ones whenever the same module is
judged. As with tests, who draws and judges runs in another process than the module (`sandbox.pair`), so that a module
cannot acquit itself. A counterexample is

- an exception that is no declared error surface, by exact class (a subclass of OSError counts as OSError);
- a result of another type than declared, looked at deeply; where the type is `T`, a value that was not given;
- an argument that is not as it was;
- more items of an iterable taken, or yielded, than the contract states, or a callable that is called otherwise;
- another result for the same input, in this process or in another one (`fuzz.determinism`), unless a CALL or MUTATION
  effect is declared;
- an async twin that does something else;
- a result for an input that breaks a constraint beyond doubt, where only exceptions are declared;
- a declared error out of a call in the module, not by a `raise` of its own, at a line where no test and no example met
  one: nobody has said that this input is one of those that the contract refuses;
- a call that does not end, or that ends the process: one that does not come back in time, had that time and does it again
  with more patience, for what a disk or a stopped machine takes of it is counted nowhere.

It is shrunk, and shown as a call with what happened.

Left out: whether a result is the right one, which is for the tests. A large input that merely takes long is
no counterexample; it ends the run, which is then made again with modest inputs.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ship_gate import canonical_json
from ship_gate.base.boundary_values import BoundaryLimit
from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import (
    EffectType,
    MicroModuleContract,
    SurfaceKind,
    is_network,
    network_effects,
)
from ship_gate.contract.docstring import entry_points, error_fields, return_type
from ship_gate.contract.rules import (
    default_of,
    is_any_number,
    is_keyword_only,
    is_vocabulary,
    own_statements,
    scope_limits,
)
from ship_gate.contract.types import is_iterable, stated_bound, tried_types
from ship_gate.errors import ShipGateError
from ship_gate.findings import Finding, FindingCode
from ship_gate.fuzz.determinism import RecordedCall, SecondProcess, answer_of, first_difference
from ship_gate.fuzz.hints import bounds, constants_of, numbers, quoted, small_range
from ship_gate.sandbox.exchange import Ledger, RunEnd
from ship_gate.sandbox.pair import Pair, Role, started
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.starvation import OwnTime, too_busy
from ship_gate.source.files import ParsedFiles
from ship_gate.static.effects import Kind, declared_kinds
from ship_gate.verdict import ENTRY_FILE, Candidate, StageReport

_MOST_KEPT = 64 * 1024
"""Bytes of a call and its answer, to be made again in a second process."""
_MOST_BYTES_OF_FILES = 16 * 1024 * 1024
"""What all such calls may leave in files."""
_PATIENCE = (4, 40)
"""So many times its limit a call gets by the clock: where it hung, and then where the machine gave it little of that."""
_SHARE = 0.8


class RaisedError(NamedTuple):
    """A call that raised a declared error.

    Args:
        text: The call, for a person.
        error: The exception's class.
        size: Of the arguments.
    """

    text: str
    error: str
    size: int


class FuzzRun(NamedTuple):
    """What a run reported, and how it ended.

    Args:
        events: What the runner reported.
        ended: How it ended.
        made: Calls that were answered.
        raised: By line of the module, the plainest call that raised a declared error there.
        last_call: Seconds that the last call had if it hangs, without what it waited for a processor.
    """

    events: list[dict[str, Any]]
    ended: RunEnd
    calls: list[RecordedCall]
    raised: dict[str, RaisedError]
    last_call: float

    def finished(self) -> bool:
        """Whether it came to its end, with every call answered."""
        return self.ended.how == "finished" and not any(event.get("event") == "hang" for event in self.events)


def run_fuzz(staged: Staged, request: dict[str, Any], pair: Pair, role: Role = "fuzz.runner") -> FuzzRun:
    """Run a request; more than once if the machine may be too busy for its calls.

    Args:
        staged: Laid out by `stage`.
        request: What is drawn, and how long a call may take.
        pair: Of the role.
        role: What draws.

    Raises:
        ShipGateError: the fuzz broke off by itself, or the machine is too busy.
    """
    ran = _run(staged, request, pair)
    for patience in _PATIENCE:
        in_doubt = patience == _PATIENCE[0] and _hung(ran)
        if not in_doubt and not _was_starved(ran, request):
            return ran
        patient = {**request, "call_seconds": patience * request["call_seconds"]}
        again = staged.beside(f"again{patience}")
        with started(again, role) as own:
            ran = _run(again, patient, own)
    if _was_starved(ran, request):
        raise too_busy("a call of the contract fuzz hardly came to run")
    return ran


def _hung(ran: FuzzRun) -> bool:
    return ran.ended.how == "finished" and not ran.finished()


def _was_starved(ran: FuzzRun, request: dict[str, Any]) -> bool:
    return _hung(ran) and ran.last_call < _SHARE * request["call_seconds"]


class _Ledger(Ledger):
    """What the fuzz tells, in its order, and where in the module an error was raised (a `Ledger`)."""

    def __init__(self, request: dict[str, Any], pair: Pair) -> None:
        self.events: list[dict[str, Any]] = []
        self.calls: list[RecordedCall] = []
        self.raised: dict[str, RaisedError] = {}
        self._declared = {
            *request["errors"],
            *(name for one in request.get("makers", ()) for name in one["errors"]),
        }
        self.last_call = 0.0
        self._pair = pair
        self._text = ""
        self._call: tuple[dict[str, Any], bytes, float] = {}, b"", 0.0
        self._place = re.compile(rf".*/lib/modules/{request['name']}/(.+:\d+)")
        self._files = pair.scratch / "here" if request["files"] else None
        self._found = request["found"]
        self._bytes_of_files = 0

    @cached_property
    def _clock(self) -> OwnTime:
        # wanted at the first call: both processes are there by then
        return self._pair.own_time()

    def reported(self, header: dict[str, Any]) -> None:
        """Something is called, or was found."""
        self.events.append(header)
        if header.get("event") == "calling":
            self._text = str(header["call"])
        elif header.get("event") == "hang":
            self.last_call = self._clock.seconds() - self._call[2]

    def called(self, call: dict[str, Any], payload: bytes) -> None:
        """A call goes to the module."""
        self._call = call, payload, self._clock.seconds()

    def replied(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """What the fuzz needs beside the reply."""
        call, arguments, since = self._call
        # one that found another's files is not made elsewhere
        # nor is one that only makes what is drawn for another
        if len(arguments) + len(payload) <= _MOST_KEPT and call.get("again") is False:
            seconds = self._clock.seconds() - since
            answer = answer_of(header, payload, self._files)
            self._bytes_of_files += sum(len(content or b"") for content in answer.files.values())
            if self._bytes_of_files <= _MOST_BYTES_OF_FILES:
                self.calls.append(RecordedCall(self._text, call, arguments, answer, seconds, self._found))
        place = self._place.fullmatch(str(header.get("line", "")))
        if (
            place
            and header.get("error")
            and call.get("again") is not None
            and (name := str(header["error"][0][1])) in self._declared
        ):
            one = RaisedError(self._text, name, len(arguments))
            self.raised[place[1]] = min(one, self.raised.get(place[1], one), key=lambda error: error.size)
        changed, used = header.get("changed") is not False, self._clock.seconds()
        return {"changed": changed, "line": place[1] if place else "", "used": used}


def _run(staged: Staged, request: dict[str, Any], pair: Pair) -> FuzzRun:
    ledger = _Ledger(request, pair)
    most = 10 + 12 * request["whole_seconds"] + 2 * request["call_seconds"]
    ended = pair.exchange.run({"request": request}, dict(staged.surface), ledger, most, reports_unfit=True)
    if ended.how in {"broke", "processor"} and not ended.in_module:
        raise ShipGateError(
            f"the fuzz broke off: {ended.output[-500:]}",
            where="gate",
            remedy="see whether the machine has memory and processes left, and try again",
        )
    return FuzzRun(ledger.events, ended, ledger.calls, ledger.raised, ledger.last_call)


def before_any_answer(ran: FuzzRun, what: str) -> str:
    """What was running where a run ended and no call can be blamed: the last one that was begun, or what comes before the
    first.

    Args:
        ran: The run.
        what: Is called or executed, for a person.
    """
    last = next((str(one["call"]) for one in reversed(ran.events) if one.get("event") == "calling"), "")
    place = (
        f"the last call that was begun is {last}"
        if last
        else f"no input of {what} was tried yet: it was being loaded"
    )
    return f"the module cannot be called: {ran.ended.message[-500:].strip()}; {place}"


def unanswered_call(ran: FuzzRun) -> dict[str, Any] | None:
    """The call that did not come back, if there is one."""
    if ran.finished() or ran.ended.how == "unloaded":
        return None
    return next((event for event in reversed(ran.events) if event.get("event") == "calling"), None)


_MODEST = 400
"""The size up to which an input is modest: characters, elements, magnitudes."""


_FOUND = {
    "databases": (b"sqlite3",),
    "notes": (b"os.walk", b".walk(", b"glob(", b"iterdir(", b"scandir(", b"listdir("),
}


class FuzzBounds(NamedTuple):
    """How much is drawn.

    Args:
        examples: Drawn inputs at most, beside those that are always tried; 0 turns the fuzz off.
        seconds: Of processor time, for finding; shrinking may take as long again.
        call_seconds: For one call, without what it waits for a processor.
    """

    examples: int = 250
    seconds: float = 1.0
    call_seconds: float = 1.5


def examine_contract(
    staged: Staged,
    candidate: Candidate,
    files: Mapping[str, bytes],
    limits: FuzzBounds,
    pair: Pair | None = None,
    second: SecondProcess | None = None,
    shown: Collection[str] | None = None,
) -> StageReport:
    """Draw inputs for a staged candidate whose surface is its contract's.

    Args:
        staged: Laid out by `stage`.
        candidate: Its contract and those of its dependencies.
        files: As they would ship; the tests lend their constants.
        limits: How much is drawn.
        pair: Processes that were started before for this run, of the role `inside.fuzz.runner`; the caller stops them.
        second: Of `second_process`; the caller stops it.
        shown: Lines out of which exceptions came while tests and examples ran, as the module's process names them; if
            they are not known, no declared error is a counterexample.

    Raises:
        ShipGateError: the processes did not come up, or there is no sandbox.
    """
    if not candidate.contract.inputs and not is_vocabulary(candidate.contract):
        limits = limits._replace(examples=2)
    request = _request(candidate, files, limits)
    if is_vocabulary(candidate.contract):
        request |= _of_definitions(candidate.contract)
    with started(staged, "fuzz.runner", pair) as own:
        ran = run_fuzz(staged, request, own)
    if (slow := unanswered_call(ran)) and int(slow.get("size", 0)) > _MODEST:
        again = staged.beside("modest")
        with started(again, "fuzz.runner") as own:
            ran = run_fuzz(again, {**request, "most_size": _MODEST, "huge": False}, own)
    inputs = sum(event.get("event") == "calling" for event in ran.events)
    parameters = ", ".join(slot.name for slot in candidate.contract.inputs)
    findings = [*_findings(ran, staged, limits, f"{candidate.contract.name}({parameters})")]
    # what is out of scope may end in any declared error, and only a reader knows which values a limit names
    if not findings and shown is not None and not scope_limits(candidate.contract):
        findings += _unshown_errors(ran, candidate.contract.name, ParsedFiles.of(files), shown, staged)
    compared = 0
    if second and not findings:
        difference, compared = first_difference(second, staged, ran.calls)
        if difference:
            findings.append(_finding(ENTRY_FILE, f"{difference.call.text} {difference.text()}", staged))
    found = f"{len(findings) or 'no'} counterexample{'s' * (len(findings) > 1)}"
    summary = f"contract fuzz: {inputs} inputs, {found}, {compared} calls compared in other surroundings"
    return StageReport(tuple(findings), summary, {"inputs": inputs, "calls_elsewhere": compared})


def is_repeatable(contract: MicroModuleContract) -> bool:
    """Whether a call gives the same anywhere: it follows its arguments and the files that it finds, and nothing else."""
    return not declared_kinds(contract) & _ELSEWHERE_OTHER


_ELSEWHERE_OTHER = {
    Kind.HTTP,
    Kind.CLOCK,
    Kind.RANDOMNESS,
    Kind.ENVIRONMENT,
    Kind.MUTATION,
    Kind.WAITING,
    Kind.INPUT,
}


def meets_files(contract: MicroModuleContract) -> bool:
    """Whether a call may find or leave files."""
    types = " ".join(slot.type for slot in (*contract.inputs, *contract.outputs))
    return bool(contract.effects) or "Path" in types


def _request(candidate: Candidate, files: Mapping[str, bytes], limits: FuzzBounds) -> dict[str, Any]:
    contract = candidate.contract
    constants = constants_of(files, contract)
    texts = _texts(contract)
    kinds = {effect.type for effect in contract.effects}
    return {
        "name": contract.name,
        "entries": [entry._asdict() for entry in entry_points(contract)],
        "parameters": {
            slot.name: f"tuple[{slot.type}, ...]" if is_any_number(slot) else _drawn_type(slot.type)
            for slot in contract.inputs
        },
        "takes": {
            slot.name: bound
            for slot in contract.inputs
            if (bound := stated_bound(slot.type, slot.constraints, "takes"))
        },
        "many": next((slot.name for slot in contract.inputs if is_any_number(slot)), ""),
        "keywords": [slot.name for slot in contract.inputs if is_keyword_only(slot)],
        "defaults": [slot.name for slot in contract.inputs if default_of(slot) is not None],
        "returns": return_type(contract),
        "errors": [e.name for e in contract.error_surfaces if e.surface is SurfaceKind.EXCEPTION],
        "error_fields": _types_of_fields(contract),
        **_limits(contract),
        "classes": described_classes([*(d.contract for d in candidate.dependencies), contract]),
        "constants": constants.values,
        "given": constants.by_parameter,
        "aware": constants.aware or any(speaks_of_zones(text) for text in texts),
        "numbers": numbers(texts),
        "texts": quoted(texts),
        "repeatable": kinds <= {EffectType.WRITE},
        "web": bool(network_effects(contract)),
        "files": meets_files(contract),
        "found": _found(files),
        "writes": EffectType.WRITE in kinds,
        "confined": any(not is_network(effect) for effect in contract.effects),
        "seed": int(canonical_json.digest(contract.interface_fingerprint)[:12], 16),
        "examples": limits.examples,
        "seconds": limits.seconds,
        "whole_seconds": limits.seconds,
        "call_seconds": limits.call_seconds,
        "most_size": 0,
        "huge": True,
        "ordinary": False,
        "makers": [_maker(one) for one in own_statements(contract).values() if one.has_code],
        "variants": _variants(contract, limits),
    }


def _variants(contract: MicroModuleContract, limits: FuzzBounds) -> list[dict[str, Any]]:
    """What a generic function is tried with, one type after the other, in twice the time of another function."""
    tried = tried_types([slot.type for slot in (*contract.inputs, *contract.outputs)])
    share = 2 / max(len(tried), 2)
    return [
        {
            "variable": kind,
            "examples": max(1, int(limits.examples * share)),
            "seconds": limits.seconds * share,
        }
        for kind in tried
    ]


def _drawn_type(slot_type: str) -> str:
    """What is drawn for a parameter: of an iterator a list, of which the module gets an iterator."""
    return slot_type.replace("Iterator[", "Iterable[", 1) if is_iterable(slot_type) else slot_type


def _maker(statement: ClassStatement) -> dict[str, Any]:
    """What is drawn to make values of a class that checks its fields or derives properties: making one is a call."""
    return {
        "entries": [{"name": statement.name, "is_async": False}],
        "parameters": {field.name: field.type for field in statement.fields},
        "many": "",
        "takes": {},
        "keywords": [],
        "defaults": [field.name for field in statement.fields if field.default],
        "returns": statement.name,
        "errors": [*statement.raises],
        "bounds": {},
        "ranges": {},
        "echoes": False,
    }


def _limits(contract: MicroModuleContract) -> dict[str, Any]:
    """What constraints say of numbers and lengths: `bounds` beyond doubt, and the `ranges` of a few numbers."""
    total = all(error.surface is SurfaceKind.EXCEPTION for error in contract.error_surfaces)
    slots = [slot for slot in contract.inputs if not is_any_number(slot)]
    said = {slot.name: bounds(slot.type, slot.constraints) for slot in slots if total}
    few = {slot.name: small_range(slot.type, slot.constraints) for slot in slots}
    return {
        "bounds": {name: [limit._asdict() for limit in limits] for name, limits in said.items()},
        "ranges": {name: found for name, found in few.items() if found},
    }


def _of_definitions(contract: MicroModuleContract) -> dict[str, Any]:
    """What is called where there is no function: values of each class are made, go to the module's process and come back."""
    either = " | ".join(own_statements(contract)) or "None"
    entries = [{"name": "definitions", "is_async": False}]
    return {
        "entries": entries,
        "parameters": {"value": either},
        "takes": {},
        "returns": either,
        "errors": [],
        "variants": [],
        "echoes": True,
    }


def _found(files: Mapping[str, bytes]) -> list[str]:
    """What else lies where a module is called whose source speaks of it."""
    source = b"\n".join(data for path, data in files.items() if path.startswith("implementation/"))
    return [kind for kind, words in _FOUND.items() if any(word in source for word in words)]


def _types_of_fields(contract: MicroModuleContract) -> dict[str, dict[str, str]]:
    stated = error_fields(contract)
    return {name: {field.name: field.type for field in fields} for name, fields in stated.items()}


def _texts(contract: MicroModuleContract) -> list[str]:
    slots = [text for slot in contract.inputs for text in slot.constraints]
    slots += [text for output in contract.outputs for text in output.invariants]
    return [*slots, *(error.when for error in contract.error_surfaces), contract.purpose]


def speaks_of_zones(text: str) -> bool:
    """Whether a text wants times with a zone."""
    return any(word in text.lower() for word in ("time zone", "timezone", "aware", "utc"))


def described_classes(contracts: Iterable[MicroModuleContract], package: str = "modules") -> dict[str, Any]:
    """What exported classes are made of, by their names.

    Args:
        contracts: Of the modules that export them.
        package: That holds the modules.
    """
    return {
        statement.name: {
            "kind": statement.kind,
            "fields": [(field.name, field.type) for field in statement.fields],
            "properties": [(one.name, one.type) for one in statement.properties],
            "module": f"{package}.{contract.name}",
        }
        for contract in contracts
        for statement in own_statements(contract).values()
    }


def _findings(ran: FuzzRun, staged: Staged, limits: FuzzBounds, called: str) -> Iterator[Finding]:
    """What a run found of what is called, `name(parameters)`."""
    found = {str(event["key"]): event for event in ran.events if event.get("event") == "counterexample"}
    for event in found.values():
        line = str(event.get("line", ""))
        location = f"implementation/{line}" if event.get("kind") == "raises" and line else ENTRY_FILE
        advice = advice_on(str(event["kind"]), str(event["happened"]))
        yield _finding(location, f"{event['call']} {event['happened']}; {advice}", staged)
    if ran.finished():
        return
    if (call := unanswered_call(ran)) is None:
        yield _finding(ENTRY_FILE, before_any_answer(ran, called), staged)
    else:
        text = BROKEN_OFF[ran.ended.how].format(seconds=limits.call_seconds)
        yield _finding(ENTRY_FILE, f"{call['call']} {text}", staged)


def _unshown_errors(
    ran: FuzzRun, name: str, files: ParsedFiles, shown: Collection[str], staged: Staged
) -> Iterator[Finding]:
    """Declared errors that something in the module's calls raised, where no test and no example met one."""
    known = {_statement(line.rpartition(f"/lib/modules/{name}/")[2], files) for line in shown}
    for line, raised in sorted(ran.raised.items()):
        statement = _statement(line, files)
        # what the system says of files and folders differs from machine to machine
        if statement is None or statement.is_raise or statement in known or raised.error in _OF_THE_SYSTEM:
            continue
        message = (
            f"{raised.text} raises {raised.error} out of what this line calls, where no test and no example met one; "
            "return a result, or raise it yourself and show in a test that the contract refuses such an input"
        )
        yield _finding(f"implementation/{line}", message, staged)


class _Statement(NamedTuple):
    """Where an exception came out of: a file, the first line of a statement, and whether it is a `raise`."""

    path: str
    line: int
    is_raise: bool


def _statement(place: str, files: ParsedFiles) -> _Statement | None:
    """The innermost statement at a place like `__init__.py:7`."""
    path, _, number = place.rpartition(":")
    path = f"implementation/{path}"
    if path not in files or not number.isdigit():
        return None
    at = int(number)
    around = [
        node
        for node in ast.walk(files.tree(path))
        if isinstance(node, ast.stmt) and node.lineno <= at <= (node.end_lineno or at)
    ]
    innermost = max(around, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)
    return _Statement(path, innermost.lineno, isinstance(innermost, ast.Raise)) if innermost else None


_OF_THE_SYSTEM = {
    "OSError",
    "FileNotFoundError",
    "PermissionError",
    "IsADirectoryError",
    "NotADirectoryError",
}
_ENDLESS = "does not end within {seconds:g} seconds; find what never stops"
BROKEN_OFF: Mapping[str, str] = {
    "finished": _ENDLESS,
    "timeout": _ENDLESS,
    "processor": "uses up its processor time; find what never stops",
    "broke": "ends the process; return or raise a declared error instead",
    "output": "prints or returns too much; print less",
    "disk": "writes too many or too large files; write less",
    "boundary": "gives what does not cross the module's boundary; return what is declared",
    "forged": "tampers with what calls it; return or raise a declared error instead",
}
"""What a call does that ends its run, and what to do; `{seconds}` is what it had."""


def _finding(location: str, message: str, staged: Staged) -> Finding:
    return Finding(FindingCode.FUZZ_COUNTEREXAMPLE, location, staged.anonymous(message))


def advice_on(kind: str, happened: str) -> str:
    """What to do about a counterexample.

    Args:
        kind: Of the counterexample.
        happened: What was observed.
    """
    is_too_large = any(
        happened.startswith("returns a value") and limit.text in happened for limit in BoundaryLimit
    )
    return _ADVICE["too large" if kind == "returns" and is_too_large else kind]


_ADVICE = {
    "too large": "that is a limit of the gate, whatever the contract declares, and a container counts as a value beside its "
    "elements: declare an error for inputs that give so much (`Raises:` in a docstring) and raise it, or state a smaller "
    "limit of an input and raise the error beyond it",
    "raises": "the contract does not declare that; handle the input, or raise a declared error",
    "returns": "return what the contract declares",
    "uses": "use iterables and callables as the contract says",
    "fields": "set the fields that the contract declares wherever the exception is raised",
    "changed": "work on a copy",
    "differs": "the same input must give the same result, unless a CALL effect is declared",
    "twins": "let both do the same",
    "accepts": "a contract is total; raise a declared error",
}
