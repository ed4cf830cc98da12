"""Where the tasks of a spec stand (F§3.3, F§4.1, D1)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specwright.domain.escalation import NewTask
from specwright.domain.spec.product_spec import ProductSpec
from specwright.domain.tasks.task_file import MAX_ID_LENGTH, lay_out, parts_of
from specwright.errors import InputError
from testkit.domain.product_specs import (
    epic_data,
    pillar_data,
    spec_data,
    spec_of,
    spec_of_stories,
    story_data,
    task_data,
)

_NAMES = st.sampled_from(["Login", "login", "Login 2", "a", "b", "a-b", "日本語", "..", "x" * 20, "🎉 party"])
_TREES = st.lists(
    st.tuples(
        _NAMES,
        st.lists(
            st.tuples(
                _NAMES,
                st.lists(st.tuples(_NAMES, st.lists(_NAMES, min_size=1, max_size=3)), min_size=1, max_size=3),
            ),
            min_size=1,
            max_size=3,
        ),
    ),
    min_size=1,
    max_size=3,
)


def _spec(tasks):
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data([story_data(tasks)])])]))


def test_ids_number_the_tasks_of_each_story_in_order():
    """F-3.3-02, F-4.1-01: `T-{pillar}-{epic}-{story}-{seq}`, from 001 in every story, in a directory of the task."""
    places = lay_out(spec_of_stories(("Import", ["Parse the header", "Two"]), ("Export", ["Three"])))
    ids = [place.task_id.removeprefix("T-core-tables-") for place in places]
    assert ids == ["import-001", "import-002", "export-001"]
    assert places[0].path == "core/tables/import/parse-the-header/T-core-tables-import-001.md"


def test_declaration_order_is_depth_first_from_zero():
    """F-3.3-05: pillar, then epic, then story, then task."""
    first = ("A", [("E", [("S", ["1", "2"]), ("T", ["3"])]), ("F", [("S", ["4"])])])
    spec = spec_of([first, ("B", [("E", [("S", ["5"])])])])
    assert [(place.declaration_order, place.name) for place in lay_out(spec)] == list(enumerate("12345"))


def test_dependencies_are_translated_to_canonical_ids():
    """F-4.2-03: TSK ids become T- ids, in their order, each once."""
    third = task_data(3, "Three", ["TSK-002", "TSK-001", "TSK-002"])
    places = lay_out(_spec([task_data(1, "One"), task_data(2, "Two"), third]))
    assert places[2].depends_on == ["T-core-tables-import-002", "T-core-tables-import-001"]


def test_deduplicated_slugs_enter_the_ids_and_cousins_need_no_suffix():
    """F-4.1-06: two "Login" under each of two epics."""
    stories = [("Login", ["x"]), ("Login", ["y"])]
    places = lay_out(spec_of([("Core", [("Auth", stories), ("Admin", stories)])]))
    assert [place.task_id for place in places] == [
        "T-core-auth-login-001",
        "T-core-auth-login-2-001",
        "T-core-admin-login-001",
        "T-core-admin-login-2-001",
    ]


def test_ids_that_collide_across_parents_are_refused_with_both_tasks():
    """F-3.3-04, D-01: "a-b"/"c" and "a"/"b-c" concatenate to one id."""
    spec = spec_of([("a-b", [("c", [("s", ["First task"])])]), ("a", [("b-c", [("s", ["Second task"])])])])
    with pytest.raises(InputError) as caught:
        lay_out(spec)
    for told in ("T-a-b-c-s-001", "First task", "TSK-001", "Second task", "TSK-002"):
        assert told in str(caught.value)


def test_an_id_may_have_128_characters_and_no_more():
    """F-4.1-07: the limit itself is allowed; the error names the task and the length."""

    def of_length(length):  # T- p*50 - e*50 - s*n -001
        return spec_of([("p" * 50, [("e" * 50, [("s" * (length - 108), ["Parse it"])])])])

    assert len(lay_out(of_length(MAX_ID_LENGTH))[0].task_id) == MAX_ID_LENGTH == 128
    with pytest.raises(InputError, match=r"'Parse it'.*129 characters"):
        lay_out(of_length(MAX_ID_LENGTH + 1))


def test_a_story_has_999_tasks_at_most():
    """F-3.3-03, D-01: more are a spec defect, split tasks included; the error names the story and the count."""
    places = lay_out(spec_of_stories(("Import", [f"Task {n}" for n in range(999)])))
    assert places[-1].task_id == "T-core-tables-import-999"
    with pytest.raises(InputError, match="'Import' has 1000 tasks"):
        lay_out(spec_of_stories(("Import", ["Same name"] * 1000)))
    with pytest.raises(InputError, match="1000 tasks"):
        _parts(places, ("One more",))


def test_what_an_edit_past_the_validation_broke_is_refused():
    """F-3.3-04, F-4.1-14: one id for two tasks, an unknown dependency, tasks that would wait for each other for ever."""
    circle = "T-core-tables-import-001 -> T-core-tables-import-002 -> T-core-tables-import-001"
    for tasks, told in (
        (
            [task_data(1, "One"), task_data(1, "Two")],
            r"TSK-001: 'One' .* becomes T-core-tables-import-001, and 'Two'",
        ),
        ([task_data(1, "One", ["TSK-777"])], r"'One'.*TSK-777"),
        ([task_data(1, "One", ["TSK-002"]), task_data(2, "Two", ["TSK-001"])], circle),
    ):
        with pytest.raises(InputError, match=told):
            lay_out(_spec(tasks))


@settings(deadline=None)
@given(_TREES)
def test_every_spec_is_laid_out_with_unique_ids_or_refused(tree):
    """F-3.3-01, F-3.3-04: unique ids and paths, twice the same; else an error that names an id."""
    spec = spec_of(tree)
    try:
        places = lay_out(spec)
    except InputError as error:
        told = str(error)
    else:
        told = ""
    if told:
        assert "two tasks would have the id T-" in told
        return
    assert len({place.task_id for place in places}) == len(places)
    assert len({place.path for place in places}) == len(places)
    assert all(len(place.task_id) <= MAX_ID_LENGTH for place in places)
    assert lay_out(spec) == places


def _parts(places, *parts):
    """The parts of the first task, each a name and what it depends on."""
    new = [
        NewTask(
            name=name, description=name, acceptance_criteria=["returns 1", "raises"], depends_on=list(refs)
        )
        for name, *refs in parts
    ]
    return parts_of({place.task_id: place for place in places}, places[0].task_id, new)


def test_the_parts_of_a_split_task_follow_the_last_of_its_story():
    """F-17.2-06: the story's next numbers, orders after the maximum, ids and directories of their own."""
    places = lay_out(spec_of_stories(("Import", ["One", "Two"]), ("Export", ["Three"])))
    parts = _parts(places, ("Two",), ("More", "Two", "TSK-003", "T-core-tables-export-001"))
    assert [part.task_id for part in parts] == ["T-core-tables-import-003", "T-core-tables-import-004"]
    assert [part.spec_task_id for part in parts] == ["TSK-004", "TSK-005"]
    assert [part.path.split("/")[-2] for part in parts] == ["two-2", "more"]
    assert [part.declaration_order for part in parts] == [3, 4]
    assert parts[1].depends_on == ["T-core-tables-import-003", "T-core-tables-export-001"]
    assert (parts[0].subtasks, parts[0].io_contract_sketch) == (
        places[0].subtasks,
        places[0].io_contract_sketch,
    )
