"""What the objects of a module hold, compared before and after calls: a call must leave nothing behind (design:
module-directory, ship-gate).

Everything that the module's names lead to is walked through: containers, fields of its classes and instances, defaults,
closures, iterators, what cached functions gave back. A cache of `functools` may grow, since it holds results only; a
result that it gave back may not change.

Left out: what an object of C keeps to itself, which calls with the same values show, and what the library keeps under
private names, such as its own caches.
"""

import array
import collections
import contextvars
import functools
import gc
import io
import itertools
import queue
import random  # noqa: TID251 - generators of the module are compared
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

_MOST_PARTS = 200_000
_NOT_STATE = {
    "__dict__",
    "__weakref__",
    "__doc__",
    "__module__",
    "_abc_impl",
    "__builtins__",
    "__annotations__",
}
_CHANGES_BY_ITSELF = {
    "sys",
    "os",
    "warnings",
    "logging",
    "linecache",
    "mimetypes",
    "re",
    "typing",
    "encodings",
}
_OF_LOGGING = {"_cache", "manager", "parent"}
"""What `logging` itself keeps at a logger."""

_CACHE: Any = type(functools.lru_cache(len))
_EMPTY: Any = ([], (), {}, set(), "", "ä", b"", bytearray(), range(0))
_ITERATORS: Any = (
    *(type(iter(kind)) for kind in _EMPTY),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
    *(reversed, map, filter, zip, enumerate),
)


class ModuleState:
    """Remembers what modules hold.

    Args:
        folder: Of the modules, with a slash at its end.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: dict[str, list[object]] = {}
        self._results: dict[int, tuple[object, list[object]]] = {}
        self.changes()

    def changes(self) -> list[str]:
        """The names whose objects hold something else than when they were last looked at."""
        walker = _Walker(self._folder)
        found = {name: walker.parts(value) for name, value in self._names()}
        before, self._known = self._known, found
        changed = [
            name
            for name in {**before, **found}
            if name.partition(":")[0] in {known.partition(":")[0] for known in before}
            and before.get(name) != found.get(name)
        ]
        return [f"`{name.partition(':')[2]}`" for name in changed] + self._changed_results(walker.results)

    def _changed_results(self, results: Iterable[object]) -> list[str]:
        """What cached functions gave back before and hold still, if it is not what it was."""
        now = {id(result): (result, _Walker(self._folder).parts(result)) for result in results}
        before, self._results = self._results, now
        is_changed = any(known in before and before[known][1] != parts for known, (_, parts) in now.items())
        return ["what a cached function gave back"] * is_changed

    def _names(self) -> Iterator[tuple[str, object]]:
        foreign: dict[str, types.ModuleType] = {}
        for key, module in [*sys.modules.items()]:
            if not (getattr(module, "__file__", None) or "").startswith(self._folder):
                continue
            for name, value in [*vars(module).items()]:
                if isinstance(value, types.ModuleType):
                    foreign |= {value.__name__: value, **_parts_of(value)}
                elif not (name.startswith("__") and name.endswith("__")):
                    yield f"{key}:{name}", value
        for key, module in foreign.items():
            if key.startswith("modules.") or key.partition(".")[0] in _CHANGES_BY_ITSELF:
                continue
            for name, value in [*vars(module).items()]:
                if type(value) in {list, dict, set} and not name.startswith("_") and name != "cache":
                    yield f"{key}:{key}.{name}", value


def _parts_of(package: types.ModuleType) -> dict[str, types.ModuleType]:
    parts = [part for part in vars(package).values() if isinstance(part, types.ModuleType)]
    return {part.__name__: part for part in parts if part.__name__.startswith(f"{package.__name__}.")}


def _is_changeable(result: object) -> bool:
    return type(result) not in _PLAIN and "lru" not in type(result).__name__


class _Walker:
    """Lists what a value leads to; equal lists mean that nothing changed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.results: list[object] = []

    def parts(self, value: object) -> list[object]:
        """The value and all that it holds, in a fixed order."""
        found: list[object] = []
        seen: dict[int, int] = {}
        waiting: list[object] = [value]
        kept: list[object] = []  # what was made on the way, so that no two have the same address
        while waiting and len(found) < _MOST_PARTS:
            part = waiting.pop()
            found.append(type(part))
            if type(part) in _PLAIN:
                found.append(part)
            elif id(part) in seen:
                found.append(seen[id(part)])
            else:
                seen[id(part)] = len(seen)
                kept.append(part)
                inner = [*self._inner(part)]
                found.append(len(inner))
                waiting += inner
        return found

    def _inner(self, part: Any) -> Iterator[object]:
        for kind, read in _READERS:
            if isinstance(part, kind):
                yield from read(part)
                break
        if isinstance(part, _CACHE):
            self._note_results(part)
        elif isinstance(part, types.FunctionType):
            yield from self._function(part)
        elif isinstance(part, type):
            yield from self._class(part)
        elif not isinstance(part, (types.ModuleType, types.BuiltinFunctionType)):
            yield from _fields(part)

    def _note_results(self, cached: Any) -> None:
        own = {id(cached.__wrapped__), id(cached.__dict__), id(_CACHE)}
        for held in gc.get_referents(cached):
            if id(held) in own:
                continue
            # the cache itself holds results; a bounded one leads to them past its links
            results: list[object] = [*held.values()] if isinstance(held, dict) else [held]
            self.results += [result for result in results if _is_changeable(result)]

    def _function(self, function: types.FunctionType) -> Iterator[object]:
        wrapped = getattr(function, "__wrapped__", None)
        if not function.__code__.co_filename.startswith(self._folder):
            yield wrapped
            return
        yield from (id(function.__code__), function.__defaults__, function.__kwdefaults__, function.__dict__)
        for cell in function.__closure__ or ():
            yield from gc.get_referents(cell)

    def _class(self, kind: type) -> Iterator[object]:
        if kind.__module__.startswith("modules."):
            for name, value in [*vars(kind).items()]:
                if name not in _NOT_STATE:
                    yield from (name, value)


def _fields(part: Any) -> Iterator[object]:
    """The fields of an instance; a cached property is a cache."""
    kind = cast("type[object]", type(part))
    for name, value in [*getattr(part, "__dict__", {}).items()]:
        is_cache = isinstance(getattr(kind, name, None), functools.cached_property)
        if not (is_cache or (kind.__module__ == "logging" and name in _OF_LOGGING)):
            yield from (name, value)
    for base in kind.__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and base.__module__.startswith("modules."):
                yield from (name, getattr(part, name, None))


def _generator(part: Any) -> Iterator[object]:
    frame = part.gi_frame
    yield from (frame is None, frame and frame.f_lasti, frame and {**frame.f_locals})


def _dict_parts(part: Any) -> list[object]:
    return [*dict[Any, Any].keys(part), *dict[Any, Any].values(part)]


def _elements(part: Any) -> list[object]:
    """Past what a subclass makes of its iteration."""
    base: Any = next(kind for kind in _SEQUENCES if isinstance(part, kind))
    return [*base.__iter__(part)]


_Reader = tuple[Any, Callable[[Any], Iterable[Any]]]
"""A type, or several, and what a value of it holds."""
_DICT: Any = dict
_SEQUENCES: Any = (list, tuple, set, frozenset, collections.deque)
_READERS: tuple[_Reader, ...] = (
    (_DICT, _dict_parts),
    (_SEQUENCES, _elements),
    ((bytearray, array.array, memoryview), lambda part: [bytes(part)]),
    (types.MappingProxyType, lambda part: [{**part}]),
    ((io.StringIO, io.BytesIO), lambda part: ["closed"] if part.closed else [part.getvalue(), part.tell()]),
    (random.Random, lambda part: [part.getstate()]),
    (contextvars.ContextVar, lambda part: [part.get(None)]),
    (queue.SimpleQueue, lambda part: [part.qsize()]),
    (types.GeneratorType, _generator),
    (_ITERATORS, lambda part: [part.__reduce__()]),
    (functools.partial, lambda part: [part.func, part.args, part.keywords]),
    (types.MethodType, lambda part: [part.__self__, part.__func__]),
    (types.BuiltinFunctionType, lambda part: [part.__self__] if not isinstance(part.__self__, types.ModuleType) else []),
    ((staticmethod, classmethod), lambda part: [part.__func__]),
    (property, lambda part: [part.fget, part.fset, part.fdel]),
    (_CACHE, lambda part: [part.__wrapped__]),
)  # fmt: skip
_PLAIN = {int, float, complex, bool, str, bytes, type(None), type(...), range, slice}
