"""What a person looks at: counts, reasons, and the DAG as text and Mermaid (DESIGN §9, F§4.2)."""

import re

import pytest
from hypothesis import given, settings

from specwright.domain.tasks.project_state import TaskStatus, effective_dependencies, mermaid, text_graph
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


def test_the_text_shows_every_task_with_those_that_it_waits_for():
    """F-3.3-05, D-08-01: one line for each task in declaration order, its dependencies behind it."""
    assert text_graph(_PROJECT).splitlines() == [
        "✓ TSK-001 Task 0  SHIPPED",
        "✗ TSK-002 Task 1  HALTED  (after TSK-001)",
        "○ TSK-003 Task 2  PENDING  (after TSK-001)",
        "◌ TSK-004 Task 3  BLOCKED  (after TSK-002, TSK-003)",
        "◌ TSK-005 Task 4  BLOCKED  (after TSK-004)",
        "○ TSK-006 Task 5  PENDING",
    ]


def test_a_split_task_is_drawn_with_its_parts():
    """D-07-01: who waited for it waits for them."""
    tasks = {
        "T-x": entry(0, "ABANDONED", superseded_by=["T-a"]),
        "T-y": entry(1, "PENDING", ["T-x"]),
        "T-a": entry(2),
    }
    state = state_of(x="PENDING").model_copy(update={"tasks": tasks})
    assert text_graph(state).splitlines() == [
        "– TSK-001 Task 0  ABANDONED  (split into TSK-003)",
        "○ TSK-002 Task 1  PENDING  (after TSK-003)",
        "○ TSK-003 Task 2  PENDING",
    ]
    assert "  t2 --> t1\n" in mermaid(state)
    assert "  t0 -.-> t2\n" in mermaid(state)


@settings(deadline=None)
@given(states())
def test_every_task_and_every_dependency_is_drawn_once(state):
    """F-4.2-03: in both forms."""
    edges = [(ref, t) for t in state.tasks for ref in effective_dependencies(state.tasks, t)]
    text, chart = text_graph(state), mermaid(state)
    for task in state.tasks.values():
        (line,) = re.findall(rf"^\S {task.spec_task_id} .*$", text, re.MULTILINE)
        waits = re.findall(r"\(after (.*?)\)", line)
        assert (
            waits
            == [", ".join(state.tasks[ref].spec_task_id for ref, t in edges if state.tasks[t] is task)][
                : len(waits)
            ]
        )
        assert bool(waits) is any(state.tasks[t] is task for _, t in edges)
        assert chart.count(f'\n  t{task.declaration_order}["') == 1
    orders = {t: task.declaration_order for t, task in state.tasks.items()}
    assert sorted(re.findall(r"t(\d+) --> t(\d+)", chart)) == sorted(
        (str(orders[before]), str(orders[after])) for before, after in edges
    )


@pytest.mark.parametrize(
    "name",
    ['quote " end', "<b>&amp;</b>", "a\nb\u2028c", "]] --> x", "#35;", "\x00\x1b[31m", "`code`", "日本語 🎉"],
)
def test_a_name_cannot_break_out_of_its_place(name):
    """F-4.1-05: names come from a spec; here they are text, whatever they contain."""
    state = state_of(x="PENDING", y=("PENDING", "x"))
    tasks = {**state.tasks, "T-x": state.tasks["T-x"].model_copy(update={"task": name})}
    state = state.model_copy(update={"tasks": tasks})
    assert len(text_graph(state).splitlines()) == 2
    assert not set(text_graph(state)) & {"\x00", "\x1b", "\u2028"}
    (label,) = re.findall(r'^  t0\["(.*)"\]:::pending$', mermaid(state), re.MULTILINE)
    assert not set(label) & set('"<>`[]')


def test_a_status_has_its_sign_and_its_colour():
    """F-4.2-05: six statuses, six of each."""
    every = state_of(**{f"t{n}": status.value for n, status in enumerate(TaskStatus)})
    assert len({line[0] for line in text_graph(every).splitlines()}) == 6
    fills = re.findall(r"classDef (\w+) fill:(#\w+)", mermaid(every))
    assert len({fill for _, fill in fills}) == len(fills) == 6
