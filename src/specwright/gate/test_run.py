"""Runs a candidate's tests and says what was seen (F§11.3, D-S8-12).

A run counts only if it is complete: what was collected is what the files name, and all of it was executed.
This is the part that the two-process sandbox replaces; nothing else of the gate knows how tests are run."""

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from specwright.domain.contract import MicroModuleContract, SurfaceKind
from specwright.domain.docstring import entry_points
from specwright.errors import SpecwrightError
from specwright.gate.bounded_process import Ran, run_bounded
from specwright.gate.staging import Staged
from specwright.gate.top_level import SurfaceFault, parse_source
from specwright.ports.gate import Finding, TestResult

__all__ = ["TestRun", "named_tests", "run_tests"]

_SCRIPT = Path(__file__).with_name("child_tests.py")


class TestRun(NamedTuple):
    """What a run showed.

    Args:
        tests: Every executed test.
        findings: What keeps the run from counting.
        seen: What came out of the entry points, by test without parameters: the names of an exception's class
            and bases, or the name of a returned code.
    """

    __test__ = False  # the word is the field's; pytest must not collect it
    tests: tuple[TestResult, ...]
    findings: tuple[Finding, ...]
    seen: Mapping[str, list[tuple[str, ...]]]


def named_tests(files: Mapping[str, bytes]) -> list[str]:
    """The tests that the files name, `test_file.py::test_x`, as pytest would collect them."""
    found: list[str] = []
    for path, data in sorted(files.items()):
        if path.startswith("tests/") and path.endswith(".py"):
            try:
                tree = parse_source(data, path)
            except SurfaceFault:
                continue
            found += [f"{path.removeprefix('tests/')}::{name}" for name in _named(tree.body, "")]
    return found


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
    staged: Staged, contract: MicroModuleContract, named: list[str], timeout_seconds: float
) -> TestRun:
    """Run the tests of a staged candidate.

    Args:
        staged: Laid out by `stage`.
        contract: Names the entry points and the codes that are watched.
        named: Of `named_tests`.
        timeout_seconds: For all of them.

    Raises:
        SpecwrightError: the runner itself did not come up.
    """
    scratch = staged.scratch / "tests"
    scratch.mkdir()
    watched = {
        "name": contract.name,
        "entries": [entry.name for entry in entry_points(contract)],
        "codes": [e.name for e in contract.error_surfaces if e.surface is not SurfaceKind.EXCEPTION],
    }
    arguments = [str(staged.lib), str(staged.tests), json.dumps(watched)]
    ran = run_bounded(_SCRIPT, arguments, cwd=scratch, timeout_seconds=timeout_seconds)
    if not any(event.get("event") == "ready" for event in ran.events):
        raise SpecwrightError(
            f"the test runner did not start: {ran.output[-500:]}",
            where="gate",
            remedy="run `specwright doctor`",
        )
    tests = tuple(_results(ran, staged))
    return TestRun(tests, tuple(_findings(ran, tests, named, staged, timeout_seconds)), _seen(ran))


def _results(ran: Ran, staged: Staged) -> Iterator[TestResult]:
    for event in ran.events:
        if event.get("event") == "test":
            passed = event.get("passed") is True
            message = staged.anonymous(str(event.get("message", "")))
            duration = float(event.get("duration_ms", 0.0))
            yield TestResult(str(event.get("name")), "PASS" if passed else "FAIL", duration, message)


def _seen(ran: Ran) -> dict[str, list[tuple[str, ...]]]:
    seen: dict[str, list[tuple[str, ...]]] = {}
    for event in ran.events:
        if event.get("event") == "test":
            plain = str(event.get("name")).partition("[")[0]
            seen.setdefault(plain, []).extend(
                tuple(map(str, names)) for names in event.get("seen", []) if names
            )
    return seen


def _findings(
    ran: Ran, tests: tuple[TestResult, ...], named: list[str], staged: Staged, timeout_seconds: float
) -> Iterator[Finding]:
    for event in ran.events:
        if event.get("event") == "uncollected":
            message = staged.anonymous(str(event.get("message", "")))
            yield Finding(
                "tests.uncollected", f"tests/{event.get('name')}", f"the file cannot be loaded:\n{message}"
            )
    for test in tests:
        if test.result == "FAIL":
            yield Finding(
                "tests.failed", f"tests/{test.name}", f"the test fails; correct the module:\n{test.message}"
            )
    if ran.ended == "timeout":
        message = (
            f"the tests did not end within {timeout_seconds:g} seconds and were stopped; find what hangs"
        )
        yield Finding("tests.timeout", _running(ran, tests), message)
    elif ran.ended == "output":
        yield Finding("tests.output", "tests", "the tests print more than 4 MiB and were stopped; print less")
    else:
        yield from _completeness(ran, tests, named)


def _collected(ran: Ran) -> list[str]:
    return [
        str(name)
        for event in ran.events
        if event.get("event") == "collected"
        for name in event.get("names", [])
    ]


def _running(ran: Ran, tests: tuple[TestResult, ...]) -> str:
    """The test that was running: the first collected one that did not report."""
    done = {test.name for test in tests}
    return next((f"tests/{name}" for name in _collected(ran) if name not in done), "tests")


def _completeness(ran: Ran, tests: tuple[TestResult, ...], named: list[str]) -> Iterator[Finding]:
    collected = _collected(ran)
    kinds = [event.get("event") for event in ran.events]
    if ran.garbled or kinds.count("collected") != 1 or kinds[-1] != "end" or kinds.count("end") != 1:
        message = f"the run broke off; the module must not end the process:\n{ran.output[-500:]}"
        yield Finding("tests.incomplete", _running(ran, tests), message)
        return
    if "uncollected" in kinds:
        return
    if not collected:
        yield Finding("tests.none", "tests", "there is no test; write test functions in tests/test_*.py")
    if sorted(collected) != sorted(test.name for test in tests):
        yield Finding(
            "tests.incomplete", _running(ran, tests), "not every collected test was executed; run all of them"
        )
    for name in sorted({name for name in named if named.count(name) > 1}):
        yield Finding(
            "tests.names", f"tests/{name}", "two tests have this name and one hides the other; rename one"
        )
    plain = {name.partition("[")[0] for name in collected}
    for name in sorted(plain ^ set(named)):
        how = (
            "is collected but not named in the source"
            if name in plain
            else "is named in the source but not collected"
        )
        yield Finding(
            "tests.names",
            f"tests/{name}",
            f"the test {how}; write plain test functions with names of their own",
        )
