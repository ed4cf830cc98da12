"""The values that cross the boundary of a module, as JSON text: exact types, no pickle (design: module-directory).

The text is one flat list, in the order in which a stack machine builds the value: a leaf is pushed, and a container takes
its parts from the stack, `[1, 2, ["list", 2]]`. So neither side recurses, however deep a value is nested. Leaves that
JSON has stand for themselves; everything else is a list that begins with its kind. Equal values have equal texts, also
sets and NaN, so texts can be compared by value.

Classes are the ones that were registered: dataclasses, NamedTuples and Enums that a module exports (a TypedDict is a dict).
A dataclass that checks its fields or derives properties was made where its module is; it is built again from its fields
without that check, and its properties cross with it. A Counter, defaultdict, OrderedDict or other named tuple crosses as
what it is, since a caller of the wheel gets it too; any other subclass of a listed type is refused. An iterable or a
function crosses as what stands for it (`values.lazy_values`), and both ends know from the contract where.

Left out: whether a value is of the declared type; that is for the tests and the fuzz.
"""

import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import itertools
import json
import math
import pathlib
import uuid
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ship_gate.contract.boundary.limits import BoundaryLimit
from ship_gate.inside.values.lazy_values import Function, Items
from ship_gate.inside.values.value_types import VALUE_ROWS

_PLAIN_BITS = 63  # longer integers travel in hexadecimal: Python limits the digits of decimal ones

ClassKey = tuple[str, str]
"""The module that exports a class, and the class's name."""

KEPT = "__specwright_kept__"
"""The attribute of a class that was made anew, whose properties are kept with each value."""


class UnencodableError(Exception):
    """A value has no place on the boundary; the text says which."""


class UndecodableError(Exception):
    """A text that no codec wrote."""


class _End(NamedTuple):
    """The end of a container whose parts are being written; of a set, with the place where each part begins."""

    container: object
    token: list[object]
    starts: list[int]


class _Start(NamedTuple):
    """The beginning of a part of a set."""

    starts: list[int]


class EncodedValue(NamedTuple):
    """A value as it was when it was written, whatever becomes of it."""

    tokens: list[object]


class Codec:
    """Turns values into texts and back.

    Args:
        classes: The dataclasses and Enums that may cross, by the module that exports them.
        called: The properties of those whose values are made by the module alone.
    """

    def __init__(
        self,
        classes: Mapping[ClassKey, type],
        called: Mapping[ClassKey, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        self._classes = dict(classes)
        self._called = dict(called)
        self._keys = {kind: key for key, kind in self._classes.items()}

    def encode(self, value: object) -> bytes:
        """The text of a value.

        Raises:
            UnencodableError: the value, or something in it, is of a type that does not cross, or it is too large.
        """
        return self._text(value, BoundaryLimit.DEPTH.most)

    def encode_call(self, args: list[object], kwargs: dict[str, object]) -> bytes:
        """The text of a call's arguments, which is decoded to both; raises as `encode`."""
        return self._text([args, kwargs], BoundaryLimit.DEPTH.most + 2)

    def written(self, value: object) -> EncodedValue:
        """A part of a value that is encoded later, as it is now; raises as `encode`."""
        return EncodedValue(self._tokens(value, BoundaryLimit.DEPTH.most))

    def _text(self, value: object, most_depth: int) -> bytes:
        tokens = self._tokens(value, most_depth)
        text = json.dumps(tokens, separators=(",", ":"), allow_nan=False).encode()
        if len(text) > BoundaryLimit.BYTES.most:
            raise _too_large("takes more", BoundaryLimit.BYTES)
        return text

    def decode(self, text: bytes) -> Any:
        """The value of a text.

        Raises:
            UndecodableError: the text is none of ours.
        """
        stack: list[Any] = []
        try:
            for token in json.loads(text):
                if type(token) is list:
                    self._build(stack, cast("list[Any]", token))
                else:
                    stack.append(token)
            (value,) = stack
        except Exception as error:
            raise UndecodableError(f"{type(error).__name__}: {error}") from error
        return value

    def _tokens(self, value: object, most_depth: int) -> list[object]:
        tokens: list[object] = []
        work: list[Any] = [value]
        within: set[int] = set()  # the containers that are being written
        while work:
            part = work.pop()
            kind = cast("type[object]", type(part))
            if kind in _PACK:
                tokens.append(_packed(part))
            elif kind is EncodedValue:
                tokens += part.tokens
            elif kind is _Start:
                part.starts.append(len(tokens))
            elif kind is _End:
                within.remove(id(part.container))
                if part.starts:
                    _sort_parts(tokens, part.starts)
                tokens.append(part.token)
            elif id(part) in within:
                raise UnencodableError(f"a {kind.__name__} that contains itself")
            else:
                work += self._opened(part)
                within.add(id(part))
                if len(within) > most_depth:
                    raise _too_large("is nested deeper", BoundaryLimit.DEPTH)
                if len(tokens) + len(work) > BoundaryLimit.VALUES.most:
                    raise _too_large("holds more", BoundaryLimit.VALUES)
        return tokens

    def _opened(self, value: Any) -> list[object]:
        """What is still to be written of a value, the last first."""
        kind = cast("type[object]", type(value))
        token: list[Any]
        starts: list[int] = []
        if kind in {set, frozenset}:
            parts = [step for part in value for step in (part, _Start(starts))]
            return [_End(value, [kind.__name__, len(value)], starts), *parts]
        if kind in {dict, collections.Counter, collections.OrderedDict}:
            token = [kind.__name__, len(value)]
            parts = [*itertools.chain.from_iterable(value.items())]
        elif kind is collections.defaultdict:
            token = ["defaultdict", _factory_name(value), len(value)]
            parts = [*itertools.chain.from_iterable(value.items())]
        elif kind in {Items, Function}:
            token, parts = _lazy_token(value)
        elif kind in {list, tuple}:
            token, parts = [kind.__name__, len(value)], [*value]
        elif kind in self._keys:
            if isinstance(value, enum.Enum):
                return [_End(value, ["member", *self._keys[kind], value.name], starts)]
            names = _field_names(value)
            token, parts = ["fields", *self._keys[kind], names], [getattr(value, name) for name in names]
            if self._keys[kind] in self._called:
                token = ["called", *self._keys[kind]]
                parts += [_derived(value, name) for name in self._called[self._keys[kind]]]
        elif _is_named_tuple(kind):
            fields = cast("Any", kind)._fields
            module = kind.__module__.rpartition(".")[2]  # the package has another name in other surroundings
            token, parts = ["named", module, kind.__name__, list(fields)], [*value]
        else:
            raise UnencodableError(f"a value of type {kind.__module__}.{kind.__qualname__}")
        return [_End(value, token, starts), *reversed(parts)]

    def _build(self, stack: list[Any], token: list[Any]) -> None:
        """Put what a token says in place of the parts that it takes."""
        tag, *details = token
        if tag in _UNPACK:
            stack.append(_UNPACK[tag](*details))
        elif tag == "member":
            module, name, member = details
            stack.append(cast("Any", self._classes[(module, name)])[member])
        elif tag == "called":
            key: ClassKey = (details[0], details[1])
            names, derived = _field_names(self._classes[key]), self._called[key]
            parts = _taken(stack, len(names) + len(derived))
            stack.append(
                unchecked_value(
                    self._classes[key],
                    dict(zip(names, parts[: len(names)], strict=True)),
                    dict(zip(derived, parts[len(names) :], strict=True)),
                )
            )
        elif tag in {"fields", "named"}:
            module, name, fields = details
            if (module, name) in self._called:
                raise ValueError("a value that its module did not make")
            kind: Any = (
                self._classes[(module, name)] if tag == "fields" else _named_tuple(module, name, *fields)
            )
            stack.append(kind(**dict(zip(fields, _taken(stack, len(fields)), strict=True))))
        elif tag == "items":
            *values, error = _taken(stack, details[0] + 1)
            stack.append(Items(values, error))
        elif tag == "function":
            stack.append(Function(details[0], _taken(stack, details[1])))
        elif tag in _COLLECT:
            stack.append(_COLLECT[tag](_taken(stack, details[0])))
        else:
            parts = _taken(stack, 2 * details[-1])
            pairs = zip(parts[::2], parts[1::2], strict=True)
            stack.append(_MAPPINGS[tag](pairs, *details[:-1]))


def _lazy_token(value: Items | Function) -> tuple[list[Any], list[Any]]:
    """The token of what stands for an iterable or a function, and its parts."""
    if isinstance(value, Items):
        return ["items", len(value.values)], [*value.values, value.error]
    return ["function", value.name, len(value.results)], [*value.results]


def _field_names(value: Any) -> list[str]:
    """The fields of a NamedTuple or a dataclass, or of a value of one."""
    return [*getattr(value, "_fields", ())] or [field.name for field in dataclasses.fields(value)]


def _packed(value: object) -> object:
    try:
        return _PACK[type(value)](value)
    except ValueError as error:
        raise UnencodableError(str(error)) from error


def _derived(value: object, name: str) -> object:
    try:
        return getattr(value, name)
    except Exception as error:  # whatever the module's own code raises
        kind, raised = type(value).__name__, type(error).__name__
        what = f"a {kind} whose property {name} raises {raised} (let __post_init__ refuse what it cannot be worth)"
        raise UnencodableError(what) from error


def unchecked_value(kind: Any, fields: Mapping[str, object], properties: Mapping[str, object]) -> Any:
    """A value of a dataclass from its fields; its properties are kept with it where nothing here computes them."""
    value = object.__new__(kind)
    for name, part in fields.items():
        object.__setattr__(value, name, part)
    if getattr(kind, KEPT, False):
        vars(value).update(properties)
    return value


def _too_large(how: str, limit: BoundaryLimit) -> UnencodableError:
    return UnencodableError(f"a value that {how} than {limit.text}")


def _taken(stack: list[Any], count: int) -> list[Any]:
    start = len(stack) - count
    if count < 0 or start < 0:
        raise ValueError("too few parts")
    parts = stack[start:]
    del stack[start:]
    return parts


def _sort_parts(tokens: list[object], starts: list[int]) -> None:
    """Put the parts of a set into the order of their texts: a set has none."""
    parts = [tokens[start:end] for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True)]
    tokens[starts[0] :] = itertools.chain.from_iterable(sorted(parts, key=json.dumps))


def _factory_name(value: "collections.defaultdict[Any, Any]") -> str:
    for name, factory in _FACTORIES.items():
        if value.default_factory is factory:
            return name
    raise UnencodableError(
        "a defaultdict whose default_factory is none of "
        f"{', '.join(_FACTORIES)} (`dict(...)` of it would cross)"
    )


def _is_named_tuple(kind: type) -> bool:
    """Whether a class has fields, and compares and unpacks as the tuple that it is."""
    own = vars(kind).keys()
    return kind.__bases__ == (tuple,) and "_fields" in own and not own & _TUPLE_METHODS


@functools.cache
def _named_tuple(module: str, name: str, *fields: str) -> Any:
    """The same class for the same names."""
    return collections.namedtuple(name, fields, module=module)  # pyright: ignore[reportUntypedNamedTuple]  # made at run time


def _int(value: Any) -> object:
    return value if value.bit_length() <= _PLAIN_BITS else ["int", hex(value)]


def _float(value: Any) -> object:
    return value if math.isfinite(value) else ["float", repr(value)]


def _str(value: Any) -> object:
    # JSON would join two unpaired surrogates that stand side by side
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["str", base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()]
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
    return ["datetime", [plain.isoformat(), _zone(value.tzinfo), value.fold]]


def _datetime_of(packed: Any) -> datetime.datetime:
    text, zone, fold = packed
    return datetime.datetime.fromisoformat(text).replace(tzinfo=_zone_of(zone), fold=fold)


def _time(value: Any) -> object:
    plain = value.replace(tzinfo=None, fold=0)
    return ["time", [plain.isoformat(), _zone(value.tzinfo), value.fold]]


def _time_of(packed: Any) -> datetime.time:
    text, zone, fold = packed
    return datetime.time.fromisoformat(text).replace(tzinfo=_zone_of(zone), fold=fold)


def _tagged(tag: str, text: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda value: [tag, text(value)]


_COLLECT: dict[str, Callable[[list[Any]], Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset
}  # fmt: skip
_FACTORIES: dict[str, Any] = {
    "None": None,
    **{kind.__name__: kind for kind in (int, float, str, bool, bytes, list, dict, set, tuple, frozenset)},
    "Counter": collections.Counter,
    "Decimal": decimal.Decimal,
}


def _counter(pairs: Iterable[tuple[Any, int]]) -> "collections.Counter[Any]":
    return collections.Counter(dict(pairs))


def _defaultdict(pairs: Iterable[tuple[Any, Any]], factory: str) -> "collections.defaultdict[Any, Any]":
    return collections.defaultdict(_FACTORIES[factory], pairs)


_TUPLE_METHODS = {"__eq__", "__ne__", "__hash__", "__iter__", "__len__", "__getitem__", "__lt__"}
_MAPPINGS: dict[str, Callable[..., Any]] = {
    "dict": dict,
    "Counter": _counter,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": _defaultdict,
}


def _as_it_is(value: object) -> object:
    return value


_PACK: dict[type, Callable[[Any], object]] = {
    bool: _as_it_is,
    type(None): _as_it_is,
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
    **{row.kind: _tagged(row.name.partition("[")[0], row.pack) for row in VALUE_ROWS},
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
    "Path": lambda text: pathlib.Path(text if isinstance(text, str) else _surrogates(text[1])),
    **{row.name.partition("[")[0]: row.unpack for row in VALUE_ROWS},
}
