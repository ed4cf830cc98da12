"""What the Wires of a person's decisions make of the state: a next attempt, a resumption, a split (D7, D33, F§17.2)."""

from pathlib import Path

from specwright.application import tasks
from specwright.application.announce import Announcement, announce, task_event
from specwright.domain.escalation import NewTask
from specwright.domain.tasks.task_file import lay_out, parts_of
from testkit.domain.product_specs import spec_of_graph
from testkit.domain.task_states import next_task
from testkit.loop.project_workbench import ProjectWorkbench, halt_stub, seal_stub


def decide(bench: ProjectWorkbench, name: str, *events: Announcement) -> None:
    """Append the events of one decision, all or none."""
    announce(bench.factory, bench.journal.scope(name), bench.projection.project_id, events)


def halted(directory: Path, graph=([], [0])) -> None:
    """A project whose first task halted."""
    with ProjectWorkbench(directory, work=halt_stub) as bench:
        bench.approve(spec_of_graph(graph))
        bench.run()


def statuses(bench: ProjectWorkbench) -> list[str]:
    return [entry.status.value for entry in bench.state.tasks.values()]


def test_a_task_that_is_run_again_is_its_next_attempt(tmp_path: Path):
    """D-33-03, F-17.2-05: task.failed closes the attempt, task.created opens the next; what it blocked is free again."""
    halted(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        first, definition = next(iter(bench.projection.definitions.items()))
        amended = definition.model_copy(update={"acceptance_criteria": ["Returns nothing"]})
        failure = {"failure": {"kind": "halted", "retryable": True}}
        decide(
            bench,
            "again",
            task_event("task.failed", "TSK-001", 1, failure),
            task_event(
                "task.created", "TSK-001", 2, {"definition_sha256": bench.store.define(amended.to_bytes())}
            ),
            task_event("task.available", "TSK-001", 2, {}),
        )
        assert statuses(bench) == ["PENDING", "PENDING"]
        entry = bench.state.tasks[first]
        assert (entry.attempt, entry.halted_reason, entry.escalation_ref) == (2, None, None)
        assert bench.projection.definitions[first].acceptance_criteria == ["Returns nothing"]
        assert next_task(bench.state) == first
    with ProjectWorkbench(tmp_path) as again:
        assert again.state == bench.state


def test_a_task_that_is_resumed_stays_the_attempt_that_it_was(tmp_path: Path):
    """D-33-04: task.started again on the same stream; then it may ship."""
    halted(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        decide(bench, "resume", task_event("task.started", "TSK-001", 1, {}))
        assert statuses(bench) == ["IN_PROGRESS", "PENDING"]
        task = bench.state.tasks[next(iter(bench.state.tasks))]
        assert (task.attempt, task.halted_reason) == (1, None)


def test_a_split_task_is_replaced_by_its_parts(tmp_path: Path):
    """D-07-01, F-17.2-06, F-17.2-09: children name it as their parent; it is given up; who waited for it waits for them."""
    halted(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        definitions = {task.task_id: task for task in lay_out(bench.projection.spec)}
        fields = {"description": "A part.", "acceptance_criteria": ["returns 1", "raises"], "depends_on": []}
        parts = [NewTask.model_validate({"name": f"Part {n}", **fields}) for n in (3, 4)]
        new = parts_of(definitions, next(iter(definitions)), parts)
        events: list[Announcement] = []
        for part in new:
            sha256 = bench.store.define(part.to_bytes())
            event = task_event("task.created", part.spec_task_id, 1, {"definition_sha256": sha256})
            events += [
                event._replace(parent="TSK-001"),
                task_event("task.available", part.spec_task_id, 1, {}),
            ]
        decide(bench, "split", *events, task_event("task.cancelled", "TSK-001", 1, {}))
        first, second, *added = bench.state.tasks
        assert statuses(bench) == ["ABANDONED", "PENDING", "PENDING", "PENDING"]
        assert bench.state.tasks[first].superseded_by == added == [part.task_id for part in new]
        for file in (tmp_path / ".specwright").glob("checkpoints.db*"):
            file.unlink()
        assert bench.run() == "COMPLETE"
        assert [step.task for step in bench.notes.of("shipped")] == ["TSK-003", "TSK-004", "TSK-002"]
        section = bench.folder.read(f"project/{bench.projection.definitions[second].path}").decode()
        assert section.count(f"(shipped by {first}, TSK-001)") == 2


def test_a_halted_task_ships_by_attestation(tmp_path: Path):
    """D-33-02, F-4.2-06: started, ready and complete together; what waited for it can run."""
    halted(tmp_path)
    with ProjectWorkbench(tmp_path) as bench:
        first = next(iter(bench.state.tasks))
        decide(bench, "attest", task_event("task.started", "TSK-001", 1, {}))
        result = seal_stub(bench.factory, tasks.task_at(bench.factory, first))
        task = tasks.task_at(bench.factory, first)
        tasks.shipped(bench.factory, task, result["module_refs"], result["module_ref"])
        assert statuses(bench) == ["SHIPPED", "PENDING"]
        assert next_task(bench.state) == list(bench.state.tasks)[1]
