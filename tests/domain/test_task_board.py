"""The board says of a changing state what the definitions say of each state by itself (F§3.3, D5, D29, DESIGN §11)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import ProjectState, TaskStatus, effective_dependencies
from specwright.domain.tasks.task_board import Outcome, TaskBoard
from specwright.errors import InputError, RefusedError, SpecwrightError
from testkit.domain.dispatch_model import eligible, outcome, ready, with_blocked
from testkit.domain.product_specs import LATER, NOW, REF, entry, state_of, states

_numbers = st.integers(0, 30)
_CHANGES = {
    "start": (task_changes.start,),
    "ship": (task_changes.ship, REF, [REF], LATER),
    "halt": (task_changes.halt, "x", "ESC-00000001"),
    "requeue": (task_changes.requeue,),
    "resume": (task_changes.resume,),
    "abandon": (task_changes.abandon,),
    "ask": (task_changes.set_escalation, "ESC-00000002"),
    "drop": (lambda name, entry: task_changes.set_dependencies(name, entry, entry.depends_on[1:]),),
}


def _freed_by(state: ProjectState, task_id: str) -> list[str]:
    """By the definition: waiting tasks that depend on it, and of which everything else has shipped."""
    tasks = state.tasks
    return [
        other
        for other in sorted(tasks, key=lambda t: tasks[t].declaration_order)
        if tasks[other].status in ("PENDING", "BLOCKED")
        and task_id in (refs := effective_dependencies(tasks, other))
        and all(ref == task_id or tasks[ref].status == "SHIPPED" for ref in refs)
    ]


class BoardAndModel(RuleBasedStateMachine):
    """The same changes, legal and illegal, to a board and to a state by the definitions."""

    @initialize(state=states(max_tasks=10))
    def begin(self, state):
        """Any statuses over any DAG."""
        self.board = TaskBoard(state)
        self.state = with_blocked(state)

    def _task(self, number):
        return list(self.state.tasks)[number % len(self.state.tasks)]

    @rule(number=_numbers, name=st.sampled_from(sorted(_CHANGES)))
    def change_one(self, number, name):
        """A change of one task; both take it, or both refuse it and stay as they were."""
        self._change(self._task(number), name)

    @rule(end=st.sampled_from(["ship", "ship", "halt"]))
    def work(self, end):
        """What the loop does: dispatch the next task, and end it."""
        if tasks := eligible(self.state):
            self._change(tasks[0], "start")
            self._change(tasks[0], end)

    @rule(number=_numbers, name=st.sampled_from(["requeue", "ship", "abandon"]))
    def resolve(self, number, name):
        """What a person does to one of the halted tasks."""
        if halted := [t for t, entry in self.state.tasks.items() if entry.status == "HALTED"]:
            self._change(halted[number % len(halted)], name)

    def _change(self, task_id, name):
        before = self.board.state()
        change, *args = _CHANGES[name]
        try:
            entry = change(task_id, self.state.tasks[task_id], *args)
        except SpecwrightError as refused:
            with pytest.raises(type(refused)):
                self.board.change(task_id, LATER, change, *args)
            assert self.board.state() == before
            return
        self.board.change(task_id, LATER, change, *args)
        self._replace({**self.state.tasks, task_id: entry})

    def _replace(self, tasks):
        self.state = with_blocked(self.state.model_copy(update={"tasks": tasks, "updated_at": LATER}))

    @rule(number=_numbers, other=_numbers)
    def split(self, number, other):
        """A task becomes two, the first behind any task (D7); a split that is refused changes nothing."""
        task_id = self._task(number)
        first = 1 + max(task.declaration_order for task in self.state.tasks.values())
        parts = {
            f"T-{order:02d}": entry(order, "PENDING", refs)
            for order, refs in ((first, [self._task(other)]), (first + 1, [f"T-{first:02d}"]))
        }
        try:
            self.board.split(task_id, LATER, parts)
        except RefusedError:
            return
        whole = task_changes.abandon(task_id, self.state.tasks[task_id], list(parts))
        self._replace({**self.state.tasks, task_id: whole, **parts})

    @invariant()
    def the_board_says_what_the_state_says(self):
        """F-3.3-06, F-3.3-07, D-05-01: every answer, and the state itself."""
        tasks = self.state.tasks
        assert self.board.state() == self.state
        assert self.board.outcome() == outcome(self.state)
        assert self.board.next_task() == next(iter(eligible(self.state)), None)
        running = [t for t, task in tasks.items() if task.status == "IN_PROGRESS"]
        assert self.board.in_progress() == min(
            running, key=lambda t: tasks[t].declaration_order, default=None
        )
        assert len(self.board) == len(tasks)
        for status in TaskStatus:
            assert self.board.count(status) == sum(e.status is status for e in tasks.values())
        for task_id, task in tasks.items():
            assert self.board.entry(task_id) == task
            assert self.board.freed_by(task_id) == _freed_by(self.state, task_id)
            assert self.board.is_ready(task_id) is all(ready(self.state, ref) for ref in task.depends_on)


TestBoardAndModel = BoardAndModel.TestCase
TestBoardAndModel.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)


@settings(deadline=None)
@given(states())
def test_a_board_begins_with_what_is_true_of_its_state(state):
    """D-05-01: BLOCKED is derived when it is made, from whatever the state claims."""
    assert TaskBoard(state).state() == with_blocked(state)


def test_a_state_that_was_asked_for_does_not_change_with_the_board():
    """D-29-04: who looks at all tasks holds a value."""
    board = TaskBoard(state_of(x="PENDING", y=("PENDING", "x")))
    before = board.state()
    board.change("T-x", LATER, task_changes.start)
    assert (before.tasks["T-x"].status, before.updated_at) == ("PENDING", NOW)
    assert (board.state().tasks["T-x"].status, board.state().updated_at) == ("IN_PROGRESS", LATER)
    assert board.state() is board.state()


def test_a_change_touches_the_task_and_its_dependents_only():
    """D-S11-03: whatever else the project holds, a step does not walk it."""
    board = TaskBoard(state_of(**{f"t{n}": "PENDING" for n in range(50)}, after=("PENDING", "t0")))
    before = dict(board.tasks)
    board.change("T-t0", LATER, task_changes.start)
    board.change("T-t0", LATER, task_changes.halt, "x", "ESC-00000001")
    assert {name for name, task in board.tasks.items() if task is not before[name]} == {"T-t0", "T-after"}


@pytest.mark.parametrize("resolved", [("T-x", "T-y"), ("T-y", "T-x")])
def test_a_task_behind_two_halts_in_a_row_waits_for_both(resolved):
    """D-05-01: X(HALTED) <- Y(HALTED) <- Z <- W, whichever is resolved first."""
    board = TaskBoard(state_of(x="HALTED", y=("HALTED", "x"), z=("PENDING", "y"), w=("PENDING", "z")))
    for task_id, waiting in zip(resolved, ("BLOCKED", "PENDING"), strict=True):
        board.change(task_id, LATER, task_changes.requeue)
        assert {board.entry(ref).status for ref in ("T-z", "T-w")} == {waiting}
        assert board.entry("T-y").status in ("HALTED", waiting)
    assert board.next_task() == "T-x"


def test_an_unknown_task_is_refused_by_name():
    """F-4.2-05."""
    board = TaskBoard(state_of(x="PENDING"))
    with pytest.raises(InputError, match="T-none"):
        board.change("T-none", LATER, task_changes.start)


def test_the_modules_of_a_split_task_are_those_of_its_parts():
    """D-07-01, F-17.2-09: who depended on it is told their contracts."""
    tasks = {
        "T-x": entry(0, "ABANDONED", superseded_by=["T-a", "T-b"]),
        "T-a": entry(1, "SHIPPED"),
        "T-b": entry(2, "ABANDONED", superseded_by=["T-c"]),
        "T-c": entry(3, "SHIPPED", module_ref="MM-00000003@1.0.0", module_refs=["MM-00000003@1.0.0"]),
    }
    board = TaskBoard(state_of(x="PENDING").model_copy(update={"tasks": tasks}))
    assert board.modules_of("T-x") == [REF, "MM-00000003@1.0.0"]
    assert board.outcome() is Outcome.COMPLETE
