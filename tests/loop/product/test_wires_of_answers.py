"""What a person's answer to an escalation is on the Wire (D33, F§17.2): resumed, run again, given up, split, attested.

Given by `application.resolving` on the project loop of `project.workbench`; a stub stands where the engineering loop
would be.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_wire.errors import WireRefusedError
from agent_wire.reducer import reduce_wires
from specwright.application.announce import task_event
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import CorruptionError
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.halts import HALTS
from testkit.loop.project_workbench import ProjectWorkbench
from testkit.wire_bench import CHAIN, FIRST, SECOND, THIRD, answer, go_on, halting, wires
from testkit.wires_heard import Counting, seal_by_hand, types

AMENDED = {
    "amended_acceptance_criteria": ["Returns one", "Raises nothing"],
    "amendment_rationale": "Simpler.",
}
REVISED = {"revised_micro_plan": [{"module_id": "one", "description": "It answers."}]}


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[ProjectWorkbench]:
    """A chain of three tasks, the first of which halted."""
    with ProjectWorkbench(tmp_path, work=halting("TSK-001")) as bench:
        bench.approve(spec_of_graph(CHAIN))
        bench.run()
        yield bench


def test_a_task_behind_two_others_is_not_available_when_the_first_of_them_goes_on(stopped: ProjectWorkbench):
    """X(HALTED) <- Y <- Z: with X run again neither is available; with X shipped only Y is (W-7-09, D5)."""
    answer(stopped, "AMEND_SPEC", **AMENDED)
    assert types(wires(stopped, SECOND)) == types(wires(stopped, THIRD)) == ["task.created"]
    stopped.work = halting("TSK-002")
    go_on(stopped)
    assert types(wires(stopped, SECOND))[:2] == ["task.created", "task.available"]
    assert types(wires(stopped, THIRD)) == ["task.created"]


def test_a_blocked_task_is_docstring_or_pass_and_neither_does_one_that_is_free_again(
    stopped: ProjectWorkbench,
):
    """BLOCKED is derived: no Wire when it comes, none when it goes (D-33-02)."""
    told = wires(stopped, SECOND), wires(stopped, THIRD)
    assert [entry.status for entry in stopped.state.tasks.values()] == ["HALTED", "BLOCKED", "BLOCKED"]
    answer(stopped, "REVISE_PLAN", **REVISED)
    assert [entry.status for entry in stopped.state.tasks.values()] == ["IN_PROGRESS", "PENDING", "PENDING"]
    assert (wires(stopped, SECOND), wires(stopped, THIRD)) == told


def test_a_task_that_is_resumed_in_place_is_started_again_in_the_same_attempt(stopped: ProjectWorkbench):
    """HALTED -> IN_PROGRESS: task.started on the stream that was blocked, by an answer that is on the log (D-33-04)."""
    told = answer(stopped, "REVISE_PLAN", **REVISED)
    assert types(told) == ["review.recorded", "task.started"]
    assert (told[0]["payload"]["subject"], told[0]["sender"]) == ("escalation.resolved", "human:operator")
    assert told[1]["stream"]["stream_id"] == FIRST
    assert reduce_wires(wires(stopped)).tasks()[FIRST]["task_state"] == "working"


def test_a_task_that_is_run_again_fails_retryably_and_that_failure_causes_the_next_attempt(
    stopped: ProjectWorkbench,
):
    """HALTED -> PENDING: task.failed closes attempt n, task.created opens n+1 in the same context (D-33-03, W-6-03)."""
    told = answer(stopped, "AMEND_SPEC", **AMENDED)
    _, failed, created, available = told
    assert types(told[1:]) == ["task.failed", "task.created", "task.available"]
    assert failed["stream"]["stream_id"] == FIRST
    assert failed["payload"]["failure"] == {"kind": "halted", "retryable": True}
    assert created["stream"]["stream_id"] == available["stream"]["stream_id"] == "task:TSK-001:attempt:2"
    assert created["stream"]["context_id"] == failed["stream"]["context_id"]
    assert created["stream"]["causation_id"] == failed["wire_id"]
    assert available["stream"]["causation_id"] == created["wire_id"]
    bound = stopped.store.definition(created["payload"]["definition_sha256"])
    assert TaskDefinition.from_bytes(bound, "bound").acceptance_criteria == ["Returns one", "Raises nothing"]
    assert reduce_wires(wires(stopped)).rejected == ()


def test_a_task_that_is_given_up_is_cancelled_and_nothing_follows(stopped: ProjectWorkbench):
    """ABANDONED: task.cancelled ends the stream for good (D-33-02, W-6-07)."""
    told = answer(stopped, "ABANDON_TASK", rationale="Nobody needs it.")
    assert types(told) == ["review.recorded", "task.cancelled"]
    with pytest.raises(WireRefusedError) as refused:
        stopped.tell(task_event("task.started", "TSK-001", 1, {}))
    assert refused.value.rejection.code == "stream.terminal"
    assert wires(stopped)[-1] == told[-1]


def test_the_parts_of_a_split_task_name_it_as_parent_and_among_their_references(stopped: ProjectWorkbench):
    """Children carry parent_task_id and reference_task_ids, in the same context (W-6-04, W-6-05, D-33-02)."""
    part = {"description": "A half.", "acceptance_criteria": ["It answers", "It refuses nothing"]}
    told = answer(
        stopped,
        "SPLIT_TASK",
        new_tasks=[
            {"name": "Left", "depends_on": [], **part},
            {"name": "Right", "depends_on": ["Left"], **part},
        ],
    )
    assert types(told) == [
        "review.recorded",
        "task.created",
        "task.available",
        "task.created",
        "task.cancelled",
    ]
    left, right = told[1]["stream"], told[3]["stream"]
    assert left["stream_id"] == "task:TSK-004:attempt:1"
    assert left["parent_task_id"] == right["parent_task_id"] == "TSK-001"
    assert left["reference_task_ids"] == ["TSK-001"]
    assert right["reference_task_ids"] == ["TSK-001", "TSK-004"]
    assert left["context_id"] == told[0]["stream"]["context_id"]
    assert left["causation_id"] == right["causation_id"] == told[0]["wire_id"]


def test_an_attestation_is_started_ready_and_complete_in_one_append(tmp_path: Path):
    """From the sealed module that it names, all or none, so that mechanical=pass stays true; one that the log does not know
    is refused (W-7-11, D-22-02)."""
    with ProjectWorkbench(tmp_path, work=halting("TSK-001")) as bench:
        bench.approve(spec_of_graph(CHAIN))
        bench.run()
        seal_by_hand(bench.factory, "MM-0badcafe@10.20.30", "answer_it")
        asked = Counting(bench.log)
        bench.factory = replace(bench.factory, log=asked)
        ref = "MM-0badcafe@10.20.30"
        announced = bench.factory.projection.announced.pop(ref)
        with pytest.raises(CorruptionError, match="the log does not know it"):
            answer(bench, "ATTEST_SHIPPED", rationale="It is there.", module_ref=ref)
        assert asked.sizes == []
        bench.factory.projection.announced[ref] = announced
        told = answer(bench, "ATTEST_SHIPPED", rationale="It is there.", module_ref=ref)
    assert types(told) == [
        "review.recorded",
        "task.started",
        "artifact.ready",
        "task.complete",
        "task.available",
    ]
    assert asked.sizes == [5]
    assert told[2]["payload"]["artifact_id"] == told[3]["payload"]["primary_artifact_id"] == "MM-0badcafe"
    assert told[3]["payload"]["verification"] == {"mechanical": "pass"}


def test_an_override_goes_on_in_the_same_attempt_and_completes_by_the_gate(tmp_path: Path):
    """The person's word starts the task again; ready and complete come with the seal, as ever (W-7-11, D-33-04, D22)."""
    with DebateWorkbench(tmp_path, script(HALTS["rejected"])) as bench:
        assert bench.begin() == "HALTED"
        told = answer(bench, "APPROVE_OVERRIDE", rationale="The objection is moot.")
        assert types(told) == ["review.recorded", "task.started"]
        go_on(bench)
        task = wires(bench, FIRST)
    assert types(task[-4:]) == ["task.blocked", "task.started", "artifact.ready", "task.complete"]
    assert task[-1]["payload"]["verification"] == {"mechanical": "pass"}


def test_an_amended_task_that_has_not_run_has_nothing_to_fail(tmp_path: Path):
    """A review Wire on the project's stream binds the new definition; its attempt stays the first (D-29-05, D-33-03)."""
    with ProjectWorkbench(tmp_path, work=halting("TSK-001")) as bench:
        bench.approve(spec_of_graph(CHAIN))
        bench.run()
        answer(bench, "ABANDON_TASK", rationale="Nobody needs it.")
        go_on(bench)
        told = answer(bench, "AMEND_SPEC", **AMENDED, drop_depends_on=["TSK-001"])
    assert types(told) == ["review.recorded", "review.recorded", "task.available"]
    assert [wire["payload"].get("subject") for wire in told[:2]] == ["escalation.resolved", "task.amended"]
    assert told[2]["stream"]["stream_id"] == SECOND
