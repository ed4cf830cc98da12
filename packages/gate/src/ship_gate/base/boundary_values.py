"""The values that may cross a module's boundary: single values, containers, and how much (design: contracts).

It imports nothing of the project, because the sandboxed processes read this file as well.
"""

import base64
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import math
import pathlib
import re
import sys
import uuid
import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from importlib import import_module
from typing import Any, Literal, NamedTuple, cast

_SHOWN = 60
_ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "Etc/GMT+12",
)  # fmt: skip
_PATTERNS = ("a", "", "^$", "[0-9]+", "(a)(b)?", "x|y", "(?P<n>.)", "\\w*", "a+?", ".")
_TEXTS = (
    "", " ", "\n", "\t", "a", "0", "-1", "1.5", "\x00", "\ud800", "a\udfffb", "²", "٣", "½", "Ⅷ", "1e400", "nan", "inf",
    "1" * 4301, "-" + "9" * 5000, "0." + "3" * 4400, "1_000", "+1", "1,000", "0x10", ".", "..", "-", "--", "=",
    "ß", "İ", "ﬁ", "é", "e\u0301", "\u00a0", "\u2028", "\x85", "\ufeff", "\u200b", "\u202e", "😀", "\U0010ffff",
    "\r\n", "a\r", "%s", "{}", "{0}", "\\", "'", '"', "(", "[", "*", "<a>", "a,b", "a\nb\n", "  a  b  ", "A", "Aa",
)  # fmt: skip
_BYTES = (b"", b"\x00", b"\xff", b"\xed\xa0\x80", b"a", b"\r\n", b"\xef\xbb\xbfa", b"0" * 5000)
_INTS = (
    0, 1, -1, 2, 3, 7, 10, -10, 99, 100, 255, 256, 1000, 65536, 2**31, -(2**31), 2**53 + 1, 2**63, -(2**63), 10**18,
)  # fmt: skip
_FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.1, 0.5, 1.5, 2.675, 1e16, 1e308, -1e308, 5e-324, *map(float, ("nan", "inf", "-inf")),
)  # fmt: skip
_DECIMALS = (
    "0", "1", "-1", "-0", "0.01", "0.005", "1.00", "10.50", "1E+2", "NaN", "sNaN", "Infinity", "-Infinity",
    "1E+999999", "-1E+999999", "1E-999999", "1E+30", "0E+10", "9" * 40, "0." + "1" * 40, "-0.001",
)  # fmt: skip
_MOMENTS = (
    *("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2000-02-29T23:59:59"),
    *("2024-12-31T23:59:59.999999", "2024-01-01T00:00:00", "1900-03-01T00:00:00"),
)
_SPANS = (
    *(datetime.timedelta(0), datetime.timedelta.min, datetime.timedelta.max, datetime.timedelta.resolution),
    *(datetime.timedelta(days=days) for days in (1, -1, 365)),
    *(datetime.timedelta(hours=25), datetime.timedelta(microseconds=-1)),
)
_PATHS = (
    "new.txt", "old.txt", "empty.txt", "bytes.bin", "folder", "folder/new.txt", "missing/new.txt", "old.txt/x",
    "a b.txt", "ä\u0308.txt", "new", ".hidden", "-x", "n" * 300, "folder/../new.txt", "loop", "Old.TXT", "x.tar.gz",
)  # fmt: skip
_PLAIN_BITS = 63
"""Longer integers travel in hexadecimal: Python limits the digits of decimal ones."""
_SIGNS = "".join(2 * sign for sign in "~ !\"#$%&'()*+,-./:;<=>?@[]^_`{|}09AZaz\n\t\u00e4")
_DAY = datetime.timedelta(days=1)
_LITTLE = datetime.timedelta(seconds=1, microseconds=1)
_INFINITE = float("inf")


class Drawing(NamedTuple):
    """What the strategies of a type are made with.

    Args:
        strategies: The module `hypothesis.strategies`.
        zones: A strategy for time zones.
        ordinary: Whether only numbers are drawn that are finite.
    """

    strategies: Any
    zones: Any
    ordinary: bool


def full_repr(value: object) -> str:
    """The repr of a value; ints in it may have more digits than Python writes as a rule."""
    try:
        return repr(value)
    except ValueError:
        most = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            return repr(value)
        finally:
            sys.set_int_max_str_digits(most)


def _as_repr(value: Any) -> str:
    return repr(value).replace("datetime.", "")


@dataclasses.dataclass(frozen=True)
class Scalar:
    """A type.

    Args:
        name: As a contract writes it.
        kind: The class of its values.
        plain: A value for where any will do.
        edge_cases: Values that break programs.
        drawn: Strategies for other values.
        altered: Another value of the type, in one of the variations of `inside.variants.changes`.
        pack: What JSON holds of a value; raises ValueError for a value that does not cross.
        unpack: The value of that.
        is_json: Whether a value stands for itself in JSON.
        fits: Whether an object is a value of the type; by default that it is an instance of `kind`.
        is_ordinary: Whether a value equals itself, is finite, and can be written as UTF-8.
        shown: A value as a contract's reader would write it.
        size: How large a value is.
        is_hashable: Whether a value can be a key.
        is_word: Whether a command line can hold a value in one word.
        says: What a value can tell: any `text`, a `number`, or neither.
        is_bounded: Whether the gate knows what it means that a contract states its least or greatest value.
    """

    name: str
    kind: type[Any]
    plain: Callable[[], Any]
    edge_cases: Callable[[], Sequence[Any]]
    drawn: Callable[[Drawing], Sequence[Any]]
    altered: Callable[[Any, str], Any]
    pack: Callable[[Any], object] = str
    unpack: Callable[[Any], Any] = str
    is_json: Callable[[Any], bool] = lambda _: False
    fits: Callable[[Any], bool] | None = None
    is_ordinary: Callable[[Any], bool] = lambda _: True
    shown: Callable[[Any], str] = _as_repr
    size: Callable[[Any], int] = lambda _: 1
    is_hashable: bool = True
    is_word: bool = True
    says: Literal["", "text", "number"] = ""
    is_bounded: bool = False

    def accepts(self, value: object) -> bool:
        """Whether a value is of the type: an int stands for a float, but a bool for no int and a datetime for no date."""
        return isinstance(value, self.kind) if self.fits is None else self.fits(value)

    @property
    def module(self) -> str:
        """From which it is imported; empty for a builtin."""
        module = self.kind.__module__.partition(".")[0]
        return module if module != "builtins" else ""

    @property
    def tag(self) -> str:
        """What its packed values begin with."""
        return self.name.partition("[")[0]

    @property
    def is_bare(self) -> bool:
        """Whether contracts write it by a bare name: `Pattern` alone is a good name for a class of one's own."""
        return self.name.isidentifier()


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_date(value: Any) -> bool:
    return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)


def _is_short_int(value: int) -> bool:
    return value.bit_length() <= _PLAIN_BITS


def _is_utf8(value: str) -> bool:
    # JSON would join two unpaired surrogates that stand side by side
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown_int(value: int) -> str:
    return repr(value) if abs(value) < 10**40 else f"{'-' if value < 0 else ''}0x{abs(value):x}"[:_SHOWN]


def _shown_fraction(value: fractions.Fraction) -> str:
    return f"Fraction({_shown_int(value.numerator)}, {_shown_int(value.denominator)})"


def _pack_fraction(value: fractions.Fraction) -> list[str]:
    # in hex, since Python writes no more than 4,300 digits
    return [hex(value.numerator), hex(value.denominator)]


def _unpack_fraction(packed: Any) -> fractions.Fraction:
    return fractions.Fraction(*(int(part, 16) for part in packed))


def _shown_text(value: Any) -> str:
    """A text or bytes, a long one by what is repeated in it or by its beginning."""
    if len(value) <= _SHOWN:
        return repr(value)
    for length in range(1, 9):
        unit = value[:length]
        if len(value) % length == 0 and unit * (len(value) // length) == value:
            return f"{unit!r} * {len(value) // length}"
    return f"{value[: _SHOWN // 2]!r}... ({len(value)} long)"


def _size_of_int(value: int) -> int:
    return min(10**18, abs(value))


def _size_of_decimal(value: decimal.Decimal) -> int:
    return 1 if not value.is_finite() else min(10**9, abs(value.adjusted()))


def _any_decimal(of: Drawing) -> Any:
    return of.strategies.decimals(allow_nan=False, allow_infinity=False if of.ordinary else None)


def _any_float(of: Drawing) -> Any:
    return of.strategies.floats(
        **dict.fromkeys(("allow_nan", "allow_infinity"), False if of.ordinary else None)
    )


def _numbered(value: Callable[[int], Any]) -> Callable[[Drawing], Sequence[Any]]:
    """The strategies for what has a value for any natural number; different numbers mostly give different ones."""
    return lambda of: (of.strategies.integers(0, 2**64).map(value),)


def _pack_base64(value: bytes | bytearray) -> str:
    return base64.b64encode(value).decode()


def _pack_text(value: str) -> str:
    return base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()


def _unpack_text(packed: str) -> str:
    return base64.b64decode(packed).decode("utf-8", "surrogatepass")


def _pack_path(value: pathlib.PurePath) -> object:
    text = str(value)
    return text if _is_utf8(text) else ["str", _pack_text(text)]


def _unpack_path(packed: Any) -> pathlib.Path:
    return pathlib.Path(packed if isinstance(packed, str) else _unpack_text(packed[1]))


def _pack_zone(zone: datetime.tzinfo | None) -> object:
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        # how pickle asks for them: the offset, and a name if it was given one
        arguments: tuple[Any, ...] = cast("Any", zone).__getinitargs__()
        return ["offset", _pack_span(arguments[0]), *arguments[1:]]
    if type(zone) is zoneinfo.ZoneInfo and zone.key:
        return ["zone", zone.key]
    raise ValueError(f"a time zone of type {type(zone).__module__}.{type(zone).__qualname__}")


def _unpack_zone(packed: Any) -> datetime.tzinfo | None:
    if packed is None:
        return None
    if packed[0] == "zone":
        return zoneinfo.ZoneInfo(packed[1])
    return datetime.timezone(datetime.timedelta(*packed[1]), *packed[2:])


def _pack_span(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _pack_time(value: Any) -> list[object]:
    plain = value.replace(tzinfo=None, fold=0)
    return [plain.isoformat(), _pack_zone(value.tzinfo), value.fold]


def _unpack_time(kind: Any) -> Callable[[Any], Any]:
    def unpacked(packed: Any) -> Any:
        text, zone, fold = packed
        return kind.fromisoformat(text).replace(tzinfo=_unpack_zone(zone), fold=fold)

    return unpacked


def _zone_key(value: Any) -> str:
    if value.key is None:
        raise ValueError("a time zone without a key")
    return value.key


def _pack_complex(value: complex) -> list[str]:
    return [repr(value.real), repr(value.imag)]


def _pack_pattern(value: Any) -> list[object]:
    packed = _pack_text(value.pattern) if isinstance(value.pattern, str) else _pack_base64(value.pattern)
    return [type(value.pattern).__name__, packed, value.flags]


def _unpack_pattern(packed: Any) -> object:
    kind, text, flags = packed
    return re.compile(base64.b64decode(text) if kind == "bytes" else _unpack_text(text), flags)


def _other_number(value: Any, variation: str) -> Any:
    if value != value or value in (_INFINITE, -_INFINITE):
        return type(value)(0)
    match variation:
        case "higher":
            more = abs(value) * 2 + 1000
            # also what is said of whole numbers
            return more + type(value)("0.125") if type(value) is not int else more
        case "lower":
            return -abs(value) - 1
        case "last":
            return value - 1
        case _:
            return value + 1


def _other_text(value: str, variation: str) -> str:
    match variation:
        case "higher" | "more":
            return value + _SIGNS + value
        case "lower" | "fewer":
            return ""
        case "order":
            return value[::-1]
        case "last":
            place = next(
                (at for at in range(len(value) - 1, -1, -1) if _turned(value[at]) != value[at]), None
            )
            return (
                value + "~" if place is None else value[:place] + _turned(value[place]) + value[place + 1 :]
            )
        case _:
            changed = "".join(map(_turned, value))
            return changed if changed != value else value + "~"


def _turned(character: str) -> str:
    """The next letter or digit: what is JSON or a date as a rule stays one."""
    if "a" <= character < "z" or "A" <= character < "Z" or "1" <= character < "9":
        return chr(ord(character) + 1)
    return {"z": "a", "Z": "A", "9": "1", "0": "1"}.get(character, character)


def other_bytes(value: bytes | bytearray, variation: str) -> Any:
    """Other bytes, changed as a text would be."""
    return type(value)(_other_text(value.decode("latin-1"), variation).encode("latin-1", "replace"))


def _other_moment(value: Any, variation: str) -> Any:
    step = {"higher": 1000 * _DAY, "lower": -1000 * _DAY, "last": -_DAY}.get(variation, _DAY)
    if variation == "higher" and not isinstance(value, datetime.date):
        return value + step + _LITTLE
    if variation == "higher" and isinstance(value, datetime.datetime):
        # also what is said of whole minutes and of time zones
        return (value + step + _LITTLE).replace(tzinfo=None if value.tzinfo else datetime.UTC)
    return value + step


def _other_time(value: datetime.time, variation: str) -> datetime.time:
    return value.replace(minute=(value.minute + (59 if variation == "lower" else 1)) % 60)


def _other_zone(value: Any, variation: str) -> object:
    place = _ZONES.index(value.key) if value.key in _ZONES else 0
    step = -1 if variation in {"lower", "last"} else 1
    return zoneinfo.ZoneInfo(_ZONES[(place + step) % len(_ZONES)])


def _other_address(value: Any, variation: str) -> object:
    step = {"higher": 65_537, "lower": -65_537, "last": -1}.get(variation, 1)
    return type(value)((int(value) + step) % 2**value.max_prefixlen)


def _other_network(value: Any, variation: str) -> object:
    if variation in {"more", "higher"} and value.prefixlen:
        return value.supernet()
    if variation in {"fewer", "lower"} and value.prefixlen < value.max_prefixlen:
        return next(value.subnets())
    size = value.num_addresses
    start = (int(value.network_address) + size) % 2**value.max_prefixlen
    other = type(value)((start, value.prefixlen))
    return other if other != value else type(value)((0, 1))


def _other_complex(value: Any, variation: str) -> complex:
    if value != value:
        return 0j
    change = {"higher": 1000.125, "lower": -1000.125, "last": -1j, "order": 1j}.get(variation, 1)
    return value + change


def _other_pattern(value: Any, variation: str) -> object:
    empty = value.pattern[:0]
    more: Any = b"~" if isinstance(value.pattern, bytes) else "~"
    if variation in {"fewer", "lower"} and value.pattern != empty:
        return re.compile(empty, value.flags)
    if variation == "order":
        return re.compile(value.pattern, value.flags ^ re.IGNORECASE)
    return re.compile(value.pattern + more, value.flags)


def _row_of_texts(
    kind: Any,
    edge_cases: Sequence[object],
    numbered: Callable[[int], Any],
    altered: Callable[[Any, str], Any],
    says: Literal["", "text", "number"] = "",
) -> Scalar:
    """The row of a class whose values are made from their texts.

    Args:
        kind: The class.
        edge_cases: What it is called with for each, the plainest first.
        numbered: A value for any natural number; different numbers mostly give different ones.
        altered: See `Scalar`, as for the rest.
    """
    return Scalar(
        kind.__name__,
        kind,
        plain=lambda: kind(edge_cases[0]),
        edge_cases=lambda: tuple(map(kind, edge_cases)),
        drawn=_numbered(numbered),
        altered=altered,
        unpack=kind,
        says=says,
    )


def _network(kind: Any, bits: int, edge_cases: Sequence[str]) -> Scalar:
    def numbered(number: int) -> object:
        return kind((number % 2**bits, number % (bits + 1)), strict=False)

    return _row_of_texts(kind, edge_cases, numbered, _other_network)


def _pattern(name: str, edge_cases: Sequence[Any]) -> Scalar:
    kind = bytes if isinstance(edge_cases[0], bytes) else str

    def numbered(number: int) -> object:
        text = _PATTERNS[number % len(_PATTERNS)]
        flags = re.IGNORECASE if number // len(_PATTERNS) % 3 == 2 else 0
        return re.compile(text if kind is str else text.encode(), flags)

    return Scalar(
        name,
        re.Pattern,
        plain=lambda: re.compile(edge_cases[0]),
        edge_cases=lambda: tuple(map(re.compile, edge_cases)),
        drawn=_numbered(numbered),
        altered=_other_pattern,
        pack=_pack_pattern,
        unpack=_unpack_pattern,
        fits=lambda value: isinstance(value, re.Pattern) and isinstance(cast("Any", value).pattern, kind),
        is_word=False,
    )


SCALARS: tuple[Scalar, ...] = (
    Scalar(
        "str",
        str,
        plain=lambda: "a",
        edge_cases=lambda: _TEXTS,
        drawn=lambda of: (of.strategies.text(),),
        altered=_other_text,
        pack=_pack_text,
        unpack=_unpack_text,
        is_json=_is_utf8,
        is_ordinary=_is_utf8,
        shown=_shown_text,
        size=len,
        says="text",
    ),
    Scalar(
        "int",
        int,
        plain=lambda: 1,
        edge_cases=lambda: _INTS,
        drawn=lambda of: (of.strategies.integers(-20, 120), of.strategies.integers()),
        altered=_other_number,
        pack=hex,
        unpack=lambda packed: int(packed, 16),
        is_json=_is_short_int,
        fits=_is_int,
        shown=_shown_int,
        size=_size_of_int,
        says="number",
        is_bounded=True,
    ),
    Scalar(
        "float",
        float,
        plain=lambda: 1.0,
        edge_cases=lambda: _FLOATS,
        drawn=lambda of: (of.strategies.floats(-1000, 1000), _any_float(of)),
        altered=_other_number,
        pack=repr,
        unpack=float,
        is_json=math.isfinite,
        fits=_is_number,
        is_ordinary=math.isfinite,
        says="number",
        is_bounded=True,
    ),
    Scalar(
        "bool",
        bool,
        plain=lambda: False,
        edge_cases=lambda: (True, False),
        drawn=lambda of: (of.strategies.booleans(),),
        altered=lambda value, _: not value,
        is_json=lambda _: True,
    ),
    Scalar(
        "bytes",
        bytes,
        plain=lambda: b"a",
        edge_cases=lambda: _BYTES,
        drawn=lambda of: (of.strategies.binary(max_size=12),),
        altered=other_bytes,
        pack=_pack_base64,
        unpack=base64.b64decode,
        shown=_shown_text,
        size=len,
        is_word=False,
    ),
    Scalar(
        "Decimal",
        decimal.Decimal,
        plain=lambda: decimal.Decimal(1),
        edge_cases=lambda: tuple(map(decimal.Decimal, _DECIMALS)),
        drawn=lambda of: (of.strategies.decimals(-1000, 1000, places=2), _any_decimal(of)),
        altered=_other_number,
        unpack=decimal.Decimal,
        is_ordinary=decimal.Decimal.is_finite,
        size=_size_of_decimal,
        says="number",
        is_bounded=True,
    ),
    Scalar(
        "datetime",
        datetime.datetime,
        plain=lambda: datetime.datetime.fromisoformat("2024-01-01T00:00:00"),
        edge_cases=lambda: tuple(map(datetime.datetime.fromisoformat, _MOMENTS)),
        drawn=lambda of: (of.strategies.datetimes(timezones=of.zones),),
        altered=_other_moment,
        pack=_pack_time,
        unpack=_unpack_time(datetime.datetime),
    ),
    Scalar(
        "date",
        datetime.date,
        plain=lambda: datetime.date(2024, 1, 1),
        edge_cases=lambda: tuple(datetime.datetime.fromisoformat(text).date() for text in _MOMENTS),
        drawn=lambda of: (of.strategies.dates(),),
        altered=_other_moment,
        pack=datetime.date.isoformat,
        unpack=datetime.date.fromisoformat,
        fits=_is_date,
    ),
    Scalar(
        "time",
        datetime.time,
        plain=lambda: datetime.time(12),
        edge_cases=lambda: (
            datetime.time.min,
            datetime.time.max,
            datetime.time(12),
            datetime.time(23, 59, 59),
        ),
        drawn=lambda of: (of.strategies.times(timezones=of.zones),),
        altered=_other_time,
        pack=_pack_time,
        unpack=_unpack_time(datetime.time),
    ),
    Scalar(
        "timedelta",
        datetime.timedelta,
        plain=lambda: datetime.timedelta(days=1),
        edge_cases=lambda: _SPANS,
        drawn=lambda of: (of.strategies.timedeltas(),),
        altered=_other_moment,
        pack=_pack_span,
        unpack=lambda packed: datetime.timedelta(*packed),
    ),
    Scalar(
        "UUID",
        uuid.UUID,
        plain=lambda: uuid.UUID(int=1),
        edge_cases=lambda: (uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)),
        drawn=lambda of: (of.strategies.uuids(),),
        altered=lambda value, _: uuid.UUID(int=value.int ^ 1),
        unpack=uuid.UUID,
    ),
    Scalar(
        "Path",
        type(pathlib.Path()),
        plain=lambda: pathlib.Path("new.txt"),
        edge_cases=lambda: tuple(map(pathlib.Path, _PATHS)),
        drawn=lambda of: (of.strategies.sampled_from(_PATHS).map(pathlib.Path),),
        altered=lambda value, _: value.with_name(_other_text(value.name or "x", "other")),
        pack=_pack_path,
        unpack=_unpack_path,
        shown=lambda value: f"Path({_shown_text(str(value))})",
        says="text",
    ),
    dataclasses.replace(
        _row_of_texts(
            fractions.Fraction,
            ("1/2", "0", "-7/3", f"{10**40}/3"),
            lambda number: fractions.Fraction(number % 401 - 200, number // 401 % 30 + 1),
            _other_number,
            says="number",
        ),
        pack=_pack_fraction,
        unpack=_unpack_fraction,
        shown=_shown_fraction,
    ),
    Scalar(
        "ZoneInfo",
        zoneinfo.ZoneInfo,
        plain=lambda: zoneinfo.ZoneInfo("UTC"),
        edge_cases=lambda: tuple(map(zoneinfo.ZoneInfo, ("UTC", "Europe/Berlin", "Asia/Kathmandu"))),
        drawn=_numbered(lambda number: zoneinfo.ZoneInfo(_ZONES[number % len(_ZONES)])),
        altered=_other_zone,
        pack=_zone_key,
        unpack=zoneinfo.ZoneInfo,
        shown=lambda value: f"ZoneInfo({value.key!r})",
    ),
    _row_of_texts(
        ipaddress.IPv4Address,
        ("192.0.2.1", 0, "255.255.255.255"),
        lambda number: ipaddress.IPv4Address(number % 2**32),
        _other_address,
    ),
    _row_of_texts(
        ipaddress.IPv6Address,
        ("2001:db8::1", 0, "::ffff:192.0.2.1"),
        lambda number: ipaddress.IPv6Address(number % 2**128),
        _other_address,
    ),
    _network(ipaddress.IPv4Network, 32, ("192.0.2.0/24", "0.0.0.0/0", "192.0.2.7/32")),
    _network(ipaddress.IPv6Network, 128, ("2001:db8::/32", "::/0", "::1/128")),
    Scalar(
        "bytearray",
        bytearray,
        plain=lambda: bytearray(b"a"),
        edge_cases=lambda: tuple(map(bytearray, (b"a", b"", b"\xff\x00"))),
        drawn=_numbered(lambda number: bytearray(number.to_bytes(16, "little").rstrip(b"\0"))),
        altered=other_bytes,
        pack=_pack_base64,
        unpack=lambda packed: bytearray(base64.b64decode(packed)),
        size=len,
        is_hashable=False,
        is_word=False,
    ),
    Scalar(
        "complex",
        complex,
        plain=lambda: complex(1, 2),
        edge_cases=lambda: (complex(1, 2), complex(0), complex(0, -1.5), complex("nan")),
        drawn=_numbered(lambda number: complex(number % 41 - 20, number // 41 % 41 - 20)),
        altered=_other_complex,
        pack=_pack_complex,
        unpack=lambda packed: complex(*map(float, packed)),
        is_word=False,
        says="number",
    ),
    _pattern("re.Pattern[str]", ("a", "", "(x)|([0-9]+)", "^$")),
    _pattern("re.Pattern[bytes]", (b"a", b"", b"[0-9]+")),
)

ROWS: Mapping[str, Scalar] = {row.name: row for row in SCALARS}
"""The table by name."""

ROWS_OF_CLASS: Mapping[type, Scalar] = {row.kind: row for row in SCALARS}
"""A row for each class; of the two for patterns, which pack the same way, one."""


CONSTRUCTORS: Mapping[str, Any] = {
    "re": re,
    **{
        row.name: getattr(import_module(row.module), row.name)
        for row in SCALARS
        if row.module and row.is_bare
    },
}
"""The classes of the library that a value or a default is written with, by bare name; `re` for its patterns."""


def scalar_of(value: object) -> Scalar | None:
    """The row of a value; None if it is none of the table's, such as a member of an Enum."""
    row = ROWS_OF_CLASS.get(type(value))
    if row is None and not isinstance(value, enum.Enum):
        row = next((ROWS_OF_CLASS[one] for one in type(value).__mro__ if one in ROWS_OF_CLASS), None)
    if row is None or row.accepts(value):
        return row
    return next(one for one in SCALARS if one.accepts(value))  # of two rows of a class the other one


CLASSES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict}
"""The classes of values that hold others."""

CONTAINERS = {"list": 1, "set": 1, "frozenset": 1, "dict": 2}
"""Containers that cross both ways, with the number of types that they take; a `tuple` takes any number."""

TAKEN_CONTAINERS = {"Sequence": 1, "Collection": 1, "Iterable": 1, "Mapping": 2}
"""What a parameter may be declared as, from `collections.abc`: a caller passes any container that is one."""

ITERATORS = ("Iterable", "Iterator")
"""What a whole parameter or the whole result may be, with a stated number of items at most."""

CALLABLE = "Callable"
"""What a whole parameter may be: a function that the module calls."""

TYPE_VARIABLE = "T"
"""What stands for a type that the caller has, in the inputs and outputs of a generic function."""

ABSTRACT = (*TAKEN_CONTAINERS, "Iterator", CALLABLE)
"""The types that come from `collections.abc`."""


class BoundaryLimit(Enum):
    """A limit, with its size, its unit and what it is about."""

    DEPTH = 5_000, "levels", "containers within containers, of one value"
    VALUES = 2_000_000, "values", "leaves and containers in one call's arguments, or in its result"
    ITEMS = 100_000, "items", "what a contract may state of an iterable or iterator"
    BYTES = 16 * 1024 * 1024, "bytes", "one call's arguments, or its result, as JSON text"
    PRINTED = 200_000, "characters", "what one call prints, where that is a declared effect"
    MESSAGE = 200_000, "characters", "the message of an exception; the rest is cut off"

    @property
    def most(self) -> int:
        """The largest size that crosses."""
        return self.value[0]

    @property
    def text(self) -> str:
        """The size with its unit."""
        return f"{self.most:,} {self.value[1]}"

    @property
    def about(self) -> str:
        """What is measured."""
        return self.value[2]


def limit_sentence() -> str:
    """Values beyond the limits that a contract's author has to know, for prompts."""
    return f"values of over {BoundaryLimit.DEPTH.most:,} levels or {BoundaryLimit.VALUES.most:,} items"
