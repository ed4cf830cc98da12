"""The project loop on real adapters, with a stub for the engineering loop (F§3.3, F§4.2, F§19, D5, D8, D9, D29)."""

import itertools
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.errors import GraphRecursionError

from specwright.application.announce import announce, task_event
from specwright.application.projection import STATE_FILE, Projection
from specwright.domain.tasks.project_state import ProjectState, TaskStatus
from specwright.domain.tasks.task_board import Outcome
from specwright.errors import CorruptionError, NonDeterminismError
from specwright.graphs.checkpoints import JsonSerializer
from specwright.graphs.graphs import Driver, project_graph, recursion_limit
from testkit.domain.product_specs import graphs, spec_of_graph
from testkit.domain.task_states import derived, outcome
from testkit.loop.project_workbench import (
    ProjectWorkbench,
    chain_spec,
    halt_stub,
    lose_checkpoints,
    order_of,
    seal_stub,
)
from testkit.memory_tree import in_memory
from testkit.sampling import slow


def test_the_graph_has_the_nodes_of_the_document(tmp_path: Path):
    """F-3.3-08: their names; `escalate`, where it waits for a person, and what takes the answer (D24)."""
    with ProjectWorkbench(tmp_path) as bench:
        nodes = set(project_graph(bench.factory).get_graph().nodes)
    assert {"init_state_machine", "dispatch", "engineering", "update_state_machine"} <= nodes
    assert nodes - {"__start__", "__end__"} <= {
        "init_state_machine",
        "dispatch",
        "engineering",
        "update_state_machine",
        "escalate",
        "process_human_resolution",
    }


def test_a_project_runs_to_its_end_in_declaration_order(tmp_path: Path):
    """F-3.3-05, F-3.3-06, F-3.3-09: one task at a time, each after those that it waits for, lowest order first."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph([[], [3], [0], [], [1, 2]]))
        assert bench.run() == "COMPLETE"
        assert order_of(bench) == ["TSK-001", "TSK-003", "TSK-004", "TSK-002", "TSK-005"]
        assert [step.kind for step in bench.notes.events] == ["task", "shipped"] * 5
        state = bench.state
    stored = json.loads((tmp_path / "state_store" / STATE_FILE).read_bytes())
    assert stored == state.to_json()
    assert [task["declaration_order"] for task in stored["tasks"].values()] == [0, 1, 2, 3, 4]
    for task in stored["tasks"].values():
        assert task["status"] == "SHIPPED"
        assert task["module_ref"] in task["module_refs"]
        assert task["shipped_at"]


def test_every_task_of_the_file_has_every_field(tmp_path: Path):
    """F-4.2-01, F-4.2-02, F-4.2-03: the keys of the document, `module_refs` and `superseded_by` (D3, D7); T- ids."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(chain_spec(3))
        bench.run()
    stored = json.loads((tmp_path / "state_store" / STATE_FILE).read_bytes())
    assert list(stored) == ["project_id", "spec_version", "updated_at", "tasks"]
    for task in stored["tasks"].values():
        assert set(task) >= {
            *("pillar", "epic", "story", "task", "status", "depends_on", "module_ref", "module_refs"),
            *("shipped_at", "halted_reason", "escalation_ref", "declaration_order", "superseded_by"),
        }
        assert all(ref in stored["tasks"] for ref in task["depends_on"])


def test_a_halt_stops_the_loop_and_blocks_what_lies_behind_it(tmp_path: Path):
    """F-3.3-07, F-4.2-04, F-17.1-03, F-17.3-01: nothing else is dispatched, though it could; the graph waits for a
    person, and hands the escalation over as it is stored."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(spec_of_graph([[], [0], [1], []]))
        bench.run()
        assert [entry.status for entry in bench.state.tasks.values()] == [
            "HALTED",
            "BLOCKED",
            "BLOCKED",
            "PENDING",
        ]
        halted = next(iter(bench.state.tasks.values()))
        waits = bench.waiting()
        assert halted.halted_reason
        assert waits == {
            "kind": "escalation",
            "escalation": halted.escalation_ref,
            "escalations": [halted.escalation_ref],
            "artifact": json.loads(bench.store.read(f"escalations/{halted.escalation_ref}.json")),
        }
        assert waits["artifact"]["state_machine_snapshot"]["tasks"] == bench.state.to_json()["tasks"]
        assert bench.run() is None
        assert order_of(bench) == ["TSK-001"]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), halts=st.sets(st.integers(1, 5), max_size=2), restart=st.integers(0, 5))
def test_every_run_ends_and_no_task_runs_before_those_it_waits_for(
    tmp_path_factory: pytest.TempPathFactory, graph, halts, restart
):
    """D-08-01, F-3.3-06, F-3.3-07, D-29-01: whatever halts; a new process goes on where the last one stopped."""
    directory = tmp_path_factory.mktemp("project")
    statuses: list[ProjectState] = []

    def work(factory, task):
        statuses.append(factory.projection.state)
        if task.entry.spec_task_id == f"TSK-{restart:03d}" and restart:
            raise InterruptedError
        number = int(task.entry.spec_task_id[4:])
        return halt_stub(factory, task) if number in halts else seal_stub(factory, task)

    with ProjectWorkbench(directory, work) as bench:
        bench.approve(spec_of_graph(graph))
        try:
            bench.run()
        except InterruptedError:
            restart = 0
    with ProjectWorkbench(directory, work) as bench:
        bench.run()
        final = bench.state
        assert outcome(final) is (Outcome.HALTED if _halts(final) else Outcome.COMPLETE)
        assert (directory / "state_store" / STATE_FILE).read_bytes() == final.to_bytes()
    for state in statuses:
        assert derived(state) == state
        (running,) = [t for t, entry in state.tasks.items() if entry.status == "IN_PROGRESS"]
        assert all(state.tasks[ref].status == "SHIPPED" for ref in state.tasks[running].depends_on)


def _halts(state: ProjectState) -> bool:
    return any(entry.status is TaskStatus.HALTED for entry in state.tasks.values())


def test_the_graphs_state_holds_the_current_task_only(tmp_path: Path):
    """D-S5-02: no checkpoint of the project graph names any other task, and none grows."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(chain_spec(12))
        bench.run()
        bench_ids = list(bench.state.tasks)
    with closing(sqlite3.connect(tmp_path / ".specwright" / "checkpoints.db")) as connection:
        saver = SqliteSaver(connection, serde=JsonSerializer())
        found = [saved.checkpoint["channel_values"] for saved in saver.list(None)]
    held = [values for values in found if "task_id" in values]
    assert {key for values in held for key in values} <= {
        *("schema_version", "task_id", "recovered", "result", "outcome"),
        *("escalation", "module_refs", "module_ref"),
        *(key for values in held for key in values if key.startswith(("branch:", "__"))),
    }
    for values in held:
        text = json.dumps(values, default=str)
        assert sum(task_id in text for task_id in bench_ids) <= 1
        assert len(text) < 1000


def test_the_state_file_is_written_at_every_stop_and_at_most_once_a_second(tmp_path: Path):
    """D-29-04: of announcements a tenth of a second apart one a second writes, beside the beginning and the stop."""
    ticks, written = [0], list[int]()

    class Counting:
        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def replace(self, path, data):
            if path == STATE_FILE:
                written.append(ticks[0])
            self._store.replace(path, data)

    def clock() -> float:
        ticks[0] += 1
        return ticks[0] / 10

    with ProjectWorkbench(tmp_path) as bench:
        bench.factory = replace(bench.factory, projection=Projection(bench.log, Counting(bench.store), clock))
        bench.approve(chain_spec(12))
        bench.run()
        state = bench.projection.state
    gaps = [after - before for before, after in itertools.pairwise(written)]
    assert len(gaps) >= 4
    assert all(gap >= 10 for gap in gaps[1:-1]), gaps
    assert state is not None
    assert (tmp_path / "state_store" / STATE_FILE).read_bytes() == state.to_bytes()


def test_what_was_appended_is_projected_by_the_next_process(tmp_path: Path):
    """D-29-03: append first; a process that died before it projected leaves nothing behind."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(chain_spec(2))
        bench.run()
        (halted, *_) = bench.state.tasks.values()
        event = task_event("task.cancelled", halted.spec_task_id, 1, {})
        other = ProjectWorkbench(tmp_path)
        announce(other.factory, other.journal.scope("elsewhere"), [event])
        other.close()
        assert bench.state.tasks[next(iter(bench.state.tasks))].status == "HALTED"
        bench.projection.catch_up()
        assert [entry.status for entry in bench.state.tasks.values()] == ["ABANDONED", "BLOCKED"]
    with ProjectWorkbench(tmp_path) as again:
        assert again.state == bench.state


def test_an_event_about_an_unknown_task_is_a_corruption_that_names_the_wire(tmp_path: Path):
    """D-29-01: the log admits by the same tables; what contradicts the definitions was altered."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(chain_spec(1))
        bench.run()
        entries = list(bench.log.entries())
        projection = Projection(bench.log, bench.store, lambda: 0.0)
        with pytest.raises(CorruptionError, match="cannot be read as a project"):
            projection.apply(entry for entry in entries if entry.wire["type"] != "task.created")


def test_the_recursion_limit_is_what_the_task_count_needs():
    """F-19-02, D-S5-03: at least a thousand; three super-steps a task fit in, with room to spare."""
    for tasks, steps in ((3, 1000), (225, 1000), (501, 2104), (2000, 8100), (10_000, 40_100)):
        assert recursion_limit(tasks) == steps >= 3 * tasks + 10


@pytest.mark.parametrize(
    ("count", "told"),
    [(3, []), slow(500, []), (501, ["0 of 501 tasks shipped; step 2 of the 2,104 that a run may take"])],
)
def test_a_long_run_tells_its_depth_and_a_short_one_does_not(tmp_path: Path, count, told):
    """F-19-02, D-S5-03: from 501 tasks on, with the step and the limit that holds inside the graph; it is the one by which
    the driver runs the graph."""
    with ProjectWorkbench(tmp_path, work=halt_stub, wrap=in_memory) as bench:
        bench.approve(chain_spec(count))
        bench.run()
        assert [step.text for step in bench.notes.of("depth")] == told
        assert Driver(bench.factory, InMemorySaver()).config["recursion_limit"] == recursion_limit(count)


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_more_tasks_than_a_thousand_steps_allow_run_in_one_go(tmp_path: Path):
    """D-S5-03: within the limit, where a thousand steps are not enough; the depth is told every hundred tasks."""
    with ProjectWorkbench(tmp_path, wrap=in_memory) as bench:
        bench.approve(chain_spec(501))
        with pytest.raises(GraphRecursionError):
            bench.run(limit=1000)
        assert bench.run() == "COMPLETE"
        assert len(bench.notes.of("depth")) == 6


def interrupted_at(spec_task_id, draws=2):
    """Work that is cut off in the middle of one task, after some draws."""

    def work(factory, task):
        scope = factory.journal.scope(f"{task.run}/thinking")
        drawn = [scope.hex8() for _ in range(draws)]
        if task.entry.spec_task_id == spec_task_id:
            raise InterruptedError(",".join(drawn))
        return seal_stub(factory, task)

    return work


def test_a_task_whose_checkpoint_is_gone_runs_again_from_the_journal(tmp_path: Path):
    """D-09-01: the same draws, nothing shipped twice, and the run goes on to its end."""
    with ProjectWorkbench(tmp_path, interrupted_at("TSK-002")) as bench:
        bench.approve(chain_spec(3))
        with pytest.raises(InterruptedError) as cut:
            bench.run()
    lose_checkpoints(tmp_path)
    drawn: list[str] = []

    def work(factory, task):
        scope = factory.journal.scope(f"{task.run}/thinking")
        found = [scope.hex8() for _ in range(2)]
        if task.entry.spec_task_id == "TSK-002":
            drawn.extend(found)
        return seal_stub(factory, task)

    with ProjectWorkbench(tmp_path, work) as bench:
        assert bench.run() == "COMPLETE"
        assert ",".join(drawn) == str(cut.value)
        assert order_of(bench, "shipped") == ["TSK-002", "TSK-003"]
        assert order_of(bench) == ["TSK-003"]
        started = [
            e.wire["stream"]["stream_id"] for e in bench.log.entries() if e.wire["type"] == "task.started"
        ]
        assert sorted(started) == sorted(set(started))


def test_a_journal_that_contradicts_a_lost_checkpoint_halts_the_task(tmp_path: Path):
    """D-09-01: then, and only then, it halts; the escalation says where the journal differs."""
    with ProjectWorkbench(tmp_path, interrupted_at("TSK-002")) as bench:
        bench.approve(chain_spec(3))
        with pytest.raises(InterruptedError):
            bench.run()
    lose_checkpoints(tmp_path)
    _alter_journal(tmp_path, "TSK-002.1/thinking")
    with ProjectWorkbench(tmp_path, interrupted_at("TSK-003")) as bench:
        bench.run()
        halted = list(bench.state.tasks.values())[1]
        assert (halted.status, bench.waiting()["escalation"]) == ("HALTED", halted.escalation_ref)
        escalation = json.loads(bench.store.read(f"escalations/{halted.escalation_ref}.json"))
        assert escalation["details"]["cause"] == "journal"
        assert "TSK-002.1/thinking" in escalation["resolution_context"]


def test_a_journal_that_contradicts_a_run_with_its_checkpoint_is_an_error(tmp_path: Path):
    """D-09-01: the version or the settings that began the run can still go on, so nothing is halted."""
    with ProjectWorkbench(tmp_path, interrupted_at("TSK-002")) as bench:
        bench.approve(chain_spec(3))
        with pytest.raises(InterruptedError):
            bench.run()
    _alter_journal(tmp_path, "TSK-002.1/thinking")
    with ProjectWorkbench(tmp_path, interrupted_at("TSK-003")) as bench:
        with pytest.raises(NonDeterminismError):
            bench.run()
        statuses = [entry.status for entry in bench.state.tasks.values()]
        assert statuses == ["SHIPPED", "IN_PROGRESS", "PENDING"]


def _alter_journal(directory: Path, scope: str) -> None:
    path = directory / ".specwright" / "journal.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["scope"] == scope:
            line["request"] = "0" * 64
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_lost_checkpoint_of_a_halted_project_leads_back_to_the_same_question(tmp_path: Path):
    """D-09-01, F-17.2-09: what waits for a person waits on."""
    with ProjectWorkbench(tmp_path, work=halt_stub) as bench:
        bench.approve(chain_spec(3))
        bench.run()
        before = bench.waiting()
    lose_checkpoints(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        bench.run()
        assert bench.waiting() == before
        assert not bench.notes.events
