"""The conformance tests that Agent Wire names for fixtures (W Required Conformance Tests)."""

import json
from typing import Any

from agent_wire import envelope
from agent_wire.admission import default_admission, default_schemas
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.stream import AdmissionState, Change
from agent_wire.tables import default_tables
from testkit.table import table
from wire_testkit.story import CONTRACTS, FIXTURES, SCHEMAS, expectations, fixture
from wire_testkit.verdicts import second_opinion

EXPECTED = expectations()
VALID: dict[str, Any] = EXPECTED["valid"]
INVALID: dict[str, Any] = EXPECTED["invalid"]


def decide(name: str, after: list[str]) -> Change | Rejection:
    """What becomes of a fixture, from its bytes, after other fixtures."""
    state = AdmissionState()
    for earlier in after:
        change = default_admission().admit(state, fixture(earlier))
        assert isinstance(change, Change), (earlier, change)
        state.add(change)
    try:
        decision = default_admission().admit(state, envelope.parse((FIXTURES / name).read_bytes()))
    except WireRefusedError as error:
        return error.rejection
    assert isinstance(decision, Change | Rejection)
    return decision


@table(name for name, row in VALID.items() if "schema" not in row)
def test_a_valid_fixture_is_valid_by_its_event_schema_and_the_envelope_and_is_admitted(name: str):
    """Every valid fixture validates against event and envelope schema (W-2-01, W-4-01)."""
    wire = fixture(name)
    rule = default_tables().events[wire["type"]]

    assert default_schemas().check_document(rule.schema, wire) is None
    assert default_schemas().check_document("envelope.schema.json", wire) is None
    assert second_opinion(rule.schema, wire) == set()
    assert isinstance(decide(name, VALID[name]["after"]), Change)


@table(name for name, row in VALID.items() if "schema" in row)
def test_a_valid_document_is_valid_by_its_schema(name: str):
    """Messages, parts, artifacts, cards and HCS metadata have fixtures (W-7-01, W-7-02, W-7-03, W-3-08)."""
    schema = VALID[name]["schema"]

    assert default_schemas().check_document(schema, fixture(name)) is None
    assert second_opinion(schema, fixture(name)) == set()


@table(sorted(INVALID))
def test_an_invalid_fixture_fails_for_exactly_the_reason_in_its_name(name: str):
    """Every invalid fixture fails for the expected reason (W-2-02, W-1-04)."""
    expected = INVALID[name]
    schema = expected.get("schema")
    rejection = (
        default_schemas().check_document(schema, fixture(name))
        if schema
        else decide(name, expected.get("after", []))
    )

    assert isinstance(rejection, Rejection)
    assert rejection.message
    assert (rejection.layer, rejection.code, rejection.pointer, rejection.keyword) == (
        expected["layer"],
        expected["code"],
        expected["instance_path"],
        expected["keyword"],
    )


@table(sorted(name for name, row in INVALID.items() if row["layer"] != "parse"))
def test_both_validators_give_the_same_verdict(name: str):
    """Every fixture gives the same verdict in jsonschema and in jsonschema-rs (W-2-02)."""
    expected = INVALID[name]
    document = fixture(name)
    rule = default_tables().events.get(document.get("type", ""))
    schema = expected.get("schema") or (rule.schema if rule else "envelope.schema.json")
    faults = second_opinion(schema, document)

    if expected["code"] == "wire.schema":
        assert faults == {(expected["instance_path"], expected["keyword"])}
    else:
        assert faults == set()


def test_every_file_has_an_expectation_and_every_expectation_a_file():
    """No fixture is without a verdict (W-1-04)."""
    files = {path.name for path in FIXTURES.glob("*.json")} - {"expectations.json"}

    assert files == set(VALID) | set(INVALID)


def test_every_event_type_has_a_valid_fixture():
    """Every event type has at least one valid golden fixture (W-1-03)."""
    assert {fixture(name).get("type") for name in VALID} >= set(default_tables().events)


def test_every_event_type_has_an_invalid_fixture():
    """Every event type has a named invalid case (W-1-04)."""
    named = {name.split(".invalid-")[0] for name in INVALID}

    assert named >= {event.replace(".", "-") for event in default_tables().events}


def test_every_kind_of_stream_and_of_part_has_a_fixture():
    """The five kinds of stream and the four of part are shown (W-5-01, D-37-01)."""
    kinds = {
        fixture(name)["stream"]["stream_id"].split(":")[0] for name, row in VALID.items() if "after" in row
    }
    parts = {fixture(name)["kind"] for name, row in VALID.items() if row.get("schema") == "part.schema.json"}

    assert kinds == {"project", "phase", "task", "agent", "artifact"}
    assert parts == {"text", "data", "artifact_ref", "file_ref"}


def test_the_files_that_the_document_names_are_there():
    """The minimum of schemas, fixtures and contracts exists by name (W-1-01, W-1-02)."""
    events = {
        "task-created",
        "task-available",
        "task-claimed",
        "task-started",
        "task-blocked",
        "artifact-ready",
        "task-complete",
        "task-failed",
        "task-cancelled",
    }
    schemas = events | {"envelope", "stream", "state"}
    fixtures = {f"{event}.valid" for event in events} | {
        "task-complete.invalid-missing-artifact",
        "task-complete.invalid-verification-fail",
    }

    assert all((SCHEMAS / f"{name}.schema.json").is_file() for name in schemas)
    assert all((FIXTURES / f"{name}.json").is_file() for name in fixtures)
    assert {path.stem for path in CONTRACTS.glob("*.json")} == {
        "task-state-machine",
        "event-state-map",
        "a2a-task-state-map",
    }


def test_the_documents_own_envelope_is_refused_as_printed_and_taken_with_its_ids_filled_in():
    """The document's example validates once its elided ids are filled in (W-3-06)."""
    filled = fixture("envelope.valid-document-example.json")
    printed = filled | {
        "wire_id": "wire_01HZY...",
        "stream": filled["stream"] | {"causation_id": "wire_01HZX..."},
    }

    assert default_schemas().check(filled) is None
    assert second_opinion("task-started.schema.json", printed) == {
        ("/wire_id", "pattern"),
        ("/stream/causation_id", "pattern"),
    }


def test_fixtures_are_stored_as_json_with_a_final_newline():
    """Golden fixtures are plain text that a person can read and compare (W Required Contract Paths)."""
    for path in FIXTURES.glob("*.valid*.json"):
        assert path.read_text() == json.dumps(fixture(path.name), indent=2, ensure_ascii=False) + "\n"
