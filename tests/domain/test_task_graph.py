"""What a person looks at: why a task is not running (DESIGN §9)."""

import re

from hypothesis import given, settings

from specwright.cli.pages.modules import tasks_page
from specwright.documents.modules import TaskRow, Tasks
from specwright.domain.tasks.project_state import effective_dependencies
from specwright.domain.tasks.task_board import Reasons, why_each
from testkit.domain.product_specs import entry, state_of, states
from testkit.domain.task_states import derived

_PROJECT = derived(
    state_of(
        a="SHIPPED",
        b=("HALTED", "a"),
        c=("PENDING", "a"),
        d=("PENDING", "b", "c"),
        e=("PENDING", "d"),
        f="PENDING",
    )
)


@settings(deadline=None)
@given(states())
def test_the_reasons_of_all_tasks_are_those_of_each(state):
    """D-08-01: in declaration order, the same words as for one task alone."""
    state = derived(state)
    told = why_each(state)
    assert list(told) == sorted(state.tasks, key=lambda t: state.tasks[t].declaration_order)
    assert told == {task_id: Reasons(state).of(task_id) for task_id in state.tasks}


@settings(deadline=None)
@given(states())
def test_a_chain_of_reasons_follows_dependencies(state):
    """D-08-01: each task of "waits for X which waits for Y" depends on the next."""
    state = derived(state)
    for task_id, told in why_each(state).items():
        before = task_id
        for link in re.findall(r"waits for (T-\w+)", told.split(" more in a row")[0]):
            assert link in effective_dependencies(state.tasks, before)
            before = link


def test_a_task_that_shipped_names_all_its_modules(monkeypatch):
    """The table of tasks and the studio show what a task has shipped, not only the module that others call."""
    monkeypatch.setenv("COLUMNS", "160")
    refs = ["MM-00000002@1.0.0", "MM-00000001@1.0.0"]
    task = entry(0, "SHIPPED", module_ref=refs[1], module_refs=refs)
    state = _PROJECT.model_copy(update={"tasks": {"T-a": task}})
    why = why_each(state)["T-a"]
    assert why == "has shipped as MM-00000002@1.0.0, MM-00000001@1.0.0"
    row = TaskRow(**dict(task), task_id="T-a", why=why)
    page = tasks_page(Tasks(tasks=[row]), state, dict(zip(refs, ("cents", "money"), strict=True)))
    assert "MM-00000002@1.0.0  cents, MM-00000001@1.0.0  money" in page.render()
