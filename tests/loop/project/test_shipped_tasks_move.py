"""What a change does to the board and to the state that is read from the log (D38)."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specwright.application.announce import review, task_event
from specwright.domain.tasks import task_changes
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import TaskBoard
from specwright.errors import CorruptionError
from testkit.domain.product_specs import LATER, REF, entry, spec_of_graph, states
from testkit.loop.project_workbench import ProjectWorkbench


@settings(deadline=None)
@given(states(), st.data())
def test_a_board_goes_on_as_if_it_had_begun_there(state, data):
    """After shipped tasks were reopened, removed or added, it answers as a board that begins with that state (D-38-11,
    D-05-01)."""
    board = TaskBoard(state)
    shipped = [name for name in state.tasks if state.tasks[name].status is TaskStatus.SHIPPED]
    for name in shipped:
        match data.draw(st.sampled_from(["reopen", "remove", "stay"])):
            case "reopen":
                depends_on = state.tasks[name].depends_on[: data.draw(st.integers(0, 4))]
                board.change(name, LATER, task_changes.reopen, entry(0, depends_on=depends_on))
            case "remove":
                board.change(name, LATER, task_changes.remove)
            case _:
                board.change(name, LATER, task_changes.replace_modules, {REF: REF.replace("1.0.0", "1.0.1")})
    as_if_begun_there(board)
    known = data.draw(st.lists(st.sampled_from(list(state.tasks)), unique=True, max_size=2))
    board.add("T-added", LATER, entry(len(state.tasks), depends_on=known))
    as_if_begun_there(board)


def as_if_begun_there(board: TaskBoard) -> None:
    """Its answers are those of a board that begins with its state."""
    fresh = TaskBoard(board.state())
    assert fresh.state() == board.state()
    assert (fresh.next_task(), fresh.outcome()) == (board.next_task(), board.outcome())
    for name in board.tasks:
        assert fresh.is_ready(name) == board.is_ready(name)
        assert fresh.freed_by(name) == board.freed_by(name)


def test_without_an_approved_change_no_shipped_task_moves(tmp_path: Path):
    """The log that says so is no log of ours: a next attempt, a removal, an added task, a version sealed by code
    (D-38-11)."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(spec_of_graph([[], [0]]))
        assert bench.run() == "COMPLETE"
        (first, *_) = bench.state.tasks
        sha256 = bench.store.define(bench.projection.definitions[first].to_bytes())
        again = task_event("task.created", "TSK-001", 2, {"definition_sha256": sha256})
        added = task_event("task.created", "TSK-009", 1, {"definition_sha256": sha256})
        removed = review("task.removed", sha256, first)
        for event in (again, removed, added):
            with pytest.raises(CorruptionError, match="no change is approved"):
                bench.tell(event, scope=event.stream_id)
