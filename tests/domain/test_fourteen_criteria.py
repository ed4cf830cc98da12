"""The fourteen criteria of a complete spec, each with a spec that violates it and nothing else (F§3.2.3)."""

import copy
from collections.abc import Callable
from typing import Any

from specwright.domain.spec.completeness import Severity, ValidationReport, validate
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, story_data, task_data

Spec = dict[str, Any]


def epic(spec: Spec) -> Spec:
    """The first epic."""
    return spec["pillars"][0]["epics"][0]


def task(spec: Spec, number: int = 0) -> Spec:
    """A task of the first story."""
    return epic(spec)["stories"][0]["tasks"][number]


def another_story(spec: Spec, tasks: list[Spec]) -> None:
    """A second story beside the first, so that no other level lacks a child."""
    epic(spec)["stories"].append(story_data(tasks, "Export", 2))


VIOLATIONS: dict[int, Callable[[Spec], Any]] = {
    1: lambda spec: spec["pillars"].append(pillar_data([], "Empty", 2)),
    2: lambda spec: spec["pillars"][0]["epics"].append(epic_data([], "Empty", 2)),
    3: lambda spec: another_story(spec, []),
    4: lambda spec: task(spec).update(subtasks=["Read the first row"]),
    5: lambda spec: task(spec).update(acceptance_criteria=["Returns the column names in order"]),
    6: lambda spec: task(spec)["io_contract_sketch"].update(modes="TBD"),
    7: lambda spec: another_story(spec, [task_data(3, "Write the rows")]),
    8: lambda spec: task(spec).update(depends_on=["TSK-404"]),
    9: lambda spec: (
        task(spec, 1).update(depends_on=["TSK-003"]),
        task(spec, 2).update(depends_on=["TSK-002"]),
    ),
    10: lambda spec: epic(spec).update(name=" "),
    11: lambda spec: spec["pillars"][0].update(description="Everything."),
    12: lambda spec: task(spec)["acceptance_criteria"].append("Good quality and speed"),
    13: lambda spec: task(spec)["subtasks"].append("read the first row."),
    14: lambda spec: task(spec)["io_contract_sketch"].update(error_surfaces="Errors may occur"),
}

EPIC = "pillars[0].epics[0]"
TASK = f"{EPIC}.stories[0].tasks[0]"
TOLD = {
    1: "ERROR pillars[1].epics: needs at least 1",
    2: "ERROR pillars[0].epics[1].stories: needs at least 1",
    3: f"ERROR {EPIC}.stories[1].tasks: needs at least 1",
    4: f"ERROR {TASK}.subtasks: needs at least 2",
    5: f"ERROR {TASK}.acceptance_criteria: needs at least 2",
    6: f"ERROR {TASK}.io_contract_sketch.modes: ",
    7: f"ERROR {EPIC}.stories[1].tasks[0].task_id: 'TSK-003' is also the id",
    8: f"ERROR {TASK}.depends_on: [0] 'TSK-404' is the id of no task",
    9: f"ERROR {EPIC}.stories[0].tasks[1].depends_on: the dependencies form a cycle",
    10: f"ERROR {EPIC}.name: is empty",
    11: "WARNING pillars[0].description: has fewer",
    12: f"WARNING {TASK}.acceptance_criteria: criterion 3 has no verb",
    13: f"WARNING {TASK}.subtasks: 'read the first row.' says nearly the same",
    14: f"WARNING {TASK}.io_contract_sketch.error_surfaces: names no",
}
"""How the one deficiency of each begins: its severity, its place and what it says."""


def only_deficiency(change: Callable[[Spec], Any]) -> str:
    """The one deficiency of the sound spec with a change."""
    spec = copy.deepcopy(draft_data())
    change(spec)
    report = validate(spec)
    (deficiency,) = [*report.errors, *report.warnings]
    assert (deficiency in report.errors) is (deficiency.severity is Severity.ERROR)
    return str(deficiency)


def test_a_spec_that_violates_one_criterion_has_that_one_deficiency() -> None:
    """The sound spec has none; each change brings exactly one, of its place and severity (F-3.2.3-01, F-3.2.3-02,
    F-3.2.3-04, F-3.2.3-05, F-3.2.3-06)."""
    assert validate(draft_data()) == ValidationReport()
    found = {criterion: only_deficiency(change) for criterion, change in VIOLATIONS.items()}
    assert {n: said for n, said in found.items() if not said.startswith(TOLD[n])} == {}


AT_THE_LIMIT: dict[str, Callable[[Spec], Any]] = {
    f"ERROR {EPIC}.success_criteria: needs at least 1": lambda spec: epic(spec).update(success_criteria=[]),
    f"WARNING {EPIC}.description: has fewer than 20": lambda spec: epic(spec).update(
        description="Nineteen characters"
    ),
    f"WARNING {TASK}.subtasks: 'Read the very first long row of names again' says nearly the same": lambda spec: (
        task(spec).update(
            subtasks=["Read the very first long row of names", "Read the very first long row of names again"]
        )
    ),
}
"""Just too little, and what is said of it."""


def test_a_spec_that_just_misses_a_limit_is_told_so() -> None:
    """One success criterion, twenty characters, four words of five in common (F-3.2.3-01, F-3.2.3-06)."""
    found = {begins: only_deficiency(change) for begins, change in AT_THE_LIMIT.items()}
    assert {begins: said for begins, said in found.items() if not said.startswith(begins)} == {}
    spec = draft_data()
    epic(spec).update(success_criteria=["Returns every name"], description="Has twenty characters"[:20])
    task(spec).update(subtasks=["Read the first row", "Read the first row of old names"])
    assert validate(spec) == ValidationReport()
