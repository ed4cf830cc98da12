"""What shows each criterion of the approved spec: examples and properties, tests of modules, falsifying tests (design:
release, executable-spec, debate).

Each link is one that was recorded. An example names its criteria, and so does a falsifying test. Tests of a module name the
statements of its contract that they show; which statements stand for a criterion is what the plan and the Proposer said in
their `acceptance_checks`, by the number of the criterion.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ship_gate.base.ids import ArtifactType
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.obligations import matching_tests, read_claims
from ship_gate.contract.rules import scope_limits
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import Artifacts, planned_modules
from specwright.application.store import layout
from specwright.domain.acceptance.calls import acceptance_of_module, for_all
from specwright.domain.acceptance.records import AcceptanceItem, AcceptanceProperty, TaskAcceptance
from specwright.domain.artifacts import Purpose
from specwright.domain.base.graph import reachable
from specwright.domain.debate.answer_rules import NUMBERED_CHECK
from specwright.domain.debate.records import Challenge, Proposal
from specwright.domain.modules.evidence import EXECUTION_LOG, ExecutionLog
from specwright.domain.modules.release import (
    CriterionEvidence,
    EvidenceKind,
    ModuleReport,
    Reference,
)

_WORDS = re.compile(r"/[^\s,;]+|[A-Za-z_]\w*")
_TRACED = "R5"
"""The criterion of the rubric by which each acceptance criterion has a test or an output (design: debate)."""


class CriterionCheck(NamedTuple):
    """What a role said shows a criterion.

    Args:
        criterion: Its number.
        module: The name of a module.
        shows: A JSON pointer into its contract, or the name of a test.
        stated_in: Where it was said.
    """

    criterion: int
    module: str
    shows: str
    stated_in: Reference


def read_check(text: str, modules: Sequence[str], own: str = "") -> Iterator[tuple[int, str, str]]:
    """What a check of a proposal names: the number of a criterion, a module, and a statement or a test of it.

    Args:
        text: `2: make_plan /outputs/0/invariants/1`, or `2: test_the_rest_goes_first`; without a number it names none.
        modules: Names that may stand in it.
        own: The module that is meant where none is named.
    """
    found = NUMBERED_CHECK.fullmatch(text)
    module = own or (modules[0] if len(modules) == 1 else "")
    for word in _WORDS.findall(found[2]) if found else ():
        if word in modules:
            module = word
        elif module and found and word.startswith(("/", "test_")):
            yield int(found[1]), module, word.rstrip(".)")


class _Planned(NamedTuple):
    """A contract, the plan that it is part of, and the task of the plan."""

    contract: MicroModuleContract
    plan_id: str
    task_id: str


class DebateIndex:
    """The debates of a project, found by what they are about. Everything is read once, when it is first asked for.

    Args:
        view: The project.
    """

    def __init__(self, view: ProjectView) -> None:
        self._view = view

    def checks(
        self, module_ref: str, task_ids: Sequence[str], contracts: Mapping[str, MicroModuleContract]
    ) -> Iterator[CriterionCheck]:
        """What was said of the criteria of a task, over the plan that a module came from and over the module itself.

        A module that the task only reuses has no plan of it, and says nothing of its criteria. What was said of a statement
        that reads otherwise in the sealed contract is left out.

        Args:
            module_ref: `MM-...@x.y.z`, sealed.
            task_ids: The task, or its parts if it was split.
            contracts: The sealed ones of the task's modules, by their names.
        """
        debated = self._view.projection.debated_as(module_ref)
        planned = [one for one in self._planned.get(debated, []) if one.task_id in task_ids]
        for plan_id in dict.fromkeys(one.plan_id for one in planned):
            for named in self._last_checks(plan_id, list(contracts), ""):
                before = self._contracts.get((plan_id, named.module))
                if before is None or before.at(named.shows) == contracts[named.module].at(named.shows):
                    yield named
        if planned and (version_id := self._version(module_ref)):
            yield from self._last_checks(version_id, list(contracts), planned[-1].contract.name)

    def judged_in(self, module_ref: str) -> Reference | None:
        """Where the Challenger judged last whether the tests of a module show the criteria."""
        if not (last := self._last(self._version(module_ref), Challenge)):
            return None
        challenge = Challenge.from_bytes(self._view.store.read(last), last)
        places = [at for at, one in enumerate(challenge.rubric_assessments) if one.criterion == _TRACED]
        return f"{last}#/rubric_assessments/{places[0]}" if places else None

    def _last_checks(self, target: str, names: Sequence[str], own: str) -> Iterator[CriterionCheck]:
        """What the last proposal of a debate says of the criteria."""
        if not (last := self._last(target, Proposal)):
            return
        proposal = Proposal.from_bytes(self._view.store.read(last), last)
        for place, text in enumerate(proposal.acceptance_checks):
            for criterion, module, shows in read_check(text, names, own):
                yield CriterionCheck(criterion, module, shows, f"{last}#/acceptance_checks/{place}")

    def _last(self, target: str, kind: type[Proposal | Challenge]) -> Reference:
        """The last record of a kind in the debate over a plan or an implementation; empty if there is none."""
        debate_id = self._by_version.get(target)
        return self._view.debates.records(debate_id).last_path(kind) if debate_id else ""

    def _version(self, module_ref: str) -> str:
        """The implementation that a module was sealed from."""
        debated = self._view.projection.debated_as(module_ref)
        return self._view.modules.evidence(debated).journal_ref.rpartition("/")[2]

    @cached_property
    def _planned(self) -> Mapping[str, list[_Planned]]:
        """The contracts of all plans, by the module that each is about, the oldest first."""
        known, found = Artifacts(self._view), defaultdict[str, list[_Planned]](list)
        for one in planned_modules(self._view):
            for given in one.envelope.inputs:
                if given.ref.startswith(f"{ArtifactType.MICRO_PLAN.prefix}-"):
                    plan_id = given.ref.partition("@")[0]
                    inputs = known.envelope(plan_id).inputs
                    planned = (of.ref.partition("@")[0] for of in inputs if of.purpose == Purpose.PLANS)
                    found[one.contract.ref].append(_Planned(one.contract, plan_id, next(planned, "")))
        return found

    @cached_property
    def _contracts(self) -> Mapping[tuple[str, str], MicroModuleContract]:
        """The contracts as the last proposals of plans have them, by plan and name."""
        rows = (one for rows in self._planned.values() for one in rows)
        return {(one.plan_id, one.contract.name): one.contract for one in rows}

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return self._view.debates.by_version()


_CLAIMS = "tests/obligations.json"
_ACCEPTANCE, _PROPERTIES, _FALSIFYING = "acceptance", "properties", "falsifying"
"""Stages of the gate."""


class RunOutcome(NamedTuple):
    """What came of an example or a property against the installed wheel; `detail` is empty if it passed."""

    passed: bool
    detail: str


class SealedModule:
    """A sealed version with what its evidence says.

    Args:
        view: The project.
        ref: `MM-...@x.y.z`.
    """

    def __init__(self, view: ProjectView, ref: str) -> None:
        self._view, self.ref, self.directory = view, ref, layout.module(ref)
        self.contract = view.modules.contract(ref)

    @cached_property
    def called(self) -> list[MicroModuleContract]:
        """The contracts of the modules that it calls, directly or not."""
        contract = self._view.modules.contract
        refs = reachable([self.ref], lambda ref: [one.ref for one in contract(ref).dependencies])
        return [contract(ref) for ref in refs if ref != self.ref]

    @cached_property
    def log(self) -> ExecutionLog:
        """The tests that the ship gate ran."""
        path = f"{self.directory}/{EXECUTION_LOG}"
        return ExecutionLog.from_bytes(self._view.store.read(path), path)

    @cached_property
    def claims(self) -> dict[str, tuple[str, ...]]:
        """The statements of the contract that each test shows."""
        return read_claims(self._view.store.read(f"{self.directory}/{_CLAIMS}"))

    def stage(self, name: str) -> list[Reference]:
        """A stage of the gate in its evidence; none if it did not run."""
        gate = self._view.modules.evidence(self.ref).gate
        return [
            f"{self.directory}/{layout.SHIP_EVIDENCE}#/gate/{place}"
            for place, check in enumerate(gate)
            if check.name == name and check.result == "PASS"
        ]

    def runs_of(self, test: str) -> list[Reference]:
        """Where the results of a test are; of one with many parameters, the whole log."""
        path, names = f"{self.directory}/{EXECUTION_LOG}", [one.name for one in self.log.tests]
        bare = [name.partition("[")[0] for name in names]
        wanted = set(matching_tests(test, bare))
        places = [place for place, name in enumerate(bare) if name in wanted]
        return [f"{path}#/tests/{place}" for place in places] if len(places) <= _FEW else [path]

    def tests_showing(self, shows: str) -> list[str]:
        """The tests that show a statement of the contract, or that have a name."""
        if shows.startswith("/"):
            pointer = "" if shows == "/purpose" else shows
            return [name for name, pointers in self.claims.items() if pointer in pointers]
        return [name for name in self.claims if name.rpartition("::")[2] == shows]

    def report(self, judged_in: Reference | None) -> ModuleReport:
        """The module as the report has it."""
        files = self._view.modules.files(self.ref)
        return ModuleReport(
            module_ref=self.ref,
            name=self.contract.name,
            functions=[entry.name for entry in entry_points(self.contract)] or [self.contract.name],
            contract=layout.module_contract(self.ref),
            source=[
                f"{self.directory}/{path}" for path in sorted(files) if path.startswith("implementation/")
            ],
            tests=self.log.summary.passed,
            execution_log=f"{self.directory}/{EXECUTION_LOG}",
            judged_in=judged_in,
            out_of_scope=[one.text for one in scope_limits(self.contract)],
        )


_FEW = 3
"""Results of one test that are referred to one by one."""


class TaskEvidence:
    """What shows the criteria of one task.

    Args:
        view: The project.
        debates: Its debates.
        task_ids: The task, or its parts if it was split.
        pointer: Of the task in the approved spec.
        refs: The modules of the task that count.
    """

    def __init__(
        self,
        view: ProjectView,
        debates: DebateIndex,
        task_ids: Sequence[str],
        pointer: Reference,
        refs: Sequence[str],
    ) -> None:
        self._view, self._debates, self._task_ids, self._pointer = view, debates, task_ids, pointer
        self.modules = [SealedModule(view, ref) for ref in refs]

    def of(
        self,
        number: int,
        text: str,
        acceptance: TaskAcceptance | None,
        outcomes: Mapping[str, RunOutcome],
        ran_in: Sequence[Reference],
    ) -> list[CriterionEvidence]:
        """Everything that shows a criterion.

        Args:
            number: Of the criterion.
            text: Of the criterion, by which falsifying tests know it.
            acceptance: Of the task.
            outcomes: Of the installed wheel, by the title of an example or property.
            ran_in: What is proof of these.
        """
        return [
            *self._approved(number, acceptance, outcomes, ran_in),
            *self._module_tests(number),
            *self._falsifying_tests(text),
        ]

    def _approved(
        self,
        number: int,
        acceptance: TaskAcceptance | None,
        outcomes: Mapping[str, RunOutcome],
        ran_in: Sequence[Reference],
    ) -> Iterator[CriterionEvidence]:
        if acceptance is None:
            return
        fields: dict[str, tuple[EvidenceKind, Sequence[AcceptanceItem]]] = {
            "examples": ("example", acceptance.examples),
            "properties": ("property", acceptance.properties),
        }
        for field, (kind, items) in fields.items():
            for place, item in enumerate(items):
                if number in item.criteria:
                    gates = self._gates_of(item, acceptance)
                    outcome = outcomes.get(item.title)
                    passed = outcome.passed if outcome else bool(gates)
                    where = f"{self._pointer}/acceptance/{field}/{place}"
                    yield CriterionEvidence(
                        kind=kind,
                        name=item.title,
                        result="PASS" if passed else "FAIL" if outcome else "NOT_RUN",
                        detail=f"{_said(item)}, {_run_detail(outcome, gates)}",
                        author=item.author,
                        stated_in=where,
                        named_in=f"{where}/criteria/{item.criteria.index(number)}",
                        ran_in=[*(ran_in if outcome else ()), *gates],
                    )

    def _gates_of(self, item: AcceptanceItem, acceptance: TaskAcceptance) -> list[Reference]:
        """The gates of modules that tried an example or a property."""
        found: list[Reference] = []
        for module in self.modules:
            examples, properties = acceptance_of_module(acceptance, (), module.contract, module.called)
            if item.heading in [one.heading for one in examples]:
                found += module.stage(_ACCEPTANCE)
            if item.heading in [one.heading for one in properties]:
                found += module.stage(_PROPERTIES)
        return found

    def _module_tests(self, number: int) -> Iterator[CriterionEvidence]:
        seen = set[tuple[str, str]]()
        for check in self._checks:
            for module in self.modules:
                if (check.criterion, check.module) != (number, module.contract.name):
                    continue
                for test in module.tests_showing(check.shows):
                    if (module.ref, test) not in seen:
                        seen.add((module.ref, test))
                        yield CriterionEvidence(
                            kind="module_test",
                            name=test,
                            result="PASS",
                            detail=f"of {module.contract.name}, {check.shows}",
                            stated_in=f"{module.directory}/{_CLAIMS}#/{_token(test)}",
                            named_in=check.stated_in,
                            ran_in=module.runs_of(test),
                        )

    def _falsifying_tests(self, text: str) -> Iterator[CriterionEvidence]:
        for module in self.modules:
            for place, test in enumerate(self._view.modules.regression_tests(module.ref)):
                if text in test.criteria:
                    where = f"{module.directory}/{layout.REGRESSION_TESTS}#/tests/{place}"
                    yield CriterionEvidence(
                        kind="falsifying_test",
                        name=test.name,
                        result="PASS",
                        detail=f"of the Challenger of {module.contract.name}",
                        stated_in=where,
                        named_in=f"{where}/criteria/{test.criteria.index(text)}",
                        ran_in=module.stage(_FALSIFYING),
                    )

    @cached_property
    def _checks(self) -> list[CriterionCheck]:
        contracts = {module.contract.name: module.contract for module in self.modules}
        found = [self._debates.checks(module.ref, self._task_ids, contracts) for module in self.modules]
        return list(dict.fromkeys(check for checks in found for check in checks))


def _said(item: AcceptanceItem) -> str:
    """What an example or a property says: the values that it shows."""
    code = "; ".join(item.body.splitlines())
    if isinstance(item, AcceptanceProperty):
        return f"{code} {for_all(item.variables, item.errors)}"
    return f"{code} gives {item.gives}"


def _run_detail(outcome: RunOutcome | None, gates: Sequence[Reference]) -> str:
    if outcome is None:
        return "at the gate of its module" if gates else "nothing ran it"
    return outcome.detail or "against the installed wheel"


def _token(name: str) -> str:
    """A key as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
