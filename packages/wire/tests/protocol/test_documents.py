"""Wires in files (DESIGN §9)."""

import json

from agent_wire import envelope
from agent_wire.documents import reduce_lines, validate_document, validate_lines
from wire_testkit.story import HAPPY_PATH, TASK, Story


def jsonl(*lines: object) -> bytes:
    """Lines of JSON; bytes are put in as they are."""
    return (
        b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + b"\n"
    )


def test_one_document_is_judged_by_itself():
    """`agent-wire validate` does not ask for the place in a stream (DESIGN §9, W-1-06)."""
    wire = Story().wire("task.started", stream_seq=12)

    assert validate_document(json.dumps(wire, indent=2).encode()) == (1, wire["wire_id"], None, "wire")
    rejection = validate_document(json.dumps(wire | {"payload": {"log": "x"}}).encode()).rejection
    assert rejection is not None
    assert (rejection.code, rejection.pointer) == ("wire.schema", "/payload")


def test_every_line_gets_its_verdict():
    """A bad line does not hide the others, and empty ones do not count (DESIGN §9)."""
    wires = Story().wires("task.created", "task.available")
    verdicts = validate_lines(jsonl(wires[0], b"", b"{not json", wires[1] | {"wire": "1.0"}, wires[1]))

    assert [(verdict.line, verdict.rejection.code if verdict.rejection else "") for verdict in verdicts] == [
        (1, ""),
        (3, "wire.not_json"),
        (4, "wire.schema"),
        (5, ""),
    ]


def test_a_file_reduces_and_names_what_it_rejects_by_line():
    """`agent-wire reduce FILE.jsonl` is total like the reducer (D-31-02)."""
    wires = Story().wires(*HAPPY_PATH)
    reduction = reduce_lines(jsonl(wires[0], b"[]", *wires[1:], b"", wires[3] | {"sender": "human:owner"}))

    assert reduction.tasks()[TASK]["task_state"] == "completed"
    assert [(entry.position, entry.rejection.code) for entry in reduction.rejected] == [
        (2, "wire.not_json"),
        (9, "wire.id_conflict"),
    ]


def test_canonical_lines_are_lines():
    """No canonical Wire holds a line break, so that JSONL is safe (D-30-02)."""
    assert b"\n" not in envelope.encode(
        Story().wire("task.created") | {"extensions": {"org.example": "a\nb"}}
    )


def test_half_a_character_is_refused_in_every_document():
    """A lone surrogate is no text, in a Wire as in a document beside it; each gets a verdict (W-7-01)."""
    half = "half \ud800"
    documents: dict[str, object] = {
        "message": {"message_id": half, "role": "agent", "parts": [], "metadata": {}},
        "message of parts": {"message_id": "MSG-1", "role": "agent", "parts": [half], "metadata": {}},
        "part": {"kind": "text", "text": half},
        "artifact": {"artifact_id": "ART-1", "name": half},
        "agent-card": {"identity": {half: 1}},
        "wire": Story().wire("task.created") | {"sender": half},
    }
    verdicts = {name: validate_document(json.dumps(one).encode()) for name, one in documents.items()}

    assert {name: one.rejection and one.rejection.code for name, one in verdicts.items()} == {
        **dict.fromkeys(documents, "wire.text"),
        "wire": "wire.not_json",  # the reader of Wires is another
    }
