"""The planner's requests: a first plan, a plan after a failed round, a plan with amendments; with what calls the planned
functions, where something does (design: planning, release).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ship_gate.base.allowed_packages import AllowedPackage
from ship_gate.base.markdown_text import printable
from specwright.application.messages.parts import as_left, task_text
from specwright.application.rendering import rendered
from specwright.domain.answers import Amendment, Failure
from specwright.domain.debate.amendments import changes_of
from specwright.domain.interfaces.functions import CLOCK_TYPES
from specwright.domain.interfaces.guide import VALUES
from specwright.domain.interfaces.records import Interfaces
from specwright.domain.interfaces.rules import uses_of
from specwright.domain.tasks.task_file import without_examples


def plan_message(
    task_file: str,
    packages: Sequence[AllowedPackage] = (),
    nearest: Sequence[str] = (),
    wanted: Sequence[str] = (),
    shipped: str = "",
    changes: Sequence[str] = (),
    callers: Sequence[str] = (),
) -> str:
    """The request for a first plan: the task file, and what a module may use (design: contracts).

    Args:
        task_file: The task.
        packages: Third-party packages that modules may import.
        nearest: The shipped modules that the Code Index finds nearest to the task, a line each.
        wanted: The modules that a person fixed, a line each (design: planning).
        shipped: The plan to which the task was built before, with its modules as they are sealed, as JSON text; empty for a
            new one (design: change). Then the task file is sent without its examples.
        changes: Of the task since, a line each.
        callers: What its functions use, and what calls them.
    """
    return _asked(
        "plan.md",
        *(without_examples(task_file) if shipped else task_file, packages, callers),
        others=[line for line in nearest if line.partition(" ")[0] not in task_file],
        nearest=nearest,
        wanted=wanted,
        shipped=shipped,
        changes=changes,
    )


def replan_message(
    task_file: str,
    challenged: str,
    failures: Sequence[Failure],
    sealed: Sequence[str] = (),
    packages: Sequence[AllowedPackage] = (),
    revisions_left: int | None = None,
    callers: Sequence[str] = (),
) -> str:
    """The request for a corrected plan, after a failed round.

    Args:
        task_file: The task.
        challenged: Its answer, as JSON text.
        failures: To be corrected.
        sealed: Names of modules that have shipped under this plan by now (design: debate).
        packages: Third-party packages that modules may import.
        revisions_left: After this one.
        callers: What its functions use, and what calls them.
    """
    return _asked(
        "replan.md",
        *(without_examples(task_file), packages, callers),
        plan=challenged,
        failures=failures,
        changes=changes_of(failures),
        sealed=sealed,
        hand_in=_HAND_IN,
        left=as_left(revisions_left),
    )


_HAND_IN = (
    "Hand in what changes in the plan above by `change_plan`; where most changes, the whole plan by `submit_plan`. Approved "
    "examples are left out here; `read_file` opens the whole task, `/task.md`."
)


def amend_plan_message(
    task_file: str,
    approved: str,
    amendments: Sequence[Amendment],
    packages: Sequence[AllowedPackage] = (),
    callers: Sequence[str] = (),
) -> str:
    """The request for a plan with amendments applied."""
    return _asked(
        "amend_plan.md",
        *(without_examples(task_file), packages, callers),
        plan=approved,
        amendments=amendments,
        hand_in=_HAND_IN,
    )


def _asked(
    template: str, task_file: str, packages: Sequence[AllowedPackage], callers: Sequence[str], **values: Any
) -> str:
    allowed = [printable(one.requirement) for one in packages]
    return rendered(template, task=task_text(task_file), packages=allowed, callers=callers, **values)


def callers_of(interfaces: Interfaces | None, functions: Mapping[str, Collection[str]]) -> list[str]:
    """What calls these functions, and what it passes for the clock; nothing if nothing does.

    Args:
        interfaces: Of the product.
        functions: That are planned, each with the names of its parameters.
    """
    lines: list[str] = []
    for one in uses_of(interfaces) if interfaces else ():
        if one.calls in functions:
            known = functions[one.calls]
            passed = [
                f"`{name}` is `{word}`"
                for name, word in one.defaults.items()
                if word in CLOCK_TYPES and name in known
            ]
            unless = f"; unless it is given, {', '.join(passed)}" if passed else ""
            lines.append(f"- {one.shown} calls `{one.calls}`{unless}")
    if not lines:
        return []
    return ["\n\n".join(["# What calls it", "Code makes this, no module:", "\n".join(lines), VALUES])]
