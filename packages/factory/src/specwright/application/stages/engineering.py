"""The steps of the engineering loop of one task (design: engineering, planning); `loop.TASK_LOOP` has their order."""

from collections.abc import Callable

from specwright.application.debate.implementation import Implementation
from specwright.application.escalation.halt import halt, halt_reason
from specwright.application.escalation.offers import resume_module
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState, EngineeringState
from specwright.application.planner import first_plan, repair_plan
from specwright.application.ship import announce_reused, seal
from specwright.application.stored_plans import StoredPlan, load_plan
from specwright.application.tasks import task_at
from specwright.domain.debate.records import CONTRACTS
from specwright.domain.plan import downstream, execution_order
from specwright.errors import AnswerError


class Engineering:
    """One task in the engineering loop; each method is one step of it.

    Args:
        factory: The ports.
        state: The loop's state when the step begins.
        hold_debate: Runs the loop of a deliverable to its end.
    """

    def __init__(
        self,
        factory: Factory,
        state: EngineeringState,
        hold_debate: Callable[[DebateState], DebateState],
    ) -> None:
        self._factory = factory
        self._task = task_at(factory, state["task_id"])
        self._plan_id = state.get("plan_id", "")
        self._plans: dict[str, StoredPlan] = {}
        self.hold_debate = hold_debate

    def make_plan(self, state: EngineeringState) -> EngineeringState:
        """Ask for a plan; without a sound one the task halts (design: planning). Code makes the plan of a repair, whose
        contracts are not debated (design: change)."""
        try:
            if repaired := repair_plan(self._factory, self._task):
                return {"plan_id": repaired, "deliverable": ""}
            self._plan_id = first_plan(self._factory, self._task)
        except AnswerError as error:
            raw_answers, errors = list(error.raw_answers), list(error.problems)
            return {"halt_reason": error.what, "raw_answers": raw_answers, "errors": errors}
        return {"plan_id": self._plan_id, "deliverable": CONTRACTS if self._plan.contracts else ""}

    def resume(self, state: EngineeringState) -> EngineeringState:
        """Resume a halted task with a person's answer (design: escalation)."""
        return resume_module(self._factory, self._task)

    def follow_plan(self, plan_id: str, state: EngineeringState) -> EngineeringState:
        """Follow the locked plan; modules that failed before and that it still has stay failed (design: debate)."""
        self._plan_id = plan_id
        contracts = self._plan.contracts
        failed = {name: why for name, why in state.get("failed", {}).items() if name in contracts}
        return {"plan_id": plan_id, "failed": failed}

    def select_module(self, state: EngineeringState) -> EngineeringState:
        """Choose the next module in topological order; one that depends on a failed module is abandoned (design:
        planning, engineering)."""
        failed = state.get("failed", {})
        done = {*state.get("shipped", {}), *failed, *downstream(self._plan.plan, failed)}
        names = [
            name
            for name in execution_order(self._plan.plan)
            if name in self._plan.contracts and name not in done
        ]
        return {"deliverable": names[0] if names else ""}

    def ship(self, state: EngineeringState) -> EngineeringState:
        """Seal the module that passed its debate and gate."""
        name, version_id = state["deliverable"], state["version_id"]
        module = Implementation(self._factory, self._task, self._plan, name)
        seal(self._factory, self._task, module, version_id, state["debates"][name])
        return {"shipped": {**state.get("shipped", {}), name: module.contract.ref}}

    def finish(self, state: EngineeringState) -> EngineeringState:
        """End the task: SHIPPED with its modules, or HALTED with an escalation."""
        if why := halt_reason(self._factory, self._task, state):
            return {"outcome": "HALTED", "escalation": halt(self._factory, self._task, why)}
        plan = self._plan
        for ref in plan.reused.values():
            announce_reused(self._factory, self._task, ref)
        refs = {**plan.reused, **state.get("shipped", {})}
        return {
            "outcome": "SHIPPED",
            "module_refs": [refs[module.name] for module in plan.plan.modules],
            "module_ref": refs[plan.plan.task_facing],
        }

    @property
    def _plan(self) -> StoredPlan:
        if self._plan_id not in self._plans:
            self._plans[self._plan_id] = load_plan(self._factory.artifacts, self._task.folder, self._plan_id)
        return self._plans[self._plan_id]
