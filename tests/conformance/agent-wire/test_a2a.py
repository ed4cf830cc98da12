"""Agent Wire maps cleanly to A2A, by the types of a published implementation (W Required Conformance Tests, D35).

Needs the extra `a2a`; without it only the tests that read the mapping itself run.
"""

import uuid
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_wire import tables
from agent_wire.a2a import Bridge, LogPosition, a2a_task_id, map_wires
from agent_wire.admission import default_admission
from agent_wire.envelope import StreamId
from agent_wire.stream import AdmissionState, Change
from agent_wire.tables import default_tables
from wire_testkit.a2a_types import strictly, task_of
from wire_testkit.story import CONTEXT, HAPPY_PATH, TASK, Story

TO_WORKING = HAPPY_PATH[:4]
TABLES = default_tables()
TERMINAL = {"COMPLETED", "FAILED", "CANCELED", "REJECTED"}


def responses(wires: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stream of the only A2A task of some Wires."""
    (stream,) = map_wires(wires).values()
    return stream


def last_state(wires: list[dict[str, Any]]) -> str:
    """The A2A state after the last Wire."""
    (body,) = responses(wires)[-1].values()
    return body["status"]["state"].removeprefix("TASK_STATE_")


def blocked(reason: str) -> dict[str, Any]:
    """A block by its reason."""
    return {"reason": reason} | ({"reference": "ESC-9a1b2c3d"} if reason == "human_input" else {})


BODIES: dict[str, st.SearchStrategy[Any]] = {
    "task.blocked": st.sampled_from(["human_input", "auth", "dependency", "resource"]).map(blocked),
    "task.failed": st.builds(
        lambda kind, again: {"failure": {"kind": kind, "retryable": again}},
        st.sampled_from(["error", "rejected"]),
        st.booleans(),
    ),
}
"""Payloads that decide on the A2A state; the others are the usual ones."""


def test_a_story_parses_strictly_and_is_in_a2as_order():
    """Task first, then updates, closed at a terminal state; every response parses (W-2-09, W-7-04)."""
    stream = responses(Story().wires(*HAPPY_PATH))

    assert [next(iter(response)) for response in stream] == [
        "task",
        *["statusUpdate"] * 3,
        "artifactUpdate",
        "statusUpdate",
    ]
    for response in stream:
        strictly("StreamResponse", response)
    assert last_state(Story().wires(*HAPPY_PATH)) in TERMINAL


@pytest.mark.parametrize(
    ("path", "event", "body", "state"),
    [
        ((), "task.created", None, "SUBMITTED"),
        (TO_WORKING[:1], "task.available", None, "SUBMITTED"),
        (TO_WORKING[:2], "task.claimed", None, "SUBMITTED"),
        (TO_WORKING[:3], "task.started", None, "WORKING"),
        (TO_WORKING, "task.blocked", blocked("human_input"), "INPUT_REQUIRED"),
        (TO_WORKING[:1], "task.blocked", blocked("human_input"), "INPUT_REQUIRED"),
        (TO_WORKING, "task.blocked", blocked("auth"), "AUTH_REQUIRED"),
        (TO_WORKING, "task.blocked", blocked("dependency"), "WORKING"),
        (TO_WORKING[:1], "task.blocked", blocked("dependency"), "SUBMITTED"),
        (TO_WORKING, "task.blocked", blocked("resource"), "WORKING"),
        (TO_WORKING[:2], "task.blocked", blocked("resource"), "SUBMITTED"),
        (HAPPY_PATH[:5], "task.complete", None, "COMPLETED"),
        (TO_WORKING, "task.failed", None, "FAILED"),
        (TO_WORKING, "task.failed", {"failure": {"kind": "rejected", "retryable": False}}, "REJECTED"),
        (TO_WORKING, "task.cancelled", None, "CANCELED"),
    ],
)
def test_each_row_of_the_table_gives_its_a2a_state(path: tuple[str, ...], event: str, body: Any, state: str):
    """The A2A state of every row, human_input, auth and dependency or resource apart (D-33-05)."""
    story = Story()
    wires = [*story.wires(*path), story.wire(event, body=body)]

    assert last_state(wires) == state
    strictly("StreamResponse", responses(wires)[-1])


@st.composite
def attempts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One attempt at a task, as far as it goes: any walk through the state machine."""
    story, admitted, sent = Story(), AdmissionState(), list[dict[str, Any]]()
    state, claimed, announced = TABLES.initial, False, False
    for _ in range(draw(st.integers(1, 12))):
        legal = [
            event
            for (source, event), step in TABLES.transitions.items()
            if source == state
            and step.claimed_is in (None, claimed)
            and (announced or event != "task.complete")
        ]
        if not legal:
            break
        event = draw(st.sampled_from(sorted(legal)))
        wire = story.wire(event, body=draw(BODIES.get(event, st.none())))
        change = default_admission().admit(admitted, wire)
        assert isinstance(change, Change), change
        admitted.add(change)
        task = change.stream.task
        assert task is not None
        state, claimed, announced = task.state, task.claimed, bool(task.artifacts)
        sent.append(wire)
    return sent


@settings(deadline=None, max_examples=60)
@given(attempts())
def test_every_walk_through_the_states_is_a_stream_in_a2as_order(wires: list[dict[str, Any]]):
    """Task first, updates of it only, nothing behind a terminal state; an A2A task manager follows it (W-7-04, D-35-01)."""
    stream = responses(wires)
    kinds = [next(iter(response)) for response in stream]
    states = [
        body["status"]["state"] for response in stream for body in response.values() if "status" in body
    ]

    assert kinds[0] == "task"
    assert set(kinds[1:]) <= {"statusUpdate", "artifactUpdate"}
    assert not TERMINAL & {state.removeprefix("TASK_STATE_") for state in states[:-1]}
    task = task_of(stream)
    assert (task["id"], task["contextId"]) == (a2a_task_id(CONTEXT, TASK), wires[0]["stream"]["context_id"])
    assert task["status"]["state"] == states[-1]
    announced = {wire["payload"]["artifact_id"] for wire in wires if wire["type"] == "artifact.ready"}
    assert {artifact["artifactId"] for artifact in task.get("artifacts", [])} == announced


def test_every_task_event_has_a_row_and_only_the_table_spells_canceled():
    """The mapping is a contract that the code reads (W-1-05, D35)."""
    rows: Any = tables.contract("a2a-task-state-map")["rows"]
    machine: Any = tables.contract("task-state-machine")
    inputs: set[str] = {row["event"] for row in machine["transitions"]}

    assert {row["event"] for row in rows} == inputs
    other = [row | {"state": "TASK_STATE_WORKING"} if row["update"] == "status" else row for row in rows]
    response = Bridge(rows=other).map(Story().wire("task.created"))
    assert response is not None
    assert response[1]["task"]["status"]["state"] == "TASK_STATE_WORKING"  # pyright: ignore


def test_an_artifact_update_is_whole():
    """artifact.ready: append=false, lastChunk=true, by reference and never by content (D33, W-7-04)."""
    update = responses(Story().wires(*HAPPY_PATH))[4]["artifactUpdate"]

    assert (update["append"], update["lastChunk"]) == (False, True)
    assert set(update["artifact"]["parts"][0]) == {"url", "filename", "mediaType"}
    assert update["artifact"]["metadata"]["sizeBytes"] == "512"


def test_one_a2a_task_per_attempt():
    """The id is the UUIDv5 of project and stream; a retry is another A2A task, which refers to the failed one (D-35-01)."""
    story = Story()
    first = story.wires("task.created", "task.available", "task.claimed", "task.failed")
    second = story.wire("task.created", "task:TSK-001:attempt:2", causation_id=first[-1]["wire_id"])
    streams = map_wires([*first, second])

    assert list(streams) == [a2a_task_id(CONTEXT, TASK), a2a_task_id(CONTEXT, "task:TSK-001:attempt:2")]
    # RFC 9562's namespace of URLs, written out: other programs compute the same id
    url = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
    assert a2a_task_id(CONTEXT, TASK) == str(uuid.uuid5(uuid.uuid5(url, CONTEXT), TASK))
    assert all(uuid.UUID(task_id).version == 5 for task_id in streams)
    assert len({stream[0]["task"]["contextId"] for stream in streams.values()}) == 1
    retry = streams[a2a_task_id(CONTEXT, "task:TSK-001:attempt:2")]
    assert retry[0]["task"]["status"]["message"]["referenceTaskIds"] == [a2a_task_id(CONTEXT, TASK)]
    assert "message" not in streams[a2a_task_id(CONTEXT, TASK)][0]["task"]["status"]
    strictly("StreamResponse", retry[0])


def test_two_projects_have_no_a2a_task_in_common():
    """The same task ids in two projects are different A2A tasks (D-35-01)."""
    other = "project:elsewhere-00000000"
    streams = [map_wires([Story().wire("task.created", context_id=context)]) for context in (CONTEXT, other)]

    assert [len(stream) for stream in streams] == [1, 1]
    assert not streams[0].keys() & streams[1].keys()
    assert streams[1].keys() == {a2a_task_id(other, TASK)}


def test_references_are_a2a_tasks_and_a_block_says_what_it_waits_for():
    """referenceTaskIds name the last attempt of the tasks referred to (W-7-04)."""
    story = Story()
    other = story.wire("task.created", "task:TSK-002:attempt:1")
    wire = story.wire("task.created", reference_task_ids=["TSK-002", "TSK-099"], parent_task_id="TSK-002")
    stream = map_wires([other, wire])[a2a_task_id(CONTEXT, TASK)]
    message = stream[0]["task"]["status"]["message"]

    assert message["referenceTaskIds"] == [
        a2a_task_id(CONTEXT, "task:TSK-002:attempt:1"),
        a2a_task_id(CONTEXT, "task:TSK-099:attempt:1"),
    ]
    strictly("StreamResponse", stream[0])

    waiting = story.wire("task.blocked", body=blocked("human_input"))
    said = map_wires([other, wire, waiting])[a2a_task_id(CONTEXT, TASK)][1]["statusUpdate"]["status"][
        "message"
    ]
    assert said["parts"][0]["data"] == {
        "type": "task.blocked",
        "reason": "human_input",
        "reference": "ESC-9a1b2c3d",
    }


def test_numbers_of_the_log_travel_as_strings():
    """A2A metadata is a protobuf Struct, whose numbers are doubles (D-35-01)."""
    bridge = Bridge()
    numbers = count(2**53 - 10)
    for wire in Story().wires(*HAPPY_PATH):
        response = bridge.map(wire, LogPosition(next(numbers), "2026-05-06T16:00:01.123456789Z"))
        assert response is not None
        (body,) = response[1].values()
        metadata = body["metadata"]  # pyright: ignore
        assert all(isinstance(value, str) for value in metadata.values())
        assert strictly("StreamResponse", response[1])


def test_the_place_in_the_log_travels_with_each_update():
    """Each Wire's own sequence number and consensus time, which is the time of its status (W-3-03, D-35-01)."""
    wires = Story().wires(*HAPPY_PATH)
    places = [LogPosition(40 + number, f"2026-05-06T16:00:{number:02d}.123456789Z") for number in range(6)]
    (stream,) = map_wires(wires, positions=places).values()
    bodies = [body for response in stream for body in response.values()]

    assert [body["metadata"]["sequenceNumber"] for body in bodies] == [str(p.sequence_number) for p in places]
    assert [body["metadata"]["consensusTimestamp"] for body in bodies] == [
        p.consensus_timestamp for p in places
    ]
    shown = [
        (body["status"]["timestamp"], place)
        for body, place in zip(bodies, places, strict=True)
        if "status" in body
    ]
    assert len(shown) >= 5
    assert all(time == place.consensus_timestamp for time, place in shown)


def test_nothing_internal_leaks():
    """Only named keys go out: no payload, extension, sender or definition (W-7-06)."""
    story = Story()
    wires = [wire | {"extensions": {"org.example.inner": "inner"}} for wire in story.wires(*HAPPY_PATH)]
    keys: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(value)
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    collect(responses(wires))
    assert "inner" not in str(responses(wires))
    assert keys <= {
        *("task", "statusUpdate", "artifactUpdate", "id", "taskId", "contextId", "status", "state", "name"),
        *("timestamp", "metadata", "wireId", "wireType", "streamSeq", "attempt", "artifact", "artifactId"),
        "parts",
        *("url", "filename", "mediaType", "sha256", "version", "sizeBytes", "append", "lastChunk"),
    }


def test_what_is_of_no_task_or_not_admissible_is_not_shown():
    """The mapping reads the same log by the same rules (W-7-05, D-31-01)."""
    story = Story()
    wires = [
        story.wire("review.recorded", "project:notes-1f0c9a2e"),
        story.wire("task.created"),
        story.wire("task.started"),
    ]

    assert [next(iter(response)) for response in responses(wires)] == ["task"]
    assert len(responses([wires[1], wires[1]])) == 1
    assert all(StreamId.parse(wire["stream"]["stream_id"]) for wire in wires)
