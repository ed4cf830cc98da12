"""How values of the standard library's types are packed, drawn and altered (design: contracts).

One row for each type that `base.value_types` lists and that has no rules of its own in the codec, the fuzz and
the variants. A further type is a row there and a row here.
"""

import base64
import ipaddress
import re
import zoneinfo
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from ship_gate.base.value_types import PATTERNS, VALUE_TYPES

_ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Etc/GMT+12",
)  # fmt: skip
_PATTERNS = ("a", "", "^$", "[0-9]+", "(a)(b)?", "x|y", "(?P<n>.)", "\\w*", "a+?", ".")


class ValueRow(NamedTuple):
    """A type.

    Args:
        name: As a contract writes it.
        kind: The class of its values.
        pack: What JSON holds of a value.
        unpack: The value of that.
        drawn: A value for any natural number; different numbers mostly give different ones.
        altered: Another value of the type, in one of the variations of `inside.variants.values`.
        fits: Whether an instance of the class is a value of the type.
    """

    name: str
    kind: type[Any]
    pack: Callable[[Any], object]
    unpack: Callable[[Any], object]
    drawn: Callable[[int], Any]
    altered: Callable[[Any, str], object]
    fits: Callable[[Any], bool] = lambda _: True


def _fraction(value: Any, variation: str) -> Fraction:
    match variation:
        case "higher":
            return abs(value) * 2 + Fraction(8001, 8)
        case "lower":
            return -abs(value) - 1
        case "last":
            return value - 1
        case _:
            return value + 1


def _zone_key(value: Any) -> str:
    if value.key is None:
        raise ValueError("a time zone without a key")
    return value.key


def _next_zone(value: Any, variation: str) -> object:
    known = value.key in _ZONES
    place = _ZONES.index(value.key) if known else 0
    step = -1 if variation in {"lower", "last"} else 1
    return zoneinfo.ZoneInfo(_ZONES[(place + step) % len(_ZONES)])


def _next_address(value: Any, variation: str) -> object:
    step = {"higher": 65_537, "lower": -65_537, "last": -1}.get(variation, 1)
    return type(value)((int(value) + step) % 2**value.max_prefixlen)


def _next_network(value: Any, variation: str) -> object:
    if variation in {"more", "higher"} and value.prefixlen:
        return value.supernet()
    if variation in {"fewer", "lower"} and value.prefixlen < value.max_prefixlen:
        return next(value.subnets())
    size = value.num_addresses
    start = (int(value.network_address) + size) % 2**value.max_prefixlen
    other = type(value)((start, value.prefixlen))
    return other if other != value else type(value)((0, 1))


def _network_of(of: Any, bits: int) -> Callable[[int], object]:
    return lambda number: of((number % 2**bits, number % (bits + 1)), strict=False)


def _other_bytes(value: Any, variation: str) -> bytearray:
    match variation:
        case "higher" | "more":
            return value + b"~" + value
        case "lower" | "fewer":
            return bytearray()
        case "order":
            return value[::-1]
        case "last":
            return bytearray([*value[:-1], *(byte ^ 1 for byte in value[-1:])] or b"~")
        case _:
            return bytearray([byte ^ 1 for byte in value] or b"~")


def _other_complex(value: Any, variation: str) -> complex:
    if value != value:
        return 0j
    change = {"higher": 1000.125, "lower": -1000.125, "last": -1j, "order": 1j}.get(variation, 1)
    return value + change


def _pattern_of(packed: Any) -> object:
    kind, text, flags = packed
    data = base64.b64decode(text)
    return re.compile(data if kind == "bytes" else data.decode("utf-8", "surrogatepass"), flags)


def _packed_pattern(value: Any) -> object:
    text = value.pattern
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return [type(text).__name__, base64.b64encode(data).decode(), value.flags]


def _other_pattern(value: Any, variation: str) -> object:
    empty = value.pattern[:0]
    more: Any = b"~" if isinstance(value.pattern, bytes) else "~"
    if variation in {"fewer", "lower"} and value.pattern != empty:
        return re.compile(empty, value.flags)
    if variation == "order":
        return re.compile(value.pattern, value.flags ^ re.IGNORECASE)
    return re.compile(value.pattern + more, value.flags)


def _patterns_of(kind: type) -> ValueRow:
    def drawn(number: int) -> object:
        text = _PATTERNS[number % len(_PATTERNS)]
        flags = re.IGNORECASE if number // len(_PATTERNS) % 3 == 2 else 0
        return re.compile(text if kind is str else text.encode(), flags)

    def fits(value: Any) -> bool:
        return isinstance(value.pattern, kind)

    name = PATTERNS[kind is bytes]
    return ValueRow(name, re.Pattern, _packed_pattern, _pattern_of, drawn, _other_pattern, fits)


def _row(kind: Any, drawn: Callable[[int], Any], altered: Callable[[Any, str], object]) -> ValueRow:
    return ValueRow(kind.__name__, kind, str, kind, drawn, altered)


def _zone(number: int) -> object:
    return zoneinfo.ZoneInfo(_ZONES[number % len(_ZONES)])


def _packed_buffer(value: Any) -> object:
    return base64.b64encode(value).decode()


def _buffer_of(packed: Any) -> object:
    return bytearray(base64.b64decode(packed))


def _buffer(number: int) -> object:
    return bytearray(number.to_bytes(16, "little").rstrip(b"\0"))


def _packed_complex(value: Any) -> object:
    return [repr(value.real), repr(value.imag)]


def _complex_of(packed: Any) -> object:
    return complex(*map(float, packed))


def _complex(number: int) -> object:
    return complex(number % 41 - 20, number // 41 % 41 - 20)


VALUE_ROWS: tuple[ValueRow, ...] = (
    _row(Fraction, lambda n: Fraction(n % 401 - 200, n // 401 % 30 + 1), _fraction),
    ValueRow("ZoneInfo", zoneinfo.ZoneInfo, _zone_key, zoneinfo.ZoneInfo, _zone, _next_zone),
    _row(ipaddress.IPv4Address, lambda n: ipaddress.IPv4Address(n % 2**32), _next_address),
    _row(ipaddress.IPv6Address, lambda n: ipaddress.IPv6Address(n % 2**128), _next_address),
    _row(ipaddress.IPv4Network, _network_of(ipaddress.IPv4Network, 32), _next_network),
    _row(ipaddress.IPv6Network, _network_of(ipaddress.IPv6Network, 128), _next_network),
    ValueRow("bytearray", bytearray, _packed_buffer, _buffer_of, _buffer, _other_bytes),
    ValueRow("complex", complex, _packed_complex, _complex_of, _complex, _other_complex),
    _patterns_of(str),
    _patterns_of(bytes),
)


@cache
def constructors() -> Mapping[str, Any]:
    """The classes of the standard library that a value or a default is written with, by bare name; `re` for its patterns."""
    found: dict[str, Any] = {"re": re}
    for one in VALUE_TYPES:
        if one.name not in PATTERNS and one.module:
            found[one.name] = getattr(import_module(one.module), one.name)
    return found


@cache
def examples_of(name: str) -> tuple[Any, ...]:
    """The values of a type that its row names; each has to be copied before it is given away."""
    texts = next(one.examples for one in VALUE_TYPES if one.name == name)
    return tuple(eval(text, dict(constructors())) for text in texts)  # noqa: S307 - texts of this project
