"""Checks what a model drafted of an adopted function: each part is tried in the sandbox, and what does not hold is dropped
and told (design: adoption).

A type is kept if the examples stay true with it; a test, if the gate would run it and it passes; a constraint, an
invariant or an error, if a test shows it: one that fails when answers are changed. What comes of an example is observed.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from specwright import canonical_json
from specwright.domain.adoption.drafted_answer import DraftAnswer, DraftedTest
from specwright.domain.adoption.report import AdoptionStatus, Evidence, Gap, Origin, Statement
from specwright.domain.adoption.wording import EXAMPLE_TO_WRITE
from specwright.domain.base.text import shortened
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.contract.docstring import public_names
from specwright.domain.contract.examples_file import parse_examples, same_error
from specwright.domain.contract.obligations import obligations
from specwright.domain.contract.rules import problems
from specwright.gate.adopt.adoption import (
    AdoptedModule,
    Adopter,
    expected_outcome,
    lacking_examples,
    unshown,
)
from specwright.gate.adopt.draft import Draft
from specwright.gate.adopt.signatures import RESULT, UNKNOWN
from specwright.gate.drafted.statements import Key, keys, with_statements
from specwright.gate.findings import FindingCode
from specwright.gate.ship_gate import SandboxedShipGate
from specwright.ports.gate import ENTRY_FILE, Candidate, Finding
from specwright.syntax_tree import parse_module

FILE = "test_drafted.py"
MARK = "Drafted by a model."
_TESTS = f"tests/{FILE}"
_CLAIMS = "tests/obligations.json"
_MOST_TRIES = 4


class DraftedModule(NamedTuple):
    """A module with what was drafted and holds.

    Args:
        module: As it is to be written.
        dropped: What was drafted and does not hold, with the reason.
    """

    module: AdoptedModule
    dropped: tuple[str, ...]


class _Test(NamedTuple):
    name: str
    code: str
    shows: tuple[Key, ...]


def with_drafted(
    gate: SandboxedShipGate, adopter: Adopter, module: AdoptedModule, answer: DraftAnswer
) -> DraftedModule:
    """A module with those parts of an answer that hold.

    Args:
        gate: Runs what is tried.
        adopter: That made the module.
        module: With a draft.
        answer: Of a model.

    Raises:
        SpecwrightError: there is no sandbox.
    """
    return _PartsTrial(gate, module, answer).completed(adopter)


class _PartsTrial:
    def __init__(self, gate: SandboxedShipGate, module: AdoptedModule, answer: DraftAnswer) -> None:
        self._gate = gate
        self._module = module
        self._answer = answer
        self._dropped: list[str] = []
        self._draft = module.draft
        assert module.draft.contract is not None  # a module with files has one
        self._before = module.draft.contract

    def completed(self, adopter: Adopter) -> DraftedModule:
        """The module with what holds."""
        self._draft = self._typed(adopter)
        assert self._draft.contract is not None  # of the draft before, or of a valid one
        base = self._draft.contract
        contract, dropped = with_statements(base, self._answer)
        self._dropped += dropped
        drafted = keys(contract).keys() - keys(base).keys()
        tests = self._tests(contract)
        tests = self._noticing(contract, tests, drafted)
        shown = {key for test in tests for key in test.shows} & drafted
        for _, text in sorted(drafted - shown):
            self._dropped.append(f"{text}: no test that was drafted shows it")
        contract = with_statements(base, self._answer, shown).contract
        page, examples = self._examples(contract)
        if self._draft is not self._module.draft and not (tests or parse_examples(page)[0]):
            self._dropped += [
                f"{one.parameter}: {one.type}: nothing that was run shows it" for one in self._answer.types
            ]
            self._draft, contract = self._module.draft, self._before
        return DraftedModule(self._written(contract, tests, page, examples, shown), (*self._dropped,))

    def _typed(self, adopter: Adopter) -> Draft:
        types = {
            RESULT if one.parameter in (RESULT, "result") else one.parameter: one.type
            for one in self._answer.types
        }
        open_ = {slot.name for slot in self._before.inputs if slot.type == UNKNOWN}
        open_ |= {RESULT for slot in self._before.outputs if slot.type == UNKNOWN}
        draft = self._draft
        for name, text in types.items():
            other = adopter.with_types(draft, {name: text}) if name in open_ else draft
            if other is draft or other.contract is None:
                self._dropped.append(f"{name}: {text}: its type is stated already, or it is no type")
            elif wrong := self._wrong_with(other):
                self._dropped.append(f"{name}: {text}: {wrong}")
            else:
                draft = other
        return draft

    def _wrong_with(self, draft: Draft) -> str:
        """Why a draft with another type does not hold; empty if it does."""
        assert draft.contract is not None  # callers have seen to it
        for problem in problems(draft.contract):
            if problem not in problems(self._before):
                return problem
        examples = parse_examples(self._module.files["examples.md"].decode())[0]
        candidate = Candidate(draft.contract, {**self._module.files, **draft.files})
        found = self._gate.try_examples(candidate, examples)
        return found[0].message if found else ""

    def _files(self, contract: MicroModuleContract) -> dict[str, bytes]:
        files = {**self._module.files, **self._draft.files}
        return {**files, ENTRY_FILE: self._gate.documented(files[ENTRY_FILE], contract)}

    def _tests(self, contract: MicroModuleContract) -> list[_Test]:
        """The drafted tests that pass, each with what it shows."""
        tests: list[_Test] = list(self._readable(contract))
        for _ in range(_MOST_TRIES):
            if not tests:
                return []
            candidate = Candidate(contract, {**self._files(contract), _TESTS: self._suite(contract, tests)})
            wrong = self._refused(self._gate.tests_before_running(candidate), candidate, tests)
            outcomes: Mapping[str, Sequence[Sequence[str]]] = {}
            if not wrong:
                run = self._gate.try_tests(candidate)
                outcomes = run.outcomes
                wrong = {
                    name: f"it fails: {shortened(_failure(one.message), 300)}"
                    for one in run.tests
                    if one.result == "FAIL" and (name := _named(one.name))
                } or self._refused(run.findings, candidate, tests)
            if not wrong:
                return [_with_observed(test, outcomes) for test in tests]
            self._drop(wrong)
            tests = [test for test in tests if test.name not in wrong]
        self._drop({test.name: "it was not tried" for test in tests})
        return []

    def _drop(self, wrong: Mapping[str, str]) -> None:
        self._dropped += [f"{name}: {why}" for name, why in wrong.items()]

    def _readable(self, contract: MicroModuleContract) -> Iterator[_Test]:
        taken: set[str] = set()
        for one in self._answer.tests:
            try:
                (node,) = ast.parse(one.code).body
            except (SyntaxError, ValueError):
                node = None
            if (
                not isinstance(node, ast.FunctionDef)
                or not node.name.startswith("test_")
                or node.name in taken
            ):
                self._dropped.append(
                    f"{shortened(one.code, 60)}: it is not one function `def test_...` of a new name"
                )
                continue
            taken.add(node.name)
            yield _Test(node.name, one.code.strip(), tuple(self._shown_by(one, contract)))

    def _shown_by(self, test: DraftedTest, contract: MicroModuleContract) -> Iterator[Key]:
        before = {one.pointer: (one.category, one.text) for one in obligations(self._before)}
        now = keys(contract)
        for said in test.shows:
            if said in before:
                yield before[said]
            else:
                yield from (key for key in sorted(now) if key[1] == said or key[1].endswith(f": {said}"))

    def _suite(self, contract: MicroModuleContract, tests: Sequence[_Test]) -> bytes:
        lines = [line for line in self._answer.imports if _is_import(line)]
        code = "\n\n\n".join(test.code for test in tests)
        names = ", ".join(public_names(contract))
        needs = ["import pytest"] if "pytest" in code else []
        head = "\n".join(dict.fromkeys([*lines, *needs, f"from modules.{contract.name} import {names}"]))
        return f'"""{MARK} Each test passed in the sandbox."""\n\n{head}\n\n\n{code}\n'.encode()

    def _refused(
        self, findings: Sequence[Finding], candidate: Candidate, tests: Sequence[_Test]
    ) -> dict[str, str]:
        """What findings say of the drafted tests; of all where they name none."""
        own = [one for one in findings if one.where.startswith(_TESTS)]
        found: dict[str, str] = {}
        for finding in own:
            name = _named(finding.where.removeprefix("tests/")) or _at(finding.where, candidate.files[_TESTS])
            for test in tests:
                if name in ("", test.name):
                    found.setdefault(test.name, shortened(finding.message, 200))
        return found

    def _noticing(self, contract: MicroModuleContract, tests: list[_Test], drafted: set[Key]) -> list[_Test]:
        """The tests that notice something, without claims of drafted statements that they do not show."""
        if not tests:
            return []
        claims = self._claims(contract, tests)
        files = {
            **self._files(contract),
            _TESTS: self._suite(contract, tests),
            _CLAIMS: canonical_json.pretty(claims),
        }
        verdict = self._gate.judge(Candidate(contract, files), thorough=False)
        vacuous = {
            name: shortened(one.message, 200)
            for one in verdict.findings
            if FindingCode(one.code) in (FindingCode.TESTS_VACUOUS, FindingCode.TESTS_UNCALLED)
            and (name := _named(one.where.removeprefix("tests/")))
        }
        self._drop(vacuous)
        unseen = [
            one.message for one in verdict.findings if FindingCode(one.code) is FindingCode.OBLIGATIONS_UNSEEN
        ]
        pointers = keys(contract)
        empty = {key for key in drafted if any(f"({pointers[key]})" in text for text in unseen)}
        return [
            test._replace(shows=tuple(key for key in test.shows if key not in empty))
            for test in tests
            if test.name not in vacuous
        ]

    def _claims(self, contract: MicroModuleContract, tests: Sequence[_Test]) -> dict[str, list[str]]:
        before = {one.pointer: (one.category, one.text) for one in obligations(self._before)}
        pointers = keys(contract)
        old = cast(dict[str, list[str]], canonical_json.loads(self._module.files[_CLAIMS]))
        claims = {
            name: [pointers[before[one]] for one in said if before.get(one) in pointers]
            for name, said in old.items()
        }
        return claims | {
            f"{FILE}::{test.name}": [pointers[key] for key in dict.fromkeys(test.shows) if key in pointers]
            for test in tests
        }

    def _examples(self, contract: MicroModuleContract) -> tuple[str, int]:
        """`examples.md` with the drafted calls and what was observed of them."""
        page = self._module.files["examples.md"].decode()
        head = f"from modules.{contract.name} import {', '.join(public_names(contract))}\n"
        wanted = [one for one in self._answer.examples if _is_call(one.call, contract.name)]
        self._dropped += [
            f"{shortened(one.call, 80)}: it is no call of the function"
            for one in self._answer.examples
            if one not in wanted
        ]
        candidate = Candidate(contract, self._files(contract))
        seen = self._gate.observe(candidate, [head + one.call for one in wanted]) if wanted else ()
        added = 0
        for one, came in zip(wanted, seen, strict=True):
            outcome = came.outcome
            errors = outcome.errors if outcome else ()
            if outcome is None or (
                outcome.value is None and not any(same_error(e.name, errors) for e in contract.error_surfaces)
            ):
                why = f"it raises {errors[0]}, which nothing states" if errors else came.problem
                self._dropped.append(f"{shortened(one.call, 80)}: {why}")
                continue
            added += 1
            page += (
                f"\n## Drafted example {added}\n\n{one.sentence} {MARK} What comes of it was observed.\n\n"
                f"```python\n{head}{one.call}\n```\n\n```text\n{expected_outcome(outcome)}\n```\n"
            )
        return page, added

    def _written(
        self,
        contract: MicroModuleContract,
        tests: Sequence[_Test],
        page: str,
        examples: int,
        shown: set[Key],
    ) -> AdoptedModule:
        claims = self._claims(contract, tests)
        files = {
            **self._files(contract),
            "examples.md": page.encode(),
            _CLAIMS: canonical_json.pretty(claims),
            **({_TESTS: self._suite(contract, tests)} if tests else {}),
        }
        draft = self._draft._replace(contract=contract)
        claimed = {pointer for pointers in claims.values() for pointer in pointers}
        before = self._module.record
        left = [gap for gap in before.gaps if not self._is_filled(gap, contract)]
        gaps = [*left, *lacking_examples(page, contract, draft), *unshown(claimed, contract, draft)]
        record = before._replace(
            status=AdoptionStatus.INCOMPLETE if gaps else AdoptionStatus.COMPLETE,
            statements=(*self._statements(contract, shown, {key for test in tests for key in test.shows}),),
            gaps=tuple(dict.fromkeys(gaps)),
            remarks=(*before.remarks, *(f"drafted and dropped: {one}" for one in self._dropped)),
            examples=before.examples + examples,
            tests=before.tests + len(tests),
        )
        return self._module._replace(record=record, draft=draft, files=files)

    def _is_filled(self, gap: Gap, contract: MicroModuleContract) -> bool:
        """Whether something that was missing is there now, or is looked for anew."""
        if gap.what.startswith("the type of "):
            return gap not in self._draft.gaps
        if gap.what.endswith(", and nothing states it"):
            return any(
                gap.what.endswith(f"raises {e.name}, and nothing states it") for e in contract.error_surfaces
            )
        if gap.what.startswith("a constraint of "):
            name = gap.what.split("`")[1]
            return any(
                len(s.constraints) > len(b.constraints)
                for s, b in zip(contract.inputs, self._before.inputs, strict=True)
                if s.name == name
            )
        return gap.what.startswith("a test of the ") or gap.write == EXAMPLE_TO_WRITE

    def _statements(
        self, contract: MicroModuleContract, shown: set[Key], tested: set[Key]
    ) -> Iterator[Statement]:
        """Those of before at their new places, and the drafted ones."""
        before = {one.pointer: (one.category, one.text) for one in obligations(self._before)}
        now = keys(contract)
        for one in self._module.record.statements:
            key = before.get(one.pointer) if one.pointer else None
            evidence = Evidence.RUN if key in tested else one.evidence
            yield one._replace(pointer=now[key], evidence=evidence) if key in now else one
        for key in sorted(shown):
            yield Statement(now[key], key[1], Origin.DRAFTED, Evidence.RUN)
        for place, (slot, old) in enumerate(zip(contract.inputs, self._before.inputs, strict=True)):
            if slot.type != old.type:
                yield Statement(f"/inputs/{place}", f"{slot.name}: {slot.type}", Origin.DRAFTED, Evidence.RUN)
        for place, (slot, old) in enumerate(zip(contract.outputs, self._before.outputs, strict=False)):
            if slot.type != old.type:
                yield Statement(
                    f"/outputs/{place}", f"{slot.name}: {slot.type}", Origin.DRAFTED, Evidence.RUN
                )


def _with_observed(test: _Test, outcomes: Mapping[str, Sequence[Sequence[str]]]) -> _Test:
    """A test without claims of errors that did not come out of it."""
    came = outcomes.get(f"{FILE}::{test.name}", ())
    kept = [
        key
        for key in test.shows
        if key[0] != "error surface" or any(same_error(key[1].partition(":")[0], names) for names in came)
    ]
    return test._replace(shows=tuple(kept))


def _named(node_id: str) -> str:
    """The drafted test that a node id names; empty if it names another."""
    file, _, name = node_id.partition("[")[0].partition("::")
    return name if file == FILE else ""


def _at(where: str, source: bytes) -> str:
    """The test at a line of the file; empty if it is outside of any."""
    number = where.rpartition(":")[2]
    for node in parse_module(source).body:
        if isinstance(node, ast.FunctionDef) and number.isdecimal():
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= int(number) <= (node.end_lineno or 0):
                return node.name
    return ""


def _failure(report: str) -> str:
    """The lines of pytest's report that say what came out."""
    said = [line[1:].strip() for line in report.splitlines() if line.startswith("E ")]
    return "; ".join(said) or report.strip().rpartition("\n")[2]


def _is_import(line: str) -> bool:
    try:
        return all(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.parse(line).body)
    except (SyntaxError, ValueError):
        return False


def _is_call(text: str, name: str) -> bool:
    try:
        node = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name
        for one in ast.walk(node)
    )
