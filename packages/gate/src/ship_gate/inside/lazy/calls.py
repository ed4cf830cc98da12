"""The tests' end of iterables, iterators and callables (design: ship-gate).

Of an iterable that a test passes, one item more than its bound is taken before the call, with what it raises at their end. A
callable stays here and is called when the module asks for it. What either raises is the same exception where it comes back
out of the module.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

from ship_gate.inside.codec import Codec, UndecodableError, UnencodableError
from ship_gate.inside.lazy.callable_shapes import unfit_arguments
from ship_gate.inside.values.lazy_values import Function, Items
from ship_gate.inside.values.shapes import Shape


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
