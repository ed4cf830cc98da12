"""What an amended spec changes, by task, and where its tasks stand (D38)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specwright.domain.modules.release import VersionNotes, render_notes
from specwright.domain.spec.product_spec import (
    ProductSpec,
    ProductSpecDraft,
    change_problems,
    spec_difference,
)
from specwright.domain.tasks.task_file import lay_out, lay_out_change
from specwright.errors import InputError
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, spec_data, story_data, task_data

_NAMES = st.sampled_from(["Login", "login", "Login 2", "a", "日本語"])


@st.composite
def specs(draw):
    """A spec of some of nine tasks in one or two stories; depends on none, or on an earlier one."""
    numbers = sorted(draw(st.sets(st.integers(1, 9), min_size=1, max_size=6)))
    tasks = []
    for index, number in enumerate(numbers):
        earlier = st.lists(st.sampled_from(numbers[:index]), max_size=2) if index else st.just([])
        waits = [f"TSK-{one:03d}" for one in draw(earlier)]
        criteria = [f"Returns {draw(st.integers(1, 2))}", "Raises ValueError for an empty file"]
        tasks.append(task_data(number, draw(_NAMES), waits, acceptance_criteria=criteria))
    cut = draw(st.integers(0, len(tasks) - 1))
    stories = [
        story_data(part, name, n)
        for n, (name, part) in enumerate([("Import", tasks[:cut]), ("Export", tasks[cut:])], 1)
        if part
    ]
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data(stories)])]))


def said(task):
    """What a task says, as the person reads it; the order of dependencies is no matter."""
    whole = task.to_json()
    return {**whole, "depends_on": set(whole["depends_on"])}


@given(specs(), specs())
def test_every_task_is_in_one_of_four_lists(before, after):
    """Added, removed, changed, untouched: against an independent comparison (D-38-03)."""
    old, new = ({task.task_id: said(task) for task in spec.tasks()} for spec in (before, after))
    found = spec_difference(before, after)
    assert set(found.added) == new.keys() - old.keys()
    assert set(found.removed) == old.keys() - new.keys()
    assert set(found.changed) == {name for name in new.keys() & old.keys() if new[name] != old[name]}
    assert set(found.untouched) == {name for name in new.keys() & old.keys() if new[name] == old[name]}
    assert all(what for what in found.changed.values())


@given(specs(), specs())
def test_what_stays_keeps_its_place_and_what_is_new_comes_last(before, after):
    """Ids, paths and order stay; added tasks get the next numbers, and no id twice (D-38-02)."""
    old = {definition.task_id: definition for definition in lay_out(before)}
    found = spec_difference(before, after)
    laid = {one.spec_task_id: one for one in lay_out_change(after, found, old)}
    assert set(laid) == {*found.added, *found.changed}
    known = {one.spec_task_id: one for one in old.values()}
    for name in found.changed:
        stays = (known[name].task_id, known[name].path, known[name].declaration_order)
        assert (laid[name].task_id, laid[name].path, laid[name].declaration_order) == stays
        assert laid[name].name == next(task.name for task in after.tasks() if task.task_id == name)
    orders = [laid[name].declaration_order for name in found.added]
    assert orders == list(range(len(old), len(old) + len(found.added)))
    everything = {**old, **{one.task_id: one for one in laid.values()}}
    assert len(everything) == len(old) + len(found.added)
    assert len({one.path for one in everything.values()}) == len(everything)
    assert all(set(one.depends_on) <= everything.keys() for one in laid.values())


def test_a_change_says_what_is_different():
    """A criterion, a sketch, a dependency: each field by its name (D-38-03)."""
    tasks = [task_data(1), task_data(2, "Parse the rows", ["TSK-001"])]
    before = ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))
    tasks[1]["acceptance_criteria"].append("Returns [] for a file of one row")
    tasks[1]["depends_on"] = []
    tasks[1]["io_contract_sketch"]["modes"] = "sync and async"
    after = ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))
    assert spec_difference(before, after).to_json() == {
        "added": (),
        "changed": [
            {
                "task_id": "TSK-002",
                "what": [
                    "acceptance criteria: + Returns [] for a file of one row",
                    "depends on: - TSK-001",
                    "modes: sync, because nothing waits -> sync and async",
                ],
            }
        ],
        "removed": (),
        "untouched": ("TSK-001",),
    }


def test_a_change_is_listed_entry_by_entry_in_the_notes_of_a_version():
    """Each criterion and each field of an example on a line of its own, below its task; one in another order is
    changed too (D-38-03)."""
    shown = {
        "title": "Two",
        "criteria": [1],
        "code": "from table_keeper import rows\nrows('a')",
        "gives": "['a']",
    }
    other = {**shown, "title": "Three", "code": "from table_keeper import rows\nrows('b')"}
    specs = []
    for criterion, examples in (
        ("Returns 3 rows", [shown]),
        ("Returns 4 rows", [{**shown, "gives": "['A']"}]),
    ):
        held = {"provides": ["rows(text: str) -> list[str]"], "examples": [*examples, other]}
        for order in (1, -1):
            acceptance = {**held, "examples": held["examples"][::order]}
            task = task_data(1, acceptance_criteria=[criterion, "Raises ValueError"], acceptance=acceptance)
            specs.append(
                ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data([task])])])]))
            )
    assert (
        f"### Changed\n\n- {specs[0].pillars[0].epics[0].stories[0].tasks[0].name} (TSK-001)\n"
        "  - acceptance criteria: - Returns 3 rows\n  - acceptance criteria: + Returns 4 rows\n"
        "  - acceptance: Two: gives: ['a'] -> ['A']\n"
    ) in render_notes([VersionNotes(specs[0], None, "", ()), VersionNotes(specs[2], specs[0], "", ())])
    assert spec_difference(*specs[:2]).changed == {"TSK-001": ("acceptance: in another order",)}


def amended(**changes):
    """A later version of the spec of three tasks."""
    return ProductSpecDraft.model_validate({**draft_data(), "spec_version": "1.1.0", **changes})


def renumbered(number):
    """The spec with its last task under another id."""
    tasks = [task_data(1), task_data(2, "Parse the rows", ["TSK-001"]), task_data(number, "Sort the rows")]
    return [pillar_data([epic_data([story_data(tasks)])])]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"spec_version": "1.0.0"}, "1.0.0 is not greater than 1.0.0"),
        ({"spec_version": "0.9.12"}, "0.9.12 is not greater"),
        ({"spec_id": "SPEC-002"}, "it stays SPEC-001"),
        ({"pillars": renumbered(9)}, "TSK-009 was given to another task"),
    ],
)
def test_a_spec_that_cannot_follow_says_why(changes, why):
    """The version grows, the product keeps its id, a number is given once (D-38-01, D-38-02)."""
    before = ProductSpec.model_validate(spec_data())
    taken = {"TSK-001", "TSK-002", "TSK-003", "TSK-009"}
    (problem,) = change_problems(before, amended(**changes), taken)
    assert why in problem


def test_a_task_that_was_given_up_cannot_change():
    """It has no attempt that could follow (D-38-11)."""
    before = ProductSpec.model_validate(spec_data())
    data = draft_data()
    data["pillars"][0]["epics"][0]["stories"][0]["tasks"][2]["name"] = "Sort the columns"
    after = amended(pillars=data["pillars"])
    assert change_problems(before, after, ["TSK-003"]) == []
    (problem,) = change_problems(before, after, ["TSK-003"], ["TSK-003"])
    assert "TSK-003 was abandoned or split" in problem


def test_a_story_that_is_full_takes_no_more():
    """D-38-02: the numbers of a story end, in a change as at the beginning."""
    tasks = [task_data(n, f"Task {n}") for n in range(1, 1000)]
    before = ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))
    old = {definition.task_id: definition for definition in lay_out(before)}
    tasks = [*tasks[:-1], task_data(1000, "One more")]
    after = ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))
    with pytest.raises(InputError, match="1000 tasks"):
        lay_out_change(after, spec_difference(before, after), old)
