"""The contracts of a plan as the deliverable of a debate (D10)."""

from collections.abc import Sequence

from specwright.application.debate.briefs import DependencyView
from specwright.application.debate.deliverable import CONTRACTS, Judged, Remarks, Submitted
from specwright.application.factory import Factory
from specwright.application.planning import amended_plan, revised_plan, shipped_view
from specwright.application.project_stage import Task
from specwright.application.stores.artifact_store import artifacts
from specwright.application.stores.records import Invocation
from specwright.application.stores.stored_plans import Plan, Reopened, load_plan, lock_plan
from specwright.domain.amendments import contract_problems
from specwright.domain.answers import AmendmentsAnswer, AppliedAmendment, Failure, FalsifyingTest
from specwright.domain.contract import MicroModuleContract
from specwright.domain.debate import Adjudication
from specwright.domain.falsifying import TriedTest
from specwright.ports.gate import Trial
from specwright.ports.journal import Scope
from specwright.ports.roles import Files

__all__ = ["ContractSet"]


class ContractSet:
    """A plan whose contracts are debated together; the planner is their proposer.

    Args:
        first_plan: The `MP-...` that planning made, which is the first version.
        reopened: The locked plan whose debate goes on (D10).
    """

    subject = CONTRACTS

    def __init__(
        self,
        factory: Factory,
        task: Task,
        first_plan: str,
        reopened: Reopened | None = None,
    ) -> None:
        self._factory = factory
        self.task = task
        self._first_plan = first_plan
        self._reopened = reopened

    def submit(self, round_number: int, remarks: Remarks, before: str) -> tuple[Submitted, Invocation]:
        """The plan as it was made, or made again after failures."""
        plan_id = self._first_plan
        if round_number > 1:
            plan_id = revised_plan(
                self._factory,
                self.task,
                round_number,
                remarks.failures,
                before,
                told_by=remarks.told_by,
                reopened=self._reopened,
            )
        made = artifacts(self._factory).envelope(self.task.folder, plan_id)
        return self._submitted(plan_id), Invocation.of(made, self.task.task_id, self.task.folder)

    def contracts(self, target: str) -> list[MicroModuleContract]:
        """All contracts of the plan."""
        return list(self._plan(target).contracts.values())

    def files(self, target: str) -> Files:
        """There are none yet."""
        return {}

    def dependencies(self, target: str) -> list[DependencyView]:
        """The sealed modules that the plan builds on."""
        plan = self._plan(target)
        own = {contract.ref for contract in plan.contracts.values()}
        refs = {ref for module in plan.plan.modules for ref in module.depends_on} - own
        return [shipped_view(self._factory, ref) for ref in sorted(refs)]

    def falsify(self, target: str, tests: Sequence[FalsifyingTest], scope: Scope) -> Sequence[Trial]:
        """Nothing can run yet."""
        why = "in a contract debate there is nothing to run yet: leave falsifying_tests empty"
        return [Trial(test.name, (why,)) for test in tests]

    def amend(
        self, target: str, round_number: int, decided: Adjudication, standing: Sequence[TriedTest]
    ) -> tuple[Submitted, AmendmentsAnswer]:
        """The planner applies the amendments to its contracts."""
        plan_id = amended_plan(
            self._factory, self.task, round_number, decided.amendments, target, self._reopened
        )
        submitted = self._submitted(plan_id)
        answer = AmendmentsAnswer(
            applied=[
                AppliedAmendment(amendment_index=i, applied=True, note="the plan was handed in again")
                for i in range(len(decided.amendments))
            ],
            claim=submitted["claim"],
            acceptance_checks=submitted["acceptance_checks"],
        )
        return submitted, answer

    def unapplied(self, before: str, after: str, decided: Adjudication) -> list[str]:
        """Amendments whose pointer does not show them."""
        return contract_problems(
            decided.amendments, self._plan(before).contracts, self._plan(after).contracts
        )

    def verify(self, target: str, standing: Sequence[TriedTest]) -> Judged:
        """Lock the plan; what keeps it open counts as a failure."""
        replaces = self._reopened.locked if self._reopened else ""
        failures = [
            Failure(
                invariant="A locked contract keeps the text rules.", evidence=found, required_change=found
            )
            for found in lock_plan(self._factory, self.task, self._plan(target), replaces)
        ]
        return Judged(failures, {})

    def artifacts(self, target: str) -> list[str]:
        """The plan and its contracts go through the statuses together."""
        return [target, *self._plan(target).contract_ids.values()]

    def _plan(self, plan_id: str) -> Plan:
        return load_plan(self._factory, self.task, plan_id)

    def _submitted(self, plan_id: str) -> Submitted:
        answer = self._plan(plan_id).answer
        return Submitted(
            target=plan_id,
            claim=answer.claim,
            acceptance_checks=list(answer.acceptance_checks),
            test_inventory={},
            examples="",
            preflight=[],
        )
