"""A project that stalls behind an abandoned task (D8, F§17.2)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from specwright.application.announce import review, task_event
from specwright.application.escalation.halt import MAX_UPSTREAM, raise_stalled
from specwright.application.escalation.halted import open_escalations
from specwright.application.stages.status import project_status
from specwright.cli.pages.stop import stop_page
from specwright.documents.stops import Stop
from specwright.domain.tasks.project_state import ProjectState, upstream, upstream_sizes
from specwright.domain.tasks.task_board import Outcome, Reasons, TaskBoard
from specwright.domain.tasks.task_file import lay_out
from testkit.domain.product_specs import graphs, spec_of_graph
from testkit.domain.task_states import initial_state, outcome
from testkit.loop.project_workbench import (
    GRAPH,
    ProjectWorkbench,
    halt_first,
    halt_stub,
    lose_checkpoints,
    many_stories_spec,
)
from testkit.memory_tree import in_memory
from testkit.sampling import nightly


def abandoned(directory: Path) -> None:
    """A project whose first task halted and was given up."""
    with ProjectWorkbench(directory, halt_first) as bench:
        bench.approve(spec_of_graph(GRAPH))
        bench.run()
        bench.tell(task_event("task.cancelled", "TSK-001", 1, {}))
    lose_checkpoints(directory)  # the resolution is not the graph's matter here


def test_a_stall_comes_when_nothing_else_can_run(tmp_path: Path):
    """D-08-01: the free task still ships; then the loop waits, and says who waits for what."""
    abandoned(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        assert outcome(bench.state) is Outcome.RUNNABLE
        bench.run()
        assert outcome(bench.state) is Outcome.STALLED
        assert [step.task for step in bench.notes.of("shipped")] == ["TSK-005"]
        stuck = TaskBoard(bench.state).stuck_behind_abandoned()
        assert len(stuck) == 2
        assert all("was abandoned; ESC-" in Reasons(bench.state).of(task_id) for task_id in stuck)


def test_each_task_directly_behind_an_abandoned_one_gets_an_escalation_of_its_own(tmp_path: Path):
    """D-08-02: tasks 2 and 3, not 4; it says what to decide and carries what the task waits for."""
    abandoned(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        bench.run()
        asked = {e.spec_task_id: e.escalation_ref for e in bench.state.tasks.values()}
        raised = open_escalations(bench.factory)
        assert raised == [asked["TSK-002"], asked["TSK-003"]]
        assert asked["TSK-004"] is None
        assert (bench.waiting() or {})["escalations"] == raised
        told = json.loads(bench.store.read(f"escalations/{raised[1]}.json"))
        first, *_, third, _, fifth = bench.state.tasks
        assert told["minimal_decision_required"].endswith(f"it depends on {first}, which was abandoned")
        assert told["details"] == {"cause": "stalled", "abandoned": [first]}
        assert set(told["state_machine_snapshot"]["tasks"]) == {first, third, fifth}
        assert ProjectState.model_validate(told["state_machine_snapshot"])
        assert "drop_depends_on" in told["resolution_context"]
        override = {"action": "APPROVE_OVERRIDE", "payload": {"rationale": "It is good."}}
        assert bench.run(answer={**override, "escalation_id": raised[0]}) is None
        refused = str((bench.waiting() or {})["refused"])
        assert "it waits for a task that was abandoned" in refused
        assert "AMEND_SPEC, SPLIT_TASK, ABANDON_TASK" in refused


def test_a_stall_is_raised_once(tmp_path: Path):
    """D-08-02: neither a second look nor another process asks again; the log alone tells it (D-29-01)."""
    abandoned(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        bench.run()
        before = bench.state
        raise_stalled(bench.factory)
        assert bench.state == before
    with ProjectWorkbench(tmp_path) as again:
        assert again.run() is None
        assert again.state == before
        assert not again.notes.of("stalled")


def test_a_dropped_dependency_lets_the_task_run(tmp_path: Path):
    """D-08-03: an amended definition without it; the escalation is settled, the others wait on."""
    abandoned(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        bench.run()
        definition = list(bench.projection.definitions.values())[1]
        sha256 = bench.store.define(definition.model_copy(update={"depends_on": []}).to_bytes())
        bench.tell(review("task.amended", sha256, definition.task_id))
        entry = bench.state.tasks[definition.task_id]
        assert (entry.status, entry.depends_on, entry.escalation_ref) == ("PENDING", [], None)
        assert outcome(bench.state) is Outcome.RUNNABLE
        assert len(open_escalations(bench.factory)) == 1


def test_a_task_that_an_answer_left_where_it_was_is_asked_about_again(tmp_path: Path):
    """D-08-02: one of two abandoned dependencies is dropped; the old question is settled, a new one is raised."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(spec_of_graph([[], [], [0, 1]]))
        for number in (1, 2):
            bench.run()
            bench.tell(task_event("task.cancelled", f"TSK-00{number}", 1, {}))
            lose_checkpoints(tmp_path)
        bench.run()
        definition = list(bench.projection.definitions.values())[2]
        (old,) = open_escalations(bench.factory)
        rest = definition.model_copy(update={"depends_on": definition.depends_on[1:]})
        bench.tell(review("task.amended", bench.store.define(rest.to_bytes())))
        assert open_escalations(bench.factory) == []
        raise_stalled(bench.factory)
        (new,) = open_escalations(bench.factory)
        assert new != old
        assert (
            json.loads(bench.store.read(f"escalations/{new}.json"))["details"]["abandoned"] == rest.depends_on
        )


def test_a_project_of_given_up_and_shipped_tasks_is_complete(tmp_path: Path):
    """F-3.3-09, D-06-01: a blocked task may be given up as well; nothing waits any more."""
    abandoned(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        for spec_id in ("TSK-002", "TSK-003", "TSK-004"):
            bench.tell(task_event("task.cancelled", spec_id, 1, {}))
        assert bench.run() == "COMPLETE"
        assert [e.status for e in bench.state.tasks.values()] == ["ABANDONED"] * 4 + ["SHIPPED"]


def behind_a_chain(length: int, width: int) -> list[list[int]]:
    """A task, a chain of tasks behind it, and many tasks that wait for both of its ends."""
    chain = [[], *([n] for n in range(length))]
    return [*chain, *([0, length] for _ in range(width))]


@pytest.mark.parametrize(("length", "width"), [(60, 40), nightly(1000, 2000, timeout=900)])
def test_a_wide_stall_behind_a_long_chain_is_told_within_bounds(
    tmp_path: Path, length: int, width: int
) -> None:
    """D-08-02: each of many escalations shows the nearest of what its task waits for, and says how many it leaves out;
    so does what a person reads first."""
    with ProjectWorkbench(tmp_path, halt_stub, wrap=in_memory) as bench:
        bench.approve(many_stories_spec(behind_a_chain(length, width)))
        bench.run()
        bench.tell(task_event("task.cancelled", "TSK-001", 1, {}))
        raise_stalled(bench.factory)
        raised = open_escalations(bench.factory)
        assert len(raised) == width + 1
        sizes: list[int] = []
        snapshot: dict[str, Any] = {}
        for name in raised:
            data = bench.store.read(f"escalations/{name}.json")
            snapshot = json.loads(data)["state_machine_snapshot"]
            sizes.append(len(data))
            assert len(snapshot["tasks"]) <= MAX_UPSTREAM + 1
        ids = list(bench.state.tasks)
        assert list(snapshot["tasks"]) == [
            ids[0],
            *ids[length - MAX_UPSTREAM + 2 : length + 1],
            ids[-1],
        ]  # itself, both that it waits for, and those before the nearer end
        assert snapshot["not_shown"] == f"and {length + 1 - MAX_UPSTREAM:,} more tasks that it waits for"
        assert max(sizes) < 1000 * (MAX_UPSTREAM + 1)
        stop = Stop.of(bench.factory, project_status(bench.factory), tmp_path, most=5)
        told = stop_page(stop).render().splitlines()
        assert len(told) < 80
        assert any(f"... and {width - 4:,} more questions" in line for line in told)
        assert any(f"... and {length + width - 12:,} more: " in line for line in told)


@given(graph=graphs())
def test_as_many_tasks_stand_before_each_as_are_counted_at_once(graph: list[list[int]]) -> None:
    """D-08-02: the count for all tasks is that of the walk from each."""
    spec = spec_of_graph(graph)
    state = initial_state("keeper-1a2b3c4d", "1.0.0", lay_out(spec), "2026-05-06T16:00:00Z")
    assert upstream_sizes(state) == {task_id: len(list(upstream(state, task_id))) for task_id in state.tasks}
