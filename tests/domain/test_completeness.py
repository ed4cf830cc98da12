"""When a product spec is complete (F§3.2.3)."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_wire import canonical_json
from ship_gate.contract.rules import problems
from specwright.domain.base.graph import describe_cycle, find_cycles
from specwright.domain.spec.completeness import ValidationReport, in_words, validate
from specwright.domain.spec.product_spec import ProductSpec, ProductSpecDraft
from testkit.domain.doubling import DOUBLE
from testkit.domain.product_specs import draft_data, epic_data, pillar_data, spec_data, story_data, task_data

_TASK = "pillars[0].epics[0].stories[0].tasks[{}]"
_STORY = ("pillars", 0, "epics", 0, "stories", 0)
_STEPS = {
    "": (),
    "pillars[0]": _STORY[:2],
    "pillars[0].epics[0]": _STORY[:4],
    "pillars[0].epics[0].stories[0]": _STORY,
    _TASK.format(1): (*_STORY, "tasks", 1),
    _TASK.format(1) + ".io_contract_sketch": (*_STORY, "tasks", 1, "io_contract_sketch"),
}


def _at(data: Any, path: Any):
    for step in _STEPS[path]:
        data = data[step]
    return data


def _changed(path: Any, field: Any, value: Any):
    data = copy.deepcopy(draft_data())
    _at(data, path)[field] = value
    return data


def _told(deficiencies: Any):
    return [(deficiency.path, deficiency.field) for deficiency in deficiencies]


def _tasks(*tasks: Any):
    return draft_data([pillar_data([epic_data([story_data(list(tasks))])])])


_FIELDS = [(path, field) for path in _STEPS for field in _at(draft_data(), path) if field != "depends_on"]


def test_a_complete_spec_has_no_deficiency():
    """F-3.2.3-07, D-04-02: nothing stands in the way of emission; a draft has no times, a stored spec has both."""
    assert validate(draft_data()) == ValidationReport()
    assert validate(spec_data(), ProductSpec) == ValidationReport()
    assert _told(validate(spec_data()).errors) == [("", "created_at"), ("", "updated_at")]
    assert _told(validate(draft_data(), ProductSpec).errors) == [("", "created_at"), ("", "updated_at")]


def test_children_are_counted_also_where_one_is_faulty():
    """F-3.2.3-01, F-3.2.2-06: one report names everything, so that the agent repairs it in one go; an unknown field is an
    error at its place."""
    errors = validate(_changed(_TASK.format(1), "subtasks", [""])).errors
    assert sorted(error.message for error in errors) == ["[0] is empty", "needs at least 2, has 1"]
    (error,) = validate(_changed("pillars[0].epics[0]", "owner", "me")).errors
    assert (error.path, error.field) == ("pillars[0].epics[0]", "owner")


def test_a_circle_is_an_error_that_shows_it():
    """F-3.2.3-04: C9, over three tasks."""
    second, third = task_data(2, "B", ["TSK-001"]), task_data(3, "C", ["TSK-002"])
    (error,) = validate(_tasks(task_data(1, depends_on=["TSK-003"]), second, third)).errors
    assert error.field == "depends_on"
    assert "TSK-001 -> TSK-003 -> TSK-002 -> TSK-001" in error.message


def test_every_required_field_is_there_and_says_something():
    """F-3.2.3-01, F-3.2.3-05: C10 at every level, with the exact path."""
    missed = []
    for value in ("missing", "", "  ", None, 7):
        for path, field in _FIELDS:
            data = _changed(path, field, value)
            if value == "missing":
                del _at(data, path)[field]
            if (path, field) not in _told(validate(data).errors):
                missed.append((value, path, field))
    assert missed == []


def test_a_decision_that_no_contract_could_take_over_is_a_warning():
    """F-3.2.3-06: a constraint that names its values in fewer than three words is refused later."""
    for decision, warned in (
        ("Out of scope: quoted links.", True),
        ("out of scope: quotes", True),
        ("Out of scope: links in quotes.", False),
        ("Half a cent is rounded up.", False),
    ):
        report = validate(_changed(_TASK.format(1), "decisions", [decision]))
        assert not report.errors
        assert _told(report.warnings) == [(_TASK.format(1), "decisions")] * warned
        stated = decision[0].lower() + decision[1:].rstrip(".")
        constrained = DOUBLE.inputs[0].model_copy(update={"constraints": [stated]})
        found = problems(DOUBLE.model_copy(update={"inputs": [constrained]}))
        assert any("names no values" in one for one in found) is warned


TESTABLE = ["Returns the names in order", "The page displays an error", "An empty file raises ValueError",
            "It must write one line per row", "Each event is emitted once", "Invalid input is rejected",
            "Retries three times", "is validating every row"]  # fmt: skip
SPECIFIC = ["ValueError", "E_EMPTY", "the file does not exist", "empty text", "HTTP 404", "401 without a token",
            "空のテキスト", "any error of the parser"]  # fmt: skip
VAGUE = ["Errors", "error.", "various errors", "Unspecified failures", "Exceptions can arise"]
DIFFERENT = ["Handle error case 1", "Handle error case 2", "Implement the GET endpoint",
             "Implement the POST endpoint"]  # fmt: skip


def test_what_says_enough_gets_no_warning():
    """F-3.2.3-06: W12, a criterion with a verb of observable behaviour in any form; W14, error surfaces with an exception,
    a code or a condition, and not errors alone; W13, subtasks that share a phrase and no more."""
    task = _TASK.format(1)
    drafts = [
        *(_changed(task, "acceptance_criteria", ["Raises an error", text]) for text in TESTABLE),
        *(_changed(f"{task}.io_contract_sketch", "error_surfaces", text) for text in SPECIFIC),
        _changed(task, "subtasks", DIFFERENT),
    ]
    assert [warning for draft in drafts for warning in validate(draft).warnings] == []
    vague = [validate(_changed(f"{task}.io_contract_sketch", "error_surfaces", text)) for text in VAGUE]
    assert [[one.field for one in report.warnings] for report in vague] == [["error_surfaces"]] * len(VAGUE)


def test_a_person_reads_the_id_of_the_part():
    """F-3.2.3-08, D-S9-04: not a path through lists; whatever a spec is."""
    data = _changed(_TASK.format(1), "subtasks", [])
    (error,) = validate(data).errors
    assert in_words(data, error) == "TSK-002 subtasks: needs at least 2, has 0"
    sketch = _changed(_TASK.format(1) + ".io_contract_sketch", "effects", "TBD")
    (error,) = validate(sketch).errors
    assert in_words(sketch, error).startswith("TSK-002 io_contract_sketch effects: ")
    odds: tuple[Any, ...] = ({"pillars": 1}, {"pillars": [1]}, {"pillars": [{"pillar_id": 7}]}, [])
    for odd in odds:
        assert all(in_words(odd, one) for one in validate(odd).errors)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["TSK-001", "TSK-002", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["pillars", "epics", "stories", "tasks", "depends_on", "task_id", "io_contract_sketch", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)


@given(_JSON)
def test_any_json_gets_a_report_that_can_be_written(data: Any):
    """F-3.2.1-04: never an exception, however malformed the draft is."""
    report = validate(data)
    assert report.errors
    assert ValidationReport.from_bytes(canonical_json.pretty(report.to_json()), "report") == report


def _places(value: Any, path: Any = ()) -> Iterator[Any]:
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict | list):
        below: Any = value.items() if isinstance(value, dict) else enumerate(value)  # pyright: ignore
        for key, inner in below:
            yield from _places(inner, (*path, key))


@given(st.data())
def test_no_error_means_that_the_record_accepts_the_spec(data: Any):
    """F-3.2.3-05: over specs damaged anywhere, the report has an error whenever the schema refuses."""
    spec = copy.deepcopy(draft_data())
    *parents, last = data.draw(st.sampled_from([place for place in _places(spec) if place]))
    target = spec
    for step in parents:
        target = target[step]
    if data.draw(st.booleans()):
        del target[last]
    else:
        target[last] = data.draw(_JSON)
    try:
        ProductSpecDraft.model_validate(spec)
    except ValidationError:
        assert validate(spec).errors
    else:
        report = validate(spec)
        assert {error.field for error in report.errors} <= {"task_id", "depends_on"}


@given(st.dictionaries(st.integers(0, 7).map(str), st.lists(st.integers(0, 8).map(str), max_size=4)))
def test_a_cycle_is_found_exactly_where_the_graph_has_one(edges: Any):
    """F-3.2.3-04: against the definition, a node that reaches itself; and each answer is a cycle."""

    def reaches(start: Any):
        seen: set[str] = set()
        pending: list[str] = list(edges[start])
        while pending:
            node = pending.pop()
            if node in edges and node not in seen:
                seen.add(node)
                pending.extend(edges[node])
        return start in seen

    cycles = list(find_cycles(edges))
    assert bool(cycles) == any(reaches(node) for node in edges)
    for cycle in cycles:
        assert all(after in edges[node] for node, after in zip(cycle, (*cycle[1:], cycle[0]), strict=True))


def test_a_chain_of_ten_thousand_tasks_is_no_circle():
    """F-3.2.3-04: no recursion, however long the chain; and a long circle is told shortly."""
    edges = {str(n): [str(n + 1)] for n in range(10_000)}
    assert not list(find_cycles(edges))
    edges["9999"] = ["0"]
    (cycle,) = find_cycles(edges)
    assert len(cycle) == 10_000
    assert describe_cycle(cycle) == "0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> (9992 more) -> 0"
