"""The requests about several tasks: their plans, the debates over their contracts (design: tasks-together, role-access).

What the tasks share comes first, then each task under a heading of its own; a role sees of each what it would see of it
alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.application.criteria import CriterionRuling
from specwright.application.messages.debate import (
    JudgedDebate,
    ModuleRequest,
    adjudicated,
    as_plan_claim,
    challenged,
    implement_several,
    may_import,
    to_implement,
)
from specwright.application.messages.parts import (
    as_acceptance,
    as_criteria,
    as_decided,
    as_dependency,
    as_description,
    as_packages,
    as_surface,
    as_task,
)
from specwright.application.messages.planner import NOTHING_SHIPPED
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.base.allowed_packages import AllowedPackage
from specwright.domain.debate.debate import MAX_REVISIONS


class TaskBrief(NamedTuple):
    """A task of a request about several.

    Args:
        name: As the spec names it, `TSK-002`.
        title: Its name.
        task_file: Its task file.
        criteria: Its acceptance criteria.
        rulings: On them, by their numbers.
        decided: What its sketch decided.
        needs: The tasks that it waits for.
        acceptance: Its approved examples and properties.
        description: What it is about, for those who do not see its file.
    """

    name: str
    title: str
    task_file: str
    criteria: Sequence[str]
    rulings: Mapping[int, CriterionRuling]
    decided: Sequence[str]
    needs: Sequence[str]
    acceptance: TaskAcceptance | None = None
    description: str = ""


class JudgedTask(NamedTuple):
    """A task whose contracts are judged, with the debate over them."""

    task: TaskBrief
    debate: JudgedDebate


class TaskModules(NamedTuple):
    """A task all of whose modules are asked for, with what the planner says of their contracts."""

    task: TaskBrief
    plan_claim: str
    modules: Sequence[ModuleRequest]


class JudgedModules(NamedTuple):
    """A task whose modules are judged, with what the planner says of their contracts."""

    task: TaskBrief
    plan_claim: str
    debates: Sequence[JudgedDebate]


def plans_message(
    tasks: Sequence[TaskBrief],
    dependencies: Sequence[DependencyView],
    packages: Sequence[AllowedPackage] = (),
    nearest: Sequence[str] = (),
    callers: Sequence[str] = (),
) -> str:
    """The planner's: several tasks, in the order in which they will be made.

    Args:
        tasks: The tasks.
        dependencies: The modules that they wait for and that have shipped.
        packages: Third-party packages that modules may import.
        nearest: The shipped modules that the Code Index finds nearest, a line each.
        callers: What their functions use, and what calls them.
    """
    names = [task.name for task in tasks]
    shown = {view.contract.ref for view in dependencies}
    found = "\n".join(line for line in nearest if line.partition(" ")[0] not in shown) or "None but these."
    near = f"# Shipped modules nearest to the tasks\n\n{found if nearest else NOTHING_SHIPPED}"
    return "\n\n".join(
        [
            *as_packages(packages),
            *callers,
            near,
            *map(as_dependency, dependencies),
            *(part for task in tasks for part in _to_plan(task, names)),
            f"Plan the modules of each of these {len(tasks)} tasks: {', '.join(names)}. They are made in this order; each "
            "is planned as if it came alone, with modules of its own, and is judged and shipped alone. A module that you "
            "plan for a task which another one waits for is called there by its name in `depends_on`. Submit once, with one "
            "object for each task under `tasks`.",
        ]
    )


def _to_plan(task: TaskBrief, names: Sequence[str]) -> Iterator[str]:
    yield _heading(task)
    yield as_task(task.task_file)
    if task.rulings:
        yield as_criteria(task.criteria, task.rulings)
    if here := [name for name in task.needs if name in names]:
        yield f"{task.name} waits for {', '.join(here)}, which you plan as well."


def drafts_message(
    tasks: Sequence[TaskModules],
    dependencies: Sequence[DependencyView],
    packages: Sequence[AllowedPackage] = (),
) -> str:
    """The Proposer's: the modules of several tasks, in the order in which they will be made (design: one-shot).

    Args:
        tasks: The tasks.
        dependencies: The sealed modules that they call.
        packages: Third-party packages that modules may import.
    """
    modules = [module.contract.name for task in tasks for module in task.modules]
    names = ", ".join(asked.task.name for asked in tasks)
    return "\n\n".join(
        [
            *may_import(packages),
            *map(as_dependency, dependencies),
            *(part for task in tasks for part in _to_draft(task)),
            f"They belong to {len(tasks)} tasks of one product, {names}, which are made in this order. "
            + implement_several(modules),
        ]
    )


def _to_draft(asked: TaskModules) -> Iterator[str]:
    task = asked.task
    yield _heading(task)
    yield as_criteria(task.criteria, task.rulings)
    yield from as_plan_claim(asked.plan_claim)
    for module in asked.modules:
        yield from to_implement(module, shared=True)


def challenges_message(tasks: Sequence[JudgedTask], dependencies: Sequence[DependencyView]) -> str:
    """The Challenger's: never a task file."""
    return "\n\n".join(
        [
            *map(as_surface, dependencies),
            *(part for judged in tasks for part in _to_challenge(judged)),
            f"{_which(tasks)} Judge R1 to R6 of each{_ONE_EACH} and submit your verdicts.{_as_changed(tasks)}",
        ]
    )


def _as_changed(tasks: Sequence[JudgedTask]) -> str:
    """What is said of exact changes where a task calls what is judged before it (design: tasks-together)."""
    earlier = set[str]()
    for judged in tasks:
        contracts = judged.debate.contracts
        if any(one.ref in earlier for contract in contracts for one in contract.dependencies):
            return (
                " Judge a task that calls contracts of an earlier one beside these as your exact changes make them: if "
                "they are taken over, your verdict counts."
            )
        earlier |= {contract.ref for contract in contracts}
    return ""


def _to_challenge(judged: JudgedTask) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield from as_description(task.description)
    yield as_criteria(task.criteria, task.rulings)
    yield from as_acceptance(task.acceptance)
    yield from as_decided(task.decided)
    yield from challenged(judged.debate)


def rulings_message(tasks: Sequence[JudgedTask], revisions_left: int) -> str:
    """The Arbiter's, of reviews that found nothing: the tasks, the contracts and the debates, without dependencies."""
    return "\n\n".join(
        [
            *(part for judged in tasks for part in _to_rule(judged, revisions_left)),
            _which(tasks),
            f"Decide{_ONE_EACH}.",
        ]
    )


def _to_rule(judged: JudgedTask, revisions_left: int) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield as_task(task.task_file, short=True)
    if task.rulings:
        yield as_criteria(task.criteria, task.rulings)
    yield from adjudicated(judged.debate, revisions_left, short=True)


def verdicts_message(tasks: Sequence[JudgedModules], dependencies: Sequence[DependencyView]) -> str:
    """The Challenger's, of modules of several tasks: never a task file, never source (design: one-shot)."""
    return "\n\n".join(
        [
            *map(as_surface, dependencies),
            *(part for judged in tasks for part in _modules_to_challenge(judged)),
            f"{_which_modules(tasks)} Judge R1 to R6{_ONE_MODULE_EACH} and submit your verdicts.",
        ]
    )


def _modules_to_challenge(judged: JudgedModules) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield as_criteria(task.criteria, task.rulings)
    yield from as_acceptance(task.acceptance)
    yield from as_decided(task.decided)
    yield from as_plan_claim(judged.plan_claim)
    for debate in judged.debates:
        yield from challenged(debate)


def module_rulings_message(tasks: Sequence[JudgedModules], revisions_left: int) -> str:
    """The Arbiter's, of modules of several tasks whose reviews found nothing (design: one-shot)."""
    return "\n\n".join(
        [
            *(part for judged in tasks for part in _modules_to_rule(judged, revisions_left)),
            _which_modules(tasks),
            f"Decide{_ONE_MODULE_EACH}.",
        ]
    )


def _modules_to_rule(judged: JudgedModules, revisions_left: int) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield as_task(task.task_file, short=True)
    if task.rulings:
        yield as_criteria(task.criteria, task.rulings)
    yield from as_plan_claim(judged.plan_claim)
    for debate in judged.debates:
        yield from adjudicated(debate, revisions_left, short=True)


_FIRST_ROUND = f"Round 1 of each. Revisions left of each: {MAX_REVISIONS}."
_ONE_MODULE_EACH = ", each as if it stood alone, with one object for each under `modules`"


def _which_modules(tasks: Sequence[JudgedModules]) -> str:
    names = [f"`{debate.deliverable}`" for judged in tasks for debate in judged.debates]
    listed = ", ".join(judged.task.name for judged in tasks)
    return (
        f"These are {len(names)} debates, each over one implementation: {', '.join(names)}. The modules belong to the tasks "
        f"{listed} of one product; the criteria of a task are those of its own modules. {_FIRST_ROUND}"
    )


_ONE_EACH = ", each as if it stood alone, with one object for each under `tasks`"


def _which(tasks: Sequence[JudgedTask]) -> str:
    listed = ", ".join(judged.task.name for judged in tasks)
    return (
        f"These are {len(tasks)} debates, each over the contracts of one task: {listed}. There is no implementation to "
        f"judge. Contracts of a later task may call those of an earlier one. {_FIRST_ROUND}"
    )


def _heading(task: TaskBrief) -> str:
    return f"# {task.name}: {task.title}"
