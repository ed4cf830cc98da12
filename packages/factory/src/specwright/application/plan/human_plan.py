"""A plan that a person gave in an answer: read, checked before it is accepted, and kept by every revision (design:
planning).

Its names and edges stay through the whole contract debate, also one that is reopened later (design: debate).
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

from pydantic import ValidationError

from ship_gate.base.ids import ModuleRef
from ship_gate.base.record import validation_messages
from specwright.application.factory import Factory
from specwright.application.plan.rules import PlanRules, known_now
from specwright.application.plan.stored_plans import load_plan
from specwright.application.tasks import Task
from specwright.domain.acceptance.calls import without_module
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.escalation.resolutions import Action, ResolutionRecord, RevisePlan
from specwright.domain.plan.human_plan import HumanModule, modules_of, read_short
from specwright.domain.plan.micro_plan import KnownModules
from specwright.errors import InputError


class HumanPlan(NamedTuple):
    """What a person decided about a plan.

    Args:
        escalation: The escalation that it answered; empty where nobody decided anything.
        modules: Names and edges that stay.
        answer: The whole plan, where it was given in full.
    """

    escalation: str = ""
    modules: tuple[HumanModule, ...] = ()
    answer: PlanAnswer | None = None

    @property
    def refs(self) -> dict[str, str]:
        """The references of modules whose ids were given, by name."""
        return {m.name: f"{m.module_id}@1.0.0" for m in self.modules if m.module_id}


def human_plan(factory: Factory, task: Task, known: KnownModules) -> HumanPlan:
    """The last plan that a person gave for this attempt, if any."""
    records = [record for record in task.answers if record.action is Action.REVISE_PLAN]
    if not records:
        return HumanPlan()
    plan, _ = _read(records[-1].payload, _names(factory, task, records[-1]), known)
    return plan._replace(escalation=records[-1].escalation_id)


def check_human_plan(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Hold a person's plan to the rules of a planner's, approved examples among them; no model is asked.

    Args:
        factory: The ports.
        task: The task.
        record: The answer, not accepted yet.

    Raises:
        InputError: names all its problems.
    """
    known, acceptance = known_now(factory), task.definition.acceptance
    plan, problems = _read(record.payload, _names(factory, task, record), known)
    if not problems and plan.answer is not None:
        problems, _ = PlanRules(known, acceptance=acceptance).check(plan.answer)
    elif not problems:
        problems = without_module(acceptance, [module.name for module in plan.modules])
    problems += [
        f"{ref} is taken"
        for ref in plan.refs.values()
        if ref not in known.refs and factory.modules.versions(ModuleRef.parse(ref).module_id)
    ]
    if problems:
        raise InputError(
            f"the plan cannot be followed: {'; '.join(problems)}",
            where="payload.revised_micro_plan",
            remedy="nothing was changed; correct the plan and answer again",
        )


def _read(
    payload: Mapping[str, object], names: Mapping[str, str], known: KnownModules
) -> tuple[HumanPlan, list[str]]:
    plan = RevisePlan.model_validate(payload).revised_micro_plan
    if isinstance(plan, list):
        modules, problems = read_short(plan, names, known)
        return HumanPlan(modules=tuple(modules)), problems
    try:
        answer = PlanAnswer.model_validate(plan)
    except ValidationError as error:
        return HumanPlan(), validation_messages(error)
    return HumanPlan(modules=tuple(modules_of(answer)), answer=answer), []


def _names(factory: Factory, task: Task, record: ResolutionRecord) -> dict[str, str]:
    """The names of the modules that a person may refer to by id: sealed ones, and those of the plan that failed."""
    names = {entry.module_id: entry.name for entry in factory.index.entries()}
    details = factory.escalations.escalation(record.escalation_id).details
    if plan_id := cast(str, details.get("resume", {}).get("plan_id", "")):
        plan = load_plan(factory.artifacts, task.folder, plan_id).plan
        names |= {m.module_id: m.name for m in plan.modules}
    return names
