"""The requests about several tasks: their plans, the debates over their contracts (design: tasks-together, role-access).

What the tasks share comes first, then each task under a heading of its own; a role sees of each what it would see of it
alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from specwright.application.criteria import CriterionRuling
from specwright.application.messages.debate import JudgedDebate, adjudicated, challenged
from specwright.application.messages.parts import (
    as_acceptance,
    as_criteria,
    as_decided,
    as_dependency,
    as_packages,
    as_task,
)
from specwright.application.messages.planner import NOTHING_SHIPPED
from specwright.application.store.modules import DependencyView
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.domain.base.allowed_packages import AllowedPackage


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
    """

    name: str
    title: str
    task_file: str
    criteria: Sequence[str]
    rulings: Mapping[int, CriterionRuling]
    decided: Sequence[str]
    needs: Sequence[str]
    acceptance: TaskAcceptance | None = None


class JudgedTask(NamedTuple):
    """A task whose contracts are judged, with the debate over them."""

    task: TaskBrief
    debate: JudgedDebate


def plans_message(
    tasks: Sequence[TaskBrief],
    dependencies: Sequence[DependencyView],
    packages: Sequence[AllowedPackage] = (),
    nearest: Sequence[str] = (),
) -> str:
    """The planner's: several tasks, in the order in which they will be made.

    Args:
        tasks: The tasks.
        dependencies: The modules that they wait for and that have shipped.
        packages: Third-party packages that modules may import.
        nearest: The shipped modules that the Code Index finds nearest, a line each.
    """
    names = [task.name for task in tasks]
    shown = {view.contract.ref for view in dependencies}
    found = "\n".join(line for line in nearest if line.partition(" ")[0] not in shown) or "None but these."
    near = f"# Shipped modules nearest to the tasks\n\n{found if nearest else NOTHING_SHIPPED}"
    return "\n\n".join(
        [
            *as_packages(packages),
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


def challenges_message(tasks: Sequence[JudgedTask], dependencies: Sequence[DependencyView]) -> str:
    """The Challenger's: never a task file."""
    return "\n\n".join(
        [
            *map(as_dependency, dependencies),
            *(part for judged in tasks for part in _to_challenge(judged)),
            f"{_which(tasks)} Judge R1 to R6 of each{_ONE_EACH} and submit your verdicts.",
        ]
    )


def _to_challenge(judged: JudgedTask) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield as_criteria(task.criteria, task.rulings)
    yield from as_acceptance(task.acceptance)
    yield from as_decided(task.decided)
    yield from challenged(judged.debate)


def rulings_message(tasks: Sequence[JudgedTask], revisions_left: int) -> str:
    """The Arbiter's, of reviews that found nothing: the tasks, the contracts and the debates, without dependencies."""
    return "\n\n".join(
        [
            *(part for judged in tasks for part in _to_rule(judged, revisions_left)),
            f"{_which(tasks)} Revisions left of each: {revisions_left}.",
            f"Decide{_ONE_EACH}.",
        ]
    )


def _to_rule(judged: JudgedTask, revisions_left: int) -> Iterator[str]:
    task = judged.task
    yield _heading(task)
    yield as_task(task.task_file)
    if task.rulings:
        yield as_criteria(task.criteria, task.rulings)
    yield from adjudicated(judged.debate, revisions_left, short=True)


_ONE_EACH = ", each as if it stood alone, with one object for each under `tasks`"


def _which(tasks: Sequence[JudgedTask]) -> str:
    listed = ", ".join(judged.task.name for judged in tasks)
    return (
        f"These are {len(tasks)} debates, each over the contracts of one task: {listed}. There is no implementation to "
        "judge. Contracts of a later task may call those of an earlier one. Round 1 of each."
    )


def _heading(task: TaskBrief) -> str:
    return f"# {task.name}: {task.title}"
