"""Annotations as values to draw and as statements about results (design: package-gate).

`contradicts` says yes only where no reading of the annotation admits the value: an int is a float (PEP 484), a bool is an
int, a protocol, a type variable and anything unknown admit all.
"""

import builtins
import collections.abc
import functools
import importlib
import inspect
import itertools
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NewType, TypeVar, Union

_MOST_ITEMS = 50
_MOST_DEPTH = 3
_NUMBERS: dict[type, tuple[type, ...]] = {float: (float, int), complex: (complex, float, int)}
_BYTES = (bytes, bytearray, memoryview)
_PLAIN = (str, int, float, bool, bytes, complex, type(None))
_HELD = (list, tuple, set, frozenset)


class UnreadableTypeError(Exception):
    """An annotation that means nothing here, and why."""


def evaluated(text: str, names: Mapping[str, Any]) -> Any:
    """What an annotation means in a module.

    Args:
        text: The annotation.
        names: Of the module.

    Raises:
        UnreadableTypeError: it has no meaning there.
    """
    space = {**vars(builtins), **vars(collections.abc), **vars(typing), **names}
    for _ in range(5):
        try:
            found = eval(text, space)  # noqa: S307 - an annotation of the package, in the sandbox
            return eval(found, space) if isinstance(found, str) else found  # noqa: S307 - as above
        except NameError as error:
            top = text.partition(".")[0] if error.name is None else error.name
            try:
                space[top] = importlib.import_module(top)
            except Exception:  # importing runs the module, which may raise anything
                raise UnreadableTypeError(f"the type {text} has no meaning in its module") from None
        except Exception:  # an annotation may be any expression
            break
    raise UnreadableTypeError(f"the type {text} cannot be evaluated")


def contradicts(value: object, hint: Any, depth: int = 0) -> bool:
    """Whether a value is none of a type, for certain."""
    if isinstance(hint, (str, typing.ForwardRef, TypeVar)) or hint in (
        Any,
        typing.Self,
        object,
        inspect.Parameter.empty,
    ):
        return False
    if value is NotImplemented or depth > _MOST_DEPTH:
        return False
    if hint is None or hint is type(None):
        return value is not None
    if isinstance(hint, NewType):
        return contradicts(value, hint.__supertype__, depth)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return contradicts(value, arguments[0], depth)
    if origin is Union or origin is types.UnionType:
        return all(contradicts(value, one, depth + 1) for one in arguments)
    if origin is Literal:
        return not any(value == one for one in arguments)
    return _contradicts_class(value, origin or hint, arguments, depth)


def _contradicts_class(value: object, kind: Any, arguments: tuple[Any, ...], depth: int) -> bool:
    if not isinstance(kind, type) or typing.is_typeddict(kind):
        return not isinstance(value, dict) if typing.is_typeddict(kind) else False
    if getattr(kind, "_is_protocol", False):
        return False
    allowed = _NUMBERS.get(kind) or (_BYTES if kind is bytes else kind)
    try:
        if not isinstance(value, allowed):
            # what pretends to be of a class, as proxies and mocks do, is believed
            return type(value).__class__ is type and value.__class__ is type(value)
    except Exception:  # an `__instancecheck__` or `__class__` of the package
        return False
    return _contradicts_items(value, kind, arguments, depth)


def _contradicts_items(value: Any, kind: type, arguments: tuple[Any, ...], depth: int) -> bool:
    own: type = value.__class__
    if own is dict and kind is not collections.Counter and len(arguments) == 2:
        return _one_contradicts(value, arguments[0], depth) or _one_contradicts(
            value.values(), arguments[1], depth
        )
    if own in {list, set, frozenset} and len(arguments) == 1:
        return _one_contradicts(value, arguments[0], depth)
    if own is not tuple or kind is not tuple or not arguments:
        return False
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _one_contradicts(value, arguments[0], depth)
    if any(
        typing.get_origin(one) is typing.Unpack or isinstance(one, typing.TypeVarTuple) for one in arguments
    ):
        return False
    items: list[Any] = [*value]
    arguments = () if arguments == ((),) else arguments
    return len(items) != len(arguments) or any(map(contradicts, items, arguments, [depth + 1] * len(items)))


def _one_contradicts(items: Iterable[Any], hint: Any, depth: int) -> bool:
    return any(contradicts(one, hint, depth + 1) for one in itertools.islice(items, _MOST_ITEMS))


def described(value: object, depth: int = 0) -> str:
    """The type of a value, as an annotation; empty where none can be drawn by it."""
    kind = type(value)
    if value is None:
        return "None"
    if kind in _PLAIN:
        return kind.__name__
    if isinstance(value, type) or callable(value) or depth >= _MOST_DEPTH:
        return ""
    if kind in _HELD:
        items = typing.cast("collections.abc.Collection[object]", value)
        parts = {described(one, depth + 1) for one in list(items)[:_MOST_ITEMS]}
        if "" in parts:
            return ""
        inner = " | ".join(sorted(parts)) or "int"
        return f"tuple[{inner}, ...]" if kind is tuple else f"{kind.__name__}[{inner}]"
    if kind is dict:
        pairs = list(typing.cast("dict[object, object]", value).items())[:_MOST_ITEMS]
        keys, values = ({described(pair[place], depth + 1) for pair in pairs} for place in (0, 1))
        if "" in keys | values:
            return ""
        return f"dict[{' | '.join(sorted(keys)) or 'str'}, {' | '.join(sorted(values)) or 'int'}]"
    if kind.__module__ in {"datetime", "decimal", "fractions", "uuid", "ipaddress"}:
        return f"{kind.__module__}.{kind.__qualname__}"
    return ""


def original(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under decorators that say what they wrap."""
    seen: set[int] = set()
    while id(function) not in seen:
        seen.add(id(function))
        if isinstance(function, functools.partial):
            function = function.func
        function = getattr(function, "__wrapped__", function)
    return function
