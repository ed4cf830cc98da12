"""Reading stored JSON: strict, and quick where the bytes are those that the factory writes (D29, D30)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_wire import canonical_json
from ship_gate import canonical_json as quick_json

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abé\x00\x7f", max_size=2), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_VALUES)
def test_what_was_stored_is_read_as_it_was(value):
    """D-29-02: the quick way and the strict one write the same bytes and give the same value, of the same types."""
    stored = canonical_json.pretty(value)
    assert quick_json.pretty(value) == stored
    assert repr(canonical_json.loads(stored)) == repr(json.loads(stored)) == repr(value)


@given(st.text(' \n{}[]:,"ab\\u0d8e1-.+NI', max_size=24).map(str.encode))
def test_whatever_the_bytes_say_the_strict_reader_decides(data: bytes):
    """D-30-02: nothing is read that it would refuse, and nothing differently."""
    try:
        strict = canonical_json.loads(data.decode())
    except ValueError:
        with pytest.raises(ValueError, match=r"\S"):
            canonical_json.loads(data)
        return
    assert repr(canonical_json.loads(data)) == repr(strict)


@pytest.mark.parametrize(
    "data",
    [
        b'{\n  "a": 1,\n  "a": 1\n}\n',
        b'{\n  "a": 1,\n  "a": 2\n}\n',
        b'{\n  "a": NaN\n}\n',
        b'{\n  "a": Infinity\n}\n',
        b'{\n  "a": "\xff"\n}\n',
    ],
)
def test_a_key_that_stands_twice_and_a_constant_that_is_none_are_refused(data: bytes):
    """D-30-02: also where all else is written as the factory writes it."""
    with pytest.raises(ValueError, match=r"\S"):
        canonical_json.loads(data)


@pytest.mark.parametrize(
    "number", [b"12345678901234567890123", b"1e2", b"-0.0", b"1.0", b"100000000000000000000.0"]
)
def test_numbers_keep_their_type_and_size(number: bytes):
    """D-30-02: as the strict reader has them, whatever the quick one makes of them."""
    assert repr(canonical_json.loads(b"[\n  " + number + b"\n]\n")) == repr(json.loads(b"[" + number + b"]"))
