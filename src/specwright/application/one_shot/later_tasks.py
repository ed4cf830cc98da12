"""Tasks that come later and whose contracts were approved in advance: what is to be made of them is known before they are
dispatched (design: one-shot, tasks-together)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from specwright.application import scopes
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.debate.implementation import Implementation
from specwright.application.debate.shared_contracts import review_ahead, ruling_basis, verdict_digest
from specwright.application.factory import Factory
from specwright.application.messages.debate import ModuleRequest
from specwright.application.messages.tasks import TaskModules
from specwright.application.one_shot.advance_drafts import advance_drafts
from specwright.application.plan.advance_answers import AdvanceStep, advance_answer
from specwright.application.plan.drafted_plans import (
    PlanDrafts,
    contracts_basis,
    plan_basis,
    plan_holds,
    shown_of,
)
from specwright.application.plan.shared_plans import following, task_brief
from specwright.application.tasks import Task
from specwright.canonical_json import JsonValue
from specwright.domain.answers.answers import ArbiterAnswer, Decision
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.contract.contract import MicroModuleContract
from specwright.domain.plan.micro_plan import KnownModules


class LaterTask(NamedTuple):
    """A task that comes later, with the contracts of all its modules as drafts.

    Args:
        task: The task.
        plan: The plan that was given for it.
        contracts: Of its modules, in the order of the plan.
        basis: What its modules rest on.
    """

    task: Task
    plan: PlanAnswer
    contracts: Sequence[MicroModuleContract]
    basis: dict[str, JsonValue]


def approved_in_advance(factory: Factory, task: Task) -> list[Task]:
    """The tasks that follow a task whose contracts were ruled on, and whose modules nobody was asked for yet."""

    def wanted(other: Task) -> bool:
        ruled = advance_answer(factory, other, AdvanceStep.RULING) is not None
        return ruled and advance_drafts(factory, other) is None

    return following(factory, task, wanted)


def later_tasks(
    factory: Factory,
    known: KnownModules,
    contracts: Sequence[MicroModuleContract],
    tasks: Sequence[Task],
    place: str,
) -> list[LaterTask]:
    """Those of some tasks whose contracts still stand as they were approved, without a change.

    Args:
        factory: The ports.
        known: The sealed modules.
        contracts: That are locked now, of the task before them.
        tasks: In the order of their dispatch.
        place: Where the answers to questions about their criteria are journalled.
    """
    drafts, found = PlanDrafts(factory, known, contracts), list[LaterTask]()
    for task in tasks:
        rulings = carried_rulings(factory, task, (), scopes.part(place, task.entry.spec_task_id))
        if approved := _approved(factory, task, known, rulings, drafts):
            answer, basis = approved
            if made := drafts.add(answer):
                found.append(LaterTask(task, answer, made, basis))
    return found


def _approved(
    factory: Factory,
    task: Task,
    known: KnownModules,
    rulings: Mapping[int, CriterionRuling],
    drafts: PlanDrafts,
) -> tuple[PlanAnswer, dict[str, JsonValue]] | None:
    """The plan that was approved in advance, with what modules made to it rest on."""
    planned = advance_answer(factory, task, AdvanceStep.PLAN)
    ruled = advance_answer(factory, task, AdvanceStep.RULING)
    answer, ruling = planned and planned.read(PlanAnswer), ruled and ruled.read(ArbiterAnswer)
    if planned is None or ruled is None or answer is None or ruling is None:
        return None
    shown = shown_of(task, rulings)
    basis = contracts_basis(shown, answer, drafts.fingerprint)
    if not plan_holds(factory, task, known, planned, plan_basis(shown, answer, drafts.fingerprint)):
        return None
    review = review_ahead(factory, task, basis)
    if review is None:
        return None
    judged = {**basis, "challenge": verdict_digest(review)}
    if ruled.basis != ruling_basis(factory, task, judged, drafts.drawn_up(answer)):
        return None
    return (answer, basis) if ruling.decision is Decision.APPROVE and not ruling.set_aside else None


def modules_of_later(
    factory: Factory, later: Sequence[LaterTask], contracts: Sequence[MicroModuleContract]
) -> dict[str, list[Implementation]]:
    """The modules of later tasks as they are to be made, by task id.

    Args:
        factory: The ports.
        later: The tasks.
        contracts: That are locked now, of the task before them.
    """
    everything = [*contracts, *(contract for one in later for contract in one.contracts)]
    drafted = {contract.ref: None for contract in everything}
    found = dict[str, list[Implementation]]()
    for one in later:
        made = [Implementation(factory, one.task, contract, "", everything) for contract in one.contracts]
        for module in made:
            module.drafted = drafted
        found[one.task.task_id] = made
    return found


def to_draft(
    factory: Factory, task: Task, plan_claim: str, modules: Sequence[Implementation], place: str
) -> TaskModules:
    """What a Proposer is told of a task and its modules.

    Args:
        factory: The ports.
        task: The task.
        plan_claim: What the planner says of the contracts of its plan.
        modules: All of the plan.
        place: Where the answers to questions about criteria are journalled.
    """
    contracts = [module.contract for module in modules]
    asked = [
        ModuleRequest(m.contract, m.stub(), reports=m.reports, approved=m.approved(contracts))
        for m in modules
    ]
    return TaskModules(task_brief(factory, task, place, modules[0].questions), plan_claim, asked)
