"""The bytes of a Wire (D30)."""

import json
from enum import StrEnum
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_wire import envelope
from agent_wire.errors import WireRefusedError
from wire_testkit.story import Story, artifact

UNHURRIED = settings(deadline=None)  # what is measured here is truth, on whatever machine
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
WIRES = st.dictionaries(TEXT, VALUES, max_size=4)


def code_of(wire: object) -> str:
    """The code with which encoding is refused."""
    with pytest.raises(WireRefusedError) as refused:
        envelope.encode(wire)  # pyright: ignore[reportArgumentType] - the point of the test
    assert refused.value.rejection.layer == "parse"
    return refused.value.rejection.code


@UNHURRIED
@given(WIRES)
@example({"\U00010000": 1, "\uffff": 2})  # as UTF-16 the first sorts before the second, as UTF-8 after it
def test_the_bytes_are_those_of_the_reference_implementation(wire: dict[str, object]):
    """Canonical bytes are RFC 8785, keys in UTF-16 order and all (D-30-02)."""
    assert envelope.encode(wire) == rfc8785.dumps(wire)  # pyright: ignore


@UNHURRIED
@given(WIRES, st.booleans())
def test_reading_the_bytes_or_any_other_spelling_gives_the_wire_back(wire: dict[str, object], indent: bool):
    """Parsing takes any JSON of the same value and loses nothing (D-30-02)."""
    assert envelope.parse(envelope.encode(wire)) == wire  # pyright: ignore
    assert envelope.parse(json.dumps(wire, indent=2 if indent else None).encode()) == wire


class Word(StrEnum):
    """A str that is more than a str."""

    WORD = "word"


def test_a_value_that_is_no_json_of_a_wire_is_refused():
    """No floats, nothing that JSON does not have; integers within +-(2^53-1) are carried (D-30-02)."""
    for value, code in (
        (1.0, "wire.float"),
        (float("nan"), "wire.float"),
        (2**53, "wire.integer_range"),
        (-(2**53), "wire.integer_range"),
        ((1, 2), "wire.type"),
        (Word.WORD, "wire.type"),
        (b"x", "wire.type"),
        ("\ud800", "wire.text"),
        ({1: 2}, "wire.text"),
    ):
        assert code_of({"payload": {"x": [value]}}) == code, value
    assert envelope.encode({"a": 2**53 - 1, "b": -(2**53) + 1})


def test_a_wire_of_1024_bytes_is_carried_and_one_of_1025_is_too_large():
    """Over 1,024 canonical bytes: `wire.too_large` (D-30-03, W-5-04)."""
    room = envelope.MAX_BYTES - len(envelope.encode({"x": ""}))

    assert len(envelope.encode({"x": "y" * room})) == 1024
    assert code_of({"x": "y" * (room + 1)}) == "wire.too_large"


def test_deep_nesting_is_refused_before_it_can_exhaust_the_stack():
    """The reader is bounded like everything else (DESIGN §1)."""
    wire: dict[str, object] = {}
    for _ in range(400):
        wire = {"a": wire}

    assert code_of(wire) == "wire.too_deep"


def test_bytes_that_are_no_wire_are_refused_with_a_code():
    """Duplicate keys are refused before parsing loses them (D-30-02)."""
    for data, code in (
        (b'{"a":1,"a":1}', "wire.duplicate_key"),
        (b'{"x":{"a":1,"b":2,"a":1}}', "wire.duplicate_key"),
        (b'{"a":1,"\\u0061":1}', "wire.duplicate_key"),
        (b"[]", "wire.not_json"),
        (b'{"a":NaN}', "wire.not_json"),
        (b'{"a":"\xff"}', "wire.not_json"),
        (b'{"a":1e3}', "wire.float"),
        (b"", "wire.not_json"),
        (b"[" * 5000, "wire.not_json"),
    ):
        with pytest.raises(WireRefusedError) as refused:
            envelope.parse(data)
        assert refused.value.rejection.code == code, data


LONG_PROJECT = "project:" + "n" * 64 + "-1f0c9a2e"  # the longest slug and its eight hex digits (D30)
LONG_TOKEN = "project:" + "n" * 128
MODULES = [f"MM-{number:08x}" for number in range(20)]
WIDE: dict[str, Any] = {
    "stream_id": "task:TSK-1014:attempt:12",
    "stream_seq": 1234,
    "causation_id": "wire_01JZ0000000000000000000001",
    "parent_task_id": "TSK-1000",
}


def ready(inputs: int) -> dict[str, Any]:
    """The widest announcement of a module, made from this many others."""
    made_from = [f"{name}@10.20.30" for name in MODULES[:inputs]]
    return artifact(
        name="n" * 64,
        media_type="application/vnd.specwright.module",
        uri="state_store/modules/MM-00000000/10.20.30",
        version="10.20.30",
        size_bytes=10_000_000,
        lineage={"task": "TSK-1014", "attempt": 12, "inputs": made_from},
    )


@pytest.mark.parametrize("context", [LONG_PROJECT, LONG_TOKEN])
def test_the_largest_wires_of_a_factory_stay_within_the_limit(context: str):
    """128-character ids, 50 dependencies cut to 16, 20 artifacts fit in 1,024 bytes (W-6-06, D-30-03)."""
    story = Story()
    wide = WIDE | {"context_id": context}
    created = story.wire("task.created", **wide, reference_task_ids=[f"TSK-{n:04d}" for n in range(50)])
    done = {
        "artifact_ids": MODULES,
        "primary_artifact_id": MODULES[0],
        "verification": {"mechanical": "pass"},
    }

    assert len(created["stream"]["reference_task_ids"]) == 16
    assert envelope.encode(created)
    assert envelope.encode(story.wire("task.complete", body=done, **wide))
    assert envelope.encode(story.wire("artifact.ready", body=ready(inputs=0), **wide))


def test_the_lineage_of_a_module_has_room_for_five_inputs_in_any_project():
    """More are named by one content-addressed reference: no lists of long ids (D-30-04)."""
    wide = WIDE | {"context_id": LONG_PROJECT}

    assert envelope.encode(Story().wire("artifact.ready", body=ready(inputs=5), **wide))
    assert code_of(Story().wire("artifact.ready", body=ready(inputs=9), **wide)) == "wire.too_large"
