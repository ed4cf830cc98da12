"""Iterables, iterators and callables at the two ends of a call (design: ship-gate).

At the tests' end, one item more than the bound is taken of an iterable before the call, with what it raises at its end. A
callable stays there and is called when the module asks for it. What either raises is the same exception where it comes back
out of the module.

At the module's end, what it is given counts and checks its use. An iterable is an iterator here, whatever the caller passed,
so that a module which takes its length or reads it twice fails where it is judged. It is one of Python's own: what counts
stands in a generator behind it, which has no attribute that the source of a module may name, cannot be copied, and belongs
to no class that the module could change. A callable is a function that asks the other end, or, where it was drawn, chooses
one of its results; it belongs to its call, and a use of it after that is told, whatever the module made of the error. Items
that the module yields are written down one by one, so that each is what it was when it was yielded.
"""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast

from ship_gate.inside.classes import nearest_class, rebuilt_error
from ship_gate.inside.codec import ClassKey, Codec, EncodedValue, UndecodableError, UnencodableError
from ship_gate.inside.frames import Link
from ship_gate.inside.values import Classes, Function, Items, Shape, chosen, mismatch, shape_of


def callable_shapes(
    module: str, surface: Mapping[str, Any], classes: Mapping[ClassKey, type]
) -> dict[str, Shape]:
    """Of the callables that a module is given, by their names.

    Args:
        module: Its name.
        surface: Of `gate.sandbox.staging`.
        classes: The exported classes, by the module and their names.
    """
    stated: dict[str, Any] = surface[module].get("lazy", {}).get("callables", {})
    if not stated:
        return {}
    known = _classes(module, surface, classes)
    shapes = {name: shape_of(text, known) for name, text in stated.items()}
    # one that may be left out is a union
    parts = ((name, part) for name, shape in shapes.items() for part in (shape, *shape.parts))
    return {name: part for name, part in parts if part.kind == "Callable"}


def unfit_arguments(name: str, arguments: Sequence[Any], shape: Shape) -> str:
    """In which way a callable is called otherwise than its contract says, in words; empty if it is not."""
    shapes = shape.parameters
    if len(arguments) != len(shapes):
        return f"calls {name} with {len(arguments)} arguments, where its contract says {len(shapes)}"
    for place, (value, part) in enumerate(zip(arguments, shapes, strict=True), 1):
        if problem := mismatch(value, part, f"argument {place}"):
            return f"calls {name} with what its contract does not say: {problem}"
    return ""


def _classes(module: str, surface: Mapping[str, Any], found: Mapping[ClassKey, type]) -> Classes:
    """The classes that a module's types may name; of two of a name its own counts."""
    stated: dict[str, Any] = {}
    kinds: dict[str, Any] = {}
    for name in (*(one for one in surface if one != module), module):
        for description in surface[name]["classes"]:
            if description["kind"] != "exception":
                key = (description["module"].removeprefix("modules."), description["name"])
                fields = [(field, text) for field, text, _ in description["fields"]]
                stated[description["name"]] = {"kind": description["kind"], "fields": fields}
                kinds[description["name"]] = found.get(key, dict)
    return Classes(stated, kinds)


def yielded_items(values: Iterable[Any], error: BaseException | None = None) -> Iterator[Any]:
    """An iterator over what a module yielded.

    Args:
        values: The items.
        error: What iterating raises after them.
    """
    __tracebackhide__ = True
    yield from values
    if error is not None:
        raise error from None


class UnfitCallError(Exception):
    """The module calls what it was not given, or otherwise than its contract says; the text says how."""


class LazyCall:
    """What a test passes in one call.

    Args:
        stated: Of the contract, as `lazy_surface` gives it; empty if nothing of it is lazy.
        codec: For what crosses.
        shapes: Of its callables: the module's process checks them too, and this one does not depend on that.
    """

    def __init__(
        self,
        stated: Mapping[str, Any],
        codec: Codec,
        shapes: Mapping[str, Shape] = MappingProxyType({}),
    ) -> None:
        self._stated = stated
        self._codec = codec
        self._shapes = shapes
        self.most_yielded: int = stated.get("yields", 0)
        self._functions: dict[str, Callable[..., object]] = {}
        self._raised: list[tuple[list[str], str, BaseException]] = []

    def crossing(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[object], dict[str, object]]:
        """The arguments with what stands for iterables and callables."""
        if not self._stated:
            return [*args], {**kwargs}
        names = [*self._stated["parameters"], *([""] * len(args))]
        placed = [self._argument(name, value) for name, value in zip(names, args, strict=False)]
        return placed, {name: self._argument(name, value) for name, value in kwargs.items()}

    def _argument(self, name: str, value: Any) -> object:
        if name in self._stated["callables"] and callable(value):
            self._functions[name] = value
            return Function(name, [])
        most = self._stated["takes"].get(name)
        if most is None or not isinstance(value, Iterable) or isinstance(value, (str, bytes, bytearray)):
            return value
        values: list[Any] = []
        whole = cast("Iterable[Any]", value)
        try:
            for item in itertools.islice(whole, most + 1):
                values.append(item)  # noqa: PERF402 - those before an error count
        except Exception as error:  # whatever the module raises on the way
            return Items(values, self._crossing_error(error))
        return Items(values)

    def _crossing_error(self, error: BaseException) -> list[object]:
        names = [[kind.__module__, kind.__name__] for kind in type(error).__mro__]
        message = str(error)
        self._raised.append((names[0], message, error))
        args: object = tuple(error.args)
        try:
            self._codec.encode(args)
        except UnencodableError:
            args = ()
        return [names, message, args]

    def answer(self, name: str, payload: bytes) -> tuple[dict[str, Any], bytes]:
        """What a callable gives, or raises, for what the module asks it: a message to the gate.

        Raises:
            UnencodableError: it gives what does not cross.
            UnfitCallError: the module was not given it, or calls it otherwise than its contract says.
        """
        try:
            args, kwargs = self._codec.decode(payload)
        except (UndecodableError, TypeError, ValueError) as error:
            raise UnfitCallError(f"calls {name} with what is no value of the boundary") from error
        if name not in self._functions:
            raise UnfitCallError(f"calls {name}, which it was not given")
        if kwargs:
            raise UnfitCallError(f"calls {name} with arguments by name")
        if what := unfit_arguments(name, args, self._shapes[name]):
            raise UnfitCallError(what)
        try:
            result = self._functions[name](*args)
        except BaseException as error:
            names, message, arguments = self._crossing_error(error)
            header = {"event": "callback", "error": names, "message": message}
            return header, self._codec.encode(arguments)
        return {"event": "callback"}, self._codec.encode(result)

    def original(self, names: Sequence[Sequence[str]], message: str) -> BaseException | None:
        """The exception of an iterable or a callable that comes back out of the module; None if it is none of these."""
        for name, text, error in self._raised:
            if names and [*names[0]] == name and message == text:
                return error
        return None


class LazySide:
    """What a process that holds modules knows of their lazy slots.

    Args:
        link: To the gate.
        codec: For what crosses.
        surface: Of `gate.sandbox.staging`.
        classes: The exported classes, by the module and their names.
        exceptions: The exported exceptions, likewise.
    """

    def __init__(
        self,
        link: Link,
        codec: Codec,
        surface: Mapping[str, Any],
        classes: Mapping[ClassKey, type],
        exceptions: Mapping[ClassKey, type],
    ) -> None:
        self._link = link
        self._codec = codec
        self._exceptions = exceptions
        self._stated: dict[tuple[str, str], dict[str, Any]] = {}
        self._shapes = {name: callable_shapes(name, surface, classes) for name in surface}
        self.stale_call = ""
        """What the module did with a callable after its call was over, first."""
        for module, described in surface.items():
            if lazy := described.get("lazy"):
                self._stated |= {(module, entry): lazy for entry in described["functions"]}

    def opened(self, module: str, entry: str) -> "_OpenCall | None":
        """A call of an entry point; None if none of its slots is lazy."""
        stated = self._stated.get((module, entry))
        if stated is None:
            return None
        return _OpenCall(
            entry,
            stated,
            self._shapes[module],
            self._link,
            self._codec,
            self._exceptions,
            self._note_stale_call,
        )

    def _note_stale_call(self, what: str) -> None:
        self.stale_call = self.stale_call or what


@dataclass(eq=False)
class _OpenCall:
    """One call with lazy slots.

    Args:
        entry: What is called.
        stated: Of its contract, as `lazy_surface` gives it.
        shapes: Of its callables.
        link: To the gate.
        codec: For what crosses.
        exceptions: The exported ones.
        note_stale_call: Is told what is done after the call is over.
    """

    entry: str
    stated: Mapping[str, Any]
    shapes: Mapping[str, Shape]
    link: Link
    codec: Codec
    exceptions: Mapping[ClassKey, type]
    note_stale_call: Callable[[str], None]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._is_over = False
        self.fault = ""
        """What the module did that its contract does not say, first."""
        self.items: list[EncodedValue] | None = None
        """What was yielded so far; None before there is an iterator."""

    def arguments(self, args: list[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What the module is given for what crossed."""
        names = [*self.stated["parameters"], *([""] * len(args))]
        placed = [self._argument(name, value) for name, value in zip(names, args, strict=False)]
        return placed, {name: self._argument(name, value) for name, value in kwargs.items()}

    def _argument(self, name: str, value: Any) -> Any:
        if type(value) is Function:
            return self._function(name, value)
        if name in self.stated["takes"] and isinstance(value, (Items, list, tuple)):
            items: Items = value if isinstance(value, Items) else Items([*value])
            error = self._error(items.error) if items.error else None
            # an iterator of Python's own: nothing of it can be reached, changed or copied
            return itertools.chain(_counted(items.values, error, lambda taken: self._took(name, taken)))
        return value

    def _took(self, name: str, taken: int) -> None:
        most = self.stated["takes"][name]
        if taken > most:
            self._note(f"takes more than {most} items of {name}, the most that its contract states")

    def _note(self, what: str) -> None:
        self.fault = self.fault or f"{self.entry} {what}"

    def _error(self, crossed: Any) -> BaseException:
        names, message, args = crossed
        return rebuilt_error(nearest_class(names, self.exceptions), tuple(args or ()), message)

    def _function(self, name: str, function: Function) -> Callable[..., object]:
        def called(*arguments: object, **named: object) -> object:
            if self._is_over:
                what = f"calls {name} after the call of {self.entry} that it was passed to was over"
                self.note_stale_call(f"{self.entry} {what}")
                raise RuntimeError(what)
            what = f"calls {name} with arguments by name" if named else self._unfit_call(name, arguments)
            if what:
                self._note(what)
                raise TypeError(f"{self.entry} {what}")
            text = self.codec.encode_call([*arguments], {})
            if function.results:
                return chosen(function.results, text)
            result = self._asked(name, text)
            if problem := mismatch(result, self.shapes[name].parts[0]):
                self._note(f"is given a {name} that gives what is not declared: {problem}")
                raise TypeError(self.fault)
            return result

        called.__name__ = called.__qualname__ = name
        return called

    def _unfit_call(self, name: str, arguments: tuple[Any, ...]) -> str:
        if what := unfit_arguments(name, arguments, self.shapes[name]):
            return what
        try:
            self.codec.encode_call([*arguments], {})
        except UnencodableError as error:
            return f"calls {name} with {error}, which does not cross a module's boundary"
        return ""

    def _asked(self, name: str, text: bytes) -> Any:
        if not self._lock.acquire(blocking=False):
            self._note(f"calls {name} while one of its callables is called")
            raise RuntimeError(self.fault)
        try:
            self.link.send({"event": "callback", "name": name}, text)
            header, payload = self.link.receive()
        finally:
            self._lock.release()
        try:
            value = self.codec.decode(payload)
        except UndecodableError as error:
            self._note(f"is given a {name} that gives what is no value of the boundary: {error}")
            raise TypeError(self.fault) from error
        if "error" in header:
            raise self._error([header["error"], header["message"], value])
        return value

    def collected(self, result: object) -> object:
        """The items of an iterator that was returned, as they were yielded, up to one more than may be; what is none comes
        back as it is. What iterating raises is raised."""
        most = self.stated["yields"]
        wants_iterator = self.stated["returns"].startswith("Iterator")
        if not most or not isinstance(result, Iterator if wants_iterator else Iterable):
            return result
        if isinstance(result, (str, bytes, bytearray)):
            return result
        whole = cast("Iterable[object]", result)
        self.items = []
        for item in itertools.islice(whole, most + 1):
            try:
                self.items.append(self.codec.written(item))
            except UnencodableError as error:
                self._note(f"yields {error}, which does not cross a module's boundary")
                break
        if len(self.items) > most:
            self._note(f"yields more than {most} items, the most that its contract states")
        return Items([*self.items])

    def close(self) -> None:
        """The call is over: its callables answer no more."""
        self._is_over = True


def _counted(values: list[Any], error: BaseException | None, took: Callable[[int], None]) -> Iterator[Any]:
    """What a caller passed, with the error that comes instead of a further item.

    Args:
        values: The items.
        error: None if there is none.
        took: Is told how many were taken, each time.
    """
    for taken, value in enumerate(values, 1):
        took(taken)
        yield value
    if error is not None:
        raise error from None
