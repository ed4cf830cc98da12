"""Tries a falsifying test on a module that its own tests accept (design: ship-gate, falsifying-tests).

The test is checked as the module's own tests are, without being run: black-box imports, no tricks, no assertion that
is constant by itself, an obligation of the contract. Then it runs in a sandbox of its own, so that what it shows
is its own doing. What is reported of a failure is what the test's process saw: no line of the module's source.

A test that fails is a counterexample, and so is one during which the module hangs, ends its process or changes its
arguments. A test that cannot be loaded, does not call the module, hangs or breaks by itself shows nothing, and its author
reads why. What is too heavy is measured in processor time, which a busy machine does not change.

Left out: whether the test asks for what the contract says; that is the Arbiter's.
"""

from collections.abc import Iterator

from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.contract.obligations import obligations
from ship_gate.findings import Finding
from ship_gate.runs.suite_run import TestRun, named_tests, run_tests
from ship_gate.sandbox.kind import Sandbox
from ship_gate.sandbox.pair import prepare
from ship_gate.sandbox.staging import lay_out, stage, workspace
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import test_findings
from ship_gate.syntax_tree import imported_roots
from ship_gate.verdict import Candidate, Trial

MOST_SECONDS = 15
"""Of processor time, for each process of one test; by the clock it has as long as the whole suite of a module."""

MOST_CHARACTERS = 1500
"""Of the report of a failure."""

MOST_CASES = 10
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
        more = ", ..." if len(named) > MOST_CASES else ""
        failures.insert(0, f"{len(named)} cases fail: {', '.join(named[:MOST_CASES])}{more}")
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
