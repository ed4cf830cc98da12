"""The values that cross the boundary of a module, as JSON text: exact types, no pickle (design: module-directory).

JSON's own types stand for themselves; everything else is an object with the one key `!` for its kind, so that a
dict never looks like one. Equal values have equal texts, also sets and NaN, so texts can be compared by value.
Classes are the ones that were registered: field-only dataclasses and Enums that a module exports (a TypedDict is a
dict). A subclass of a listed type is another type, and is refused: what is declared as `dict` is a dict.

Left out: whether a value is of the declared type; that is for the tests and the fuzz.
"""

import base64
import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
import zoneinfo
from collections.abc import Callable, Mapping
from typing import Any, cast

MOST_DEPTH = 200
"""Containers within containers."""

_PLAIN_BITS = 63  # longer integers travel in hexadecimal: Python limits the digits of decimal ones

ClassKey = tuple[str, str]
"""The module that exports a class, and the class's name."""


class UnencodableError(Exception):
    """A value has no place on the boundary; the text says which."""


class UndecodableError(Exception):
    """A text that no codec wrote."""


class Codec:
    """Turns values into texts and back.

    Args:
        classes: The dataclasses and Enums that may cross, by the module that exports them.
    """

    def __init__(self, classes: Mapping[ClassKey, type]) -> None:
        self._classes = dict(classes)
        self._keys = {kind: key for key, kind in self._classes.items()}

    def encode(self, value: object) -> bytes:
        """The text of a value.

        Raises:
            UnencodableError: the value, or something in it, is of a type that does not cross.
        """
        try:
            return json.dumps(self._packed(value, 0), separators=(",", ":"), allow_nan=False).encode()
        except RecursionError as error:
            raise UnencodableError("a value that is nested too deeply") from error

    def decode(self, text: bytes) -> Any:
        """The value of a text.

        Raises:
            UndecodableError: the text is none of ours.
        """
        try:
            return self._unpacked(json.loads(text))
        except Exception as error:
            raise UndecodableError(f"{type(error).__name__}: {error}") from error

    def _packed(self, value: object, depth: int) -> object:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind in _PACK:
            return _PACK[kind](value)
        if depth > MOST_DEPTH:
            raise UnencodableError("a value that is nested too deeply")
        if kind in _CONTAINERS:
            return self._packed_container(value, depth + 1)
        if kind in self._keys:
            return self._packed_class(value, depth + 1)
        raise UnencodableError(f"a value of type {kind.__module__}.{kind.__qualname__}")

    def _packed_container(self, value: Any, depth: int) -> object:
        kind = cast("type[object]", type(value))
        if kind is list:
            return [self._packed(item, depth) for item in value]
        if kind is dict:
            if all(type(key) is str and key.isascii() for key in value) and "!" not in value:
                return {key: self._packed(item, depth) for key, item in value.items()}
            pairs = [[self._packed(key, depth), self._packed(item, depth)] for key, item in value.items()]
            return {"!": "dict", "v": pairs}
        items = [self._packed(item, depth) for item in value]
        if kind is not tuple:
            # a set has no order; its text has
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return {"!": kind.__name__, "v": items}

    def _packed_class(self, value: Any, depth: int) -> object:
        key = list(self._keys[type(value)])
        if isinstance(value, enum.Enum):
            return {"!": "member", "c": key, "v": value.name}
        fields = [self._packed(getattr(value, field.name), depth) for field in dataclasses.fields(value)]
        return {"!": "fields", "c": key, "v": fields}

    def _unpacked(self, value: Any) -> Any:
        kind = cast("type[object]", type(value))
        if kind is list:
            return [self._unpacked(item) for item in value]
        if kind is not dict:
            return value
        if "!" not in value:
            return {key: self._unpacked(item) for key, item in value.items()}
        tag, inner = value["!"], value["v"]
        if tag == "dict":
            return {self._unpacked(key): self._unpacked(item) for key, item in inner}
        if tag in _COLLECT:
            return _COLLECT[tag](self._unpacked(item) for item in inner)
        if tag in {"member", "fields"}:
            built: Any = self._classes[(value["c"][0], value["c"][1])]
            return built[inner] if tag == "member" else built(*(self._unpacked(item) for item in inner))
        return _UNPACK[tag](inner)


def _int(value: Any) -> object:
    return value if value.bit_length() <= _PLAIN_BITS else {"!": "int", "v": hex(value)}


def _float(value: Any) -> object:
    return value if math.isfinite(value) else {"!": "float", "v": repr(value)}


def _str(value: Any) -> object:
    # JSON would join two unpaired surrogates that stand side by side
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"!": "str", "v": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}
    return value


def _surrogates(text: str) -> str:
    return base64.b64decode(text).decode("utf-8", "surrogatepass")


def _zone(zone: datetime.tzinfo | None) -> object:
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        # how pickle asks for them: the offset, and a name if it was given one
        arguments: tuple[Any, ...] = cast("Any", zone).__getinitargs__()
        return ["offset", _delta(arguments[0]), *arguments[1:]]
    if type(zone) is zoneinfo.ZoneInfo and zone.key:
        return ["zone", zone.key]
    raise UnencodableError(f"a time zone of type {type(zone).__module__}.{type(zone).__qualname__}")


def _zone_of(packed: Any) -> datetime.tzinfo | None:
    if packed is None:
        return None
    if packed[0] == "zone":
        return zoneinfo.ZoneInfo(packed[1])
    return datetime.timezone(datetime.timedelta(*packed[1]), *packed[2:])


def _delta(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


def _datetime(value: Any) -> object:
    plain = value.replace(tzinfo=None, fold=0)
    return {"!": "datetime", "v": [plain.isoformat(), _zone(value.tzinfo), value.fold]}


def _datetime_of(packed: Any) -> datetime.datetime:
    text, zone, fold = packed
    return datetime.datetime.fromisoformat(text).replace(tzinfo=_zone_of(zone), fold=fold)


def _time(value: Any) -> object:
    plain = value.replace(tzinfo=None, fold=0)
    return {"!": "time", "v": [plain.isoformat(), _zone(value.tzinfo), value.fold]}


def _time_of(packed: Any) -> datetime.time:
    text, zone, fold = packed
    return datetime.time.fromisoformat(text).replace(tzinfo=_zone_of(zone), fold=fold)


def _tagged(tag: str, text: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda value: {"!": tag, "v": text(value)}


_PLAIN = {bool, type(None)}
_CONTAINERS = {list, dict, tuple, set, frozenset}
_COLLECT: dict[str, Callable[[Any], object]] = {"tuple": tuple, "set": set, "frozenset": frozenset}

_PACK: dict[type, Callable[[Any], object]] = {
    int: _int,
    float: _float,
    str: _str,
    bytes: _tagged("bytes", lambda value: base64.b64encode(value).decode()),
    decimal.Decimal: _tagged("Decimal", str),
    datetime.datetime: _datetime,
    datetime.time: _time,
    datetime.date: _tagged("date", datetime.date.isoformat),
    datetime.timedelta: _tagged("timedelta", _delta),
    uuid.UUID: _tagged("UUID", str),
    type(pathlib.Path()): _tagged("Path", lambda value: _str(str(value))),
}

_UNPACK: dict[str, Callable[[Any], object]] = {
    "int": lambda text: int(text, 16),
    "float": float,
    "str": _surrogates,
    "bytes": base64.b64decode,
    "Decimal": decimal.Decimal,
    "datetime": _datetime_of,
    "time": _time_of,
    "date": datetime.date.fromisoformat,
    "timedelta": lambda parts: datetime.timedelta(*parts),
    "UUID": uuid.UUID,
    "Path": lambda text: pathlib.Path(text if isinstance(text, str) else _surrogates(text["v"])),
}
