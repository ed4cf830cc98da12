"""What the factory says on the Wire for each status of a task, and how it is said (D29-D33, W).

On the project loop of `project.workbench`: a stub stands where the engineering loop would be. What a person's answers
say is in `test_wires_of_answers`, what a whole run says in `test_wires_of_a_run`.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent_wire.errors import WireRefusedError
from specwright.application import tasks
from specwright.application.announce import Announcement, announce, review, task_event
from specwright.application.projection import STATE_FILE
from specwright.domain.escalation import EscalationArtifact
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import NonDeterminismError
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.project_workbench import ProjectWorkbench, seal_stub
from testkit.power_cut import Cut, PowerCutError
from testkit.wire_bench import CHAIN, FIRST, SECOND, THIRD, halting, wires
from testkit.wires_heard import types


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[ProjectWorkbench]:
    """A chain of three tasks, the first of which halted."""
    with ProjectWorkbench(tmp_path, work=halting("TSK-001")) as bench:
        bench.approve(spec_of_graph(CHAIN))
        bench.run()
        yield bench


def test_a_pending_task_is_created_and_available_only_if_it_waits_for_nothing(tmp_path: Path):
    """PENDING: task.created for every task, task.available for those whose dependencies are all shipped (D-33-02)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([], [0], [])))
        tasks.initialise(bench.factory)
        told = [types(wires(bench, stream)) for stream in (FIRST, SECOND, THIRD)]
    assert told == [["task.created", "task.available"], ["task.created"], ["task.created", "task.available"]]


def test_a_task_becomes_available_with_the_completion_of_the_last_that_it_waits_for(tmp_path: Path):
    """Never before, and caused by that completion (W-7-09, D-33-02, W-6-02)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([], [], [0, 1])))
        assert bench.run() == "COMPLETE"
        told = wires(bench)
    (available,) = [
        wire for wire in told if types([wire]) == ["task.available"] and wire["stream"]["stream_id"] == THIRD
    ]
    cause = next(wire for wire in told if wire["wire_id"] == available["stream"]["causation_id"])
    assert (cause["type"], cause["stream"]["stream_id"]) == ("task.complete", SECOND)
    before = types(told[: told.index(available)])
    assert before.count("task.complete") == 2
    assert told.index(available) == told.index(cause) + 1


def test_a_dispatched_task_is_claimed_and_started_before_anything_else_of_it(tmp_path: Path):
    """IN_PROGRESS: task.claimed and task.started, appended together; then artifact.ready at the seal (D-33-02)."""
    seen: list[list[str]] = []

    def work(factory: Any, task: Any) -> dict[str, Any]:
        seen.append(types(wires(bench, task.stream)))
        return seal_stub(factory, task)

    with ProjectWorkbench(tmp_path, work=work) as bench:
        bench.approve(spec_of_graph(([],)))
        bench.run()
        told = wires(bench, FIRST)
    assert seen == [["task.created", "task.available", "task.claimed", "task.started"]]
    assert told[2]["payload"] == {"claimed_by": "agent:engineering-loop"}
    assert types(told[4:]) == ["artifact.ready", "task.complete"]


def test_a_shipped_task_completes_with_what_it_announced_and_a_machines_verdict(tmp_path: Path):
    """SHIPPED: task.complete names announced artifacts, the task-facing one, and mechanical=pass (D-33-02, W-2-08)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([],)))
        bench.run()
        *_, ready, complete = wires(bench, FIRST)
        (entry,) = bench.state.tasks.values()
    assert complete["payload"] == {
        "artifact_ids": [ready["payload"]["artifact_id"]],
        "primary_artifact_id": ready["payload"]["artifact_id"],
        "verification": {"mechanical": "pass"},
    }
    assert complete["state"] == {"category": "completed", "terminal": True}
    assert entry.module_ref == f"{ready['payload']['artifact_id']}@{ready['payload']['version']}"


def test_a_halt_is_a_block_that_waits_for_a_person_and_names_the_escalation(stopped: ProjectWorkbench):
    """HALTED: task.blocked(human_input) with the escalation's id and the hash of its content (D-33-02, D-29-02)."""
    blocked = wires(stopped, FIRST)[-1]
    payload = blocked["payload"]
    assert (blocked["type"], payload["reason"]) == ("task.blocked", "human_input")
    bound = EscalationArtifact.from_bytes(stopped.store.definition(payload["definition_sha256"]), "bound")
    stored = stopped.store.read(f"escalations/{payload['reference']}.json")
    assert bound.to_bytes() == stored
    assert (
        bound.escalation_id == payload["reference"] == next(iter(stopped.state.tasks.values())).escalation_ref
    )


@pytest.mark.parametrize(("count", "carried"), [(2, 2), (16, 16), (17, 16)])
def test_dependencies_are_referred_to_sixteen_at_most_and_defined_all(
    tmp_path: Path, count: int, carried: int
):
    """reference_task_ids are capped; every dependency stands in the referenced definition (W-6-06, D33)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph([*([] for _ in range(count)), list(range(count))]))
        tasks.initialise(bench.factory)
        (created,) = wires(bench, f"task:TSK-{count + 1:03d}:attempt:1")
        definition = bench.store.definition(created["payload"]["definition_sha256"])
    assert created["stream"]["reference_task_ids"] == [f"TSK-{n:03d}" for n in range(1, carried + 1)]
    assert len(TaskDefinition.from_bytes(definition, "it").depends_on) == count


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (task_event("task.paused", "TSK-001", 1, {}), "wire.unknown_type"),
        (task_event("task.cancelled", "TSK-001", 1, {"why": "the draft was bad"}), "wire.schema"),
        (task_event("task.complete", "TSK-001", 1, {"verification": {"mechanical": "pass"}}), "wire.schema"),
        (task_event("task.started", "TSK-001", 1, {}), "task.transition"),
        (task_event("task.cancelled", "TSK-001", 1, {"reference": "sk-0123456789abcdef01"}), "wire.secret"),
        (review("plan.locked", "a" * 64, "x" * 97), "wire.schema"),
    ],
)
def test_what_the_factory_may_not_say_is_refused_before_it_is_said(
    tmp_path: Path, event: Announcement, code: str
):
    """Neither log nor state change, and with a bad Wire its good neighbours are refused too (W-1-06, W-4-02, W-4-03)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([],)))
        tasks.initialise(bench.factory)
        before, state = wires(bench), bench.state
        good = task_event("task.claimed", "TSK-001", 1, {"claimed_by": "agent:engineering-loop"})
        batch = [event, good] if code == "task.transition" else [good, event]
        with pytest.raises(WireRefusedError) as refused:
            announce(bench.factory, bench.journal.scope("bad"), batch)
        assert refused.value.rejection.code == code
        assert wires(bench) == before
        assert bench.state == state


def test_a_step_that_runs_again_announces_nothing_twice_and_nothing_else(tmp_path: Path):
    """W-7-08: its Wires are in the log; other events under the same ids end the run."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([],)))
        tasks.initialise(bench.factory)
        claimed = task_event("task.claimed", "TSK-001", 1, {"claimed_by": "agent:engineering-loop"})
        started = task_event("task.started", "TSK-001", 1, {})
        announce(bench.factory, bench.journal.scope("step"), [claimed])
        before = wires(bench)
        announce(bench.factory, bench.journal.scope("step"), [claimed])
        for other in ([started], [claimed, started]):
            with pytest.raises(NonDeterminismError, match="other events"):
                announce(bench.factory, bench.journal.scope("step"), other)
        assert wires(bench) == before


def test_a_status_is_appended_before_it_is_projected_and_caught_up_after_a_crash(tmp_path: Path):
    """Killed between the append and the projection: the next process finds the status in the log (W-7-08, D-29-03)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph(([],)))
        tasks.initialise(bench.factory)
        file = tmp_path / "state_store" / STATE_FILE
        before = file.read_bytes()
        task = tasks.next_dispatch(bench.factory)
        with pytest.raises(PowerCutError):
            tasks.begin(replace(bench.factory, log=Cut(bench.log, "append", behind=True)), task)
        assert file.read_bytes() == before
    with ProjectWorkbench(tmp_path) as again:
        assert [entry.status for entry in again.state.tasks.values()] == ["IN_PROGRESS"]
        assert tasks.next_dispatch(again.factory).task_id == task.task_id
