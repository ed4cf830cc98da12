"""Runs a candidate's tests, its examples and falsifying tests in the sandbox, and reports what was observed (design:
ship-gate, role-access, falsifying-tests).

Tests and module run in two sandboxed processes, and everything between them goes through the gate. A run counts only if
it is complete: what was collected is what the files name, all of it was executed one after the other, and every test
that passed had something to do with the module.

What is guaranteed: the module has no way to the verdict but the values that it returns and the errors that it raises;
which errors came out of it is known from the gate's side of the pipe; no run that broke off, reported out of turn or
changed what runs the tests passes. What is not: tests share a process with pytest, and tests that search the interpreter
for the reporter can report a pass that they did not earn. The static stage refuses the means for it by an allow-list, and
`strength.observation` finds the tests that report a pass where no module answers as well.

The module's process tells of an effect before it happens (`inside.observation`), in these runs and in the fuzz;
`observed_findings` holds what it told against the contract:

    effects.undeclared    files, environment, clock, chance, standard input, printing or process state, undeclared
    effects.refused       processes, native code, code made at run time, sockets: no contract can declare them; requests to
                          hosts that the contract does not name, or without a timeout or a check of certificates
    effects.state         something of the module that a call changed
    effects.code          an entry point that is not what its source says

What a sealed dependency does was judged with the dependency.

A falsifying test is checked as the module's own tests are, without being run: black-box imports, no tricks, no assertion
that is constant by itself, an obligation of the contract. Then it runs in a sandbox of its own, so that what it shows is its
own doing. A test that fails is a counterexample, and so is one during which the module hangs, ends its process or changes
its arguments. A test that cannot be loaded, does not call the module, hangs or breaks by itself shows nothing, and its
author reads why. Whether it asks for what the contract says is for the Arbiter.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ship_gate.contract.contract import MicroModuleContract, SurfaceKind, is_covered, network_effects
from ship_gate.contract.examples import Example, Outcome, mismatch
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.contract.obligations import obligations
from ship_gate.findings import Finding, FindingCode
from ship_gate.sandbox.exchange import Ending, Ledger, ObservedEffect, RunEnd
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.pair import Pair, prepare, started
from ship_gate.sandbox.staging import Staged, lay_out, stage, workspace
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.static.effects import HTTP_ADVICE, Kind, declared_kinds, undeclared_text
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import test_findings
from ship_gate.syntax_tree import imported_roots
from ship_gate.verdict import ENTRY_FILE, Candidate, TestResult, Trial


class TestRun(NamedTuple):
    """What a run showed.

    Args:
        tests: Every executed test.
        findings: What keeps the run from counting.
        outcomes: What came out of the entry points, by test without parameters: the names of an exception's class
            and bases, or the name of a returned code.
        in_module: Whether it was the module's process that ended, or, if none did, a call of it had not come back.
        calls: How many calls were watched.
    """

    __test__ = False  # the word is the field's; pytest must not collect it
    tests: tuple[TestResult, ...]
    findings: tuple[Finding, ...]
    outcomes: Mapping[str, list[tuple[str, ...]]]
    in_module: bool = False
    calls: int = 0

    def seconds(self) -> float:
        """How long the tests took."""
        return sum(test.duration_ms for test in self.tests) / 1000


def named_tests(files: Mapping[str, bytes]) -> list[str]:
    """The tests that the files name, `test_file.py::test_x`, as pytest would collect them; all can be parsed."""
    parsed = ParsedFiles.of(files)
    return [
        f"{path.removeprefix('tests/')}::{name}"
        for path in parsed.tests()
        for name in _named(parsed.tree(path).body, "")
    ]


def _named(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                yield prefix + name
            case ast.ClassDef(name=name) if name.startswith("Test") or _is_test_case(node):
                yield from _named(node.body, f"{prefix}{name}::")
            case _:
                pass


def _is_test_case(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def run_tests(
    staged: Staged,
    contract: MicroModuleContract,
    named: list[str],
    timeout_seconds: float,
    pair: Pair | None = None,
) -> TestRun:
    """Run the tests of a staged candidate.

    Args:
        staged: Laid out by `stage`.
        contract: Names the codes that are watched for.
        named: Of `named_tests`.
        timeout_seconds: For all of them, without what they wait for a processor.
        pair: Processes that were started before for this run, of the role `test_runner`; the caller stops them.

    Raises:
        ShipGateError: the processes did not come up, or there is no sandbox.
    """
    codes = [e.name for e in contract.error_surfaces if e.surface is not SurfaceKind.EXCEPTION]
    ledger = _Ledger(codes)
    with started(staged, "test_runner", pair) as own:
        ended = own.exchange.run({}, dict(staged.surface), ledger, timeout_seconds)
    tests = tuple(test._replace(message=staged.anonymous(test.message)) for test in ledger.tests)
    findings = tuple(_findings(ledger, ended, named, timeout_seconds))
    findings = tuple(f._replace(message=staged.anonymous(f.message)) for f in findings)
    return TestRun(tests, findings, ledger.outcomes, ended.in_module, ledger.calls)


class _Ledger(Ledger):
    """What the run showed, in the order in which it came (a `Ledger`)."""

    def __init__(self, codes: list[str]) -> None:
        self._codes = [code.encode() for code in codes]
        self.collected: list[str] | None = None
        self.uncollected: list[tuple[str, str]] = []
        self.tests: list[TestResult] = []
        self.outcomes: dict[str, list[tuple[str, ...]]] = {}
        self.uncalled: list[str] = []
        self.changed: list[str] = []
        self.out_of_turn = False
        self.running = ""
        self._is_set_up = False
        self.calls = self._calls = 0
        self._shared_calls = 0
        self._traceback = ""

    def reported(self, header: dict[str, Any]) -> None:
        """A word of the test runner; one that comes out of turn makes the run worthless."""
        name = str(header.get("name", ""))
        match header.get("event"):
            case "uncollected" if self.collected is None:
                self.uncollected.append((name, str(header.get("message", ""))))
            case "collected" if self.collected is None:
                self.collected = [str(item) for item in header.get("names", [])]
            case "start" if not self.running and name in (self.collected or ()):
                self.running, self._is_set_up, self._calls, self._traceback = name, False, 0, ""
            case "set_up" if name == self.running and not self._is_set_up:
                self._is_set_up = True
            case "test" if name == self.running and self._is_set_up:
                self._finished(name, header)
            case _:
                self.out_of_turn = True

    def _finished(self, name: str, header: dict[str, Any]) -> None:
        passed = header.get("passed") is True
        message = "" if passed else str(header.get("message", ""))
        if self._traceback and not passed:
            message += f"\nin the module:\n{self._traceback}"
        duration = header.get("duration_ms", 0.0)
        self.tests.append(
            TestResult(
                name,
                "PASS" if passed else "FAIL",
                float(duration) if isinstance(duration, (int, float)) else 0.0,
                message,
            )
        )
        if passed and not self._calls and not self._shared_calls:
            self.uncalled.append(name)
        self.running = ""

    def called(self, call: dict[str, Any], payload: bytes) -> None:
        """A call that is made outside of any test's own part may serve several."""
        self._calls += 1
        self.calls += 1
        if not self.running or not self._is_set_up:
            self._shared_calls += 1

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """What came out of the module, and whether it left its arguments alone."""
        known = self.outcomes.setdefault(self.running.partition("[")[0], [])
        if "error" in header:
            names = tuple(str(name) for _, name in header["error"])
            if names and names not in known:
                known.append(names)
            self._traceback = str(header.get("traceback", ""))[-2000:]
        else:
            known += [(c.decode(),) for c in self._codes if c in payload and (c.decode(),) not in known]
        if header.get("changed") is not False and self.running not in self.changed:
            self.changed.append(self.running)

    def location(self) -> str:
        """The test that is running, or the first that is still to come."""
        done = {test.name for test in self.tests}
        name = self.running or next((name for name in self.collected or () if name not in done), "")
        return f"tests/{name}" if name else "tests"


_MOST_OTHERS = 10
_FORGED = "the run tampered with its own report, and shows nothing; leave the test runner alone"
_BROKEN_OFF: dict[Ending, tuple[FindingCode, str]] = {
    "broke": (
        FindingCode.TESTS_INCOMPLETE,
        "the run broke off; neither the module nor a test may end the process",
    ),
    "output": (
        FindingCode.TESTS_OUTPUT,
        "the tests or the module print or send too much and were stopped; print less",
    ),
    "disk": (
        FindingCode.TESTS_DISK,
        "the tests or the module write too many or too large files and were stopped; write less",
    ),
    "boundary": (FindingCode.TESTS_BOUNDARY, ""),
    "forged": (FindingCode.TESTS_FORGED, _FORGED),
}


def _findings(ledger: _Ledger, ended: RunEnd, named: list[str], timeout_seconds: float) -> Iterator[Finding]:
    for name, message in ledger.uncollected:
        yield Finding(
            FindingCode.TESTS_UNCOLLECTED, f"tests/{name}", f"the file cannot be loaded:\n{message}"
        )
    yield from _failed_tests([test for test in ledger.tests if test.result == "FAIL"])
    for name in ledger.changed:
        message = "the module changed an argument that it was given; work on a copy"
        yield Finding(FindingCode.TESTS_ARGUMENT_CHANGED, f"tests/{name}" if name else "tests", message)
    if ended.how in {"timeout", "processor"}:
        what = ended.message or f"the tests did not end within {timeout_seconds:g} seconds"
        yield Finding(
            FindingCode.TESTS_TIMEOUT, ledger.location(), f"{what}, and the run was stopped; find what hangs"
        )
    elif ended.how == "unloaded":
        message = f"the module cannot be imported:\n{ended.message}"
        yield Finding(FindingCode.TESTS_UNCOLLECTED, ENTRY_FILE, message)
    elif ended.how != "finished":
        code, what = _BROKEN_OFF[ended.how]
        message = ": ".join(part for part in (what, ended.message) if part)
        printed = f":\n{ended.output[-500:]}" if ended.how == "broke" and ended.output else ""
        yield Finding(code, ledger.location(), message + printed)
    elif ledger.out_of_turn or ledger.collected is None:
        yield Finding(FindingCode.TESTS_FORGED, ledger.location(), _FORGED)
    elif not ledger.uncollected:
        yield from _completeness(ledger, ledger.collected, named)


def _failed_tests(failed: list[TestResult]) -> Iterator[Finding]:
    """One finding for each test function, however many of its parameters fail."""
    by_function: dict[str, list[TestResult]] = {}
    for test in failed:
        by_function.setdefault(test.name.partition("[")[0], []).append(test)
    for tests in by_function.values():
        others = [f"[{test.name.partition('[')[2]}" for test in tests[1:]]
        also = f" (and for {len(others)} more: {', '.join(others[:_MOST_OTHERS])})" if others else ""
        message = f"the test fails{also}; correct the module or the test:\n{tests[0].message}"
        yield Finding(FindingCode.TESTS_FAILED, f"tests/{tests[0].name}", message)


def _completeness(ledger: _Ledger, collected: list[str], named: list[str]) -> Iterator[Finding]:
    if not collected:
        yield Finding(
            FindingCode.TESTS_NONE, "tests", "there is no test; write test functions in tests/test_*.py"
        )
    if sorted(collected) != sorted(test.name for test in ledger.tests):
        message = "not every collected test was executed; run all of them"
        yield Finding(FindingCode.TESTS_INCOMPLETE, ledger.location(), message)
    for name in sorted({name for name in named if named.count(name) > 1}):
        message = "two tests have this name and one hides the other; rename one"
        yield Finding(FindingCode.TESTS_NAMES, f"tests/{name}", message)
    plain = {name.partition("[")[0] for name in collected}
    # a test that the source does not name is reported below
    for name in [name for name in ledger.uncalled if name.partition("[")[0] in named]:
        message = "the test passes without calling the module; call it, or remove the test"
        yield Finding(FindingCode.TESTS_UNCALLED, f"tests/{name}", message)
    for name in sorted(plain ^ set(named)):
        how = (
            "collected but not named in the source"
            if name in plain
            else "named in the source but not collected"
        )
        message = f"the test is {how}; write plain test functions with names of their own"
        yield Finding(FindingCode.TESTS_NAMES, f"tests/{name}", message)


def run_examples(
    staged: Staged,
    examples: tuple[Example, ...],
    timeout_seconds: float,
    pair: Pair | None = None,
    advice: str = "; correct the example or the module",
) -> tuple[Finding, ...]:
    """Execute examples, one pair of processes for all, a fresh directory for each.

    Args:
        staged: Laid out by `stage`.
        examples: Those that are well-formed.
        timeout_seconds: For all of them.
        pair: Processes that were started before for this run, of the role `example_runner`; the caller stops them.
        advice: What to do about a false one, behind what is false.

    Raises:
        ShipGateError: the processes did not come up, or there is no sandbox.
    """
    if not examples:
        return ()
    ledger, job = _Outcomes(), {"examples": [example.code for example in examples]}
    with started(staged, "example_runner", pair) as own:
        ended = own.exchange.run(job, dict(staged.surface), ledger, timeout_seconds)
    return tuple(_false_examples(ledger, ended, examples, staged, timeout_seconds, advice))


class _Outcomes(Ledger):
    """What came out of the examples, in their order (a `Ledger`)."""

    def __init__(self) -> None:
        self.outcomes: list[dict[str, Any]] = []
        self.changed: set[int] = set()

    def reported(self, header: dict[str, Any]) -> None:
        """An outcome; one that is not the next one's is none."""
        if header.get("event") == "example" and header.get("place") == len(self.outcomes):
            self.outcomes.append(header)

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """Whether the module left its arguments alone."""
        if header.get("changed") is not False:
            self.changed.add(len(self.outcomes))


def _false_examples(
    ledger: _Outcomes,
    ended: RunEnd,
    examples: tuple[Example, ...],
    staged: Staged,
    timeout_seconds: float,
    advice: str,
) -> Iterator[Finding]:
    for place, example in enumerate(examples):
        if place >= len(ledger.outcomes):
            message = f"the example {_how_ended(ended, timeout_seconds)}; correct it or the module"
            yield Finding(FindingCode.EXAMPLES_BROKEN, example.heading, staged.anonymous(message))
            # those behind it were never reached
            return
        if problem := mismatch(example, _outcome(ledger.outcomes[place], staged)):
            yield Finding(FindingCode.EXAMPLES_FALSE, example.heading, f"{problem}{advice}")
        elif place in ledger.changed:
            message = "the module changed an argument that it was given; work on a copy"
            yield Finding(FindingCode.EXAMPLES_ARGUMENT_CHANGED, example.heading, message)
    if ended.how != "finished":
        message = f"the example {_how_ended(ended, timeout_seconds)}; correct it or the module"
        yield Finding(FindingCode.EXAMPLES_BROKEN, examples[-1].heading, staged.anonymous(message))


def _how_ended(ended: RunEnd, timeout_seconds: float) -> str:
    match ended.how:
        case "timeout":
            return (
                f"was stopped: {ended.message}"
                if ended.message
                else f"did not end within {timeout_seconds:g} seconds"
            )
        case "processor":
            return f"was stopped: {ended.message}"
        case "output":
            return "printed or sent too much"
        case "disk":
            return "wrote too many or too large files"
        case "unloaded":
            return f"cannot run, since the module cannot be imported: {ended.message}"
        case "boundary" | "forged":
            return f"was stopped: {ended.message}"
        case _:
            return "ended the process"


def _outcome(event: dict[str, Any], staged: Staged) -> Outcome:
    value: object = event.get("value")
    if isinstance(value, str):
        return Outcome(value=value)
    names: list[object] = event.get("errors") or ["nothing"]
    return Outcome(errors=tuple(map(str, names)), message=staged.anonymous(str(event.get("message", ""))))


_REFUSED = {Kind.NETWORK, Kind.PROCESS, Kind.EXTENSION, Kind.DYNAMIC, Kind.UNKNOWN}


_OF_HOSTS = {
    Kind.HTTP: HTTP_ADVICE,
    Kind.REQUEST: "ask the hosts that the effects name, and do not follow a redirect or link to another; or declare it",
    Kind.ENDLESS: "give each connection a timeout",
    Kind.UNCHECKED: "leave the check of certificates and names on",
}


def observed_findings(
    effects: Iterable[ObservedEffect], contract: MicroModuleContract, staged: Staged
) -> Iterator[Finding]:
    """One finding for each kind of effect and line that the contract does not declare."""
    declared = declared_kinds(contract)
    found: set[tuple[Kind, str]] = set()
    for effect in effects:
        kind = Kind.__members__.get(effect.kind, Kind.UNKNOWN)
        place = _source_place(effect.line, contract.name)
        if (
            kind in declared
            or (kind, place) in found
            or (kind is Kind.REQUEST and _is_named(effect.what, contract))
        ):
            continue
        found.add((kind, place))
        yield _effect_finding(kind, staged.anonymous(effect.what), place)


def _effect_finding(kind: Kind, what: str, place: str) -> Finding:
    if kind is Kind.STATE:
        message = (
            f"a call changes {what}, which outlives it; pass state in and return it, or use functools.cache"
        )
        return Finding(FindingCode.EFFECTS_STATE, place, message)
    if kind is Kind.CODE:
        message = f"{what} is not what the source says; leave the function as it is written"
        return Finding(FindingCode.EFFECTS_CODE, place, message)
    if kind in _OF_HOSTS:
        message = f"when it was run, `{what}` {kind.value}; {_OF_HOSTS[kind]}"
        return Finding(FindingCode.EFFECTS_REFUSED, place, message)
    if kind in _REFUSED:
        message = f"when it was run, `{what}` {kind.value}: no contract can declare that; remove it"
        return Finding(FindingCode.EFFECTS_REFUSED, place, message)
    return Finding(FindingCode.EFFECTS_UNDECLARED, place, f"when it was run, {undeclared_text(kind, what)}")


def _is_named(what: str, contract: MicroModuleContract) -> bool:
    """Whether the contract names a request, `GET https://a.example`."""
    method, _, origin = what.partition(" ")
    try:
        parts = urlsplit(origin)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return False
    effects = [(effect.type.value, effect.target) for effect in network_effects(contract)]
    return is_covered(effects, method, parts.scheme, parts.hostname or "", port)


def _source_place(line: str, name: str) -> str:
    module, _, rest = line.partition("/")
    return f"implementation/{rest}" if module == name and rest else ENTRY_FILE


MOST_SECONDS = 15
"""Of processor time, for each process of one test; by the clock it has as long as the whole suite of a module."""

MOST_CHARACTERS = 1500
"""Of the report of a failure."""

_MOST_CASES = 10
"""That a report names, of a test with parameters."""

_COUNTEREXAMPLES = {"tests.failed", "tests.timeout", "tests.incomplete", "tests.argument_changed"}
"""What shows something about the module; anything else is the test's own fault."""

_OWN_FAULTS = ("NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError", "fixture '")
_DRAWN = {"hypothesis", "random", "secrets"}


def try_test(
    candidate: Candidate,
    test: FalsifyingTest,
    sandbox: Sandbox,
    packages: frozenset[str],
    timeout_seconds: float,
) -> Trial:
    """Check a test, and run it if it is one.

    Args:
        candidate: As it would ship; its own tests are left out.
        test: Somebody else's.
        sandbox: In what it runs.
        packages: Third-party packages that may be imported.
        timeout_seconds: By the clock, without what the test waits for a processor.

    Raises:
        ShipGateError: the sandbox did not come up, or hardly came to run.
    """
    path = f"tests/{test.name}.py"
    alone = candidate._replace(files=ParsedFiles({path: test.source.encode()}))
    if problems := tuple(dict.fromkeys(_problems(alone, test, path, packages))):
        return Trial(test.name, problems)
    files = {name: data for name, data in candidate.files.items() if name.startswith("implementation/")}
    files |= alone.files
    sandbox = sandbox._replace(limits=sandbox.limits._replace(cpu_seconds=MOST_SECONDS))
    with workspace() as root, prepare(lay_out(root, sandbox), "test_runner") as pair:
        staged = stage(root, candidate, files, sandbox)
        run = run_tests(staged, candidate.contract, named_tests(files), timeout_seconds, pair)
    return _judged(test, run)


def _problems(alone: Candidate, test: FalsifyingTest, path: str, packages: frozenset[str]) -> Iterator[str]:
    due = [obligation.pointer for obligation in obligations(alone.contract)]
    if test.obligation not in due:
        known = ", ".join(repr(pointer) for pointer in due)
        yield f"obligation {test.obligation!r} is none of this contract's; these are {known}"
    try:
        tree = ParsedFiles.of(alone.files).tree(path)
    except SourceError as error:
        yield f"the source is no Python: {error}"
        return
    if named_tests(alone.files) != [f"{test.name}.py::{test.name}"]:
        yield f"the source holds one test, the function {test.name}, and no other"
    if drawn := sorted(imported_roots(tree) & _DRAWN):
        yield f"it imports {', '.join(drawn)}; a counterexample names the values that fail"
    for finding in [*import_findings(alone, packages), *test_findings(alone)]:
        yield f"{finding.code} at line {finding.where.partition(':')[2] or 1}: {finding.message}"


def _judged(test: FalsifyingTest, run: TestRun) -> Trial:
    wrong = [
        finding
        for finding in run.findings
        if finding.code not in _COUNTEREXAMPLES or (finding.code == "tests.timeout" and not run.in_module)
    ]
    if wrong:
        return Trial(test.name, tuple(f"{_case(one)}{_without_module(one.message)}" for one in wrong))
    failures: list[str] = []
    for result in run.tests:
        if result.result == "FAIL":
            message = _without_module(result.message)
            raised = {name for names in run.outcomes.get(result.name.partition("[")[0], []) for name in names}
            if broken := _broken(message, raised):
                return Trial(test.name, (f"the test itself breaks: {broken}",))
            if not run.outcomes:
                return Trial(
                    test.name, ("the test fails without an answer of the module; call it and assert that",)
                )
            failures.append(f"{result.name.partition('::')[2]}:\n{message}")
    others = [finding for finding in run.findings if finding.code != "tests.failed"]
    cases = [*_failed_cases(run), *(_case_name(finding) for finding in others)]
    named = list(dict.fromkeys(name for name in cases if name))
    if len(named) > 1:  # the report of the first may be all that there is room for
        more = ", ..." if len(named) > _MOST_CASES else ""
        failures.insert(0, f"{len(named)} cases fail: {', '.join(named[:_MOST_CASES])}{more}")
    failures += [f"{_case(finding)}{finding.message}" for finding in others]
    return Trial(test.name, passed=not failures, message="\n".join(failures)[:MOST_CHARACTERS])


def _failed_cases(run: TestRun) -> list[str]:
    """By their names with parameters, `test_it[two]`."""
    return [result.name.partition("::")[2] for result in run.tests if result.result == "FAIL"]


def _case(finding: Finding) -> str:
    """The case during which a run broke off, before what is said of it; empty if none was running."""
    name = _case_name(finding)
    return f"{name}: " if name else ""


def _case_name(finding: Finding) -> str:
    return finding.where.partition("::")[2]


def _broken(message: str, raised: set[str]) -> str:
    """The line by which a test fails for a reason of its own, if that did not come out of the module."""
    errors = [line.removeprefix("E").strip() for line in message.splitlines() if line.startswith("E ")]
    for error in errors:
        if error.startswith(_OWN_FAULTS) and error.partition(":")[0] not in raised:
            return error
    return ""


def _without_module(message: str) -> str:
    """What the test's own process saw."""
    return message.partition("\nin the module:\n")[0].strip()
