"""The plan of a repair, which code makes: the plan that the task was built to, with one module as its next version (design:
bug-reports)."""

from typing import cast

from agent_wire.canonical_json import JsonValue
from ship_gate.contract.contract import MicroModuleContract
from specwright.application import scopes
from specwright.application.factory import Factory, ProjectView
from specwright.application.plan.baseline import plan_of_module
from specwright.application.plan.planner import store_plan_of_code
from specwright.application.plan.rules import OwnModule, PlanRules, known_modules
from specwright.application.plan.stored_plans import announce_locked, load_plan
from specwright.application.tasks import Task
from specwright.domain.answers.plan_answers import (
    PlanAnswer,
    PlannedModule,
    ReuseAnswer,
    ReuseConclusion,
)
from specwright.domain.spec.bug_report import BugReport
from specwright.ports.roles import Role


def repair_of(view: ProjectView, task: Task) -> BugReport | None:
    """The bug report that an attempt at a task repairs; None if it is planned as ever."""
    change = view.projection.open_change
    report = change.request.report if change else None
    if report is None or report.task_id != task.entry.spec_task_id or task.answers:
        return None
    return report


def repair_plan(factory: Factory, task: Task, report: BugReport) -> str:
    """Store the plan of a repair, with the sealed contract as it is, and say in the log that it is locked; returns its
    `MP-...`. Contracts that were approved are not debated again.

    Raises:
        AnswerError: no plan can hold the contract any more.
    """
    place = task.place("plan", "round-1", Role.PLANNER)
    scope = factory.journal.scope(scopes.plan_by_code(place.run_id))
    baseline = factory.modules.contract(report.module_ref)
    asked: JsonValue = {"tool": "versions", "of": baseline.module_id}
    taken = cast(
        list[str],
        scope.recall("tool", asked, lambda: cast(JsonValue, factory.modules.versions(baseline.module_id))),
    )
    known = known_modules(factory, scope)
    rules = PlanRules(known, own={baseline.name: OwnModule(baseline, frozenset(taken))})
    before = plan_of_module(factory, report.module_ref)
    plan_id = store_plan_of_code(factory, task, baseline, _answer(factory, task, report), rules, before)
    announce_locked(factory, task, load_plan(factory.artifacts, task.folder, plan_id))
    return plan_id


def _answer(factory: Factory, task: Task, report: BugReport) -> PlanAnswer:
    change = factory.projection.open_change
    shipped = change.before.tasks.get(task.task_id) if change and change.before else None
    facing = (shipped.module_ref if shipped else None) or report.module_ref
    contracts = [factory.modules.contract(ref) for ref in task.entry.module_refs]
    return PlanAnswer(
        modules=[_planned(contract, contract.ref == report.module_ref) for contract in contracts],
        task_facing=factory.modules.contract(facing).name,
        claim=(
            f"A bug report about {report.name}, {report.module_ref}: the example `{report.heading}` breaks "
            f"{report.broken_statement}. Its contract is the sealed one; the other modules stay as they are."
        ),
        acceptance_checks=["The contract is that of the version before."],
    )


def _planned(contract: MicroModuleContract, repaired: bool) -> PlannedModule:
    reuse = ReuseAnswer(
        query=contract.purpose,
        conclusion=ReuseConclusion.CREATE_NEW if repaired else ReuseConclusion.REUSE_EXISTING,
        justification="It is repaired." if repaired else "The task has it already.",
        reuse_ref=None if repaired else contract.ref,
    )
    return PlannedModule.of_contract(contract, reuse)
