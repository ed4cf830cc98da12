"""The JSON Schemas themselves (W Deterministic Contract Standard, D30, D34)."""

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from agent_wire import tables
from agent_wire.admission import default_admission, default_schemas
from agent_wire.errors import Rejection
from agent_wire.stream import AdmissionState
from agent_wire.tables import default_tables
from testkit.table import table
from wire_testkit.story import Story

NAMES = sorted(tables.schemas())
OPEN_BY_DESIGN = {
    "common#/extensions": "extensions are namespaced, their values free (D30)",
    "part#/allOf/then/data": "a data part holds any JSON object (D37)",
    "envelope#/payload": "the event's own schema closes it",
}


def objects(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema that describes an object with properties of its own."""
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "$defs" not in schema:
            yield path, schema
        for key, value in schema.items():
            nested = path if key in {"properties", "$defs", "items"} else f"{path}/{key}"
            yield from objects(value, nested)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value, path)


@table(NAMES)
def test_a_schema_is_a_valid_2020_12_schema_with_an_id_of_its_own(name: str):
    """The schemas are JSON Schema 2020-12 with `$id`s (W-1-02)."""
    schema = tables.schemas()[name]

    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:agent-wire:1.1:{name.removesuffix('.schema.json')}"
    assert schema["description"]


@table(NAMES)
def test_a_schema_does_not_lean_on_what_validators_read_differently(name: str):
    """Patterns are anchored and use no class of a dialect; `format` decides nothing (issue: Build)."""
    text = (str(tables.schemas()[name])).replace("\\\\", "\\")

    assert "'format'" not in text
    assert not any(dialect in text for dialect in (r"\d", r"\w", r"\s"))


@table(NAMES)
def test_every_object_is_closed_but_those_that_are_open_by_design(name: str):
    """`additionalProperties` is false outside `extensions` (D-30-04)."""
    short = name.removesuffix(".schema.json")
    for path, schema in objects(tables.schemas()[name]):
        if f"{short}#{path}" not in OPEN_BY_DESIGN and path:
            assert "additionalProperties" in schema, f"{short}#{path}"


def test_the_categories_of_the_schema_are_those_of_the_table_and_none():
    """Every event maps to exactly one normalised category (W-2-03)."""
    state: Any = tables.schemas()["state.schema.json"]
    rows: Any = tables.contract("event-state-map")["events"]

    assert len({row["event"] for row in rows}) == len(rows)
    assert set(state["properties"]["category"]["enum"]) == {row["category"] for row in rows}


def test_an_event_type_without_a_schema_is_refused_before_it_is_emitted():
    """Every event type has a schema before producers emit it (W-1-02, W-1-06)."""
    decision = default_admission().admit(AdmissionState(), Story().wire("task.paused"))

    assert isinstance(decision, Rejection)
    assert decision.code == "wire.unknown_type"
    assert all(rule.schema in tables.schemas() for rule in default_tables().events.values())


@table(["wire", "wire_id", "type", "sender", "ts", "stream", "state", "payload"])
def test_a_task_event_needs_every_field_of_the_envelope(field: str):
    """Each required field is missed when it is dropped; `extensions` is not (W-3-01)."""
    wire = Story().wire("task.created")
    assert default_schemas().check(wire) is None

    del wire[field]

    assert default_schemas().check(wire) is not None


@table(["agent:quinn-03", "runner:gate-1", "system", "human:owner"])
def test_the_four_kinds_of_sender_are_taken(sender: str):
    """A sender is agent:<slug>, runner:<id>, system or human:<id> (W-3-02)."""
    assert default_schemas().check(Story().wire("task.created") | {"sender": sender}) is None


@table(["", "agent:", "agent:Quinn", "systems", "human:a b", "robot:x", "system\n"])
def test_other_senders_are_refused(sender: str):
    """Whatever is not of the four kinds is refused (W-3-02)."""
    fault = default_schemas().check(Story().wire("task.created") | {"sender": sender})

    assert fault is not None
    assert fault.pointer == "/sender"


@table(["trace", "Org.Example", "org.", ".org", "org..example", "two words.org"])
def test_an_extension_without_a_namespace_is_refused(key: str):
    """Extension keys are reverse-DNS or URI names (W-3-07)."""
    assert default_schemas().check(Story().wire("task.created") | {"extensions": {key: 1}}) is not None


@table(["org.example", "org.example.trace-id", "https://example.org/ns", "urn:example:x"])
def test_a_namespaced_extension_is_taken(key: str):
    """Extension keys are reverse-DNS or URI names (W-3-07)."""
    assert default_schemas().check(Story().wire("task.created") | {"extensions": {key: {"any": [1]}}}) is None
