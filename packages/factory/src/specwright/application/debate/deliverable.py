"""What is debated: the contracts of a plan, or the implementation of a module; and the first of these (design: debate)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.contract.statements import contract_changes
from ship_gate.verdict import Trial
from specwright.application.announce import Announcement
from specwright.application.criteria import CriterionRuling
from specwright.application.deprecation import version_before
from specwright.application.factory import Factory
from specwright.application.planner import amended_plan, problems_by_code, revised_plan
from specwright.application.requests import JudgedDebate
from specwright.application.store.artifacts import Invocation
from specwright.application.store.modules import DependencyView
from specwright.application.store.records import DebateHistory, GateResult
from specwright.application.stored_plans import (
    Contracts,
    ReopenedPlan,
    StoredPlan,
    load_plan,
    lock_event,
    lock_plan,
)
from specwright.application.tasks import Task
from specwright.domain.answers import Amendment, AmendmentsAnswer, AppliedAmendment, ContractFault, Failure
from specwright.domain.debate.amendments import contract_problems
from specwright.domain.debate.records import CONTRACTS, MAX_REVISIONS, Adjudication, TriedTest
from specwright.domain.spec.change_request import BugReport
from specwright.ports import Files, Place, Role, Scope

PLAN_CLAIM = "its claim about the contracts"
"""What is shown of the plan in a module's debate."""


class Version(NamedTuple):
    """A new version of a deliverable, with what its proposal says about it.

    Args:
        version_id: Its artifact.
        by: The invocation that made it.
        claim: What it does and why.
        acceptance_checks: What shows that it is accepted.
        test_inventory: The obligations that each test shows.
        tests: What each test asserts, as code extracted it.
        contract_changes: Of the contracts since the version before, a line for each statement.
        examples: `examples.md`.
        preflight: What the preflight saw.
        contract_at_fault: What is wrong with its contract (design: contract-at-fault).
        confirmed: Whose fault code has confirmed that to be, as the loop knows it; empty if it has not.
    """

    version_id: str
    by: Invocation
    claim: str
    acceptance_checks: Sequence[str]
    test_inventory: Mapping[str, list[str]] = MappingProxyType({})
    tests: str = ""
    contract_changes: Sequence[str] = ()
    examples: str = ""
    preflight: Sequence[str] = ()
    contract_at_fault: Sequence[ContractFault] = ()
    confirmed: str = ""


class RevisionRequest(NamedTuple):
    """What the debate so far asks of the next version.

    Args:
        failures: To be corrected.
        sources: The records that they come from, beside those of the version itself, with what is shown of each.
        active_tests: Falsifying tests that it must pass.
        revisions_left: After this one; None of a first version.
    """

    failures: Sequence[Failure] = ()
    sources: Sequence[tuple[str, str]] = ()
    active_tests: Sequence[TriedTest] = ()
    revisions_left: int | None = None


class Deliverable(ABC):
    """What is debated.

    Args:
        questions: Those about criteria that this run of the task has raised so far (design: unshown-criteria).
        plan_claim: What the planner says of the locked contracts; empty in a contract debate.
        plan_ref: The plan; empty in a contract debate.
    """

    name: str
    task: Task
    questions: Sequence[str] = ()
    plan_claim = plan_ref = ""

    @abstractmethod
    def submit(self, round_number: int, request: RevisionRequest, before: str) -> Version:
        """Make the first version, or revise the version `before`, which failed."""

    @property
    def reports(self) -> Sequence[BugReport]:
        """The bug reports whose examples every version of a module must give."""
        return ()

    @abstractmethod
    def contracts(self, version_id: str) -> list[MicroModuleContract]:
        """The contracts that are debated or implemented."""

    def files(self, version_id: str) -> Files:
        """The module's files in one version; a contract debate has none."""
        return {}

    @abstractmethod
    def dependencies(self, version_id: str) -> list[DependencyView]:
        """The sealed modules that it calls."""

    def falsify(self, version_id: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Run tests of the Challenger on a version (design: falsifying-tests); contracts have none."""
        return ()

    def problems_by_code(
        self, version_id: str, round_number: int, amendments: Sequence[Amendment]
    ) -> Sequence[str] | None:
        """What keeps a version from being locked once code has applied amendments; empty if nothing does, None if code
        cannot apply them all, as in files (design: amendments)."""
        return None

    @abstractmethod
    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """Apply the amendments of a ruling; the active falsifying tests still count."""

    @abstractmethod
    def unapplied(self, before: str, after: str, ruling: Adjudication) -> list[str]:
        """The amendments that the new version does not show (design: amendments)."""

    @abstractmethod
    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Judge a version by the ship gate, or lock the contracts; without failures it may ship."""

    def announcements(self, version_id: str, debate_id: str) -> Sequence[Announcement]:
        """What the log says, beside the gate's decision, of a version without failures."""
        return ()

    def artifacts(self, version_id: str) -> list[str]:
        """The artifacts whose status follows the debate."""
        return [version_id]


class Case(NamedTuple):
    """A debate in the round that is judged.

    Args:
        deliverable: What is debated.
        version_id: Its version.
        number: The round.
        history: The debate so far; its last proposal is judged, or its last challenge.
        revisions_left: Of the deliverable.
    """

    deliverable: Deliverable
    version_id: str
    number: int
    history: DebateHistory
    revisions_left: int = MAX_REVISIONS

    @property
    def name(self) -> str:
        """Of the deliverable."""
        return self.deliverable.name

    @property
    def contracts(self) -> list[MicroModuleContract]:
        """Those that are debated or implemented."""
        return self.deliverable.contracts(self.version_id)

    def shown(self, rulings: Mapping[int, CriterionRuling], unsound: Sequence[str] = ()) -> JudgedDebate:
        """What a request tells of it, with the rulings on criteria, and with what keeps the contracts from being locked."""
        of = self.deliverable
        told = of.task.definition, of.plan_claim, rulings, unsound, of.reports
        return JudgedDebate(self.name, self.contracts, self.history, self.revisions_left, *told)

    def place(self, role: Role) -> Place:
        """Where a role judges it."""
        return self.deliverable.task.place(self.name, f"round-{self.number}", role)

    def problems_by_code(self, amendments: Sequence[Amendment]) -> Sequence[str] | None:
        """What keeps the contracts from being locked with amendments; None if code cannot apply them."""
        return self.deliverable.problems_by_code(self.version_id, self.number, amendments)


def _changes(old: Contracts, new: Contracts) -> list[str]:
    """How the contracts of a plan differ from earlier ones, by the modules' names."""
    lines = [f"{name}: a new module" for name in new if name not in old]
    lines += [f"{name}: not in the plan any more" for name in old if name not in new]
    shared = [(name, old[name], contract) for name, contract in new.items() if name in old]
    return lines + [f"{name} {line}" for name, was, now in shared for line in contract_changes(was, now)]


class ContractSet(Deliverable):
    """A plan whose contracts are debated together; the planner is their proposer.

    Args:
        first_plan: The plan that planning made, which is the first version.
        reopened: The locked plan whose debate continues (design: debate).
        questions: About criteria, as far as this run of the task has raised some.
    """

    name = CONTRACTS

    def __init__(
        self,
        factory: Factory,
        task: Task,
        first_plan: StoredPlan,
        reopened: ReopenedPlan | None = None,
        questions: Sequence[str] = (),
    ) -> None:
        self._factory = factory
        self.task = task
        self.questions = questions
        self._first_plan = first_plan
        self._reopened = reopened
        self._plans = {first_plan.plan_id: first_plan}

    def submit(self, round_number: int, request: RevisionRequest, before: str) -> Version:
        """The plan as planning made it, or as the planner revises it."""
        if round_number == 1:
            version, contracts = self._version(self._first_plan.plan_id), self._first_plan.contracts
            refs = {name: version_before(self._factory, contract) for name, contract in contracts.items()}
            sealed = {name: self._factory.modules.contract(ref) for name, ref in refs.items() if ref}
            return version._replace(contract_changes=_changes(sealed, contracts) if sealed else ())
        revised = revised_plan(
            self._factory,
            self.task,
            round_number,
            request.failures,
            self._plan(before),
            sources=request.sources,
            reopened=self._reopened,
            questions=self.questions,
            revisions_left=request.revisions_left,
        )
        version = self._version(revised)
        return version._replace(
            contract_changes=_changes(self._plan(before).contracts, self._plan(revised).contracts)
        )

    def contracts(self, version_id: str) -> list[MicroModuleContract]:
        """All contracts of the plan."""
        return list(self._plan(version_id).contracts.values())

    def dependencies(self, version_id: str) -> list[DependencyView]:
        """The sealed modules that the plan builds on."""
        plan = self._plan(version_id)
        own = {contract.ref for contract in plan.contracts.values()}
        refs = {ref for module in plan.plan.modules for ref in module.depends_on} - own
        return [self._factory.modules.view(ref) for ref in sorted(refs)]

    def problems_by_code(
        self, version_id: str, round_number: int, amendments: Sequence[Amendment]
    ) -> Sequence[str] | None:
        """What keeps the plan with these from being locked."""
        plan = self._plan(version_id)
        return problems_by_code(self._factory, self.task, round_number, amendments, plan, self._reopened)

    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """The amendments applied to the contracts, by code or by the planner."""
        approved = self._plan(version_id)
        version = self._version(
            amended_plan(
                self._factory,
                self.task,
                round_number,
                ruling.amendments,
                approved,
                self._reopened,
                self.questions,
            )
        )
        answer = AmendmentsAnswer(
            applied=[
                AppliedAmendment(amendment_index=i, applied=True, note=f"it stands in {version.version_id}")
                for i in range(len(ruling.amendments))
            ],
            claim=version.claim,
            acceptance_checks=list(version.acceptance_checks),
        )
        return version, answer

    def unapplied(self, before: str, after: str, ruling: Adjudication) -> list[str]:
        """The amendments whose pointer does not show them."""
        return contract_problems(ruling.amendments, self._plan(before).contracts, self._plan(after).contracts)

    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Lock the plan; what keeps it from being locked counts as a failure."""
        reopened = self._reopened if self._reopened and self._reopened.baseline is None else None
        replaces = reopened.plan if reopened else None
        plan = self._plan(version_id)
        failures = [
            Failure(
                invariant="A locked contract keeps the text rules.", evidence=problem, required_change=problem
            )
            for problem in lock_plan(self._factory, self.task, plan, replaces)
        ]
        locked_contracts = {c.ref: c.interface_fingerprint for c in self.contracts(version_id)}
        return GateResult(failures, {}, {} if failures else {"contracts": locked_contracts})

    def announcements(self, version_id: str, debate_id: str) -> Sequence[Announcement]:
        """That the plan is locked."""
        return [lock_event(self._factory, self.task, self._plan(version_id), debate_id)]

    def artifacts(self, version_id: str) -> list[str]:
        """The plan and its contracts, which change their statuses together."""
        return [version_id, *self._plan(version_id).contract_ids.values()]

    def _plan(self, plan_id: str) -> StoredPlan:
        """A version of the plan; each is read once in a step."""
        if plan_id not in self._plans:
            self._plans[plan_id] = load_plan(self._factory.artifacts, self.task.folder, plan_id)
        return self._plans[plan_id]

    def _version(self, plan_id: str) -> Version:
        made = self._factory.artifacts.envelope(self.task.folder, plan_id)
        by, answer = Invocation.of(made, self.task.task_id, self.task.folder), self._plan(plan_id).answer
        return Version(plan_id, by, answer.claim, answer.acceptance_checks)
