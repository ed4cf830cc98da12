"""The evidence for each criterion of the approved spec: examples, properties, module tests, falsifying tests (design:
release, executable-spec, debate).

All links come from records. Examples and falsifying tests name their criteria. Module tests name the contract statements
that they show; the `acceptance_checks` of the plan and the Proposer say which statements and tests show which criterion.
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
"""The rubric's criterion about acceptance criteria (design: debate)."""


class CriterionCheck(NamedTuple):
    """A role's statement that something shows a criterion.

    Args:
        criterion: The number of the criterion.
        module: The name of a module.
        shows: A JSON pointer into its contract, or the name of a test.
        stated_in: The reference to the statement.
    """

    criterion: int
    module: str
    shows: str
    stated_in: Reference


def read_check(text: str, modules: Sequence[str], own: str = "") -> Iterator[tuple[int, str, str]]:
    """Parse an acceptance check: yield the number of the criterion, a module, and its statement or test.

    Args:
        text: `2: make_plan /outputs/0/invariants/1`, or `2: test_the_rest_goes_first`; nothing is yielded without a number.
        modules: The known names of modules.
        own: The default module.
    """
    found = NUMBERED_CHECK.fullmatch(text)
    module = own or (modules[0] if len(modules) == 1 else "")
    for word in _WORDS.findall(found[2]) if found else ():
        if word in modules:
            module = word
        elif module and found and word.startswith(("/", "test_")):
            yield int(found[1]), module, word.rstrip(".)")


class _Planned(NamedTuple):
    """A contract, its plan, and the task of the plan."""

    contract: MicroModuleContract
    plan_id: str
    task_id: str


class DebateIndex:
    """An index of a project's debates; everything is read lazily and once.

    Args:
        view: The project.
    """

    def __init__(self, view: ProjectView) -> None:
        self._view = view

    def checks(
        self, module_ref: str, task_ids: Sequence[str], contracts: Mapping[str, MicroModuleContract]
    ) -> Iterator[CriterionCheck]:
        """Yield the checks of a task's criteria, from the debates over a module and its plan.

        A module that the task only reuses yields none. Checks of statements that differ in the sealed contract are left out.

        Args:
            module_ref: `MM-...@x.y.z`, sealed.
            task_ids: The task, or its parts if it was split.
            contracts: The sealed contracts of the task's modules, by name.
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
        """Return the reference to the Challenger's last assessment of a module against the criteria (R5)."""
        if not (last := self._last(self._version(module_ref), Challenge)):
            return None
        challenge = Challenge.from_bytes(self._view.store.read(last), last)
        places = [at for at, one in enumerate(challenge.rubric_assessments) if one.criterion == _TRACED]
        return f"{last}#/rubric_assessments/{places[0]}" if places else None

    def _last_checks(self, target: str, names: Sequence[str], own: str) -> Iterator[CriterionCheck]:
        """Yield the checks of a debate's last proposal."""
        if not (last := self._last(target, Proposal)):
            return
        proposal = Proposal.from_bytes(self._view.store.read(last), last)
        for place, text in enumerate(proposal.acceptance_checks):
            for criterion, module, shows in read_check(text, names, own):
                yield CriterionCheck(criterion, module, shows, f"{last}#/acceptance_checks/{place}")

    def _last(self, target: str, kind: type[Proposal | Challenge]) -> Reference:
        """Return the last proposal or challenge in the debate over a plan or implementation; empty if there is none."""
        debate_id = self._by_version.get(target)
        return self._view.debates.records(debate_id).last_path(kind) if debate_id else ""

    def _version(self, module_ref: str) -> str:
        """Return the implementation that was sealed as a module."""
        debated = self._view.projection.debated_as(module_ref)
        return self._view.modules.evidence(debated).journal_ref.rpartition("/")[2]

    @cached_property
    def _planned(self) -> Mapping[str, list[_Planned]]:
        """The contracts of all plans by module, oldest first."""
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
        """The contracts of the last proposals of plans, by plan and name."""
        rows = (one for rows in self._planned.values() for one in rows)
        return {(one.plan_id, one.contract.name): one.contract for one in rows}

    @cached_property
    def _by_version(self) -> dict[str, str]:
        return self._view.debates.by_version()


_CLAIMS = "tests/obligations.json"
_ACCEPTANCE, _PROPERTIES, _FALSIFYING = "acceptance", "properties", "falsifying"
"""Stages of the gate."""


class RunOutcome(NamedTuple):
    """The result of an example or property on the installed wheel; `detail` is empty if it passed."""

    passed: bool
    detail: str


class SealedModule:
    """A sealed version with its evidence.

    Args:
        view: The project.
        ref: `MM-...@x.y.z`.
    """

    def __init__(self, view: ProjectView, ref: str) -> None:
        self._view, self.ref, self.directory = view, ref, layout.module(ref)
        self.contract = view.modules.contract(ref)

    @cached_property
    def called(self) -> list[MicroModuleContract]:
        """The contracts of its direct and indirect dependencies."""
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
        """Return the references to a gate stage in its evidence; empty if the stage did not run."""
        gate = self._view.modules.evidence(self.ref).gate
        return [
            f"{self.directory}/{layout.SHIP_EVIDENCE}#/gate/{place}"
            for place, check in enumerate(gate)
            if check.name == name and check.result == "PASS"
        ]

    def runs_of(self, test: str) -> list[Reference]:
        """Return the references to the results of a test; for one with many parameters, to the whole log."""
        path, names = f"{self.directory}/{EXECUTION_LOG}", [one.name for one in self.log.tests]
        bare = [name.partition("[")[0] for name in names]
        wanted = set(matching_tests(test, bare))
        places = [place for place, name in enumerate(bare) if name in wanted]
        return [f"{path}#/tests/{place}" for place in places] if len(places) <= _FEW else [path]

    def tests_showing(self, shows: str) -> list[str]:
        """Return the tests that show a statement of the contract, or that have a name."""
        if shows.startswith("/"):
            pointer = "" if shows == "/purpose" else shows
            return [name for name, pointers in self.claims.items() if pointer in pointers]
        return [name for name in self.claims if name.rpartition("::")[2] == shows]

    def report(self, judged_in: Reference | None) -> ModuleReport:
        """Return the module's part of the acceptance report."""
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
"""The number of results of one test up to which each gets a reference."""


class TaskEvidence:
    """The evidence for the criteria of one task.

    Args:
        view: The project.
        debates: Its debates.
        task_ids: The task, or its parts if it was split.
        pointer: The reference to the task in the approved spec.
        refs: The modules of the task to consider.
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
        """Return all evidence for a criterion.

        Args:
            number: The number of the criterion.
            text: Its text, which falsifying tests cite.
            acceptance: The task's examples and properties.
            outcomes: The results on the installed wheel, by title of an example or property.
            ran_in: The references to these results.
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
        """Return the gate results of modules for an example or property."""
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
    """Describe an example or property with its values."""
    code = "; ".join(item.body.splitlines())
    if isinstance(item, AcceptanceProperty):
        return f"{code} {for_all(item.variables, item.errors)}"
    return f"{code} gives {item.gives}"


def _run_detail(outcome: RunOutcome | None, gates: Sequence[Reference]) -> str:
    if outcome is None:
        return "at the gate of its module" if gates else "nothing ran it"
    return outcome.detail or "against the installed wheel"


def _token(name: str) -> str:
    """Escape a key for a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
