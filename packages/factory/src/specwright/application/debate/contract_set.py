"""The contracts of a plan as the deliverable of a debate (design: debate)."""

from collections.abc import Sequence

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.contract_text import contract_changes
from specwright.application.announce import Announcement
from specwright.application.debate.deliverable import Deliverable, RevisionRequest, Version
from specwright.application.factory import Factory
from specwright.application.plan.planner import amended_plan, problems_by_code, revised_plan
from specwright.application.plan.stored_plans import (
    ReopenedPlan,
    StoredPlan,
    load_plan,
    lock_event,
    lock_plan,
)
from specwright.application.store.artifacts import Invocation
from specwright.application.store.debates import GateResult
from specwright.application.store.modules import DependencyView
from specwright.application.tasks import Task
from specwright.domain.answers import Amendment, AmendmentsAnswer, AppliedAmendment, Failure
from specwright.domain.debate.amendments import contract_problems
from specwright.domain.debate.debate import CONTRACTS, Adjudication
from specwright.domain.debate.falsifying import TriedTest


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
            return self._version(self._first_plan.plan_id)
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
        return version._replace(contract_changes=self._changes(before, revised))

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

    def _changes(self, before: str, after: str) -> list[str]:
        """What a revision changed in the contracts of a plan, by the modules' names."""
        old, new = self._plan(before).contracts, self._plan(after).contracts
        lines = [f"{name}: a new module" for name in new if name not in old]
        lines += [f"{name}: not in the plan any more" for name in old if name not in new]
        return lines + [
            f"{name} {line}"
            for name, contract in new.items()
            if name in old
            for line in contract_changes(old[name], contract)
        ]

    def _plan(self, plan_id: str) -> StoredPlan:
        """A version of the plan; each is read once in a step."""
        if plan_id not in self._plans:
            self._plans[plan_id] = load_plan(self._factory.artifacts, self.task.folder, plan_id)
        return self._plans[plan_id]

    def _version(self, plan_id: str) -> Version:
        made = self._factory.artifacts.envelope(self.task.folder, plan_id)
        by, answer = Invocation.of(made, self.task.task_id, self.task.folder), self._plan(plan_id).answer
        return Version(plan_id, by, answer.claim, answer.acceptance_checks)
