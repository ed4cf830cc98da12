"""The bytes of `state_machine.json` (F§4.2, D29)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.product_specs import LATER, state_of, states
from specwright.domain import state_changes as change
from specwright.domain.project_state import ProjectState
from specwright.domain.state_file import StateFile


@settings(deadline=None)
@given(st.lists(states(max_tasks=5), min_size=1, max_size=4))
def test_the_file_has_the_bytes_of_the_state_whatever_was_rendered_before(drawn):
    """F-4.2-01: one after the other, tasks of the same names with other contents."""
    file = StateFile()
    for state in drawn:
        assert file.render(state) == state.to_bytes()
        assert ProjectState.from_bytes(file.render(state), "state_machine.json") == state


@settings(deadline=None)
@given(st.text(max_size=20))
def test_any_name_is_written_as_the_state_writes_it(name):
    """F-4.2-02: line breaks of every kind, quotes, other alphabets."""
    state = state_of(x="PENDING", y=("PENDING", "x"))
    named = state.tasks["T-x"].model_copy(update={"task": name.encode("utf-8", "replace").decode()})
    state = state.model_copy(update={"tasks": {**state.tasks, "T-x": named}})
    assert StateFile().render(state) == state.to_bytes()


def test_a_changed_task_is_rendered_again():
    """D-29-04: what is kept of the last time never hides a change."""
    file = StateFile()
    state = state_of(x="PENDING", y="PENDING")
    file.render(state)
    after = change.start(state, "T-x", LATER)
    assert file.render(after) == after.to_bytes() != state.to_bytes()


def test_a_project_without_tasks_has_a_file_too():
    """F-4.2-01."""
    state = state_of(x="PENDING").model_copy(update={"tasks": {}})
    assert StateFile().render(state) == state.to_bytes()
