"""The state machine: entries, transitions, and what may happen to a task (F§4.2, D3, D6-D8)."""

import itertools

import pytest
from pydantic import ValidationError

from specwright.domain.escalation import NewTask
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import (
    TRANSITIONS,
    ProjectState,
    TaskStatus,
    check_transition,
    effective_dependencies,
)
from specwright.domain.tasks.task_file import first_entry, lay_out, parts_of
from specwright.errors import InputError, RefusedError
from testkit.domain import task_states as change
from testkit.domain.product_specs import LATER, NOW, REF, entry, spec_of_stories, state_of
from testkit.domain.task_states import initial_state

_LEGAL = {
    ("PENDING", "IN_PROGRESS"),
    ("PENDING", "BLOCKED"),
    ("BLOCKED", "PENDING"),
    ("IN_PROGRESS", "SHIPPED"),
    ("IN_PROGRESS", "HALTED"),
    ("HALTED", "PENDING"),
    ("HALTED", "IN_PROGRESS"),
    ("HALTED", "SHIPPED"),
    ("HALTED", "ABANDONED"),
    ("BLOCKED", "ABANDONED"),
    ("SHIPPED", "PENDING"),
    ("SHIPPED", "ABANDONED"),
}


def test_twelve_of_thirty_six_transitions_are_legal():
    """F-4.2-05, D-06-01, D-38-11, F-17.2-13: the pairs of D6 and of D38 pass; each other names task, statuses and rule;
    that of ABANDONED is that it is terminal."""
    assert set(TRANSITIONS) == _LEGAL
    for old, new in itertools.product(TaskStatus, repeat=2):
        if (old, new) in _LEGAL:
            check_transition("T-x", old, new)
            continue
        with pytest.raises(RefusedError, match="the task T-x cannot go from ") as caught:
            check_transition("T-x", old, new)
        told = str(caught.value)
        assert f"from {old} to {new}: " in told
        assert len(told.split(": ", 1)[1]) > 20
        assert "terminal" in told or old is not TaskStatus.ABANDONED


def test_only_a_change_moves_a_shipped_task():
    """D-38-11: no other change of a task does, over the whole table; the refusal says so."""
    shipped = entry(0, TaskStatus.SHIPPED)
    moved = {
        "start": lambda: task_changes.start("T-x", shipped),
        "ship": lambda: task_changes.ship("T-x", shipped, REF, [REF], NOW),
        "halt": lambda: task_changes.halt("T-x", shipped, "why", "ESC-00000001"),
        "requeue": lambda: task_changes.requeue("T-x", shipped),
        "resume": lambda: task_changes.resume("T-x", shipped),
        "abandon": lambda: task_changes.abandon("T-x", shipped),
        "split": lambda: task_changes.abandon("T-x", shipped, ["T-y"]),
        "block": lambda: task_changes.block("T-x", shipped, blocked=True),
    }
    for change_of_it in moved.values():
        with pytest.raises(RefusedError):
            change_of_it()
    again = task_changes.reopen("T-x", shipped, entry(0, task="Renamed"))
    assert (again.status, again.attempt, again.module_refs, again.task) == ("PENDING", 2, [REF], "Renamed")
    gone = task_changes.remove("T-x", shipped)
    assert (gone.status, gone.halted_reason, gone.module_ref) == ("ABANDONED", "removed", None)
    for status in set(TaskStatus) - {TaskStatus.SHIPPED}:
        with pytest.raises(RefusedError):
            task_changes.reopen("T-x", entry(0, status), entry(0))
        with pytest.raises(RefusedError):
            task_changes.remove("T-x", entry(0, status))


def test_a_new_project_has_every_task_pending():
    """F-3.3-05, F-4.2-02: names, canonical dependencies, order and spec id from the layout."""
    places = lay_out(spec_of_stories(("Import", ["One", "Two"])))
    state = initial_state("table-keeper-1a2b3c4d", "1.0.0", places, NOW)
    assert list(state.tasks) == ["T-core-tables-import-001", "T-core-tables-import-002"]
    assert state.tasks["T-core-tables-import-002"].to_json() == {
        "spec_task_id": "TSK-002",
        "pillar": "Core",
        "epic": "Tables",
        "story": "Import",
        "task": "Two",
        "status": "PENDING",
        "depends_on": [],
        "module_ref": None,
        "module_refs": [],
        "shipped_at": None,
        "halted_reason": None,
        "escalation_ref": None,
        "declaration_order": 1,
        "superseded_by": [],
        "attempt": 1,
    }


def test_a_state_is_read_back_as_it_was_written():
    """F-4.2-01: project_id, spec_version, updated_at, tasks."""
    state = state_of(x="SHIPPED", y=("HALTED", "x"), z=("BLOCKED", "y"))
    assert list(state.to_json()) == ["project_id", "spec_version", "updated_at", "tasks"]
    assert ProjectState.from_bytes(state.to_bytes(), "state_machine.json") == state


def test_a_status_goes_with_its_fields():
    """F-4.2-04, D-03: SHIPPED with its module and time, HALTED with reason and escalation; nobody else."""
    for changes in (
        {"status": "SHIPPED", "shipped_at": NOW},
        {"status": "SHIPPED", "module_ref": REF, "module_refs": [REF]},
        {"status": "SHIPPED", "module_ref": REF, "module_refs": [], "shipped_at": NOW},
        {"status": "PENDING", "module_ref": REF, "module_refs": [REF]},
        {"status": "HALTED", "halted_reason": "x"},
        {"status": "HALTED", "escalation_ref": "ESC-00000001"},
        {"status": "PENDING", "superseded_by": ["T-x"]},
        {"status": "PENDING", "declaration_order": -1},
        {"status": "PENDING", "attempt": 0},
        {"status": "WAITING"},
    ):
        with pytest.raises(ValidationError):
            type(entry(0)).model_validate({**entry(0).to_json(), **changes})


def test_a_state_that_contradicts_itself_is_refused():
    """F-4.2-01, F-3.3-05: a missing task gets a message that names both; the order decides dispatch, so it is unique."""
    state = state_of(x="PENDING", y=("PENDING", "x"))
    with pytest.raises(InputError, match="T-y names T-x"):
        ProjectState.from_bytes(state.to_bytes().replace(b'"T-x": {', b'"T-w": {'), "state_machine.json")
    data = state.to_json()
    data["tasks"]["T-y"]["declaration_order"] = 0
    with pytest.raises(ValidationError, match="declaration_order"):
        ProjectState.model_validate(data)


def test_a_task_runs_and_ships():
    """F-4.2-04, D-03: module_ref, one of module_refs, and shipped_at are set; the old states are untouched."""
    old, other = state_of(x="PENDING"), "MM-00000002@1.0.0"
    running = change.start(old, "T-x", LATER)
    shipped = change.ship(running, "T-x", REF, [other, REF], LATER)
    statuses = [state.tasks["T-x"].status for state in (old, running, shipped)]
    assert statuses == ["PENDING", "IN_PROGRESS", "SHIPPED"]
    assert (shipped.tasks["T-x"].module_ref, shipped.tasks["T-x"].module_refs) == (REF, [other, REF])
    assert (shipped.tasks["T-x"].shipped_at, shipped.updated_at, old.updated_at) == (LATER, LATER, NOW)
    with pytest.raises(ValidationError, match="one of module_refs"):
        change.ship(running, "T-x", REF, [], NOW)


def test_a_halt_has_its_reason_and_escalation_and_loses_them_when_resolved():
    """F-4.2-04, F-17.2, F-4.2-06, D22: re-queued is the next attempt, resumed in place the same one; it ships by the module
    that a person named."""

    def told(state):
        task = state.tasks["T-x"]
        return task.status, task.attempt, task.halted_reason, task.escalation_ref

    halted = change.halt(state_of(x="IN_PROGRESS"), "T-x", "REJECT", "ESC-00000001", LATER)
    assert told(halted) == ("HALTED", 1, "REJECT", "ESC-00000001")
    assert told(change.requeue(halted, "T-x", LATER)) == ("PENDING", 2, None, None)
    assert told(change.resume(halted, "T-x", LATER)) == ("IN_PROGRESS", 1, None, None)
    assert told(change.ship(halted, "T-x", REF, [REF], LATER))[::2] == ("SHIPPED", None)


def test_an_act_is_refused_where_its_transition_belongs_to_another_act():
    """F-4.2-05: dispatching a halted task, or resuming a pending one, would leave fields that lie; a task that is not there
    is named."""
    for act in (change.start, change.requeue, change.resume, change.abandon):
        with pytest.raises(InputError, match="T-none"):
            act(state_of(x="PENDING"), "T-none", NOW)
    with pytest.raises(RefusedError, match="from HALTED to IN_PROGRESS"):
        change.start(state_of(x="HALTED"), "T-x", NOW)
    with pytest.raises(RefusedError, match="from PENDING to IN_PROGRESS"):
        change.resume(state_of(x="PENDING"), "T-x", NOW)
    with pytest.raises(RefusedError, match="from BLOCKED to PENDING"):
        change.requeue(state_of(w="HALTED", x=("BLOCKED", "w")), "T-x", NOW)
    for status in ("PENDING", "BLOCKED", "SHIPPED", "ABANDONED"):
        with pytest.raises(RefusedError, match=f"from {status} to SHIPPED"):
            task_changes.ship("T-x", entry(0, status), REF, [REF], NOW)
    for status in ("HALTED", "BLOCKED"):  # F-17.2-13, F-17.2-14, D-06-01
        assert task_changes.abandon("T-x", entry(0, status)).status is TaskStatus.ABANDONED


def test_a_blocked_task_may_have_an_escalation_of_its_own():
    """D-08-02: given to a blocked task only."""
    state = state_of(w="ABANDONED", x=("BLOCKED", "w"))
    told = change.set_escalation(state, "T-x", "ESC-00000009", LATER)
    assert told.tasks["T-x"].escalation_ref == "ESC-00000009"
    with pytest.raises(RefusedError, match="ABANDONED, not BLOCKED"):
        change.set_escalation(state, "T-w", "ESC-00000009", LATER)


def test_dependencies_can_be_dropped_and_not_added():
    """D-08-03: an id that the task does not depend on is refused."""
    state = state_of(v="PENDING", w="ABANDONED", x=("BLOCKED", "w"))
    assert change.set_dependencies(state, "T-x", [], LATER).tasks["T-x"].depends_on == []
    with pytest.raises(RefusedError, match="T-v"):
        change.set_dependencies(state, "T-x", ["T-v"], LATER)
    with pytest.raises(RefusedError, match="ABANDONED"):
        change.set_dependencies(state, "T-w", [], LATER)


def _halted_project():
    places = lay_out(spec_of_stories(("Import", ["One", "Two"])))
    state = change.start(initial_state("p", "1.0.0", places, NOW), places[0].task_id, NOW)
    return places, change.halt(state, places[0].task_id, "REJECT", "ESC-00000001", NOW)


def _parts(places, *parts):
    definitions = {place.task_id: place for place in places}
    new = [
        NewTask(
            name=name, description=name, acceptance_criteria=["returns 1", "raises"], depends_on=list(refs)
        )
        for name, *refs in parts
    ]
    return {part.task_id: first_entry(part) for part in parts_of(definitions, places[0].task_id, new)}


def test_a_split_task_is_abandoned_and_superseded():
    """F-17.2-06: its parts are PENDING, ordered after all others."""
    places, state = _halted_project()
    parts = _parts(places, ("First half",), ("Second half", "First half"))
    after = change.split(state, places[0].task_id, parts, LATER)
    old = after.tasks[places[0].task_id]
    assert (old.status, old.superseded_by) == ("ABANDONED", list(parts))
    made = [(after.tasks[part].status, after.tasks[part].declaration_order) for part in parts]
    assert made == [("PENDING", 2), ("PENDING", 3)]
    assert ProjectState.from_bytes(after.to_bytes(), "x") == after


def test_parts_that_do_not_fit_are_refused():
    """F-17.2-06, D7, F-4.2-05: none at all, taken ids, an order that is not the next, a wait for the task that they came
    from or for one that waits for it, and a task that runs."""
    places, state = _halted_project()
    whole, other = (place.task_id for place in places)
    ((name, part),) = _parts(places, ("Half",)).items()
    waiting = state.tasks[other].model_copy(update={"depends_on": [whole]})
    behind = state.model_copy(update={"tasks": {**state.tasks, other: waiting}})
    for given, parts, told in (
        (state, {}, "into nothing"),
        (state, {other: first_entry(places[1])}, "already taken"),
        (state, {name: part.model_copy(update={"declaration_order": 0})}, "declaration_order 0, not 2"),
        (state, {name: part.model_copy(update={"depends_on": [whole]})}, "would form a cycle"),
        (behind, _parts(places, ("Half", "TSK-002")), "would form a cycle"),
        (change.resume(state, whole, NOW), {name: part}, "from IN_PROGRESS to ABANDONED"),
    ):
        with pytest.raises(RefusedError, match=told):
            change.split(given, whole, parts, LATER)


def test_a_dependency_on_a_split_task_is_one_on_its_parts_and_theirs():
    """D-07-01, F-17.2-09: also after a second split, each part once, in order."""
    tasks = {
        "T-a": entry(0, "ABANDONED", superseded_by=["T-c", "T-d"]),
        "T-b": entry(1, "PENDING", ["T-a", "T-d"]),
        "T-c": entry(2, "ABANDONED", superseded_by=["T-e"]),
        "T-d": entry(3),
        "T-e": entry(4),
    }
    assert list(effective_dependencies(tasks, "T-b")) == ["T-e", "T-d"]


def test_declaration_order_survives_every_change():
    """F-3.3-05: set once, never changed."""
    state = state_of(x="PENDING", y=("PENDING", "x"))
    for step in (
        lambda s: change.start(s, "T-x", NOW),
        lambda s: change.halt(s, "T-x", "x", "ESC-00000001", NOW),
        lambda s: change.requeue(s, "T-x", NOW),
        lambda s: change.set_dependencies(s, "T-y", [], NOW),
    ):
        state = step(state)
        assert [task.declaration_order for task in state.tasks.values()] == [0, 1]
