"""Tasks that come next are planned in one request with the first of them (design: tasks-together).

The answer is split into one part per task, and each is kept for its task, which takes it when it is dispatched. Which tasks
share a request, and what it says, is journalled before it is asked: it shows tasks that others may change meanwhile.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

from specwright.application import scopes
from specwright.application.context.packs import PackEntry, task_ref
from specwright.application.context.role_store import RoleStore
from specwright.application.criteria import CriterionRuling, carried_rulings
from specwright.application.factory import Factory, ProjectView
from specwright.application.messages.tasks import TaskBrief, plans_message
from specwright.application.plan.advance_answers import (
    AdvanceAnswer,
    AdvanceStep,
    advance_answer,
    keep,
    part_of,
)
from specwright.application.plan.drafted_plans import PlanDrafts, plan_basis, shown_of
from specwright.application.plan.planner import nearest_modules, open_planner_pack, task_callers
from specwright.application.plan.repair_plan import repair_of
from specwright.application.plan.rules import known_modules
from specwright.application.store.modules import DependencyView
from specwright.application.tasks import Task, task_at, task_board
from specwright.canonical_json import JsonValue
from specwright.domain.answers.plan_answers import PlanAnswer
from specwright.domain.artifacts.provenance import Permission
from specwright.domain.debate.debate import SHARED_TASKS
from specwright.domain.tasks.project_state import TaskStatus
from specwright.errors import AnswerError
from specwright.ports.roles import Assignment, Place, Role


class SharedTasks(NamedTuple):
    """A request about several tasks, as it is journalled before it is asked.

    Args:
        tasks: The tasks, the one that is dispatched first; empty if it is asked about alone.
        shown: By task id, what was shown of each that may be otherwise later.
        message: The request.
    """

    tasks: Sequence[Task]
    shown: Mapping[str, dict[str, JsonValue]]
    message: str

    @property
    def others(self) -> Sequence[Task]:
        """Those that come later."""
        return self.tasks[1:]

    def place(self, role: Role) -> Place:
        """Where the request is asked."""
        return shared_place(self.tasks, role)


def shared_place(tasks: Sequence[Task], role: Role) -> Place:
    """Where a role is asked about several tasks."""
    return tasks[0].place("+".join(task.entry.spec_task_id for task in tasks), "round-1", role)


def may_share(view: ProjectView, task: Task) -> bool:
    """Whether a task is planned as every new one is: without a person's answer, a change, a repair or a migration."""
    alone = (
        task.answers or task.change or task.entry.module_refs or task.task_id in view.projection.migrations
    )
    return not alone and repair_of(view, task) is None


def journalled_request(
    factory: Factory,
    task: Task,
    role: Role,
    others: Callable[[], Sequence[Task]],
    compose: Callable[[Sequence[Task]], tuple[dict[str, dict[str, JsonValue]], str]],
    place: Callable[[Sequence[Task], Role], Place] | None = None,
    about: str = "",
) -> SharedTasks:
    """The request that a task shares with those after it: as many as fit its size.

    Args:
        factory: The ports.
        task: Which is dispatched.
        role: Who is asked.
        others: Those that come later.
        compose: Makes the request of several tasks: what is shown of each, and the message.
        place: Where it is asked; by default one that names the tasks.
        about: What it is about, where the role is asked about the tasks more than once.
    """
    asked_at = place or shared_place

    def live() -> JsonValue:
        tasks = [task, *others()]
        for number in range(len(tasks), 1, -1):
            at = asked_at(tasks[:number], role)
            if factory.roles.can_share(at):
                shown, message = compose(tasks[:number])
                # what was recorded was within the size, as requests were written then
                if len(message) <= factory.shared_characters or factory.roles.is_recorded(at):
                    names: JsonValue = [one.task_id for one in tasks[:number]]
                    return {"tasks": names, "shown": cast(JsonValue, shown), "message": message}
        return {"tasks": [], "shown": {}, "message": ""}

    scope = factory.journal.scope(scopes.shared_request(task.run, f"{about}/{role}" if about else role))
    found = cast(dict[str, Any], scope.recall("tool", {"tool": "tasks_together"}, live))
    tasks = [task if name == task.task_id else task_at(factory, name) for name in found["tasks"]]
    return SharedTasks(tasks, found["shown"], found["message"])


def plan_ahead(factory: Factory, task: Task) -> AdvanceAnswer | None:
    """What a request about several tasks was answered about this one: before, or now together with those after it; None
    if it is planned alone."""
    if not factory.shared_characters or not may_share(factory, task):
        return None
    if early := advance_answer(factory, task, AdvanceStep.PLAN):
        return early
    shared = journalled_request(
        factory,
        task,
        Role.PLANNER,
        lambda: following(
            factory, task, lambda other: advance_answer(factory, other, AdvanceStep.PLAN) is None
        ),
        lambda tasks: _composed(factory, tasks),
    )
    return _asked_together(factory, shared) if shared.tasks else None


def following(factory: Factory, task: Task, wanted: Callable[[Task], bool]) -> list[Task]:
    """The tasks after one that may share its request."""

    def taken(task_id: str) -> bool:
        other = task_at(factory, task_id)
        return may_share(factory, other) and wanted(other)

    names = islice(task_board(factory).following(task.task_id, taken), SHARED_TASKS - 1)
    return [task_at(factory, name) for name in names]


def task_brief(factory: Factory, task: Task, place: str, raised: Sequence[str] = ()) -> TaskBrief:
    """What a request about several tasks tells of one.

    Args:
        place: Where the answers to questions about its criteria are journalled.
        raised: The questions about them of this run of the task.
    """
    board, definition = task_board(factory), task.definition
    return TaskBrief(
        name=task.entry.spec_task_id,
        title=definition.name,
        task_file=factory.folder.read(task.path).decode(),
        criteria=definition.acceptance_criteria,
        rulings=carried_rulings(factory, task, raised, scopes.part(place, task.entry.spec_task_id)),
        decided=definition.decided,
        needs=[board.entry(name).spec_task_id for name in definition.depends_on],
        acceptance=definition.acceptance,
        description=definition.description,
    )


def _composed(factory: Factory, tasks: Sequence[Task]) -> tuple[dict[str, dict[str, JsonValue]], str]:
    place = shared_place(tasks, Role.PLANNER).run_id
    told = [task_brief(factory, task, place) for task in tasks]
    near = dict.fromkeys(line for task in tasks for line in nearest_modules(factory, task))
    shipped, callers = _shipped_for(factory, tasks), task_callers(factory, tasks)
    message = plans_message(told, shipped, factory.packages, list(near), callers)
    shown = {task.task_id: shown_of(task, one.rulings) for task, one in zip(tasks, told, strict=True)}
    return shown, message


def _shipped_for(factory: Factory, tasks: Sequence[Task]) -> list[DependencyView]:
    """The modules that tasks wait for and that have shipped."""
    board = task_board(factory)
    needed = dict.fromkeys(name for task in tasks for name in board.dependencies_of(task.task_id))
    shipped = [name for name in needed if board.entry(name).status is TaskStatus.SHIPPED]
    refs = dict.fromkeys(ref for name in shipped for ref in board.modules_of(name))
    return [factory.modules.view(ref) for ref in refs]


def _asked_together(factory: Factory, shared: SharedTasks) -> AdvanceAnswer:
    """Ask, and keep each part for its task; that of the task that is dispatched last, so that a crash before it leaves
    the request to be repeated."""
    place, task = shared.place(Role.PLANNER), shared.tasks[0]
    scope = factory.journal.scope(f"{place.run_id}/plan")
    known = known_modules(factory, scope)
    entries = [
        PackEntry(task_ref(factory, other), Permission.FULL, "a task that is planned with it")
        for other in shared.others
    ]
    entries += [PackEntry(*ruling.row) for ruling in _rulings(factory, shared.tasks, place)]
    by = open_planner_pack(factory, scope, task, place, known, entries)
    assignment = Assignment(place, shared.message, {}, store=RoleStore(factory, factory.index, by))
    try:
        answered = factory.roles.plan_together(assignment)
    except AnswerError as error:
        answered = error
    drafts, parts = PlanDrafts(factory, known), list[AdvanceAnswer]()
    for one in shared.tasks:
        part = part_of(answered, one.entry.spec_task_id)
        plan = part.read(PlanAnswer)
        parts.append(part._replace(basis=plan_basis(shared.shown[one.task_id], plan, drafts.fingerprint)))
        drafts.add(plan)
    for one, part in zip(shared.others, parts[1:], strict=True):
        keep(factory, one, AdvanceStep.PLAN, part)
    return keep(factory, task, AdvanceStep.PLAN, parts[0])


def _rulings(factory: Factory, tasks: Sequence[Task], place: Place) -> list[CriterionRuling]:
    """The rulings that a request about tasks told of, each once."""
    found = {
        ruling.ref: ruling
        for task in tasks
        for ruling in carried_rulings(
            factory, task, (), scopes.part(place.run_id, task.entry.spec_task_id)
        ).values()
    }
    return list(found.values())
