"""Tasks, artifacts and projects as ordered Wires make them, and one stream replayed alone (D47, design: wire)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wire.reducer import reduce_stream, reduce_wires
from wire_testkit.project_story import FOLLOW_UP, SECOND, project
from wire_testkit.story import CONTEXT, HAPPY_PATH, TASK, Story

LINEAGE = {"task": "TSK-001", "attempt": 2, "inputs": ["MM-0b7d22e4@1.0.0", "MM-1c8e33f5@2.1.0"]}


def stream_of(stream_id: str) -> list[dict[str, Any]]:
    """The project's Wires of one stream."""
    return [wire for wire in project() if wire["stream"]["stream_id"] == stream_id]


def test_every_version_of_an_artifact_has_its_hash_and_lineage():
    """Each announced version stays, with what it was made from; the task has the last one (D-47-08, W-2-06)."""
    reduction = reduce_wires(project())

    found = [(row["version"], row["sha256"][0], row["stream_id"]) for row in reduction.artifacts]
    assert found == [("1.0.0", "0", SECOND), ("1.0.1", "1", SECOND)]
    assert [row["lineage"] for row in reduction.artifacts] == [LINEAGE, LINEAGE | {"input_count": 3}]
    (last,) = reduction.tasks()[SECOND]["artifacts"]
    assert (last["version"], last["lineage"]["inputs"]) == ("1.0.1", LINEAGE["inputs"])


def test_a_task_has_its_parent_and_every_task_that_its_wires_refer_to():
    """In the order of the first mention, each once (D-47-08)."""
    task = reduce_wires(project()).tasks()[FOLLOW_UP]

    assert (task["parent_task_id"], task["reference_task_ids"]) == ("TSK-009", ["TSK-001", "TSK-003"])


def test_a_project_is_what_its_own_stream_says_and_the_states_of_its_tasks():
    """The last word about each subject and gate; of a task the last attempt counts (D-47-08)."""
    story = Story(first_id=1000)
    again = story.wire("gate.decided", CONTEXT, stream_seq=3)
    again["payload"]["verdict"] = "fail"

    found = reduce_wires([*project(), again]).projects()[CONTEXT]

    assert found["task_states"] == {"completed": 1, "blocked": 1}
    assert found["stream_seq"] == 3
    decisions = [(row["event"], row["subject"], row["verdict"]) for row in found["decisions"]]
    assert decisions == [("review.recorded", "plan.locked", None), ("gate.decided", "ship", "fail")]


def test_tasks_of_another_project_are_not_counted():
    """One log may hold several projects (D-47-08)."""
    story, other = Story(), "project:other-00000000"
    wires = [story.wire("review.recorded", CONTEXT), story.wire("task.created", context_id=other)]

    assert reduce_wires(wires).projects()[CONTEXT]["task_states"] == {}


@pytest.mark.parametrize("stream_id", [CONTEXT, TASK, SECOND, FOLLOW_UP])
def test_a_stream_alone_comes_to_the_state_of_the_whole_replay(stream_id: str):
    """Its causes and the attempt before it are on other streams, and are taken as given (D-47-07, W-5-03)."""
    whole = reduce_wires(project())

    for wires in (stream_of(stream_id), project()):
        alone = reduce_stream(wires, stream_id)
        assert alone.rejected == ()
        assert alone.streams == {stream_id: whole.streams[stream_id]}
        assert alone.artifacts == tuple(row for row in whole.artifacts if row["stream_id"] == stream_id)
    assert whole.rejected == ()


def test_without_the_others_a_stream_is_not_taken_for_the_whole_log():
    """What the whole log lacks is still refused (D-47-07, W-6-02)."""
    codes = [entry.rejection.code for entry in reduce_wires(stream_of(SECOND)).rejected]

    assert codes[0] == "stream.causation"


def test_a_cause_on_the_own_stream_must_come_first():
    """Only what other streams hold is taken as given (D-47-07)."""
    wires = stream_of(TASK)
    wires[1]["stream"]["causation_id"] = wires[3]["wire_id"]

    (rejected, *_) = reduce_stream(wires, TASK).rejected

    assert (rejected.position, rejected.rejection.code) == (2, "stream.causation")


@given(st.integers(1, len(HAPPY_PATH) - 2))
def test_a_gap_in_a_stream_alone_is_reported_at_its_place_in_the_input(dropped: int):
    """Alone the rules of the stream itself hold as ever (D-47-07, D-31-02)."""
    wires = [Story(500).wire("review.recorded", CONTEXT), *Story().wires(*HAPPY_PATH)]
    del wires[dropped + 1]

    reduction = reduce_stream(wires, TASK)

    assert reduction.rejected[0].position == dropped + 2
    assert reduction.rejected[0].rejection.code == "stream.sequence"
