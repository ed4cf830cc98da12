"""The planner's requests: a first plan, a plan after a failed round, a plan with amendments; with what calls the planned
functions, where something does (design: planning, shell).
"""

from collections.abc import Collection, Mapping, Sequence

from ship_gate.base.allowed_packages import AllowedPackage
from specwright.application.messages.parts import (
    as_amendments,
    as_block,
    as_left,
    as_list,
    as_packages,
    task_text,
)
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
    sealed: Sequence[str] = (),
    callers: Sequence[str] = (),
) -> str:
    """The request for a first plan: the task file, and what a module may use (design: module-scope).

    Args:
        task_file: The task.
        packages: Third-party packages that modules may import.
        nearest: The shipped modules that the Code Index finds nearest to the task, a line each.
        wanted: The modules that a person fixed, a line each (design: planning).
        shipped: The planner's answer to which the task was built before, as JSON text; empty for a new one (design: change).
        sealed: The versions that it has now.
        callers: What its functions use, and what calls them.
    """
    asked = "Plan the modules of this task and submit the plan."
    if wanted:
        asked = (
            "A person has decided which modules there shall be, and which of them calls which. Take exactly these modules "
            "by exactly these names, with exactly these `depends_on`; fill in their contracts, and submit the plan. One "
            "that is shipped already is taken as it is, with REUSE_EXISTING.\n\n" + "\n".join(wanted)
        )
    others = [line for line in nearest if line.partition(" ")[0] not in task_file]
    found = "\n".join(others) or _NOTHING_NEAR[bool(nearest)]
    if shipped:
        asked = f"{_BUILT_AGAIN.format(sealed=', '.join(sealed))}\n\n{asked}"
    built = [as_block("The plan that the task was built to", shipped, "json")] if shipped else []
    return "\n\n".join(
        [
            *_planning(task_file, packages, callers),
            f"# Shipped modules nearest to the task\n\n{found}",
            *built,
            asked,
        ]
    )


NOTHING_SHIPPED = "The Code Index holds nothing yet, so a search finds nothing either."

_NOTHING_NEAR = (
    NOTHING_SHIPPED,
    "None but those that the task file has.",
)


_BUILT_AGAIN = (
    "The task is shipped, and an approved change has it built again: the task file has it as it is now. Go on from the plan "
    "above, which is sealed as {sealed}. A module of it that stays as it is: REUSE_EXISTING with its reference. One that "
    "changes: CREATE_NEW under its own name, with its whole contract, in which every statement that still holds stays to "
    "the letter; code computes its next version, and what is built on it is judged again."
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
    names = ", ".join(f"`{name}`" for name in sealed)
    shipped = (
        f"These modules have shipped; leave them in the plan exactly as they stand, as CREATE_NEW: {names}."
    )
    return "\n\n".join(
        [
            *_planning(without_examples(task_file), packages, callers),
            as_block("Your plan that was challenged", challenged, "json"),
            "# Failures to correct\n\n" + as_list(failures),
            *_proposed(failures),
            *([shipped] if sealed else []),
            f"Correct exactly these failures and leave the rest as it is. {_HAND_IN}{as_left(revisions_left)}",
        ]
    )


def _proposed(failures: Sequence[Failure]) -> list[str]:
    """The exact changes of failures, if they have any (design: exact-changes)."""
    told = "The Challenger proposes these, which you may take over where they are right:"
    changes = changes_of(failures)
    return [f"# Exact changes\n\n{told}\n\n{as_amendments(changes)}"] if changes else []


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
    return "\n\n".join(
        [
            *_planning(without_examples(task_file), packages, callers),
            as_block("Your plan, which was approved with amendments", approved, "json"),
            f"# Amendments\n\n{as_amendments(amendments)}",
            "Apply every amendment exactly and leave the rest as it is. In a pointer that ends in `/-` the last part is the "
            f"end of the list. {_HAND_IN}",
        ]
    )


def _planning(task_file: str, packages: Sequence[AllowedPackage], callers: Sequence[str]) -> list[str]:
    return [as_block("Task file", task_text(task_file), "markdown"), *as_packages(packages), *callers]


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
