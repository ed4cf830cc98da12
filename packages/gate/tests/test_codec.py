"""Values cross a module's boundary as they are, by exact type, and nothing else crosses."""

import contextlib
import datetime as dt
import enum
import ipaddress
import json
import math
import re
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ship_gate.base.boundary_values import SCALARS, BoundaryLimit, Drawing
from ship_gate.inside.classes import class_of
from ship_gate.inside.codec import Codec, UndecodableError, UnencodableError
from ship_gate.inside.variants.changes import perturb
from testkit.sampling import nightly


@dataclass(frozen=True)
class Receipt:
    total: Decimal
    note: str = ""


@dataclass(frozen=True)
class Folder:
    content: object


class Mode(enum.Enum):
    OPEN = "open"
    SHUT = "shut"


class Level(enum.IntEnum):
    LOW = 1


@dataclass(frozen=True)
class Days:
    first: int
    count: int

    def __post_init__(self):
        if self.count < 1:
            raise ValueError(self.count)

    @property
    def last(self):
        return self.first + self.count - 1


CODEC = Codec(
    {
        ("shop", "Days"): Days,
        ("shop", "Receipt"): Receipt,
        ("shop", "Folder"): Folder,
        ("shop", "Mode"): Mode,
        ("shop", "Level"): Level,
    },
    {("shop", "Days"): ["last"]},
)

texts = st.text(st.characters(codec=None, exclude_categories=[]), max_size=8)
zones = st.sampled_from(
    [None, dt.UTC, dt.timezone(dt.timedelta(hours=-3, seconds=7)), dt.timezone(dt.timedelta(hours=1), "CET")]
) | st.just(zoneinfo.ZoneInfo("UTC"))
rows = [row for row in SCALARS if row.is_hashable]
scalars = st.one_of(
    st.none(),
    st.integers(-(10**40), 10**40),
    texts,
    *(one for row in rows for one in row.drawn(Drawing(st, zones, ordinary=False))),
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


ODD = [
    10**5000, -(1 << 100_000), "\ud83d\ude00", "\ud800", "\0", {"!": "int", "v": "0x1"}, {1: "one", "1": "text"},
    Decimal("-0E+5"), dt.datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"), fold=1),
    dt.datetime.max.replace(tzinfo=dt.UTC), Path("\udcff"), Fraction(-(10**50), 7),
    ipaddress.IPv6Address("fe80::1%eth0"), complex(math.nan, -0.0), complex(-math.inf, 1e-320),
    re.compile("(?P<a>ä)\n", re.IGNORECASE | re.DOTALL), re.compile("\ud800"), re.compile(b"\xff+"),
    {(1, frozenset({2})): [{}]},
]  # fmt: skip


def test_the_odd_ones_come_back_too():
    """D-S8.1-05: what JSON, limits of digits or fold would lose."""
    for value in ODD:
        back = CODEC.decode(CODEC.encode(value))
        assert type(back) is type(value)
        assert back == value if isinstance(value, int) else repr(back) == repr(value)
        assert not isinstance(value, str) or [*back] == [*value]


def test_equal_sets_have_equal_texts():
    """D-S8-18: arguments are compared by their texts, before a call and after it."""
    numbers = [10**n for n in range(20)]
    assert CODEC.encode(set(numbers)) == CODEC.encode({*numbers[::-1]})
    assert CODEC.encode([1]) != CODEC.encode([True]) != CODEC.encode([1.0])


Pair = namedtuple("Pair", "a b")


class Typed(NamedTuple):
    name: str
    age: int = 0


class _Odd(NamedTuple):
    a: int
    b: int

    def __eq__(self, other):
        return True

    __hash__ = tuple.__hash__


class _Longer(Pair):
    pass


class _Deep(Counter):
    pass


class _Text(str):
    __slots__ = ()


class Weight(Fraction):
    pass


class _Stranger(enum.Enum):
    ONE = 1


STRANGE = [
    object(), print, (n for n in ()), _Text("x"), _Deep(), _Odd(1, 2), _Longer(1, 2), _Stranger.ONE, ValueError("x"),
    range(3), ipaddress.IPv4Interface("192.0.2.1/24"), Weight(1, 2), PurePosixPath("x"), Mode,
    [{"a": {1: [object()]}}], dt.datetime(2024, 1, 1, tzinfo=type("Zone", (dt.tzinfo,), {})()),
]  # fmt: skip


def test_other_types_do_not_cross():
    """D-S8.1-05: also no subclass of a type that does."""
    for value in STRANGE:
        with pytest.raises(UnencodableError, match=r"of type|time zone"):
            CODEC.encode(value)


MOST_DEPTH = BoundaryLimit.DEPTH.most
WRAPPED = {
    "list": lambda value: [value],
    "tuple": lambda value: (value,),
    "dict": lambda value: {"a": value},
    "dict by number": lambda value: {1: value},
    "frozenset": lambda value: frozenset({value}),
    "class": lambda value: Folder(value),
    "Counter": lambda value: Counter({"a": value}),
    "OrderedDict": lambda value: OrderedDict(a=value),
    "defaultdict": lambda value: defaultdict(list, a=value),
    "named tuple": lambda value: Pair(1, value),
}


def nested(kind, depth):
    """Containers within containers, and nothing in the last."""
    value = frozenset() if kind == "frozenset" else []
    for _ in range(depth - 1):
        value = WRAPPED[kind](value)
    return value


@pytest.mark.parametrize("kind", [nightly(kind) if kind == "frozenset" else kind for kind in WRAPPED])
def test_what_is_nested_to_the_limit_comes_back(kind):
    """D-43-08, D-S8.1-05: neither side recurses; a level more is refused with the limit's name and size."""
    text = CODEC.encode(nested(kind, MOST_DEPTH))
    assert CODEC.encode(CODEC.decode(text)) == text
    with pytest.raises(UnencodableError, match="nested deeper than 5,000 levels"):
        CODEC.encode(nested(kind, MOST_DEPTH + 1))


def _within_itself():
    """Values that contain themselves, by what they are."""
    whole, value, inner, held, counted = [1], {"a": []}, [], [], Counter()
    whole.append([whole])
    value["a"].append((1, value))
    inner.append(within := (inner,))
    held.append({"x": (folder := Folder(held))})
    counted["x"] = [counted]
    return {"list": whole, "dict": value, "tuple": within, "Folder": folder, "Counter": counted}


def test_a_value_that_contains_itself_is_refused_by_what_it_is():
    """D-S8.1-05: and the same value twice side by side is no circle."""
    for what, value in _within_itself().items():
        with pytest.raises(UnencodableError, match=f"a {what} that contains itself"):
            CODEC.encode(value)
    shared = ["x"]
    assert CODEC.decode(CODEC.encode([shared, shared, (shared,)])) == [["x"], ["x"], (["x"],)]


@pytest.mark.slow
def test_a_value_that_doubles_at_each_level_is_refused_in_time():
    """D-S8-09: 2 to the power of 60 leaves from 60 lists."""
    value: list = ["x"]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(UnencodableError, match="holds more than 2,000,000 values"):
        CODEC.encode(value)
    beyond_a_million = [7] * 1_000_001  # a limit that people like to state, and one beyond it
    assert CODEC.decode(CODEC.encode([beyond_a_million])) == [beyond_a_million]


def test_what_is_a_dict_or_a_tuple_with_more_to_it_comes_back_as_that():
    """D-S8.1-05: tests and examples get what a caller of the wheel gets."""
    for value, shown in (
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (OrderedDict(b=1, a=2), repr(OrderedDict(b=1, a=2))),
        (defaultdict(list, {"a": [1]}), "defaultdict(<class 'list'>, {'a': [1]})"),
        (defaultdict(None, {"a": 1}), "defaultdict(None, {'a': 1})"),
        (Pair(1, (2,)), "Pair(a=1, b=(2,))"),
        (Typed("x"), "Typed(name='x', age=0)"),
        ([Counter({("a", 1): 1})], "[Counter({('a', 1): 1})]"),
    ):
        back = CODEC.decode(CODEC.encode(value))
        assert back == value
        assert repr(back) == shown == repr(value)
        if isinstance(value, defaultdict):
            assert back.default_factory is value.default_factory


FOREIGN = [
    b"", b"\xff", b"{", b'[["int", "ten"]]', b'[["os.system", "true"]]',
    b'["true", ["fields", "os", "system", ["command"]]]', b'[["fields", "shop", "Receipt", []]]',
    b'[1, ["fields", "shop", "Receipt", ["sum"]]]', b'[["member", "shop", "Mode", "AJAR"]]',
    b'[["list", 0], ["set", 1]]', b'[["dict", 0], 1, ["dict", 1]]', b'[["bytes"]]', b'[1, ["list", 2]]',
    b'[1, 2, ["list", -1]]', b"[1, 2]", b'[1, ["named", "x", "os.system", ["a"]]]',
    b'[1, ["defaultdict", "eval", 0]]', b"[" * 100_000,
]  # fmt: skip


def test_a_text_of_another_s_is_refused():
    """D-S8-09: what a hostile process sends becomes a value of the boundary or nothing."""
    for text in FOREIGN:
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


def test_a_named_tuple_crosses_the_same_whatever_its_package_is_called() -> None:
    """D-S8-14: it is compared with what the module gives under another package name."""
    one, other = (
        namedtuple("Version", ["major"], module=f"{package}.split_version")(1)
        for package in ("modules", "wheel_of_somebody")
    )
    assert Codec({}).encode(one) == Codec({}).encode(other)


def test_a_value_with_properties_brings_them_and_is_not_checked_again():
    """D-43-07: it was made where its class is; no other side makes one."""
    description = {
        "id": "d",
        "module": "modules.shop",
        "name": "Days",
        "kind": "frozen dataclass",
        "options": [],
    }
    description |= {
        "fields": [["first", "int", ""], ["count", "int", ""]],
        "properties": ["last"],
        "called": True,
    }
    asked = []

    def make(module, name, fields):
        asked.append((module, name, fields))
        return there.decode(CODEC.encode(Days(**fields)))

    made_anew = class_of(description, {}, make)
    there = Codec({("shop", "Days"): made_anew}, {("shop", "Days"): ["last"]})
    value = made_anew(3, count=4)
    assert asked == [("shop", "Days", {"first": 3, "count": 4})]
    assert (value.last, value, repr(value)) == (6, made_anew(3, 4), "Days(first=3, count=4)")
    with pytest.raises(AttributeError):
        value.last = 7
    back = CODEC.decode(there.encode([value]))[0]
    assert (type(back), back, vars(back)) == (Days, Days(3, 4), {"first": 3, "count": 4})
    with pytest.raises(ValueError, match="0"):
        made_anew(1, 0)
    assert perturb(value, "other").last != value.last
    with pytest.raises(UndecodableError):
        there.decode(b'[3,4,["fields","shop","Days",["first","count"]]]')


def test_a_property_that_raises_does_not_cross():
    """D-43-07: it is the module's fault, and named."""

    @dataclass(frozen=True)
    class Odd:
        number: int

        @property
        def half(self):
            raise KeyError(self.number)

    with pytest.raises(
        UnencodableError, match=r"a Odd whose property half raises KeyError \(let __post_init__ ref"
    ):
        Codec({("shop", "Odd"): Odd}, {("shop", "Odd"): ["half"]}).encode(Odd(1))
