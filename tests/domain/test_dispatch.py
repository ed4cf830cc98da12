"""Dispatch, blocking and the loop's outcome (F§3.3, F§4.2, D5, D7, D8)."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specwright.domain.tasks.project_state import ProjectState, TaskStatus
from specwright.domain.tasks.task_board import Outcome, Reasons, TaskBoard
from specwright.errors import InputError
from testkit.domain import task_states as change
from testkit.domain.dispatch_model import eligible, should_be_blocked
from testkit.domain.product_specs import NOW, REF, entry, state_of, states
from testkit.domain.task_states import blocked, derived, in_progress, next_task, outcome

_AGAIN = state_of(x="HALTED", y=("SHIPPED", "x"), z=("PENDING", "y"), other="HALTED")
"""A change runs X again, and it halts; Y has shipped already."""


@example(_AGAIN)
@given(states())
def test_blocked_is_exactly_what_the_invariant_says(state: Any):
    """F-3.3-07, D-05-01: against the definition, over random DAGs with halted, abandoned and split tasks; also through a
    task that has shipped."""
    assert blocked(state) == should_be_blocked(state)


@given(states())
def test_rederiving_makes_the_invariant_true_and_touches_nothing_else(state: Any):
    """F-3.3-07: afterwards BLOCKED iff blocked; other statuses and fields stay; twice is once."""
    after = derived(state)
    assert {t for t, task in after.tasks.items() if task.status == "BLOCKED"} == should_be_blocked(state)
    for task_id, task in state.tasks.items():
        if task.status not in ("PENDING", "BLOCKED"):
            assert after.tasks[task_id] == task
    assert derived(after) == after
    assert ProjectState.from_bytes(after.to_bytes(), "x") == after


@given(states(max_tasks=8))
def test_dispatch_selects_what_the_documented_algorithm_selects(state: Any):
    """F-3.3-06: PENDING, all dependencies SHIPPED, lowest order; asked twice, the same."""
    expected = next(iter(eligible(derived(state))), None)
    assert next_task(state) == expected
    assert next_task(state) == expected


@given(states(), st.randoms(use_true_random=False))
def test_dispatch_does_not_depend_on_the_order_of_the_file(state: Any, random: Any):
    """F-3.3-06: a pure function of the contents, also of a copy that was written and read."""
    assert next_task(ProjectState.from_bytes(state.to_bytes(), "x")) == next_task(state)
    names = list(state.tasks)
    random.shuffle(names)
    assert next_task(state.model_copy(update={"tasks": {n: state.tasks[n] for n in names}})) == next_task(
        state
    )


def _documents_clear_rule(state: Any):
    """The fixed-point re-evaluation as F§3.3 and F§4.2 write it: direct dependencies only."""
    statuses = {task_id: task.status for task_id, task in state.tasks.items()}
    changed = True
    while changed:
        candidates = [task_id for task_id, status in statuses.items() if status == "BLOCKED"]
        cleared = [
            t for t in candidates if all(statuses[ref] != "HALTED" for ref in state.tasks[t].depends_on)
        ]
        statuses.update(dict.fromkeys(cleared, TaskStatus.PENDING))
        changed = bool(cleared)
    return {task_id for task_id, status in statuses.items() if status == "BLOCKED"}


def test_the_documents_fixed_point_rule_unblocks_a_task_behind_a_halted_one():
    """D-05-02: X(HALTED) <- Y <- Z, after an unrelated halt the rule frees Z, the invariant does not."""
    waiting = {"y": ("PENDING", "x"), "z": ("PENDING", "y"), "behind": ("PENDING", "unrelated")}
    state = derived(state_of(x="HALTED", unrelated="HALTED", **waiting))
    resolved = change.requeue(state, "T-unrelated", NOW)
    assert _documents_clear_rule(resolved) == {"T-y"}
    assert blocked(resolved) == {"T-y", "T-z"}
    after = derived(resolved)
    assert [after.tasks[t].status for t in ("T-y", "T-z", "T-behind")] == ["BLOCKED", "BLOCKED", "PENDING"]


def _of(**tasks: Any):
    """A state of entries."""
    named = {f"T-{name}": task for name, task in tasks.items()}
    return state_of(x="PENDING").model_copy(update={"tasks": named})


def _split(part: str = "PENDING", last: str = "PENDING"):
    """A task that was split into two, and one that waits for it."""
    x, y = entry(0, "ABANDONED", superseded_by=["T-a", "T-b"]), entry(1, "PENDING", ["T-x"])
    return _of(x=x, y=y, a=entry(2, part), b=entry(3, last))


def test_abandoning_blocks_and_superseding_does_not():
    """F-17.2-09, F-17.2-13, D-07-01: dependents of a split task wait for its parts, unblocked."""
    assert blocked(state_of(x="ABANDONED", y=("PENDING", "x"))) == {"T-y"}
    state = _split("SHIPPED")
    assert not blocked(state)
    assert next_task(state) == "T-b"
    assert next_task(_split("SHIPPED", "SHIPPED")) == "T-y"
    assert why_not(state, "T-y") == "waits for T-b which is next"
    assert why_not(state, "T-x") == "was split into T-a, T-b"


def test_the_lowest_order_goes_first_whatever_its_place_in_the_file():
    """F-3.3-06, D-09-01: after a crash the running task is run again."""
    assert next_task(_of(c=entry(2), a=entry(0, "SHIPPED"), b=entry(1, depends_on=["T-a"]))) == "T-b"
    assert in_progress(state_of(x="SHIPPED", y="IN_PROGRESS")) == "T-y"
    assert in_progress(state_of(x="SHIPPED")) is None


OUTCOMES: list[tuple[Any, Outcome]] = [
    (state_of(x="PENDING"), Outcome.RUNNABLE),
    (state_of(x="IN_PROGRESS"), Outcome.RUNNABLE),
    (state_of(x="SHIPPED", y="ABANDONED"), Outcome.COMPLETE),
    (state_of(x="HALTED", y="PENDING"), Outcome.HALTED),
    (state_of(x="HALTED", y="IN_PROGRESS"), Outcome.RUNNABLE),
    (state_of(x="SHIPPED", y="HALTED"), Outcome.HALTED),
    (state_of(x="ABANDONED", y=("BLOCKED", "x")), Outcome.STALLED),
    (state_of(x="ABANDONED", y=("BLOCKED", "x"), z="PENDING"), Outcome.RUNNABLE),
    (_of(x=entry(0, "ABANDONED", superseded_by=["T-a"]), a=entry(1, "SHIPPED")), Outcome.COMPLETE),
]


def test_the_loop_goes_on_or_says_how_it_ended():
    """F-3.3-09, D-08-01, F§17.3: a running task first, then any halt, then complete, runnable, stalled; a split task's
    parts have shipped."""
    assert [(state, outcome(state)) for state, _ in OUTCOMES] == OUTCOMES


def test_whoever_stands_directly_behind_an_abandoned_task_is_named():
    """D-08-02: each gets an escalation of its own; who stands further behind does not."""
    state = derived(state_of(x="ABANDONED", y=("PENDING", "x"), z=("PENDING", "y"), w=("PENDING", "x")))
    assert TaskBoard(state).stuck_behind_abandoned() == ["T-y", "T-w"]


def test_a_dropped_dependency_frees_the_task_and_settles_its_escalation():
    """D-08-03: the task becomes PENDING and runs."""
    state = derived(state_of(x="ABANDONED", y=("PENDING", "x")))
    state = change.set_escalation(state, "T-y", "ESC-00000009", NOW)
    freed = derived(change.set_dependencies(state, "T-y", [], NOW))
    assert (freed.tasks["T-y"].status, freed.tasks["T-y"].escalation_ref) == ("PENDING", None)
    assert outcome(freed) is Outcome.RUNNABLE


_WHY = derived(
    state_of(
        done="SHIPPED",
        x="HALTED",
        y=("PENDING", "x"),
        z=("PENDING", "done", "y"),
        free="PENDING",
        after=("PENDING", "free"),
    )
)


REASONS: list[tuple[Any, str, str]] = [
    (_WHY, "T-z", "waits for T-y which waits for T-x which waits for ESC-00000001"),
    (_WHY, "T-x", "waits for ESC-00000001"),
    (_WHY, "T-done", f"has shipped as {REF}"),
    (_WHY, "T-free", "is ready; the project waits for ESC-00000001"),
    (_WHY, "T-after", "waits for T-free which is ready; the project waits for ESC-00000001"),
    (state_of(x="PENDING", y="PENDING"), "T-x", "is next"),
    (state_of(x="PENDING", y="PENDING"), "T-y", "is ready and waits its turn; T-x is next"),
    (state_of(x="PENDING", y=("PENDING", "x")), "T-y", "waits for T-x which is next"),
    (state_of(x="IN_PROGRESS", y=("PENDING", "x")), "T-y", "waits for T-x which is being worked on"),
    (state_of(x="IN_PROGRESS", y="PENDING"), "T-y", "is ready and waits its turn; T-x is being worked on"),
    (state_of(x="ABANDONED", y=("BLOCKED", "x")), "T-y", "waits for T-x which was abandoned"),
    (state_of(x="ABANDONED"), "T-x", "was abandoned"),
]


def test_a_task_says_why_it_does_not_run():
    """D-08-01, D-08-02: the chain from the task to what holds it up, and to the question about it."""
    assert [(state, task, why_not(state, task)) for state, task, _ in REASONS] == REASONS
    state = change.set_escalation(state_of(x="ABANDONED", y=("BLOCKED", "x")), "T-y", "ESC-00000009", NOW)
    assert why_not(state, "T-y") == "waits for T-x which was abandoned; ESC-00000009 asks what to do about it"
    with pytest.raises(InputError, match="T-none"):
        why_not(state, "T-none")


def test_a_long_chain_is_told_shortly():
    """D-08-01: a person reads it."""
    state = state_of(t0="HALTED", **{f"t{n}": ("PENDING", f"t{n - 1}") for n in range(1, 50)})
    told = why_not(derived(state), "T-t49")
    assert told.startswith("waits for T-t48 which waits for T-t47 which")
    assert told.endswith("which waits for 43 more in a row which waits for T-t0 which waits for ESC-00000001")


@given(states())
def test_every_task_of_every_state_can_say_why(state: Any):
    """D-08-01: whatever the state, a sentence; a blocked task's ends at a halted or abandoned one."""
    state = derived(state)
    for task_id, task in state.tasks.items():
        told = why_not(state, task_id)
        assert told
        if task.status is TaskStatus.BLOCKED:
            assert "ESC-00000001" in told or "was abandoned" in told


def why_not(state: Any, task_id: Any):
    """Why one task is not running."""
    return Reasons(state).of(task_id)


@given(states(statuses=(TaskStatus.PENDING,)), st.data())
def test_every_run_ends_complete_halted_or_stalled(state: Any, data: Any):
    """D-08-01, F-3.3-06: at most one dispatch for each task, and then the loop has ended."""
    for _ in range(len(state.tasks)):
        if outcome(state) is not Outcome.RUNNABLE:
            break
        task_id = next_task(state)
        running = change.start(state, task_id, NOW)
        if data.draw(st.integers(0, 4)):
            state = derived(change.ship(running, task_id, REF, [REF], NOW))
        else:
            halted = change.halt(running, task_id, "x", "ESC-00000001", NOW)
            state = derived(change.abandon(halted, task_id, NOW) if data.draw(st.booleans()) else halted)
    assert outcome(state) in (Outcome.COMPLETE, Outcome.HALTED, Outcome.STALLED)
