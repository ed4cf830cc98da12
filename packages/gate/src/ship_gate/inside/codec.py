"""The values that cross the boundary of a module, as JSON text: exact types, no pickle (design: module-directory).

The text is one flat list, in the order in which a stack machine builds the value: a leaf is pushed, and a container takes
its parts from the stack, `[1, 2, ["list", 2]]`. So neither side recurses, however deep a value is nested. Leaves that
JSON has stand for themselves; everything else is a list that begins with its kind. Equal values have equal texts, also
sets and NaN, so texts can be compared by value.

Classes are the ones that were registered: dataclasses, NamedTuples and Enums that a module exports (a TypedDict is a dict).
A dataclass that checks its fields or derives properties was made where its module is; it is built again from its fields
without that check, and its properties cross with it. A Counter, defaultdict, OrderedDict or other named tuple crosses as
what it is, since a caller of the wheel gets it too; any other subclass of a listed type is refused. An iterable or a
function crosses as what stands for it (`values`), and both ends know from the contract where.

Left out: whether a value is of the declared type; that is for the tests and the fuzz.
"""

import collections
import decimal
import enum
import functools
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ship_gate.base.boundary_values import CLASSES, ROWS_OF_CLASS, SCALARS, BoundaryLimit
from ship_gate.inside.values import Function, Items, field_names

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
            if kind in _LEAVES:
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
            names = field_names(value)
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
            (packed,) = details
            stack.append(_UNPACK[tag](packed))
        elif tag == "member":
            module, name, member = details
            stack.append(cast("Any", self._classes[(module, name)])[member])
        elif tag == "called":
            key: ClassKey = (details[0], details[1])
            names, derived = field_names(self._classes[key]), self._called[key]
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
        elif tag in _MAPPINGS:
            parts = _taken(stack, 2 * details[-1])
            pairs = zip(parts[::2], parts[1::2], strict=True)
            stack.append(_MAPPINGS[tag](pairs, *details[:-1]))
        else:
            stack.append(CLASSES[tag](_taken(stack, details[0])))


def _lazy_token(value: Items | Function) -> tuple[list[Any], list[Any]]:
    """The token of what stands for an iterable or a function, and its parts."""
    if isinstance(value, Items):
        return ["items", len(value.values)], [*value.values, value.error]
    return ["function", value.name, len(value.results)], [*value.results]


def _packed(value: object) -> object:
    row = ROWS_OF_CLASS.get(type(value))
    try:
        return value if row is None or row.is_json(value) else [row.tag, row.pack(value)]
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


_LEAVES = {type(None), *ROWS_OF_CLASS}
_UNPACK = {row.tag: row.unpack for row in SCALARS}
_FACTORIES: dict[str, Any] = {
    "None": None,
    **CLASSES,
    **{kind.__name__: kind for kind in (int, float, str, bool, bytes)},
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
