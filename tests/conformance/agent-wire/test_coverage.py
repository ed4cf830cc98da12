"""Nothing of the contract is without a fixture: rules, transitions, keywords, grammars (W Deterministic Contract Standard).

What is said of each fixture is in `test_fixtures`; here is what must not be missing among them, and that the two
validators agree beyond them.
"""

import copy
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import agent_wire
from agent_wire import tables
from agent_wire.admission import default_admission, default_schemas
from agent_wire.stream import AdmissionState, Change
from agent_wire.tables import default_tables
from testkit.table import table
from wire_testkit.story import expectations, fixture
from wire_testkit.verdicts import second_errors, second_opinion

EXPECTED = expectations()
INVALID: dict[str, Any] = EXPECTED["invalid"]
VALID: dict[str, Any] = EXPECTED["valid"]
NOT_IN_A_FILE = {"wire.text", "wire.type"}
"""What only a program can try to say: a lone surrogate and a Python object are no JSON text."""

TABLES = default_tables()
TASK_EVENTS = [event for event, rule in TABLES.events.items() if rule.is_task_event]


def schema_of(name: str, row: dict[str, Any]) -> str:
    """The schema that judges a fixture."""
    rule = TABLES.events.get(fixture(name).get("type", ""))
    return row.get("schema") or (rule.schema if rule else "envelope.schema.json")


def position_before(row: dict[str, Any]) -> tuple[str, bool]:
    """The state, and whether it is claimed, in which the Wires before a fixture leave its task."""
    state, task = AdmissionState(), None
    for earlier in row.get("after", []):
        change = default_admission().admit(state, fixture(earlier))
        assert isinstance(change, Change)
        state.add(change)
        task = change.stream.task
    return (task.state, task.claimed) if task else (TABLES.initial, False)


def test_every_code_of_the_source_has_an_invalid_fixture():
    """No rule can be added without a case that it refuses (W-1-04)."""
    source = "".join(path.read_text() for path in Path(agent_wire.__path__[0]).glob("*.py"))
    codes = (
        set(re.findall(r'"((?:wire|stream|state|task|artifact)\.[a-z_.]+)"', source)) - TABLES.events.keys()
    )

    assert codes - NOT_IN_A_FILE == {row["code"] for row in INVALID.values()}


def refused_transitions() -> dict[tuple[str, str], str]:
    """Each state and event of an invalid fixture that fails for its transition, or for the end of its stream."""
    return {
        (position_before(row)[0], fixture(name)["type"]): row["code"]
        for name, row in INVALID.items()
        if row["code"] in {"task.transition", "stream.terminal"}
    }


def test_every_illegal_pair_that_is_not_at_an_end_has_a_fixture():
    """Each event in each living state that does not take it, the two that hang on a claim included (W-1-04, W-2-05)."""
    living = [state for state, terminal in TABLES.terminal.items() if not terminal]
    always = {pair for pair in product(living, TASK_EVENTS) if pair not in TABLES.transitions}
    guarded = {pair for pair, step in TABLES.transitions.items() if step.claimed_is is not None}
    shown = {pair for pair, code in refused_transitions().items() if code == "task.transition"}

    assert shown == always | guarded
    assert len(always) == 33


def test_every_event_has_a_fixture_behind_an_end_and_every_end_has_several():
    """Nothing follows a terminal state, whatever it is (W-1-04, W-6-07)."""
    ended = {pair for pair, code in refused_transitions().items() if code == "stream.terminal"}

    assert {event for _, event in ended} == set(TASK_EVENTS)
    assert {state for state, _ in ended} == {state for state, end in TABLES.terminal.items() if end}


def subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and everything in it."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from subschemas(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from subschemas(value)


ASSERTIONS = {
    *("const", "enum", "type", "required", "additionalProperties", "propertyNames", "anyOf"),
    *("pattern", "minLength", "maxLength", "minimum", "maximum"),
    *("minItems", "maxItems", "uniqueItems", "maxProperties"),
}


def test_every_keyword_of_the_schemas_has_an_invalid_fixture():
    """Whatever a schema can say no by, it says no by in some fixture (W-1-04)."""
    used = {key for schema in tables.schemas().values() for part in subschemas(schema) for key in part}

    assert used & ASSERTIONS <= {row["keyword"] for row in INVALID.values()}


def test_every_shared_grammar_has_an_invalid_fixture():
    """Sender, reference, uri, version and the others each refuse something (W-1-04, W-3-02, W-4-04)."""
    common: Any = tables.schemas()["common.schema.json"]
    used = str([schema for name, schema in tables.schemas().items() if name != "common.schema.json"])
    refusing = [
        error.schema
        for name, row in INVALID.items()
        if row["layer"] == "schema" and row["code"] == "wire.schema"
        for error in second_errors(schema_of(name, row), fixture(name))
    ]

    silent = [
        name
        for name, grammar in common["$defs"].items()
        if f"/$defs/{name}'" in used
        and not any(found in (grammar, grammar.get("propertyNames")) for found in refusing)
    ]
    assert silent == []


def test_every_event_has_exactly_one_category():
    """Task and artifact events have the category of their state, all others none (W-2-03, D-34-01)."""
    rows: Any = tables.contract("event-state-map")["events"]

    assert len({row["event"] for row in rows}) == len(rows) == 15
    assert {row["event"]: row["category"] for row in rows if row["category"] != "none"} == {
        "task.created": "submitted",
        "task.available": "submitted",
        "task.claimed": "submitted",
        "task.started": "working",
        "task.blocked": "blocked",
        "artifact.ready": "working",
        "task.complete": "completed",
        "task.failed": "failed",
        "task.cancelled": "cancelled",
    }
    assert {row["event"] for row in rows if row["category"] == "none"} == TABLES.events.keys() - set(
        TASK_EVENTS
    )


SOUND = [(name, schema_of(name, row)) for name, row in VALID.items()]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=90),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=4,
)


@st.composite
def changed(draw: st.DrawFn) -> tuple[str, Any]:
    """A valid fixture with one member dropped, added or replaced, at any depth."""
    name, schema = draw(st.sampled_from(SOUND))
    document = copy.deepcopy(fixture(name))
    part = draw(st.sampled_from([found for found in subschemas(document) if found] or [document]))
    member = draw(st.sampled_from([*sorted(part), "unknown"]))
    if member in part and draw(st.booleans()):
        del part[member]
    else:
        part[member] = draw(VALUES)
    return schema, document


def breaks_a_line(value: Any) -> bool:
    """Whether a text ends in a line break, where Python's `$` matches though the dialect of JSON Schema does not."""
    if isinstance(value, str):
        return value.endswith("\n")
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(map(breaks_a_line, inner))


@given(changed())
def test_the_two_validators_agree_on_whatever_is_made_of_a_fixture(case: tuple[str, Any]):
    """jsonschema and jsonschema-rs say yes to the same documents and no to the same (W-2-01, W-2-02)."""
    schema, document = case
    if not breaks_a_line(document):
        assert (default_schemas().check_document(schema, document) is None) == (
            second_opinion(schema, document) == set()
        )


MEMBERS = [
    (name, schema, member)
    for name, schema in SOUND
    for member in fixture(name)
    if name.count(".valid.json") and schema in {"artifact.schema.json", "agent-card.schema.json"}
]


@table(MEMBERS)
def test_an_artifact_and_an_agent_card_need_each_of_their_members(name: str, schema: str, member: str):
    """No member of D37 may be left out, none may be added (D-37-02, D-37-03, W-7-02, W-7-03)."""
    document = fixture(name)
    assert second_opinion(schema, document | {"transcript": "x"}) == {("", "additionalProperties")}
    del document[member]
    assert second_opinion(schema, document) == {("", "required")}
    assert default_schemas().check_document(schema, document) is not None


STREAM = {
    "required": ("stream_id", "stream_seq", "context_id", "correlation_id"),
    "optional": ("causation_id", "reference_task_ids", "parent_task_id"),
}


@table((m, kind == "required") for kind in STREAM for m in STREAM[kind])
def test_a_stream_has_four_members_that_it_needs_and_three_that_it_may_have(member: str, needed: bool):
    """Identity, order and context always; cause, references and parent where there are any (W-3-04)."""
    wire = fixture("task-created.valid-second-attempt.json")
    wire["stream"].setdefault("reference_task_ids", ["TSK-012"])
    wire["stream"].setdefault("parent_task_id", "TSK-009")
    assert default_schemas().check(wire) is None

    del wire["stream"][member]
    assert (default_schemas().check(wire) is not None) is needed
    wire["stream"][member] = {}
    fault = default_schemas().check(wire)
    assert fault is not None
    assert fault.pointer == f"/stream/{member}"


PROSE = (
    "I have looked at the draft and I think that the parser is wrong, so here is what I would do instead: "
    * 3
)
EVENTS = [name for name in VALID if "type" in fixture(name)]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every text."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


@table(EVENTS)
def test_no_text_of_a_wire_has_room_for_working_content(name: str):
    """A draft, a transcript or a log fits into no field, under no new one, and in no extension (W-4-02, W-5-04)."""
    wire = fixture(name) | {"extensions": {}}
    for path in places(wire):
        spoilt = copy.deepcopy(wire)
        part = spoilt
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = PROSE
        assert default_admission().rejection_of(spoilt) is not None, path
    for part in ("payload", "stream", "state"):
        added = copy.deepcopy(wire)
        added.setdefault(part, {})["transcript"] = PROSE
        assert default_admission().rejection_of(added) is not None
    body = wire | {"extensions": {"org.example.log": PROSE * 4}}
    fault = default_admission().rejection_of(body)
    assert fault is not None
    assert fault.code == "wire.too_large"
