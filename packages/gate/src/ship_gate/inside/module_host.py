"""Holds a candidate's module and its sealed dependencies, and answers calls (design: ship-gate).

It never sees the tests, the examples or their results. What it says of a call, that an argument or the process was
changed, is true unless the module took this process over, and the ways to that are told first (`observation.audit`); a
value that it returns is checked by whoever asked.
"""

import contextlib
import importlib
import inspect
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import BoundaryLimit
from ship_gate.inside.codec import ClassKey, Codec, UndecodableError, UnencodableError
from ship_gate.inside.frames import Link
from ship_gate.inside.lazy_calls import LazySide
from ship_gate.inside.observation.clock import ModuleClock
from ship_gate.inside.observation.clock import install as install_clock
from ship_gate.inside.observation.observer import Observer
from ship_gate.inside.observation.process_state import differences, restore
from ship_gate.inside.web.client import WebClient

DEFINITIONS_ENTRY = "definitions"
"""What the gate calls where a module has no function."""

_MOST_CHARACTERS = 2000
_OWN_LOOP = re.compile("running event loop|another loop is running|loop is already running")


def run(link: Link, plan: dict[str, Any]) -> None:
    """Load the module, then answer calls until the gate is gone."""
    job, _ = link.receive()
    sys.path.insert(0, plan["lib"])
    sys.dont_write_bytecode = True
    clock = ModuleClock()
    # below what watches who asks for the time
    install_clock(clock)
    web = (
        WebClient(link, plan["folder"], clock) if any("web" in of for of in job["surface"].values()) else None
    )
    observer = Observer(link.send, plan, clock)
    if web:
        web.connect(observer.tell)
    try:
        loaded = _load(job["surface"], plan["package"])
    except BaseException as error:
        link.send({"event": "broken", "message": _traceback(error)})
        return
    observer.loaded(job["surface"])
    link.send({"event": "loaded"})
    host = _Host(
        link,
        loaded,
        job["surface"],
        observer,
        clock,
        within_loop="LOOP" in plan["surroundings"],
    )
    while not (message := link.receive())[0].get("finish"):
        host.answer(*message)
    observer.last_look()
    host.report_stale_call()
    link.send({"event": "finished"})


class _Exported(NamedTuple):
    """An exception class of a module: its names, and the fields that it declares."""

    names: list[str]
    fields: list[str]


def _same(value: object) -> object:
    """What a module of definitions is asked for: a value of its classes, made here, goes back."""
    return value


class _Loaded(NamedTuple):
    """What modules export: entry points, exceptions, and the other classes with their codec."""

    entries: dict[tuple[str, str], Any]
    codec: Codec
    exceptions: dict[type, _Exported]
    classes: dict[ClassKey, type]


def _load(surface: dict[str, Any], package: str) -> _Loaded:
    entries: dict[tuple[str, str], Any] = {}
    classes: dict[ClassKey, type] = {}
    called: dict[ClassKey, list[str]] = {}
    exceptions: dict[type, _Exported] = {}
    for name, described in surface.items():
        module = importlib.import_module(f"{package}.{name}")
        for entry in described["functions"]:
            entries[(name, entry)] = getattr(module, entry)
        if not described["functions"]:
            entries[(name, DEFINITIONS_ENTRY)] = _same
        for description in described["classes"]:
            kind, home = getattr(module, description["name"]), description["module"]
            if description["kind"] == "exception":
                exceptions[kind] = _Exported([home, description["name"]], description["fields"])
            elif description["kind"] not in {"TypedDict", "type"}:
                classes[(home.removeprefix("modules."), description["name"])] = kind
            if description.get("called"):
                # a value of it is made by a call
                called[(home.removeprefix("modules."), description["name"])] = description["properties"]
                for where in {name, home.removeprefix("modules.")}:
                    entries[(where, description["name"])] = kind
    return _Loaded(entries, Codec(classes, called), exceptions, classes)


class _Host:
    def __init__(
        self,
        link: Link,
        loaded: _Loaded,
        surface: dict[str, Any],
        observer: Observer,
        clock: ModuleClock,
        *,
        within_loop: bool,
    ) -> None:
        self._link = link
        self._entries = loaded.entries
        self._codec = loaded.codec
        self._exceptions = loaded.exceptions
        known: dict[ClassKey, type] = {
            (own.names[0], own.names[1]): kind for kind, own in loaded.exceptions.items()
        }
        self._lazy = LazySide(link, loaded.codec, surface, loaded.classes, known)
        self._start = dict(os.environ)
        self._observer = observer
        self._clock = clock
        self._call = _LoopCaller() if within_loop else _plainly

    def answer(self, header: dict[str, Any], payload: bytes) -> None:
        """Answer one call."""
        try:
            args, kwargs = self._codec.decode(payload)
            before = self._codec.encode_call(args, kwargs)
        except (UndecodableError, UnencodableError) as error:
            self._link.send({"event": "boundary", "message": f"the arguments cannot cross: {error}"})
            return
        reply: dict[str, Any] = {"event": "reply", "id": header["id"]}
        out, err = io.StringIO(), io.StringIO()
        result: object = None
        lazy = self._lazy.opened(header["module"], header["entry"])
        restore(self._start, header.get("env"))
        self._clock.take(header.get("clock"))
        self._observer.watch_files(header["module"], header["cwd"], args, kwargs)
        self._observer.before_call()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                if header["cwd"]:
                    os.chdir(header["cwd"])
                    self._observer.before_call()
                function = self._entries[(header["module"], header["entry"])]
                if lazy is None:
                    result = self._call(function, args, kwargs)
                else:
                    result = lazy.collected(self._call(function, *lazy.arguments(args, kwargs)))
            except BaseException as error:
                reply |= self._error(error)
                before_error = [] if lazy is None or lazy.items is None else [lazy.items]
                result = [_exception_args(error), self._fields(error), *before_error]
                reply |= {"late": True} if before_error else {}
        reply |= {"out": out.getvalue(), "err": err.getvalue(), "env": differences(self._start)}
        reply["clock"] = self._clock.came_to()
        self._observer.after_call(printed=bool(reply["out"] or reply["err"]))
        if len(reply["out"]) + len(reply["err"]) > BoundaryLimit.PRINTED.most:
            self._link.send({"event": "flood"})
            return
        reply["changed"] = self._changed(before, args, kwargs)
        if lazy is not None:
            lazy.close()
        if fault := (lazy.fault if lazy is not None else "") or self._lazy.stale_call:
            self._refuse(fault)
            return
        self._reply(reply, header["entry"], result)

    def report_stale_call(self) -> None:
        """What the module did with a callable since the last call was over."""
        if self._lazy.stale_call:
            self._refuse(self._lazy.stale_call)

    def _refuse(self, fault: str) -> None:
        self._link.send({"event": "boundary", "message": f"{fault}; do what the contract says"})

    def _reply(self, reply: dict[str, Any], entry: str, result: object) -> None:
        try:
            payload = self._codec.encode(result)
        except UnencodableError as error:
            if "error" not in reply:
                message = f"{entry} returns {error}, which does not cross a module's boundary; return what is declared"
                self._link.send({"event": "boundary", "message": message})
                return
            payload = self._encoded_error(result)
        self._link.send(reply, payload)

    def _encoded_error(self, raised: Any) -> bytes:
        """An exception whose arguments do not cross, without those of its fields that do not cross either."""
        crossing: dict[str, object] = {}
        for name, value in raised[1].items():
            with contextlib.suppress(UnencodableError):
                self._codec.encode(value)
                crossing[name] = value
        return self._codec.encode([None, crossing, *raised[2:]])

    def _fields(self, error: BaseException) -> dict[str, object]:
        """What an exception's class declares, as far as the exception has it."""
        known, kinds = self._exceptions, type(error).__mro__
        names = {name for kind in kinds if kind in known for name in known[kind].fields}
        found: dict[str, object] = {}
        for name in sorted(names):
            with contextlib.suppress(Exception):
                found[name] = getattr(error, name)
        return found

    def _changed(self, before: bytes, args: list[object], kwargs: dict[str, object]) -> bool:
        try:
            return self._codec.encode_call(args, kwargs) != before
        except UnencodableError:
            return True

    def _error(self, error: BaseException) -> dict[str, Any]:
        known, kinds = self._exceptions, type(error).__mro__
        names = [known[kind].names if kind in known else [kind.__module__, kind.__name__] for kind in kinds]
        try:
            message = str(error)[: BoundaryLimit.MESSAGE.most]
        except Exception:
            message = ""
        return {"error": names, "message": message, "traceback": _traceback(error), "line": _line(error)}


def _plainly(entry: Callable[..., object], args: list[object], kwargs: dict[str, object]) -> object:
    result = entry(*args, **kwargs)
    if inspect.iscoroutine(result):
        import asyncio

        return asyncio.run(result)
    return result


class _LoopCaller:
    """Calls an entry point where an event loop runs; one that runs a loop of its own is called where none does."""

    def __init__(self) -> None:
        import asyncio

        self._runner = asyncio.Runner()

    def __call__(self, entry: Callable[..., object], args: list[object], kwargs: dict[str, object]) -> object:
        async def outcome() -> tuple[object, BaseException | None]:
            try:
                result = entry(*args, **kwargs)
                return await result if inspect.iscoroutine(result) else result, None
            except BaseException as error:
                return None, error

        with warnings.catch_warnings():
            # of what was not awaited, where a loop of its own cannot run
            warnings.simplefilter("ignore", RuntimeWarning)
            result, error = self._runner.run(outcome())
            if isinstance(error, RuntimeError) and _OWN_LOOP.search(str(error)):
                error = None
                for stream in (sys.stdout, sys.stderr):
                    stream.seek(0)
                    stream.truncate()
                return _plainly(entry, args, kwargs)
        if error is not None:
            raise error
        return result


def _line(error: BaseException) -> str:
    """Where in a module it was raised, `/.../lib/modules/x/__init__.py:7`; empty if that is nowhere."""
    places = ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))
    return next((f"{file}:{line}" for file, line in reversed([*places]) if "/lib/modules/" in file), "")


def _exception_args(error: BaseException) -> tuple[object, ...]:
    if isinstance(error, OSError) and error.filename is not None:
        return (error.errno, error.strerror, error.filename)
    return tuple(error.args)


def _traceback(error: BaseException) -> str:
    """The traceback from the module's own frames on."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
        own = [
            frame
            for frame in frames
            if "/ship_gate/inside/" not in frame.filename and "<frozen" not in frame.filename
        ]
        lines = [*traceback.format_list(own), *traceback.format_exception_only(error)]
        return "".join(lines)[-_MOST_CHARACTERS:]
    except Exception:
        return type(error).__name__
