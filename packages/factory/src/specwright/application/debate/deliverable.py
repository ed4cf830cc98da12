"""The interface of a deliverable (the contracts of a plan, or an implementation), and the contract debate's
(design: debate)."""

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
"""The part of the plan that a module's debate shows."""


class Version(NamedTuple):
    """A version of a deliverable, with the content of its proposal.

    Args:
        version_id: The id of its artifact.
        by: The invocation that made it.
        claim: Its description by the Proposer.
        acceptance_checks: For each criterion, the tests that show it.
        test_inventory: The obligations that each test shows.
        tests: An outline of the tests.
        contract_changes: The changes of the contracts since the previous version, a line for each statement.
        examples: The text of `examples.md`.
        preflight: The observations of the preflight.
        contract_at_fault: Reported faults of its contract (design: contract-at-fault).
        confirmed: `contract` or `plan` if code confirmed the fault; otherwise empty.
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
    """The requirements for the next version.

    Args:
        failures: The failures to correct.
        sources: The records that state them, except those of the version itself, with a note on the visible part.
        active_tests: The falsifying tests that the version must pass.
        revisions_left: The number of revisions left after this one; None for a first version.
    """

    failures: Sequence[Failure] = ()
    sources: Sequence[tuple[str, str]] = ()
    active_tests: Sequence[TriedTest] = ()
    revisions_left: int | None = None


class Deliverable(ABC):
    """The subject of a debate.

    Args:
        questions: The questions about criteria that this run of the task has raised so far (design: unshown-criteria).
        plan_claim: The planner's claim about the locked contracts; empty in a contract debate.
        plan_ref: The plan; empty in a contract debate.
    """

    name: str
    task: Task
    questions: Sequence[str] = ()
    plan_claim = plan_ref = ""

    @abstractmethod
    def submit(self, round_number: int, request: RevisionRequest, before: str) -> Version:
        """Make the first version, or revise the failed version `before`."""

    @property
    def reports(self) -> Sequence[BugReport]:
        """Return the bug reports whose examples every version of the module must pass."""
        return ()

    @abstractmethod
    def contracts(self, version_id: str) -> list[MicroModuleContract]:
        """Return the contracts that are debated or implemented."""

    def files(self, version_id: str) -> Files:
        """Return the module's files in a version; empty in a contract debate."""
        return {}

    @abstractmethod
    def dependencies(self, version_id: str) -> list[DependencyView]:
        """The sealed modules that it calls."""

    def falsify(self, version_id: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Run tests of the Challenger on a version (design: falsifying-tests); not for contracts."""
        return ()

    def problems_by_code(
        self, version_id: str, round_number: int, amendments: Sequence[Amendment]
    ) -> Sequence[str] | None:
        """Return why a version could not be locked after code applied amendments; empty if it could, None if code cannot
        apply all of them (design: amendments)."""
        return None

    @abstractmethod
    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """Apply the amendments of a ruling; the active falsifying tests still count."""

    @abstractmethod
    def unapplied(self, before: str, after: str, ruling: Adjudication) -> list[str]:
        """Return the amendments that the new version does not show (design: amendments)."""

    @abstractmethod
    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Run the ship gate on a version, or lock the contracts. Without failures the version may ship."""

    def announcements(self, version_id: str, debate_id: str) -> Sequence[Announcement]:
        """Return the events for a version without failures, beside the gate's decision."""
        return ()

    def artifacts(self, version_id: str) -> list[str]:
        """Return the artifacts whose status follows the debate."""
        return [version_id]


class Case(NamedTuple):
    """A round of a debate, as input for its judges.

    Args:
        deliverable: The deliverable.
        version_id: Its version.
        number: The round.
        history: The debate so far; the Challenger judges its last proposal, the Arbiter its last challenge.
        revisions_left: The number of revisions left.
    """

    deliverable: Deliverable
    version_id: str
    number: int
    history: DebateHistory
    revisions_left: int = MAX_REVISIONS

    @property
    def name(self) -> str:
        """The name of the deliverable."""
        return self.deliverable.name

    @property
    def contracts(self) -> list[MicroModuleContract]:
        """The contracts that are debated or implemented."""
        return self.deliverable.contracts(self.version_id)

    def shown(self, rulings: Mapping[int, CriterionRuling], unsound: Sequence[str] = ()) -> JudgedDebate:
        """Return the round for a request, with the rulings on criteria and the problems that prevent locking."""
        of = self.deliverable
        told = of.task.definition, of.plan_claim, rulings, unsound, of.reports
        return JudgedDebate(self.name, self.contracts, self.history, self.revisions_left, *told)

    def place(self, role: Role) -> Place:
        """Return the place of a judge's invocation."""
        return self.deliverable.task.place(self.name, f"round-{self.number}", role)

    def problems_by_code(self, amendments: Sequence[Amendment]) -> Sequence[str] | None:
        """Return why the amended contracts could not be locked; None if code cannot apply the amendments."""
        return self.deliverable.problems_by_code(self.version_id, self.number, amendments)


def _changes(old: Contracts, new: Contracts) -> list[str]:
    """Return the changes of a plan's contracts from earlier ones, a line each."""
    lines = [f"{name}: a new module" for name in new if name not in old]
    lines += [f"{name}: not in the plan any more" for name in old if name not in new]
    shared = [(name, old[name], contract) for name, contract in new.items() if name in old]
    return lines + [f"{name} {line}" for name, was, now in shared for line in contract_changes(was, now)]


class ContractSet(Deliverable):
    """A plan whose contracts are debated together; the planner is their proposer.

    Args:
        factory: The ports.
        task: The task.
        first_plan: The result of planning, which is the first version.
        reopened: The locked plan whose debate continues (design: debate).
        questions: The questions about criteria that this run of the task has raised so far.
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
        """Return the plan from planning, or let the planner revise it."""
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
        """Return all contracts of the plan."""
        return list(self._plan(version_id).contracts.values())

    def dependencies(self, version_id: str) -> list[DependencyView]:
        """Return the sealed modules that the plan depends on."""
        plan = self._plan(version_id)
        own = {contract.ref for contract in plan.contracts.values()}
        refs = {ref for module in plan.plan.modules for ref in module.depends_on} - own
        return [self._factory.modules.view(ref) for ref in sorted(refs)]

    def problems_by_code(
        self, version_id: str, round_number: int, amendments: Sequence[Amendment]
    ) -> Sequence[str] | None:
        """Return why the amended plan could not be locked; None if code cannot apply the amendments."""
        plan = self._plan(version_id)
        return problems_by_code(self._factory, self.task, round_number, amendments, plan, self._reopened)

    def amend(
        self, version_id: str, round_number: int, ruling: Adjudication, active_tests: Sequence[TriedTest]
    ) -> tuple[Version, AmendmentsAnswer]:
        """Apply the amendments to the contracts, by code or by the planner."""
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
        """Return the amendments that the contracts do not show."""
        return contract_problems(ruling.amendments, self._plan(before).contracts, self._plan(after).contracts)

    def verify(self, version_id: str, active_tests: Sequence[TriedTest]) -> GateResult:
        """Lock the plan; a problem that prevents this counts as a failure."""
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
        """Return the event that the plan is locked."""
        return [lock_event(self._factory, self.task, self._plan(version_id), debate_id)]

    def artifacts(self, version_id: str) -> list[str]:
        """Return the plan and its contracts, which change their statuses together."""
        return [version_id, *self._plan(version_id).contract_ids.values()]

    def _plan(self, plan_id: str) -> StoredPlan:
        """Return a version of the plan, read once per step."""
        if plan_id not in self._plans:
            self._plans[plan_id] = load_plan(self._factory.artifacts, self.task.folder, plan_id)
        return self._plans[plan_id]

    def _version(self, plan_id: str) -> Version:
        made = self._factory.artifacts.envelope(self.task.folder, plan_id)
        by, answer = Invocation.of(made, self.task.task_id, self.task.folder), self._plan(plan_id).answer
        return Version(plan_id, by, answer.claim, answer.acceptance_checks)
