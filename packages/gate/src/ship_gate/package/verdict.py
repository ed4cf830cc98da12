"""Judges a package in place: what is known of each public function, from what was seen of it (design: package-gate).

WRONG needs a call that contradicts a statement: a documented example, a test, or the type that the function states for its
result. Whatever the sandbox, the day, the machine or a missing package may have caused is a note.
"""

import ast
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.errors import InputError
from ship_gate.findings import Finding, FindingCode
from ship_gate.package.functions import PublicFunction
from ship_gate.package.run import Event, PackageRun, run_package
from ship_gate.package.tree import find_tree
from ship_gate.sandbox.kind import Sandbox, chosen_sandbox
from ship_gate.settings import load_gate_settings
from ship_gate.terminal.output import counted

LEAST_STRENGTH = 0.85
"""Of the faults that are put into a function, so many its tests and examples must notice."""

_SURROUNDINGS = {
    "OSError", "ImportError", "NameError", "AttributeError", "Warning", "SyntaxError", "SystemExit", "KeyboardInterrupt",
    "MemoryError", "NotImplementedError",
}  # fmt: skip
"""Errors that may say more about where a check runs than about a function."""
_OF_VALUES = {"ArithmeticError", "LookupError", "ValueError", "UnboundLocalError"}
_ABSURD = {"MemoryError", "OverflowError", "RecursionError", "UnicodeError", "_TooLongError"}
_UNTYPED = {"TypeError", "AttributeError"}
_MOST_NOTES = 30
_SHOWN = 200


class Verdict(StrEnum):
    """What is known of a function."""

    WRONG = "WRONG"
    NOT_SHOWN = "NOT SHOWN"
    SHOWN = "SHOWN"


class Unnoticed(NamedTuple):
    """A fault that no check notices: where, what was changed, and a call that tells it from the function if one does."""

    where: str
    change: str
    told_by: str


class JudgedFunction(NamedTuple):
    """A function, and what is known of it.

    Args:
        function: What it states.
        where: Its file, from the project's directory, and its line.
        verdict: What is known.
        basis: On what the verdict rests, or what is missing.
        examples: Documented examples that reach it and hold.
        tests: Tests that reach it and pass.
        faults: How many that count were put into it.
        unnoticed: Those that no check notices.
        equivalent: Those besides that no input could tell from the function, which do not count.
        calls: Drawn calls.
        findings: What is wrong.
        notes: What may be of interest and is no fault for certain.
    """

    function: PublicFunction
    where: str
    verdict: Verdict
    basis: str
    examples: int
    tests: int
    faults: int
    unnoticed: tuple[Unnoticed, ...]
    equivalent: tuple[Unnoticed, ...]
    calls: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


class PackageVerdict(NamedTuple):
    """All of a package.

    Args:
        names: Import names.
        functions: By their places.
        findings: What could not be loaded, and so was not judged.
        notes: About the package, a line each.
        tests: How many were collected.
        passed: How many of them passed.
    """

    names: tuple[str, ...]
    functions: tuple[JudgedFunction, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    tests: int
    passed: int

    def count(self, verdict: Verdict) -> int:
        """How many functions have it."""
        return sum(one.verdict is verdict for one in self.functions)


class _Seen:
    """The events of a run, sorted by what they are about."""

    def __init__(self, run: PackageRun) -> None:
        self.run = run
        nothing: Event = {}
        collected = next((one for one in run.events if one["event"] == "collected"), nothing)
        self.tests: list[str] = collected.get("tests", [])
        self.examples: list[str] = collected.get("examples", [])
        self.found: set[int] = set(collected.get("functions", []))
        self.has_judged = any(one["event"] == "baseline" for one in run.events)
        self.checks: dict[int, Event] = {one["place"]: one for one in run.events if one["event"] == "check"}
        self.drawn: dict[int, list[Event]] = {}
        self.faults: dict[int, dict[int, Event]] = {}
        for one in run.events:
            if one["event"] == "drawn":
                self.drawn.setdefault(one["key"], []).append(one)
            elif one["event"] == "fault":
                self.faults.setdefault(one["key"], {})[one["number"]] = one

    def name(self, place: int) -> str:
        """Of a check."""
        return [*self.tests, *self.examples][place]

    def is_test(self, place: int) -> bool:
        """Whether a check is a test, and not the examples of a docstring."""
        return place < len(self.tests)


def verdict_of(run: PackageRun, names: Sequence[str]) -> PackageVerdict:
    """Judge every function of a package that was run."""
    seen = _Seen(run)
    findings, notes = _contradictions(seen)
    judged = tuple(
        _judged(seen, key, function, findings.get(key, [])) for key, function in enumerate(run.api.functions)
    )
    passed = sum(one["outcome"] == "passed" for place, one in seen.checks.items() if seen.is_test(place))
    unloaded = _unloaded(seen)
    failed = _by_reason((one for one in _unimported(run) if one[0] in unloaded), "loaded")
    all_notes = [_anonymous(run, note) for note in (*_of_package(seen, unloaded), *notes)]
    all_unloaded = tuple(
        one._replace(where=_anonymous(run, one.where), message=_anonymous(run, one.message))
        for one in (
            *run.api.findings,
            *(Finding(FindingCode.PACKAGE_UNLOADED, unloaded[one], text) for one, text in failed.items()),
        )
    )
    return PackageVerdict(tuple(names), judged, all_unloaded, tuple(all_notes), len(seen.tests), passed)


def _anonymous(run: PackageRun, text: str) -> str:
    return re.sub(rf"{re.escape(run.place)}/(tree/|scratch-\w+/)?", "", text)


# --- Examples and tests that fail ---


def _contradictions(seen: _Seen) -> tuple[dict[int, list[Finding]], list[str]]:
    """The findings of each function, and what fails without telling for certain which one is wrong."""
    findings: dict[int, list[Finding]] = {}
    notes: list[str] = []
    for place, check in sorted(seen.checks.items()):
        if check["outcome"] in {"passed", "skipped"}:
            continue
        is_test, name = seen.is_test(place), seen.name(place)
        blamed = _blamed_by_test(check) if is_test else _blamed_by_example(seen, place, check)
        documented = () if blamed is None else seen.run.api.functions[blamed].raises
        stated = [error for error in check.get("expected", ()) if error in documented]
        message, doubt = _said(check, stated), _doubt(check, is_test=is_test, is_stated=bool(stated))
        if doubt or blamed is None:
            what, why = "the test" if is_test else "an example of", f" ({doubt})" if doubt else ""
            notes.append(f"{what} {name} does not hold: {message}{why}")
            continue
        code = FindingCode.PACKAGE_TEST if is_test else FindingCode.PACKAGE_EXAMPLE
        where = name if is_test else f"{_relative(seen.run, seen.run.api.functions[blamed])}:{check['line']}"
        text = _anonymous(seen.run, f"{check.get('statement') or name}\n{message}")
        if len(findings.setdefault(blamed, [])) < 5:
            findings[blamed].append(Finding(code, where, text))
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"and {len(notes) - _MOST_NOTES} more tests or examples that do not hold"]
    for key, events in seen.drawn.items():
        for event in events:
            if contradiction := event.get("contradiction"):
                function = seen.run.api.functions[key]
                stated = f"gives {contradiction['result']}, a {contradiction['type']}; stated is -> {function.returns}"
                where = f"{_relative(seen.run, function)}:{function.line}"
                finding = Finding(FindingCode.PACKAGE_TYPE, where, f"{contradiction['call']}\n{stated}")
                findings.setdefault(key, []).append(finding)
    return findings, notes


def _said(check: Event, stated: Sequence[str]) -> str:
    match check:
        case {"outcome": "time"}:
            return "it does not come to its end"
        case {"outcome": "died"}:
            return "it ended the process"
        case {"got": got}:
            return f"gives {got.strip() or 'nothing'}; stated is {check['want'] or 'nothing'}"
        case {"message": message, "want": want} if want:
            return f"raises {message}; stated is {want}"
        case {"message": message, "error": error} if stated and error != "AssertionError":
            came = "no error" if error == "Failed" else message
            return f"raises {came}; stated is {', '.join(stated)}, in its docstring too"
        case {"message": message}:
            return message
        case _:
            return check["outcome"]


def _doubt(check: Event, *, is_test: bool, is_stated: bool) -> str:
    """Why a check that fails says nothing for certain; empty if it does."""
    if check["outcome"] in {"time", "died", "forged"} or check["outcome"] != "failed":
        return "nothing of it counts"
    if check.get("refused"):
        return f"the sandbox refuses {check['refused']}"
    if check.get("changing"):
        return f"it may depend on the day or the machine: {', '.join(check['changing'][:3])}"
    bases = set(check.get("bases", ()))
    if found := sorted(bases & _SURROUNDINGS):
        return (
            "a name or package may be missing" if found[0] != "OSError" else "the sandbox may have refused it"
        )
    if is_test:
        is_certain = check["is_assertion"] or is_stated or bases & _OF_VALUES
        return "" if is_certain else "it is no failed assertion"
    return _doubt_of_example(check)


def _doubt_of_example(check: Event) -> str:
    if "got" not in check or check["expects_error"]:
        return "" if check.get("statement") else "it cannot be executed"
    want, got = check["want"], check["got"].strip()
    if not want or "..." in want:
        return "its output is not written out"
    if not got:
        return "" if _expression(want) is not None else "it prints another text"
    wanted, given = _expression(want), _expression(got)
    if wanted is None or given is None:
        return "it prints another text"
    try:
        values = ast.literal_eval(wanted), ast.literal_eval(given)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        is_ordered = not any(isinstance(node, (ast.Set, ast.Dict)) for node in ast.walk(wanted))
        differ = ast.dump(wanted) != ast.dump(given) and is_ordered
        return "" if differ and _has_form_of(wanted, given) else "it prints another text"
    return "" if not _equal(*values) else "only the form differs"


def _expression(text: str) -> ast.expr | None:
    """The text of a value, if it is one: literals, and calls that make values of them."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    values = ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.UnaryOp | ast.Call | ast.Name
    allowed = values | ast.Attribute | ast.expr_context | ast.unaryop | ast.keyword
    return tree if all(isinstance(node, allowed) for node in ast.walk(tree)) else None


def _has_form_of(one: ast.expr, other: ast.expr) -> bool:
    """Whether two values are made by the same call."""
    return (
        isinstance(one, ast.Call)
        and isinstance(other, ast.Call)
        and ast.dump(one.func) == ast.dump(other.func)
    )


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-6)
    return bool(one == other)


def _blamed_by_test(check: Event) -> int | None:
    """The function that a test calls in the statement that fails, if it is one; else the only one that it calls."""
    begin, end = check.get("lines", (0, 0))
    direct: list[tuple[int, list[int]]] = [(key, lines) for key, lines in check.get("direct", [])]
    there = [key for key, lines in direct if any(begin <= line <= end for line in lines)]
    chosen = there or [key for key, _ in direct]
    return chosen[0] if len(chosen) == 1 else None


def _blamed_by_example(seen: _Seen, place: int, check: Event) -> int | None:
    """The function that the failing example names, if it is one."""
    functions = seen.run.api.functions
    called: list[int] = [key for key, _ in check.get("direct", [])]
    words = set(re.findall(r"\w+", check.get("statement", "")))
    named = [key for key in called if functions[key].qualname.rpartition(".")[2] in words]
    owner = [key for key, one in enumerate(functions) if f"{one.module}.{one.qualname}" == seen.name(place)]
    chosen = named or called
    return next(iter([key for key in owner if key in chosen] or (chosen if len(chosen) == 1 else [])), None)


def _relative(run: PackageRun, function: PublicFunction) -> str:
    return str(function.file).removeprefix(f"{run.place}/tree/")


# --- One function ---


def _judged(seen: _Seen, key: int, function: PublicFunction, findings: list[Finding]) -> JudgedFunction:
    all_reaching = [place for place, one in seen.checks.items() if key in one.get("reached", ())]
    reaching = [place for place in all_reaching if seen.checks[place]["outcome"] == "passed"]
    tests = sum(map(seen.is_test, reaching))
    examples = sum(seen.checks[place].get("tried", 0) for place in reaching if not seen.is_test(place))
    outcomes = {n: one for n, one in seen.faults.get(key, {}).items() if one["outcome"] != "unfit"}
    where = _relative(seen.run, function)
    unnoticed, equivalent = (
        tuple(
            Unnoticed(f"{where}:{fault.line}", fault.change, outcomes[number].get("told_by", ""))
            for number, fault in enumerate(seen.run.faults[key])
            if number in outcomes and outcomes[number]["outcome"] == outcome
        )
        for outcome in ("unnoticed", "equivalent")
    )
    faults = len(outcomes) - len(equivalent)
    raised = _raised((one for one in seen.checks.values() if one["outcome"] == "passed"), key)
    drawn = [error for event in seen.drawn.get(key, []) for error in event.get("errors", ())]
    raised |= {base for error in drawn for base in error["bases"]}
    failing = len(all_reaching) - len(reaching)
    shown = _Shown(key, function, len(reaching), failing, tests, examples, faults, unnoticed, raised)
    calls = max((event.get("calls", 0) for event in seen.drawn.get(key, [])), default=0)
    missing = _missing(seen, shown)
    verdict = Verdict.WRONG if findings else Verdict.NOT_SHOWN if missing else Verdict.SHOWN
    basis = missing if verdict is Verdict.NOT_SHOWN else _basis(seen, shown, calls)
    if equivalent:
        basis += f"; {len(equivalent)} more give the same for every input that was tried"
    notes = tuple(_anonymous(seen.run, note) for note in _notes(seen, key, function))
    return JudgedFunction(
        function, f"{where}:{function.line}", verdict, basis, examples, tests, faults, unnoticed, equivalent, calls,
        tuple(findings), notes,
    )  # fmt: skip


class _Shown(NamedTuple):
    """What the checks of a function showed: how many hold and do not, and what they notice."""

    key: int
    function: PublicFunction
    checks: int
    failing: int
    tests: int
    examples: int
    faults: int
    unnoticed: tuple[Unnoticed, ...]
    raised: set[str]

    def unseen_errors(self) -> list[str]:
        return [name for name in self.function.raises if name not in self.raised]


def _raised(checks: Iterable[Event], key: int) -> set[str]:
    """The classes of the errors that came out of a function, with their bases."""
    raised = [one for check in checks for one in check.get("raised", ())]
    return {name for other, names in raised if other == key for name in names}


def _missing(seen: _Seen, shown: _Shown) -> str:
    """Why it is not shown; empty if it is."""
    if not seen.has_judged:
        return "its tests and examples could not be run"
    if shown.key not in seen.found:
        return "its code was not found when the package was imported"
    if not shown.checks:
        return "what reaches it does not hold" if shown.failing else "no test and no example reaches it"
    untried = len(seen.run.faults[shown.key]) - len(seen.faults.get(shown.key, {}))
    if untried and not shown.faults:
        return "the time was over before faults were put into it"
    reasons: list[str] = []
    if shown.unnoticed and shown.faults - len(shown.unnoticed) < LEAST_STRENGTH * shown.faults:
        reasons.append(f"{len(shown.unnoticed)} of {shown.faults} faults unnoticed")
    if unseen := shown.unseen_errors():
        reasons.append(f"nothing shows the stated {', '.join(unseen)}{_instead(seen, shown)}")
    return "; ".join(reasons)


def _instead(seen: _Seen, shown: _Shown) -> str:
    """What drawn calls raise in place of the errors that are stated."""
    for event in seen.drawn.get(shown.key, []):
        for error in event.get("errors", ()):
            if not {*error["bases"]} & {*shown.function.raises, *_ABSURD}:
                return f", but {error['call']} raises {error['error']}"
        if event.get("calls") and not event.get("errors"):
            return f", and none of {event['calls']} generated inputs raises it"
    return ""


def _basis(seen: _Seen, shown: _Shown, calls: int) -> str:
    checks = [counted(n, word) for n, word in ((shown.examples, "example"), (shown.tests, "test")) if n]
    parts = [", ".join(checks)] if checks else []
    if shown.faults:
        verb = "notices" if shown.examples + shown.tests == 1 else "notice"
        noticed = f"{verb} {shown.faults - len(shown.unnoticed)} of {shown.faults} faults"
        parts = [f"{', '.join(checks)} {noticed}"]
    if every := len(shown.function.raises):
        parts.append(f"{every - len(shown.unseen_errors())} of {every} stated errors")
    if calls:
        checked = any(event.get("checked") for event in seen.drawn.get(shown.key, []))
        parts.append(f"{counted(calls, 'generated input')} {'kept the type' if checked else 'tried'}")
    return ", ".join(parts)


def _notes(seen: _Seen, key: int, function: PublicFunction) -> Iterator[str]:
    """What drawn calls did that nobody states; it may be meant."""
    is_typed = all(function.parameters.values())
    known = _raised(seen.checks.values(), key) - {
        "Exception",
        "BaseException",
        "object",
        "ValueError",
        "ArithmeticError",
        "LookupError",
    }
    for event in seen.drawn.get(key, []):
        for error in event.get("errors", ()):
            bases = set(error["bases"])
            stated = bases & {*function.raises} or error["error"] in known
            vague = bases & _UNTYPED and not is_typed
            if not (stated or vague or error["deliberate"] or bases & _ABSURD):
                message = f": {error['message']}" if error["message"] else ""
                yield f"{error['call']} raises {error['error']}, which nothing states{message}"[:_SHOWN]
        match event.get("ended"):
            case "time":
                yield f"{event['call']} did not return in time"[:_SHOWN]
            case "died":
                yield f"{event['call']} ended the process"[:_SHOWN]
            case _:
                pass


# --- The package ---


def _unloaded(seen: _Seen) -> dict[str, str]:
    """The places of the modules that cannot be imported, where a function of theirs was to be judged or no function is. One
    that lacks a package of others is left to an installation that has it."""
    run, places = seen.run, dict[str, str]()
    lacking_others = {one["name"] for one in run.events if one["event"] == "unimported" and one["lacks"]}
    lacking = [one for key, one in enumerate(run.api.functions) if key not in seen.found]
    for name, _ in _unimported(run):
        of_it = [one for one in lacking if f"{one.module}.".startswith(f"{name}.")]
        if (of_it and name not in lacking_others) or not seen.found:
            places[name] = next((_relative(run, one) for one in of_it if one.module == name), name)
    return places


def _unimported(run: PackageRun) -> Iterator[tuple[str, str]]:
    yield from run.left_out.items()
    for one in run.events:
        if one["event"] == "unimported":
            yield one["name"], one["message"]


def _by_reason(failures: Iterable[tuple[str, str]], verb: str) -> dict[str, str]:
    """A message for each reason, by the first name that has it."""
    names: dict[str, list[str]] = {}
    for name, reason in failures:
        names.setdefault(reason, []).append(name)
    return {
        first: f"{first}{f' and {len(others)} more' if others else ''} cannot be {verb} here: {reason}"
        for reason, (first, *others) in names.items()
    }


def _of_package(seen: _Seen, unloaded: Mapping[str, str]) -> Iterator[str]:
    run = seen.run
    yield from _by_reason((one for one in _unimported(run) if one[0] not in unloaded), "loaded").values()
    uncollected = [one for one in run.events if one["event"] == "uncollected"]
    every = "pytest with the settings of the project"
    yield from _by_reason(((one["name"] or every, one["message"]) for one in uncollected), "run").values()
    outcomes = Counter(one["outcome"] for place, one in seen.checks.items() if seen.is_test(place))
    if outcomes["skipped"]:
        yield f"{outcomes['skipped']} of {len(seen.tests)} tests were skipped"
    if run.unfinished:
        yield run.unfinished
    elif len(seen.checks) < len(seen.tests) + len(seen.examples):
        yield "the time was over before all tests and examples were run; --seconds gives more"
    if run.api.classes:
        yield f"{run.api.classes} public classes are not judged: functions are"
    yield from _undrawn(seen.drawn)


def _undrawn(drawn: Mapping[int, Iterable[Event]]) -> Iterator[str]:
    reasons = Counter(
        str(event["undrawn"]) for events in drawn.values() for event in events if "undrawn" in event
    )
    for reason, times in reasons.most_common():
        yield f"no inputs were generated for {counted(times, 'function')}: {reason}"


class PackageReport(NamedTuple):
    """A verdict, and how it is reported.

    Args:
        verdict: It.
        directory: The project.
        seconds: That it took.
        strict: Whether what is not shown is an error too.
    """

    verdict: PackageVerdict
    directory: Path
    seconds: float
    strict: bool

    @property
    def failed(self) -> bool:
        """Whether the exit code is 1."""
        return bool(self.verdict.findings) or any(map(self.fails, self.verdict.functions))

    def fails(self, function: JudgedFunction) -> bool:
        """Whether a function is an error here."""
        return function.verdict is Verdict.WRONG or (self.strict and function.verdict is Verdict.NOT_SHOWN)

    @property
    def word(self) -> str:
        """The worst verdict of a function; nothing is known of one that cannot be loaded."""
        found = {one.verdict for one in self.verdict.functions}
        found |= {Verdict.NOT_SHOWN for _ in self.verdict.findings}
        return next((str(one) for one in Verdict if one in found), str(Verdict.NOT_SHOWN))

    @property
    def summary(self) -> str:
        """The counts in a line."""
        counts = ", ".join(f"{self.verdict.count(one)} {one.lower()}" for one in Verdict)
        tests = f"{self.verdict.passed} of {counted(self.verdict.tests, 'test')} passed"
        return f"{counted(len(self.verdict.functions), 'function')}: {counts}; {tests}, {self.seconds:.1f} s"


def judge_package(
    directory: Path,
    *,
    function: str = "",
    seconds: float = 120.0,
    strict: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> PackageReport:
    """Judge the public functions of a project, a package or a module.

    Args:
        directory: It.
        function: The one function that is judged, by its name or with its module; empty for all.
        seconds: For all of it; what is not done by then is not shown.
        strict: Whether what is not shown is an error too.
        tell: Takes what is being done, in a line.

    Raises:
        InputError: there is nothing that can be imported, or no such function.
        ShipGateError: there is no sandbox, or the process could not be started.
    """
    began = time.monotonic()
    tree = find_tree(directory)
    sandbox = Sandbox(chosen_sandbox(load_gate_settings(tree.root).sandbox))
    run = run_package(tree, sandbox, seconds, function, tell)
    if function and not run.api.functions:
        raise InputError(
            "; ".join(
                (f"there is no public function {function!r}", *(one.message for one in run.api.findings))
            ),
            where=str(directory),
            remedy=f"{did_you_mean(function, run.published)}`--json` without --function lists all",
        )
    return PackageReport(verdict_of(run, tree.names), tree.root, time.monotonic() - began, strict)
