"""All 81 pairs of state and event, through admission (W Required Conformance Tests, D33)."""

import ast
from itertools import product
from pathlib import Path
from typing import Any

import agent_wire
from agent_wire.admission import Admission, Schemas, default_admission
from agent_wire.errors import Rejection
from agent_wire.stream import AdmissionState, Change
from agent_wire.tables import Tables, contract, default_tables, schemas
from testkit.table import table
from wire_testkit.story import Story

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
TABLES_OF_CODE = default_tables()

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
    state, story = AdmissionState(), Story()
    for earlier in path:
        change = rules.admit(state, story.wire(earlier))
        assert isinstance(change, Change), (earlier, change)
        state.add(change)
    return rules.admit(state, story.wire(event))


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


@table(pair for pair in PAIRS if legal_after(*pair) is not None)
def test_an_allowed_transition_is_accepted(state: str, event: str):
    """Every allowed transition is accepted and leads to the state of the table (W-2-04)."""
    path = legal_after(state, event)
    assert path is not None

    decision = decision_after(path, event)

    assert isinstance(decision, Change)
    assert decision.stream.task is not None
    assert decision.stream.task.state == LEGAL[event][state]


@table(pair for pair in PAIRS if legal_after(*pair) is None)
def test_a_disallowed_transition_is_rejected(state: str, event: str):
    """Every disallowed transition is rejected, on a terminal stream as such (W-2-05, W-6-07)."""
    decision = decision_after(PATHS[state], event)

    assert isinstance(decision, Rejection)
    assert decision.code == ("stream.terminal" if state in TERMINAL else "task.transition")


@table([(BLOCKED_UNCLAIMED, "task.started"), (PATHS["blocked"], "task.available")])
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


@table(STATES)
def test_every_state_reaches_a_terminal_one(state: str):
    """No task is stuck for ever (D-33-01)."""
    reached = {state}
    for _ in STATES:
        reached |= {
            step.to for (source, _), step in default_tables().transitions.items() if source in reached
        }

    assert reached & TERMINAL


@table(sorted(LEGAL))
def test_every_false_category_is_refused(event: str):
    """`state` is verified against the table, never trusted (D-34-01, W-3-05)."""
    state = next(iter(LEGAL[event]))
    path = legal_after(state, event) or ()
    state, story = AdmissionState(), Story()
    for earlier in path:
        state.add(default_admission().admit(state, story.wire(earlier)))  # pyright: ignore
    wire = story.wire(event)
    categories = {rule.category for rule in default_tables().events.values()} - {wire["state"]["category"]}

    for category in categories:
        decision = default_admission().admit(state, wire | {"state": wire["state"] | {"category": category}})
        assert isinstance(decision, Rejection)
        assert decision.code == "state.category"
    flipped = wire["state"] | {"terminal": not wire["state"]["terminal"]}
    assert default_admission().admit(state, wire | {"state": flipped}).code == "state.terminal"  # pyright: ignore


def changed(name: str, rows: str, change: Any) -> Any:
    """A copy of a contract whose rows went through a change; a row that becomes None is dropped."""
    document: Any = contract(name)
    remaining = [change(dict(row)) for row in document[rows]]
    return document | {rows: [row for row in remaining if row is not None]}


def rules_of(machine: Any = None, events: Any = None) -> Admission:
    """Admission by other tables."""
    tables = Tables.of(machine or contract("task-state-machine"), events or contract("event-state-map"))
    return Admission(tables, Schemas(schemas(), tables))


def test_a_transition_that_the_contract_loses_is_refused():
    """Change task-state-machine.json and the behaviour changes (W-1-05)."""
    lost = ("created", "task.available")
    rules = rules_of(
        changed(
            "task-state-machine",
            "transitions",
            lambda row: None if (row["from"], row["event"]) == lost else row,
        )
    )

    assert isinstance(decision_after(("task.created",), "task.available"), Change)
    assert decision_after(("task.created",), "task.available", rules).code == "task.transition"


def test_a_transition_that_the_contract_gains_is_taken():
    """Change task-state-machine.json and the behaviour changes, the state that follows too (W-1-05)."""
    machine: Any = contract("task-state-machine")
    gained = {"event": "task.complete", "from": "created", "to": "completed"}
    rules = rules_of(machine | {"transitions": [*machine["transitions"], gained]})

    assert decision_after(("task.created",), "task.complete").code == "task.transition"
    # the machine takes it; what is missing now is what a completion must name
    assert decision_after(("task.created",), "task.complete", rules).code == "task.complete.unannounced"


def test_a_state_that_the_contract_makes_terminal_takes_nothing_more():
    """Which states are the last is data as well (W-1-05, W-6-07)."""
    ended = changed(
        "task-state-machine",
        "states",
        lambda row: row | {"terminal": row["terminal"] or row["state"] == "available"},
    )
    rules = rules_of(ended)
    wire = Story().wires("task.created", "task.available")[1]

    assert rules.tables.state_of("task.available") == {"category": "submitted", "terminal": True}
    state = AdmissionState()
    state.add(rules.admit(state, Story().wire("task.created")))  # pyright: ignore
    assert rules.admit(state, wire).code == "state.terminal"  # pyright: ignore


def test_an_event_of_another_category_or_stream_is_another_event():
    """Change event-state-map.json and producer and admission follow (W-1-05, D-34-01)."""
    rules = rules_of(
        events=changed(
            "event-state-map",
            "events",
            lambda row: (
                row | {"category": "working"}
                if row["event"] == "task.created"
                else row | {"streams": ["agent"]}
                if row["event"] == "review.recorded"
                else row
            ),
        )
    )
    created = Story().wire("task.created")
    review = Story().wire("review.recorded", "project:notes-1f0c9a2e")

    assert rules.tables.state_of("task.created") == {"category": "working", "terminal": False}
    assert rules.admit(AdmissionState(), created).code == "state.category"  # pyright: ignore
    assert isinstance(default_admission().admit(AdmissionState(), review), Change)
    assert rules.admit(AdmissionState(), review).code == "stream.kind"  # pyright: ignore


def test_no_module_repeats_a_state_or_a_category():
    """The words of the contracts stand in the contracts alone (W-1-05)."""
    rows: Any = contract("a2a-task-state-map")["rows"]
    words = {*TABLES_OF_CODE.terminal, *(rule.category for rule in TABLES_OF_CODE.events.values())}
    words |= {row["state"] for row in rows if "state" in row}
    names_of_fields = {"blocked", "claimed"}  # of the reducer's harness, and of a guard
    for path in Path(agent_wire.__path__[0]).glob("*.py"):
        literals = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert literals & words <= names_of_fields, path.name
