"""All 81 pairs of state and event, through admission (W Required Conformance Tests, D33)."""

from itertools import product
from typing import Any

import pytest

from specwright.wire import data
from specwright.wire.admission import Admission, default_admission
from specwright.wire.ledger import Change, Ledger
from specwright.wire.rejection import Rejection
from specwright.wire.tables import Tables, default_tables
from specwright.wire.validation import Schemas
from wire.story import Story

# The table of the design, written out once more by hand: the contract is checked against it.
LEGAL = {
    "task.created": {"none": "created"},
    "task.available": {"created": "available", "blocked": "available", "claimed": "available"},
    "task.claimed": {"available": "claimed"},
    "task.started": {"claimed": "working", "blocked": "working"},
    "task.blocked": dict.fromkeys(("created", "available", "claimed", "working"), "blocked"),
    "artifact.ready": {"working": "working"},
    "task.complete": {"working": "completed"},
    "task.failed": dict.fromkeys(("claimed", "working", "blocked"), "failed"),
    "task.cancelled": dict.fromkeys(("created", "available", "claimed", "working", "blocked"), "cancelled"),
}
STATES = ("none", "created", "available", "claimed", "working", "blocked", "completed", "failed", "cancelled")
TERMINAL = {"completed", "failed", "cancelled"}
PAIRS = list(product(STATES, LEGAL))

_WORKING = ("task.created", "task.available", "task.claimed", "task.started", "artifact.ready")
PATHS: dict[str, tuple[str, ...]] = {
    "none": (),
    "created": _WORKING[:1],
    "available": _WORKING[:2],
    "claimed": _WORKING[:3],
    "working": _WORKING,
    "blocked": (*_WORKING, "task.blocked"),
    "completed": (*_WORKING, "task.complete"),
    "failed": (*_WORKING, "task.failed"),
    "cancelled": (*_WORKING, "task.cancelled"),
}
BLOCKED_UNCLAIMED = (*_WORKING[:2], "task.blocked")


def decision_after(path: tuple[str, ...], event: str, rules: Admission | None = None) -> Any:
    """What admission says to an event after a path."""
    rules = rules or default_admission()
    ledger, story = Ledger(), Story()
    for earlier in path:
        change = rules.admit(ledger, story.wire(earlier))
        assert isinstance(change, Change), (earlier, change)
        ledger.add(change)
    return rules.admit(ledger, story.wire(event))


def legal_after(state: str, event: str) -> tuple[str, ...] | None:
    """A path to the state after which the event is legal, None if there is none."""
    if state not in LEGAL[event]:
        return None
    return BLOCKED_UNCLAIMED if (state, event) == ("blocked", "task.available") else PATHS[state]


def test_there_are_81_pairs_and_21_of_them_are_legal():
    """The contract holds nine states, nine task events and exactly the 21 pairs of the design (D-33-01)."""
    tables = default_tables()

    assert len(PAIRS) == 81
    assert set(tables.terminal) == set(STATES)
    assert {event for event, rule in tables.events.items() if rule.is_task_event} == set(LEGAL)
    assert {pair: step.to for pair, step in tables.transitions.items()} == {
        (state, event): LEGAL[event][state] for state, event in PAIRS if state in LEGAL[event]
    }
    assert len(tables.transitions) == 21


@pytest.mark.parametrize(("state", "event"), [pair for pair in PAIRS if legal_after(*pair) is not None])
def test_an_allowed_transition_is_accepted(state: str, event: str):
    """Every allowed transition is accepted and leads to the state of the table (W-2-04)."""
    path = legal_after(state, event)
    assert path is not None

    decision = decision_after(path, event)

    assert isinstance(decision, Change)
    assert decision.stream.task is not None
    assert decision.stream.task.state == LEGAL[event][state]


@pytest.mark.parametrize(("state", "event"), [pair for pair in PAIRS if legal_after(*pair) is None])
def test_a_disallowed_transition_is_rejected(state: str, event: str):
    """Every disallowed transition is rejected, on a terminal stream as such (W-2-05, W-6-07)."""
    decision = decision_after(PATHS[state], event)

    assert isinstance(decision, Rejection)
    assert decision.code == ("stream.terminal" if state in TERMINAL else "task.transition")


@pytest.mark.parametrize(
    ("path", "event"), [(BLOCKED_UNCLAIMED, "task.started"), (PATHS["blocked"], "task.available")]
)
def test_what_a_blocked_task_may_do_depends_on_whether_it_is_claimed(path: tuple[str, ...], event: str):
    """Blocked and unclaimed cannot start; blocked and claimed cannot become available (D-33-01)."""
    decision = decision_after(path, event)

    assert isinstance(decision, Rejection)
    assert decision.code == "task.transition"


def test_a_released_claim_is_forgotten():
    """claimed -> available releases: a block after it finds the task unclaimed (D33)."""
    path = ("task.created", "task.available", "task.claimed", "task.available", "task.blocked")

    assert isinstance(decision_after(path, "task.started"), Rejection)
    assert isinstance(decision_after(path, "task.available"), Change)


@pytest.mark.parametrize("state", STATES)
def test_every_state_reaches_a_terminal_one(state: str):
    """No task is stuck for ever (D-33-01)."""
    reached = {state}
    for _ in STATES:
        reached |= {
            step.to for (source, _), step in default_tables().transitions.items() if source in reached
        }

    assert reached & TERMINAL


@pytest.mark.parametrize("event", sorted(LEGAL))
def test_every_false_category_is_refused(event: str):
    """`state` is verified against the table, never trusted (D-34-01, W-3-05)."""
    state = next(iter(LEGAL[event]))
    path = legal_after(state, event) or ()
    ledger, story = Ledger(), Story()
    for earlier in path:
        ledger.add(default_admission().admit(ledger, story.wire(earlier)))  # pyright: ignore
    wire = story.wire(event)
    categories = {rule.category for rule in default_tables().events.values()} - {wire["state"]["category"]}

    for category in categories:
        decision = default_admission().admit(ledger, wire | {"state": wire["state"] | {"category": category}})
        assert isinstance(decision, Rejection)
        assert decision.code == "state.category"
    flipped = wire["state"] | {"terminal": not wire["state"]["terminal"]}
    assert default_admission().admit(ledger, wire | {"state": flipped}).code == "state.terminal"  # pyright: ignore


def test_the_code_reads_the_contract_and_repeats_nothing_of_it():
    """Change the JSON and the behaviour changes (W-1-05)."""
    machine: Any = data.contract("task-state-machine")
    rows = [
        row for row in machine["transitions"] if (row["from"], row["event"]) != ("created", "task.available")
    ]
    other = Tables.of(machine | {"transitions": rows}, data.contract("event-state-map"))
    rules = Admission(other, Schemas(data.schemas(), other))

    assert isinstance(decision_after(("task.created",), "task.available"), Change)
    assert isinstance(decision_after(("task.created",), "task.available", rules), Rejection)
