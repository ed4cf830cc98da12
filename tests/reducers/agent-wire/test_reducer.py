"""Ordered Wires reduce to exact state (W Reducer Harness Contract, D31)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wire.reducer import reduce_wires
from wire_testkit.story import HAPPY_PATH, TASK, Story, artifact

UNHURRIED = settings(deadline=None)  # what is measured here is truth, on whatever machine
CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))

# Verbatim from the document.
THE_DOCUMENTS_OWN_EXAMPLE = """
{
  "name": "happy path with one artifact",
  "events": [
    "task.created",
    "task.available",
    "task.claimed",
    "task.started",
    "artifact.ready",
    "task.complete"
  ],
  "expected": {
    "task_state": "completed",
    "terminal": true,
    "artifact_count": 1,
    "blocked": false,
    "verification": {
      "mechanical": "pass"
    }
  }
}
"""


def run(case: dict[str, Any]) -> dict[str, Any]:
    """What the reducer makes of a case, cut to what the case expects.

    An event is a name, a whole Wire, or the parts of one that differ from the usual.
    """
    story = Story()
    wires = [
        event if isinstance(event, dict) and "wire" in event else from_parts(story, event)
        for event in case["events"]
    ]
    reduction = reduce_wires(wires)
    (view,) = reduction.tasks().values()
    state = {**view, "rejected": [entry.rejection.code for entry in reduction.rejected]}
    return {key: state[key] for key in case["expected"]}


def from_parts(story: Story, event: str | dict[str, Any]) -> dict[str, Any]:
    """A Wire from its name, or from its type with a payload or a place."""
    if isinstance(event, str):
        return story.wire(event)
    return story.wire(event["type"], body=event.get("payload"), stream_seq=event.get("stream_seq"))


def test_the_documents_own_case_holds_verbatim():
    """The harness takes the document's shape, names or whole events, and its example comes out as printed (W-2-10)."""
    whole = {"events": Story().wires(*HAPPY_PATH), "expected": {"task_state": "completed", "stream_seq": 6}}
    for case in (json.loads(THE_DOCUMENTS_OWN_EXAMPLE), whole):
        assert run(case) == case["expected"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_reduces_to_exactly_what_it_expects(path: Path):
    """Input is ordered Wires, output is exact state (W-2-06, W-2-07, W-2-08, W-2-10, W-6-07, W-7-10)."""
    case = json.loads(path.read_bytes())

    assert run(case) == case["expected"]


def test_a_second_attempt_is_a_stream_of_its_own_with_the_same_context():
    """A retry keeps the context and counts its attempt (W-6-03, D-33-03)."""
    story = Story()
    first = story.wires("task.created", "task.available", "task.claimed", "task.blocked", "task.failed")
    second = story.wire("task.created", "task:TSK-001:attempt:2", causation_id=first[-1]["wire_id"])

    views = reduce_wires([*first, second]).tasks()

    assert [view["attempt"] for view in views.values()] == [1, 2]
    assert len({view["context_id"] for view in views.values()}) == 1
    early = second | {
        "stream": {key: value for key, value in second["stream"].items() if key != "causation_id"}
    }
    assert reduce_wires([*first[:-1], early]).rejected[0].rejection.code == "task.attempt"


def test_a_repeated_wire_is_passed_over_and_another_one_with_its_id_is_recorded():
    """`wire_id` is the idempotency key (D-32-01, W-3-03)."""
    wires = Story().wires(*HAPPY_PATH)
    changed = wires[3] | {"sender": "human:owner"}

    assert reduce_wires([*wires, *wires]) == reduce_wires(wires)
    assert [entry.rejection.code for entry in reduce_wires([*wires, changed]).rejected] == [
        "wire.id_conflict"
    ]


@pytest.mark.parametrize(
    ("required", "announced", "complete"),
    [(1, ["MM-00000001"], True), (2, ["MM-00000001"], False), (2, ["MM-00000001", "MM-00000002"], True),
     (["MM-00000002"], ["MM-00000001"], False), (["MM-00000001"], ["MM-00000001"], True)],
)  # fmt: skip
def test_the_required_artifacts_are_declared_at_creation(required: Any, announced: list[str], complete: bool):
    """`task.created` declares how many artifacts a task needs, or which ones (D-34-02, W-2-07)."""
    story = Story()
    wires = [
        story.wire("task.created", body={"definition_sha256": "a" * 64, "required_artifacts": required}),
        *story.wires("task.available", "task.claimed", "task.started"),
        *[story.wire("artifact.ready", body=artifact(name)) for name in announced],
        story.wire(
            "task.complete",
            body={
                "artifact_ids": announced,
                "primary_artifact_id": announced[0],
                "verification": {"mechanical": "pass"},
            },
        ),
    ]

    reduction = reduce_wires(wires)

    assert reduction.tasks()[TASK]["terminal"] is complete
    assert [entry.rejection.code for entry in reduction.rejected] == (
        [] if complete else ["task.complete.missing_artifact"]
    )


def test_the_reducer_records_artifact_counts_and_ids():
    """One entry for each artifact.ready, in their order; a newer version takes its place (W-2-06)."""
    story = Story()
    wires = story.wires("task.created", "task.available", "task.claimed", "task.started")
    announced = [("MM-00000002", "1.0.0"), ("MM-00000001", "1.0.0"), ("MM-00000002", "1.0.1")]
    counts: list[tuple[int, list[str]]] = []
    for name, version in announced:
        wires.append(story.wire("artifact.ready", body=artifact(name, version=version)))
        view = reduce_wires(wires).tasks()[TASK]
        counts.append((view["artifact_count"], view["artifact_ids"]))  # pyright: ignore

    assert counts == [
        (1, ["MM-00000002"]),
        (2, ["MM-00000002", "MM-00000001"]),
        (2, ["MM-00000002", "MM-00000001"]),
    ]


def test_a_completion_that_no_machine_verified_is_rejected():
    """`verification.mechanical` must be `pass`; the task goes on working (W-2-08)."""
    for stated in ({"mechanical": "fail"}, {"mechanical": True}, {}, None):
        story = Story()
        wires = story.wires(
            "task.created", "task.available", "task.claimed", "task.started", "artifact.ready"
        )
        complete = story.wire("task.complete")
        fields = {key: value for key, value in complete["payload"].items() if key != "verification"}
        verification = {} if stated is None else {"verification": stated}
        reduction = reduce_wires([*wires, complete | {"payload": fields | verification}])
        assert [entry.rejection.code for entry in reduction.rejected] == ["wire.schema"]
        assert reduction.rejected[0].rejection.pointer.startswith("/payload")
        assert reduction.tasks()[TASK]["task_state"] == "working"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def damaged_wires(draw: st.DrawFn) -> list[Any]:
    """Good Wires, some repeated, moved, or with one value replaced by anything."""
    wires: list[Any] = Story().wires(*HAPPY_PATH)
    places = draw(st.lists(st.integers(0, len(wires) - 1), max_size=10))
    result: list[Any] = []
    for place in places:
        wire = json.loads(json.dumps(wires[place]))
        if draw(st.booleans()):
            part = (
                wire if draw(st.booleans()) else wire[draw(st.sampled_from(["stream", "state", "payload"]))]
            )
            part[draw(st.sampled_from(sorted(part) or ["x"]))] = draw(JSON)
        result.append(wire if draw(st.integers(0, 9)) else draw(JSON))
    return result


@UNHURRIED
@given(damaged_wires())
def test_the_reducer_is_total(wires: list[Any]):
    """Whatever comes in, a state comes out; what is inadmissible is in `rejected[]` with a code (D-31-02)."""
    reduction = reduce_wires(wires)

    assert all(entry.rejection.code and 1 <= entry.position <= len(wires) for entry in reduction.rejected)
    json.dumps(reduction.to_json())


@UNHURRIED
@given(damaged_wires())
def test_what_is_rejected_changes_nothing(wires: list[Any]):
    """Without the rejected Wires the state is the same (D-31-02)."""
    reduction = reduce_wires(wires)
    bad = {entry.position for entry in reduction.rejected}

    again = reduce_wires(wire for position, wire in enumerate(wires, start=1) if position not in bad)

    assert again.streams == reduction.streams
    assert again.rejected == ()


@UNHURRIED
@given(st.permutations(range(len(HAPPY_PATH))), st.integers(0, len(HAPPY_PATH) - 1))
def test_a_permutation_or_a_gap_is_harmless_or_reported(order: list[int], dropped: int):
    """Wires in another order, or with one missing, never give another state in silence (D-31-02)."""
    wires = Story().wires(*HAPPY_PATH)
    whole = reduce_wires(wires)
    moved = reduce_wires(wires[place] for place in order)
    thinned = reduce_wires(wire for place, wire in enumerate(wires) if place != dropped)

    assert moved.streams == whole.streams or moved.rejected
    assert thinned.rejected or thinned.streams == reduce_wires(wires[:dropped]).streams
