"""The plan that a person gave: read from the answer, checked before it is taken, followed by all who revise it (D16).

Its names and edges stay as they were given through the whole contract debate, also one that is reopened later (D10).
"""

from collections.abc import Mapping
from typing import NamedTuple, cast

from pydantic import ValidationError

from specwright.application.factory import Factory
from specwright.application.known_modules import Kept, known_now, plan_faults
from specwright.application.project_stage import Task
from specwright.application.stops.escalations import escalation_at
from specwright.application.stores.stored_plans import load_plan
from specwright.domain.given_plan import GivenModule, given_by, read_short
from specwright.domain.micro_plan import KnownModules
from specwright.domain.plan_answers import PlanAnswer
from specwright.domain.record import validation_messages
from specwright.domain.resolutions import Action, ResolutionRecord, RevisePlan
from specwright.errors import InputError

__all__ = ["GivenPlan", "check_plan", "given_plan"]


class GivenPlan(NamedTuple):
    """What a person decided about a plan.

    Args:
        escalation: Which that answered; empty where nobody decided anything.
        modules: Names and edges that stay.
        answer: The whole plan, where it was given in full.
    """

    escalation: str = ""
    modules: tuple[GivenModule, ...] = ()
    answer: PlanAnswer | None = None

    @property
    def refs(self) -> dict[str, str]:
        """The references of modules whose ids were given, by name."""
        return {m.name: f"{m.module_id}@1.0.0" for m in self.modules if m.module_id}


def given_plan(factory: Factory, task: Task, known: KnownModules) -> GivenPlan:
    """The plan that this attempt goes by: the last one that a person gave for it, if any."""
    given = [record for record in task.answers if record.action is Action.REVISE_PLAN]
    if not given:
        return GivenPlan()
    plan, _ = _read(given[-1].payload, _names(factory, task, given[-1]), known)
    return plan._replace(escalation=given[-1].escalation_id)


def check_plan(factory: Factory, task: Task, record: ResolutionRecord) -> None:
    """Hold a person's plan against everything that a planner's must meet; no model is asked.

    Args:
        factory: The ports.
        task: The task.
        record: The answer, not taken yet.

    Raises:
        InputError: names all that is wrong with it.
    """
    known = known_now(factory)
    plan, problems = _read(record.payload, _names(factory, task, record), known)
    if not problems and plan.answer is not None:
        problems, _ = plan_faults(plan.answer, known, Kept({}, {}, {}), ())
    problems += [
        f"{ref} is taken"
        for ref in plan.refs.values()
        if ref not in known.refs and factory.store.names("modules/" + ref.partition("@")[0])
    ]
    if problems:
        raise InputError(
            f"the plan cannot be followed: {'; '.join(problems)}",
            where="payload.revised_micro_plan",
            remedy="nothing was changed; correct the plan and answer again",
        )


def _read(
    payload: Mapping[str, object], names: Mapping[str, str], known: KnownModules
) -> tuple[GivenPlan, list[str]]:
    given = RevisePlan.model_validate(payload).revised_micro_plan
    if isinstance(given, list):
        modules, problems = read_short(given, names, known)
        return GivenPlan(modules=tuple(modules)), problems
    try:
        answer = PlanAnswer.model_validate(given)
    except ValidationError as error:
        return GivenPlan(), validation_messages(error)
    return GivenPlan(modules=tuple(given_by(answer)), answer=answer), []


def _names(factory: Factory, task: Task, record: ResolutionRecord) -> dict[str, str]:
    """What the modules are called that a person may mean by their ids: sealed ones, and those of the plan that failed."""
    names = {entry.module_id: entry.name for entry in factory.index.entries()}
    details = escalation_at(factory, record.escalation_id).details
    plan_id = cast(str, details.get("resume", {}).get("plan_id", ""))
    if plan_id:
        names |= {m.module_id: m.name for m in load_plan(factory, task, plan_id).plan.modules}
    return names
