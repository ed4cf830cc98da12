"""Adopts a function: drafts its module, tries the draft in the sandbox, and keeps what was seen to be so (design:
adoption).

Nothing is run before the static checks, and nothing outside of the sandbox. What the documents say and a run shows
otherwise is left out and told; an error that was never seen is told as claimed.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from specwright import canonical_json
from specwright.canonical_json import JsonValue
from specwright.domain.adoption.report import (
    AdoptedFunction,
    AdoptionStatus,
    Evidence,
    Gap,
    Obstacle,
    Origin,
    Statement,
)
from specwright.domain.adoption.wording import (
    EXAMPLE_IN_MODULE,
    EXAMPLE_TO_WRITE,
    TESTS_TO_WRITE,
    in_source_words,
)
from specwright.domain.base.text import shortened
from specwright.domain.contract.boundary.lazy_types import is_item_bound
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.docstring import public_names
from specwright.domain.contract.examples_coverage import coverage_faults
from specwright.domain.contract.examples_file import Outcome, parse_examples, same_error
from specwright.domain.contract.obligations import obligations
from specwright.gate.adopt.documented import DocumentedExample, Text, documented_examples, texts_of
from specwright.gate.adopt.draft import Draft, draft_of
from specwright.gate.adopt.observations import (
    Trial,
    document_gaps,
    endless_gaps,
    error_gaps,
    inferred_type,
    item_bounds,
    run_obstacles,
    unbounded_remarks,
    unbounded_result,
)
from specwright.gate.adopt.pages import TrueExample, examples_page, suite_of
from specwright.gate.adopt.probes import fits, probe_calls
from specwright.gate.adopt.signatures import RESULT, UNKNOWN
from specwright.gate.adopt.source_tests import SourceSuite, TestFile, take_tests
from specwright.gate.adopt.source_tree import PublicFunction, SourceTree
from specwright.gate.findings import FindingCode, Severity
from specwright.gate.fuzz.constants import constants_in
from specwright.gate.runs.suite_run import TestRun
from specwright.gate.ship_gate import SandboxedShipGate
from specwright.ports.gate import ENTRY_FILE, Candidate, Finding
from specwright.syntax_tree import parse_module

_MOST_TAKES = 4


class AdoptedModule(NamedTuple):
    """What came of a function.

    Args:
        record: What is told of it.
        draft: Its draft.
        files: Of the module directory, but for the contract; empty with an obstacle.
        places: Where each test that was taken over comes from, by its name.
        siblings: Functions in it that are judged by themselves, as `Candidate` has them.
    """

    record: AdoptedFunction
    draft: Draft
    files: Mapping[str, bytes]
    places: Mapping[str, str] = MappingProxyType({})
    siblings: frozenset[str] = frozenset()

    def place(self, where: str) -> str:
        """A place in the module directory as a place in the source; that of the function where it comes from nowhere."""
        if where.startswith("implementation/"):
            return self.draft.place(where)
        name = where.removeprefix("tests/").partition("[")[0]
        return self.places.get(name, self.draft.function.where)

    def at_source(self, message: str) -> str:
        """A message with places of the source in place of those of the module, and without what only a module has."""
        return in_source_words(message, self.draft.place)


class Adopter:
    """Adopts functions of one tree.

    Args:
        gate: Runs what is tried.
        tree: The source.
        documents: Texts beside the docstrings that may hold examples.
        tests: The files of tests that exist.
        judged: Functions of the tree that are adopted and judged as well.
    """

    def __init__(
        self,
        gate: SandboxedShipGate,
        tree: SourceTree,
        documents: Sequence[Text] = (),
        tests: Sequence[TestFile] = (),
        judged: Sequence[PublicFunction] = (),
    ) -> None:
        self._gate = gate
        self._tree = tree
        self._documents = documents
        self._tests = tests
        self._judged = {one.where: one for one in judged}
        self._can_be_judged: dict[str, bool] = {}

    def adopt(self, function: PublicFunction) -> AdoptedModule:
        """Adopt one function.

        Raises:
            SpecwrightError: there is no sandbox.
        """
        draft = draft_of(self._tree, function)
        if draft.contract is None:
            return _inexpressible(draft)
        wrong = self._gate.before_running(Candidate(draft.contract, draft.files))
        draft = _with_findings(draft, wrong)
        if draft.obstacles:
            return _inexpressible(draft)
        return self._tried(draft)

    def digest(self, function: PublicFunction) -> str:
        """SHA-256 of all that an adoption depends on: the source that the function needs, its documents and tests; nothing
        is run."""
        draft = draft_of(self._tree, function)
        stated: dict[str, JsonValue] = {
            "name": function.name,
            "where": function.where,
            "files": {path: canonical_json.sha256(data) for path, data in sorted(draft.files.items())},
            "lines": canonical_json.sha256(repr(draft.lines).encode()),
            "docstring": draft.docstring.text,
            "gaps": [[*gap[:3]] for gap in draft.gaps],
            "obstacles": [[*one] for one in draft.obstacles],
            "siblings": [*sorted(self._siblings(draft))],
        }
        if draft.contract is not None:
            names = public_names(draft.contract)
            texts = [*texts_of(self._tree, function), *self._documents]
            examples = documented_examples(self._tree, function, texts, names)
            taken = take_tests(self._tree, function, draft.contract, self._tests)
            stated["contract"] = draft.contract.to_json()
            stated["examples"] = [[one.where, one.code, one.wanted] for one in examples]
            stated["tests"] = [[one.name, one.where, *one.pointers] for one in taken.tests]
            stated["ignored"] = [[*one] for one in taken.ignored]
            stated["suites"] = {path: canonical_json.sha256(data) for path, data in taken.files.items()}
        return canonical_json.digest(stated)

    def _siblings(self, draft: Draft) -> frozenset[str]:
        """The functions in a draft that are judged by themselves, as the scopes of mutants name them."""
        found = set[str]()
        for path, data in draft.files.items():
            prefix = "" if path == ENTRY_FILE else path.removeprefix("implementation/") + "::"
            for node in parse_module(data).body:
                where = draft.place(f"{path}:{node.lineno}")
                is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                if is_function and where != draft.function.where and self._is_judged(where):
                    found.add(prefix + node.name)
        return frozenset(found)

    def _is_judged(self, where: str) -> bool:
        """Whether a function at some place can be judged by itself, as far as is seen before anything is run."""
        function = self._judged.get(where)
        if function is None:
            return False
        if where not in self._can_be_judged:
            draft = draft_of(self._tree, function)
            if draft.contract is not None:
                wrong = self._gate.before_running(Candidate(draft.contract, draft.files))
                draft = _with_findings(draft, wrong)
            self._can_be_judged[where] = draft.contract is not None and not draft.obstacles
        return self._can_be_judged[where]

    def _tried(self, draft: Draft) -> AdoptedModule:
        assert draft.contract is not None  # callers have seen to it
        names = public_names(draft.contract)
        documents = documented_examples(
            self._tree, draft.function, [*texts_of(self._tree, draft.function), *self._documents], names
        )
        values = _document_values(documents, draft.contract)
        draft = self._inferred(draft, {}, values)
        draft, trials, unbounded = self._bounded(draft, documents, values)
        if obstacles := unbounded or [*run_obstacles(trials, draft)]:
            return _inexpressible(draft._replace(obstacles=(*draft.obstacles, *obstacles)))
        draft, trials = self._with_result(draft, trials, values)
        return self._module(draft, trials)

    def _taken(self, draft: Draft) -> tuple[SourceSuite, list[Gap], Mapping[str, int]]:
        """The tests that exist of a function and that pass on its module, what came of the others, and how many items were
        taken and yielded."""
        assert draft.contract is not None  # callers have seen to it
        gaps: dict[str, Gap] = {}
        suite = SourceSuite({}, ())
        for _ in range(_MOST_TAKES):
            suite = take_tests(self._tree, draft.function, draft.contract, self._tests, gaps)
            if not suite.tests:
                break
            wrong, run = self._wrong_tests(draft, suite)
            if not wrong and run is not None:
                return _with_observed_errors(draft.contract, suite, run), list(gaps.values()), run.items
            gaps |= wrong
        return suite._replace(files={}, tests=()), list(gaps.values()), {}

    def _wrong_tests(self, draft: Draft, suite: SourceSuite) -> tuple[dict[str, Gap], TestRun | None]:
        """The tests that the gate would refuse, or that fail, by their names; and their run, if none is refused."""
        assert draft.contract is not None  # callers have seen to it
        candidate = Candidate(draft.contract, {**draft.files, **suite.files})
        where = {one.name: one.where for one in suite.tests}
        findings = self._gate.tests_before_running(candidate)
        found: dict[str, Gap] = {}
        for finding in findings:
            for name in _tests_at(finding.where, suite):
                what = f"its test {name} is not taken over: {finding.message.partition(';')[0]}"
                write = "a plain test that shows the same"
                found.setdefault(name, Gap(what, where[name], write))
        if found:
            return found, None
        run = self._gate.try_tests(candidate)
        for test in run.tests:
            name = test.name.partition("[")[0]
            if test.result == "FAIL" and name in where:
                what = f"its test {name} fails: {shortened(test.message.strip().rpartition(chr(10))[2], 200)}"
                write = "the function or the test, whichever is wrong"
                found.setdefault(name, Gap(what, where[name], write, refuted=True))
        for finding in run.findings:
            name = finding.where.removeprefix("tests/")
            if name in where and name not in found:
                what = f"its test {name} is not taken over: {shortened(finding.message, 200)}"
                found[name] = Gap(what, where[name], "a plain test that shows the same")
        if run.findings and not found:
            what = f"its tests are not taken over: {shortened(run.findings[0].message, 200)}"
            found = {
                name: Gap(what, draft.function.where, "plain tests that show the same") for name in where
            }
        return found, run

    def _module(self, draft: Draft, trials: Sequence[Trial]) -> AdoptedModule:
        contract = draft.contract
        assert contract is not None  # callers have seen to it
        examples = _examples(trials, contract)
        suite = suite_of(examples, contract)
        taken, not_taken, _ = self._taken(draft)
        claims = {**suite.claims, **{test.name: list(test.pointers) for test in taken.tests}}
        page = examples_page(examples, contract)
        files = {
            **draft.files,
            **taken.files,
            **({"tests/test_documented.py": suite.source.encode()} if suite.source else {}),
            "examples.md": page.encode(),
            "tests/obligations.json": canonical_json.pretty(claims),
        }
        gaps = [
            *draft.gaps,
            *document_gaps(trials),
            *not_taken,
            *error_gaps(trials, contract, draft),
            *endless_gaps(trials, draft),
            *lacking_examples(page, contract, draft),
            *unshown({pointer for pointers in claims.values() for pointer in pointers}, contract, draft),
        ]
        record = AdoptedFunction(
            draft.function.name,
            draft.function.where,
            AdoptionStatus.INCOMPLETE if gaps else AdoptionStatus.COMPLETE,
            statements=tuple(_statements(draft, trials, contract)),
            gaps=tuple(dict.fromkeys(gaps)),
            remarks=tuple(dict.fromkeys(draft.remarks)),
            examples=len(examples),
            tests=len(claims),
            documented=sum(bool(one.where) for one in examples),
            taken=len(taken.tests),
            ignored=taken.ignored,
        )
        return AdoptedModule(
            record, draft, files, {test.name: test.where for test in taken.tests}, self._siblings(draft)
        )

    def with_types(self, draft: Draft, types: Mapping[str, str]) -> Draft:
        """A draft with types that nobody states, of parameters and of `RESULT`; the same draft if they are none."""
        return self._inferred(draft, types, {})

    def _inferred(self, draft: Draft, more: Mapping[str, str], values: Mapping[str, Sequence[str]]) -> Draft:
        """The draft with the types that examples show of what nobody states."""
        assert draft.contract is not None  # callers have seen to it
        types = {
            slot.name: text
            for slot in draft.contract.inputs
            if slot.type == UNKNOWN and (text := inferred_type(values.get(slot.name, ())))
        }
        types = {**draft.inferred, **types, **more}
        if types == draft.inferred:
            return draft
        other = draft_of(self._tree, draft.function, types, draft.bounds)
        found = [gap for gap in draft.gaps if gap not in _types_only(draft.gaps)]
        return (
            draft
            if other.contract is None
            else other._replace(gaps=tuple(dict.fromkeys([*other.gaps, *found])))
        )

    def _bounded(
        self, draft: Draft, documents: Sequence[DocumentedExample], values: Mapping[str, Sequence[str]]
    ) -> tuple[Draft, list[Trial], list[Obstacle]]:
        """The draft with bounds of its iterables and iterators that no run contradicts, with these runs."""
        trials = self._run(draft, documents, values)
        if not draft.bounds:
            return draft, trials, []
        bounds = item_bounds(draft, trials, self._taken(draft)[2])
        unbounded = [*unbounded_result(trials, draft, bounds)]
        other = draft_of(self._tree, draft.function, draft.inferred, bounds)
        if unbounded or other.contract is None:
            return draft, trials, unbounded
        other = other._replace(remarks=(*other.remarks, *unbounded_remarks(bounds)))
        return other, self._run(other, documents, values), []

    def _run(
        self, draft: Draft, documents: Sequence[DocumentedExample], values: Mapping[str, Sequence[str]]
    ) -> list[Trial]:
        assert draft.contract is not None  # callers have seen to it
        calls = probe_calls(draft.contract, values, draft.function.node)
        codes = [*(one.code for one in documents), *calls]
        head = f"from modules.{draft.contract.name} import {', '.join(public_names(draft.contract))}\n"
        if not codes:
            codes = [draft.contract.name]  # whether it can be imported at all
        seen = self._gate.observe(Candidate(draft.contract, draft.files), [head + code for code in codes])
        said = [*documents, *[None] * len(codes)]
        return [Trial(head + code, one, doc) for code, one, doc in zip(codes, seen, said, strict=False)]

    def _with_result(
        self, draft: Draft, trials: list[Trial], values: Mapping[str, Sequence[str]]
    ) -> tuple[Draft, list[Trial]]:
        """The draft with a type of its result that no run contradicts."""
        assert draft.contract is not None  # callers have seen to it
        if not draft.contract.outputs:
            return draft, trials
        declared = draft.contract.outputs[0].type
        plain = [one for one in trials if one.value is not None and _is_the_call(one, draft.contract.name)]
        if declared == UNKNOWN:
            types = inferred_type([one.value for one in plain if one.value is not None])
            return (self._inferred(draft, {RESULT: types}, values) if types else draft), trials
        strange = next(
            (one for one in plain if one.value is not None and fits(one.value, declared) is False), None
        )
        if strange is None:
            return draft, trials
        came = f"`{strange.call}` gives {shortened(strange.value or '')}"
        gap = Gap(
            f"the type of what it returns: `{declared}` is stated, and {came}",
            draft.function.where,
            "the type of everything that it returns, after `->`",
            refuted=True,
        )
        other = self._inferred(draft, {RESULT: UNKNOWN}, values)
        return other._replace(gaps=(*other.gaps, gap), remarks=draft.remarks), trials


def _with_observed_errors(contract: MicroModuleContract, suite: SourceSuite, run: TestRun) -> SourceSuite:
    """The tests without claims of errors that did not come out."""
    faults = {
        (test.name, pointer)
        for test in suite.tests
        for pointer in test.pointers
        if pointer.startswith("/error_surfaces/")
        and not any(
            same_error(contract.error_surfaces[int(pointer.split("/")[2])].name, names)
            for names in run.outcomes.get(test.name, ())
        )
    }
    tests = [
        test._replace(pointers=tuple(p for p in test.pointers if (test.name, p) not in faults))
        for test in suite.tests
    ]
    return suite._replace(tests=tuple(tests))


def _types_only(gaps: Sequence[Gap]) -> list[Gap]:
    return [gap for gap in gaps if gap.what.startswith("the type of ")]


def _document_values(
    documents: Sequence[DocumentedExample], contract: MicroModuleContract
) -> Mapping[str, Sequence[str]]:
    """The values that documents give to each parameter."""
    entries = {contract.name: [slot.name for slot in contract.inputs]}
    return constants_in([parse_module(one.code) for one in documents], entries).by_parameter


def _is_the_call(trial: Trial, name: str) -> bool:
    """Whether what came out is what the function returned."""
    last = parse_module(trial.code).body[-1]
    match last:
        case ast.Expr(value=ast.Call(func=ast.Name(id=called))):
            return called == name
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="run"))):
            return True
        case _:
            return False


def _with_findings(draft: Draft, findings: Sequence[Finding]) -> Draft:
    """The draft with what is wrong with its source: what is never run, and what only has to be declared."""
    obstacles = list(draft.obstacles)
    gaps = list(draft.gaps)
    for finding in findings:
        code, where = FindingCode(finding.code), draft.place(finding.where)
        if code.severity in (Severity.NOT_EXECUTED, Severity.FATAL):
            obstacles.append(Obstacle(finding.message, where))
        else:
            gaps.append(Gap(finding.message.partition(";")[0], where, code.remedy))
    return draft._replace(obstacles=tuple(dict.fromkeys(obstacles)), gaps=tuple(dict.fromkeys(gaps)))


def _inexpressible(draft: Draft) -> AdoptedModule:
    record = AdoptedFunction(
        draft.function.name,
        draft.function.where,
        AdoptionStatus.INEXPRESSIBLE,
        gaps=draft.gaps,
        obstacles=draft.obstacles,
        remarks=draft.remarks,
    )
    return AdoptedModule(record, draft, {})


def _tests_at(where: str, suite: SourceSuite) -> list[str]:
    """The tests in which a place of the suite lies; all of its file if it lies in none."""
    path, _, number = where.partition(":")
    file = path.removeprefix("tests/")
    named = [test.name for test in suite.tests if test.name.startswith(f"{file}::")]
    if not number.isdecimal() or path not in suite.files:
        return named
    found: list[str] = []
    for node in ast.walk(parse_module(suite.files[path])):
        first = getattr(node, "lineno", 0) - len(getattr(node, "decorator_list", ()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and first <= int(number) <= (
            node.end_lineno or 0
        ):
            found += [name for name in named if name.rpartition("::")[2] == node.name]
    return found or named


def _examples(trials: Sequence[Trial], contract: MicroModuleContract) -> list[TrueExample]:
    """The documented examples that are true, and of what else came out one for each kind."""
    found = [
        TrueExample(one.code, expected_outcome(one.seen.outcome), one.document.where, one.error)
        for one in trials
        if one.document and one.seen.outcome and not one.document.problem(one.seen.outcome)
    ]
    if not any(not one.error for one in found):
        plain = [
            one
            for one in trials
            if one.document is None and one.value is not None and contract.name in one.call
        ]
        found += [TrueExample(one.code, one.value or "", "") for one in plain[:1] if "(" in one.call]
    for name in dict.fromkeys(error.name for error in contract.error_surfaces):
        due = sum(error.name == name for error in contract.error_surfaces)
        have = sum(same_error(name, [one.error]) for one in found if one.error)
        met: dict[str, Trial] = {}
        for one in trials:
            if (
                one.document is None
                and one.seen.outcome
                and same_error(name, one.seen.outcome.errors or ("",))
            ):
                met.setdefault(one.seen.outcome.message, one)
        found += [
            TrueExample(one.code, expected_outcome(one.seen.outcome), "", one.error)
            for one in [*met.values()][: max(0, due - have)]
        ]
    return found


def expected_outcome(outcome: Outcome | None) -> str:
    """An outcome as `examples.md` has it."""
    assert outcome is not None  # callers have seen to it
    if outcome.value is not None:
        return outcome.value
    message = outcome.message.split("\n", 1)[0].rstrip()
    return f"{outcome.errors[0]}: {message}" if message else f"{outcome.errors[0]}:"


def lacking_examples(page: str, contract: MicroModuleContract, draft: Draft) -> Iterator[Gap]:
    """What of a contract has no example."""
    for fault in coverage_faults(parse_examples(page)[0], contract):
        what, where = fault.message.partition(";")[0], draft.function.where
        yield Gap(what, where, EXAMPLE_TO_WRITE, in_module=EXAMPLE_IN_MODULE)


def unshown(claimed: set[str], contract: MicroModuleContract, draft: Draft) -> Iterator[Gap]:
    """What of a contract no test claims to show."""
    for due in obligations(contract):
        if due.pointer not in claimed:
            pointer = repr(due.pointer) if due.pointer else "the empty pointer"
            yield Gap(
                f"a test of the {due.category}: {due.text}",
                draft.function.where,
                TESTS_TO_WRITE.get(due.category, "a test that shows it").format(due.text.partition(":")[0]),
                in_module=f"in a module directory a test that tests/obligations.json names with {pointer}",
            )


def _statements(draft: Draft, trials: Sequence[Trial], contract: MicroModuleContract) -> Iterator[Statement]:
    """What a draft says, each with what shows it."""
    worked = any(one.value is not None for one in trials)
    ran = Evidence.RUN if worked else Evidence.CLAIMED
    yield Statement("", contract.purpose, Origin.DOCSTRING, Evidence.CLAIMED)
    for n, slot in enumerate(contract.inputs):
        if slot.type != UNKNOWN:
            yield Statement(f"/inputs/{n}", f"{slot.name}: {slot.type}", draft.origins[f"/inputs/{n}"], ran)
        for m, text in enumerate(slot.constraints):
            pointer = f"/inputs/{n}/constraints/{m}"
            is_bound = is_item_bound(slot.type, text)
            origin, shown = (Origin.EXAMPLE, ran) if is_bound else (Origin.SIGNATURE, Evidence.READ)
            yield Statement(pointer, f"{slot.name}: {text}", origin, shown)
    for n, slot in enumerate(contract.outputs):
        if slot.type != UNKNOWN:
            yield Statement(f"/outputs/{n}", f"{slot.name}: {slot.type}", draft.origins[f"/outputs/{n}"], ran)
        for m, text in enumerate(slot.invariants):
            yield Statement(f"/outputs/{n}/invariants/{m}", f"{slot.name}: {text}", Origin.EXAMPLE, ran)
    for n, error in enumerate(contract.error_surfaces):
        seen = any(
            one.seen.outcome and same_error(error.name, one.seen.outcome.errors or ("",)) for one in trials
        )
        evidence = Evidence.RUN if seen else Evidence.CLAIMED
        pointer = f"/error_surfaces/{n}"
        yield Statement(pointer, f"{error.name}: {error.when}", draft.origins[pointer], evidence)
