"""`modules.<name>` for tests and examples: exactly what the module exports, as calls to the process that holds it.

Functions send their arguments over the boundary and wait; classes are made anew from the module's source. Nothing of the
implementation is here, so nothing of it can be imported, patched or looked at (design: contracts, ship-gate).
"""

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ship_gate.inside.classes import class_of, nearest_class, rebuilt_error
from ship_gate.inside.codec import ClassKey, Codec, UndecodableError, UnencodableError
from ship_gate.inside.frames import Link
from ship_gate.inside.lazy_calls import LazyCall, UnfitCallError, callable_shapes, yielded_items
from ship_gate.inside.observation.clock import ModuleClock, offer
from ship_gate.inside.observation.process_state import differences, restore
from ship_gate.inside.values import Items, Shape
from ship_gate.inside.web.script import Answer, Web

Send = Callable[..., None]


class Caller:
    """Makes calls to the module's process.

    Args:
        link: To the gate.
        send: Sends a call, or that a value does not cross.
    """

    def __init__(self, link: Link, send: Send) -> None:
        self._link = link
        self._send = send
        self._lock = threading.Lock()
        self._last = 0
        self._start = dict(os.environ)
        self.codec = Codec({})
        self.clock = ModuleClock()
        self.web = Web(self.clock.stand)
        self.exported: dict[ClassKey, type] = {}
        self.lazy: dict[tuple[str, str], dict[str, Any]] = {}
        self.callables: dict[str, dict[str, Shape]] = {}
        self._answering: int | None = None

    def call(self, module: str, entry: str, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        """What the module returns for a call, or raises."""
        __tracebackhide__ = True
        if self._answering == threading.get_ident():
            self._stop(
                f"a callable that was passed to the module calls {entry}, while a call is open; let it be pure"
            )
        lazy = LazyCall(self.lazy.get((module, entry), {}), self.codec, self.callables.get(module, {}))
        try:
            payload = self.codec.encode_call(*lazy.crossing(args, kwargs))
        except UnencodableError as error:
            self.refuse_argument(
                f"{entry} is given {error}, which does not cross a module's boundary; pass declared types"
            )
        with self._lock:
            self._last += 1
            call = {"event": "call", "id": self._last, "module": module, "entry": entry, "cwd": _cwd()}
            self.before_call()
            surroundings = {"env": differences(self._start), "clock": self.clock.state()}
            self._send({**call, **surroundings}, payload)
            header, payload = self._link.receive()
            while "web" in header or "callback" in header:
                self._send(*self._answered(header, payload, lazy))
                header, payload = self._link.receive()
            self.clock.follow(header.get("clock"))
            self.after_call(header, [*args, *kwargs.values()])
        if "env" in header:
            restore(self._start, header["env"])
        for stream, text in ((sys.stdout, header.get("out")), (sys.stderr, header.get("err"))):
            if text:
                stream.write(text)
        if "error" in header:
            error = lazy.original(header["error"], header["message"]) or self._raised(header, payload)
            if header.get("late"):
                return self._yielded(entry, lazy, self._items_before(payload), error)
            raise error from None
        try:
            value = self.result(header, self.codec.decode(payload))
        except UndecodableError as error:
            self._stop(f"{entry} returned what is no value of the boundary: {error}")
        return self._yielded(entry, lazy, value.values) if isinstance(value, Items) else value

    def _yielded(
        self, entry: str, lazy: LazyCall, values: list[object], error: BaseException | None = None
    ) -> Iterator[Any]:
        # the module's process counted them, so more are a message that its host did not send
        if len(values) > lazy.most_yielded:
            self._stop(f"{entry} yields more than {lazy.most_yielded} items; do what the contract says")
        return yielded_items(values, error)

    def _answered(
        self, header: dict[str, Any], payload: bytes, lazy: LazyCall
    ) -> tuple[dict[str, Any], bytes]:
        """The answer to what the module asks while its call is open."""
        if "web" in header:
            answer = self.answer_of(header["web"], payload)
            return {"event": "web", "delay": answer.delay, "failure": answer.failure}, answer.data
        name = str(header["callback"])
        self._answering = threading.get_ident()
        try:
            return lazy.answer(name, payload)
        except UnencodableError as error:
            self._stop(
                f"{name} gives {error}, which does not cross a module's boundary; let it give what is declared"
            )
        except UnfitCallError as error:
            self._stop(f"the module {error}; do what the contract says")
        finally:
            self._answering = None

    def _items_before(self, payload: bytes) -> list[object]:
        """What was yielded before an error."""
        try:
            return list(self.codec.decode(payload)[2])
        except (UndecodableError, TypeError, ValueError, IndexError):
            return []

    def answer_of(self, asked: dict[str, Any], data: bytes) -> Answer:
        """What a host answers to a request of the module."""
        return self.web.asked(asked["scheme"], asked["host"], asked["port"], data, asked["at"])

    def before_call(self) -> None:
        """Called before a call is made."""

    def after_call(self, header: dict[str, Any], values: list[object]) -> None:
        """Called when the answer is there, with the values that were given."""

    def result(self, header: dict[str, Any], value: object) -> object:
        """What a test gets for a value that the module returned."""
        return value

    def _raised(self, header: dict[str, Any], payload: bytes) -> BaseException:
        kind = nearest_class(header["error"], self.exported)
        args, fields = self._carried(payload)
        error = rebuilt_error(kind, args, header["message"])
        for name, value in fields.items():
            if name.isidentifier() and not hasattr(Exception, name):
                setattr(error, name, value)
        return error

    def _carried(self, payload: bytes) -> tuple[tuple[object, ...], dict[str, object]]:
        """The arguments of an exception, and the fields that its class declares."""
        try:
            args, fields, *_ = self.codec.decode(payload)
            return tuple(args or ()), dict(fields)
        except (UndecodableError, TypeError, ValueError):
            return (), {}

    def refuse_argument(self, message: str) -> NoReturn:
        """End the run: no test can expect anything of what does not cross."""
        self._stop(message)

    def _stop(self, message: str) -> NoReturn:
        self._send({"event": "boundary", "message": message})
        os._exit(1)


def install(caller: Caller, surface: dict[str, Any]) -> None:
    """Put `modules` and what is in it among the loaded modules.

    Args:
        caller: Makes the calls.
        surface: Of `source.classes.described_surfaces`: modules by name, each with its functions and classes.
    """
    root = types.ModuleType("modules")
    root.__path__ = []
    sys.modules["modules"] = root
    known: dict[str, type] = {}
    crossing: dict[ClassKey, type] = {}
    called: dict[ClassKey, list[str]] = {}

    def make(module: str, name: str, fields: dict[str, object]) -> object:
        __tracebackhide__ = True
        return caller.call(module, name, (), fields)

    for name, described in surface.items():
        package = types.ModuleType(f"modules.{name}")
        package.__path__ = []
        exports: dict[str, object] = {}
        for entry, is_async in described["functions"].items():
            exports[entry] = _function(caller, name, entry, is_async=is_async)
            caller.lazy[name, entry] = described.get("lazy", {})
        for description in described["classes"]:
            kind = exports[description["name"]] = class_of(description, known, make)
            key = (description["module"].removeprefix("modules."), description["name"])
            if description["kind"] == "exception":
                caller.exported[(description["module"], description["name"])] = kind
            elif description["kind"] not in {"TypedDict", "type"}:
                crossing[key] = kind
            if description.get("called"):
                called[key] = description["properties"]
        package.__dict__.update(exports)
        package.__dict__["__all__"] = list(exports)
        sys.modules[package.__name__] = package
        setattr(root, name, package)
    caller.codec = Codec(crossing, called)
    caller.callables = {name: callable_shapes(name, surface, crossing) for name in surface}
    offer(clock=caller.clock, web=caller.web)


def _function(caller: Caller, module: str, entry: str, *, is_async: bool) -> Callable[..., object]:
    if is_async:

        async def awaited(*args: object, **kwargs: object) -> object:
            __tracebackhide__ = True
            return caller.call(module, entry, args, kwargs)

        function: Callable[..., object] = awaited
    else:

        def called(*args: object, **kwargs: object) -> object:
            __tracebackhide__ = True
            return caller.call(module, entry, args, kwargs)

        function = called
    function.__name__ = function.__qualname__ = entry
    function.__module__ = f"modules.{module}"
    return function


def _cwd() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - asked at each call
    except OSError:
        return ""
