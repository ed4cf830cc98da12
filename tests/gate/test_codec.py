"""Values cross a module's boundary as they are, by exact type, and nothing else crosses."""

import contextlib
import datetime as dt
import enum
import json
import math
import uuid
import zoneinfo
from collections import Counter, OrderedDict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specwright.gate.inside.codec import MOST_DEPTH, Codec, UndecodableError, UnencodableError


@dataclass(frozen=True)
class Receipt:
    total: Decimal
    note: str = ""


class Mode(enum.Enum):
    OPEN = "open"
    SHUT = "shut"


class Level(enum.IntEnum):
    LOW = 1


CODEC = Codec({("shop", "Receipt"): Receipt, ("shop", "Mode"): Mode, ("shop", "Level"): Level})

texts = st.text(st.characters(codec=None, exclude_categories=[]), max_size=8)
zones = st.sampled_from(
    [None, dt.UTC, dt.timezone(dt.timedelta(hours=-3, seconds=7)), dt.timezone(dt.timedelta(hours=1), "CET")]
) | st.just(zoneinfo.ZoneInfo("UTC"))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    texts,
    st.binary(max_size=8),
    st.decimals(),
    st.datetimes(timezones=zones),
    st.dates(),
    st.times(timezones=zones),
    st.timedeltas(),
    st.uuids(),
    texts.filter(lambda text: "\0" not in text).map(Path),
    st.sampled_from([*Mode, *Level]),
    st.builds(Receipt, st.decimals(), texts),
)
hashable = scalars.filter(lambda value: not (isinstance(value, Decimal) and value.is_snan()))
keys = hashable.filter(lambda value: not isinstance(value, Receipt)) | st.tuples(st.integers(), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        st.dictionaries(st.sampled_from(["!", "v", "a", "é"]), inner, max_size=4),
        st.tuples(inner, inner),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
    ),
    max_leaves=12,
)


@given(values)
def test_a_value_comes_back_with_its_type(value):
    """D-S8.1-05: JSON types, bytes, tuples, sets, decimals, times, UUIDs, paths, enums, dataclasses, nested."""
    text = CODEC.encode(value)
    back = CODEC.decode(text)
    assert type(back) is type(value)
    # repr tells NaN, negative zero, the digits of a Decimal and the time zone; an order of a set it does not
    assert CODEC.encode(back) == text
    if not isinstance(value, (set, frozenset, list, dict, tuple)):
        assert repr(back) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        -0.0,
        5e-324,
        10**5000,
        -(1 << 100_000),
        "\ud83d\ude00",
        "\ud800",
        "\0",
        {"!": "int", "v": "0x1"},
        {1: "one", "1": "text"},
        Decimal("sNaN"),
        Decimal("-0E+5"),
        Decimal("1E+999999"),
        dt.datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"), fold=1),
        dt.datetime.max.replace(tzinfo=dt.UTC),
        dt.timedelta.min,
        uuid.UUID(int=0),
        Path("\udcff"),
        {(1, frozenset({2})): [{}]},
    ],
    ids=lambda value: repr(value)[:30] if not isinstance(value, int) else "a huge integer",
)
def test_the_odd_ones_come_back_too(value):
    """D-S8.1-05: what JSON, limits of digits or fold would lose."""
    back = CODEC.decode(CODEC.encode(value))
    assert type(back) is type(value)
    assert back == value if isinstance(value, int) else repr(back) == repr(value)
    if isinstance(value, str):
        assert [*back] == [*value]


def test_equal_sets_have_equal_texts():
    """D-S8-18: arguments are compared by their texts, before a call and after it."""
    numbers = [10**n for n in range(20)]
    assert CODEC.encode(set(numbers)) == CODEC.encode({*numbers[::-1]})
    assert CODEC.encode([1]) != CODEC.encode([True]) != CODEC.encode([1.0])


Pair = namedtuple("Pair", "a b")


class _Text(str):
    __slots__ = ()


class _Stranger(enum.Enum):
    ONE = 1


@pytest.mark.parametrize(
    "value",
    [
        object(),
        print,
        (n for n in ()),
        _Text("x"),
        Counter("x"),
        OrderedDict(),
        Pair(1, 2),
        _Stranger.ONE,
        ValueError("x"),
        1j,
        range(3),
        bytearray(b"x"),
        PurePosixPath("x"),
        Mode,
        [{"a": {1: [object()]}}],
        dt.datetime(2024, 1, 1, tzinfo=type("Zone", (dt.tzinfo,), {})()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_types_do_not_cross(value):
    """D-S8.1-05: also no subclass of a type that does."""
    with pytest.raises(UnencodableError, match=r"of type|time zone"):
        CODEC.encode(value)


def test_depth_is_limited_and_a_cycle_is_told():
    """Rule 4: nesting is bounded on both sides."""
    nested: list = []
    for _ in range(MOST_DEPTH - 1):
        nested = [nested]
    assert CODEC.decode(CODEC.encode(nested)) == nested
    with pytest.raises(UnencodableError, match="deep"):
        CODEC.encode([[nested] * 3] * 2 and [[[nested]]])
    cycle: list = []
    cycle.append(cycle)
    with pytest.raises(UnencodableError, match="deep"):
        CODEC.encode(cycle)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        b"{",
        b'{"!": "int", "v": "ten"}',
        b'{"!": "os.system", "v": "true"}',
        b'{"!": "fields", "c": ["os", "system"], "v": ["true"]}',
        b'{"!": "fields", "c": ["shop", "Receipt"], "v": []}',
        b'{"!": "member", "c": ["shop", "Mode"], "v": "AJAR"}',
        b'{"!": "set", "v": [[]]}',
        b'{"!": "dict", "v": [[{"!": "dict", "v": []}, 1]]}',
        b'{"!": "bytes"}',
        b"[" * 100_000,
    ],
    ids=range(12),
)
def test_a_text_of_another_s_is_refused(text):
    """D-S8-09: what a hostile process sends becomes a value of the boundary or nothing."""
    with pytest.raises(UndecodableError):
        CODEC.decode(text)


@given(
    st.recursive(
        st.none() | st.integers() | texts, lambda s: st.lists(s) | st.dictionaries(texts | st.just("!"), s)
    )
)
def test_any_json_is_decoded_or_refused(value):
    """D-S8-09: never another exception."""
    with contextlib.suppress(UndecodableError):
        CODEC.decode(json.dumps(value).encode())
