"""What a task that runs again starts from: its sealed modules, and the plan that they were made to (design: change)."""

from specwright.application.factory import ProjectView
from specwright.application.plan.stored_plans import StoredPlan, stored_plans
from specwright.application.tasks import Task, task_board
from specwright.domain.tasks.project_state import TaskStatus


def sealed_by_task(view: ProjectView, task: Task) -> list[str]:
    """The modules that a task has from its last shipped attempt, without those that it reused from other tasks."""
    if task.entry.status is TaskStatus.SHIPPED or not task.entry.module_refs:
        return []
    owners = tuple(f"journal.jsonl#{name}." for name in _owners(view, task))
    return [
        ref
        for ref in task.entry.module_refs
        if view.modules.evidence(view.projection.debated_as(ref)).journal_ref.startswith(owners)
    ]


def baseline_plan(view: ProjectView, task: Task) -> StoredPlan | None:
    """The plan to which those modules were made; None for a task that has none."""
    sealed = {view.projection.debated_as(ref) for ref in sealed_by_task(view, task)}
    plans = stored_plans(view) if sealed else ()
    return next((plan for plan in plans if sealed & {one.ref for one in plan.contracts.values()}), None)


def plan_of_module(view: ProjectView, module_ref: str) -> StoredPlan | None:
    """The plan to which a sealed version was made; None if it is not among the artifacts."""
    wanted = view.projection.debated_as(module_ref)
    plans = stored_plans(view)
    return next((plan for plan in plans if wanted in {one.ref for one in plan.contracts.values()}), None)


def _owners(view: ProjectView, task: Task) -> list[str]:
    """The task, the one that it migrates, and the migrations of both, as the spec names them."""
    migrations = view.projection.migrations
    own = {task.task_id, migrations.get(task.task_id, task.task_id)}
    own |= {migration for migration, whole in migrations.items() if whole in own}
    return [task_board(view).entry(task_id).spec_task_id for task_id in sorted(own)]
