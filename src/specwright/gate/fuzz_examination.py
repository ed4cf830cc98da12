"""Calls the module under the fuzz and judges what it did (DESIGN §8.1, D-S8-14, D-S8-18).

Loaded by `fuzz_child`, which runs beside the module and loads nothing else of the factory. What is seen goes out
at once, so that it is known also if the module ends the process."""

import asyncio
import contextlib
import copy
import importlib
import inspect
import json
import os
import shutil
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from specwright.gate.fuzz_types import Shape, measure, mismatch, shown, snapshot

__all__ = ["MOST_KINDS", "Channel", "Examination", "FoundError", "HangError", "OverTimeError", "Subject"]

MOST_KINDS = 5
"""Kinds of faults that are told."""

_MOST_TEXT = 300


class OverTimeError(BaseException):
    """The budget is used up; no bare `except Exception` keeps it."""


class HangError(BaseException):
    """A call does not end."""


class FoundError(Exception):
    """Tells Hypothesis that a call is a counterexample; each kind of fault has a subclass of its own."""


class _Fault(NamedTuple):
    """Something that no contract allows: what kind, what happened, and where in the module."""

    kind: str
    happened: str
    line: str = ""


class _Outcome(NamedTuple):
    """What one call did: its result, or the names of an exception's class and bases."""

    result: Any = None
    errors: tuple[str, ...] = ()
    message: str = ""
    line: str = ""

    def said(self) -> str:
        return f"raises {self.errors[0]}" if self.errors else f"gives {shown(self.result)}"

    def same(self) -> str:
        return self.errors[0] if self.errors else snapshot(self.result)


class Channel:
    """Writes events as JSON lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, **event: object) -> None:
        """Write one."""
        line = json.dumps(event).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]


class Subject:
    """The module, called in a directory of its own.

    Args:
        request: What `fuzz` asks.
        scratch: Holds that directory.
        lib: Where the module's files lie, to tell its own lines from others.
    """

    def __init__(self, request: dict[str, Any], scratch: Path, lib: str) -> None:
        self.request = request
        self.folder = scratch / "here"
        self._own = str(Path(lib, "modules", request["name"])) + os.sep
        self.module = importlib.import_module(f"modules.{request['name']}")
        self.entries = [getattr(self.module, entry["name"]) for entry in request["entries"]]
        self._runner = asyncio.Runner() if any(map(inspect.iscoroutinefunction, self.entries)) else None

    def call(self, entry: Callable[..., Any], given: dict[str, Any]) -> _Outcome:
        """Call an entry point once, bounded in time."""
        if self.request["files"]:
            self._lay_out()
        signal.setitimer(signal.ITIMER_REAL, self.request["call_seconds"])
        try:
            result = entry(**given)
            return _Outcome(self._awaited(result) if inspect.iscoroutine(result) else result)
        except (HangError, OverTimeError):
            raise
        except BaseException as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
            names = tuple(kind.__name__ for kind in type(error).__mro__)
            return _Outcome(None, names, _message(error), self._line(error))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _awaited(self, result: Any) -> Any:
        assert self._runner is not None  # one of the entry points is a coroutine function
        return self._runner.run(result)

    def _lay_out(self) -> None:
        os.chdir(self.folder.parent)
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "folder").mkdir(parents=True, exist_ok=True)
        (self.folder / "old.txt").write_text("one\ntwo\n", encoding="utf-8")
        (self.folder / "empty.txt").write_bytes(b"")
        (self.folder / "bytes.bin").write_bytes(b"\xff\xfe\x00\x80")
        with contextlib.suppress(OSError):
            (self.folder / "loop").symlink_to("loop")
        os.chdir(self.folder)

    def _line(self, error: BaseException) -> str:
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(self._own)
        ]
        return f"{frames[-1].filename.removeprefix(self._own)}:{frames[-1].lineno}" if frames else ""


def _message(error: BaseException) -> str:
    try:
        return str(error)[:_MOST_TEXT]
    except Exception:
        return ""


class Examination:
    """Judges calls.

    Args:
        subject: The module.
        returns: The type of what it returns.
        channel: Takes what is found.
    """

    def __init__(self, subject: Subject, returns: Shape, channel: Channel) -> None:
        self._subject = subject
        self._request = subject.request
        self._returns = returns
        self._channel = channel
        self._kinds: dict[str, type[FoundError]] = {}
        self._settled: set[str] = set()
        self.deadline = time.monotonic()
        self.processor_deadline = time.process_time()
        self.calls = 0

    def allow(self, seconds: float) -> None:
        """Go on for so long, in processor time; another program's load does not shorten it much."""
        self.processor_deadline = time.process_time() + seconds
        self.deadline = time.monotonic() + 8 * seconds

    def settle(self) -> bool:
        """What was found is shrunk; look for others. Whether there was anything new."""
        new = bool(self._kinds.keys() - self._settled)
        self._settled |= self._kinds.keys()
        return new

    def sweep(self, inputs: Iterator[dict[str, Any]]) -> None:
        """Examine inputs that are not drawn; the first one of each kind is told."""
        for given in inputs:
            with contextlib.suppress(FoundError):
                self.examine(given, first_only=True)

    def examine(self, given: dict[str, Any], *, first_only: bool = False) -> None:
        """Call the module and raise if it did what no contract allows.

        Raises:
            FoundError: of a class of its own for every kind of fault, by which Hypothesis tells them apart.
        """
        if time.process_time() > self.processor_deadline or time.monotonic() > self.deadline:
            raise OverTimeError
        if self._request["most_size"] and measure(given) > self._request["most_size"]:
            return
        self.calls += 1
        call = self._shown(given)
        self._channel.write(event="calling", call=call, size=measure(given))
        fault = next(self._faults(given), None)
        if fault is None:
            return
        key = f"{fault.kind} {fault.line or fault.happened[:40]}"
        if key in self._settled or (first_only and key in self._kinds):
            return
        if key not in self._kinds:
            if len(self._kinds) >= MOST_KINDS:
                return
            self.allow(self._request["seconds"])  # to shrink it, and to find others
        self._channel.write(
            event="counterexample",
            key=key,
            call=call,
            happened=fault.happened,
            line=fault.line,
            kind=fault.kind,
        )
        raise self._kinds.setdefault(key, type(f"Found{len(self._kinds)}", (FoundError,), {}))

    def _faults(self, given: dict[str, Any]) -> Iterator[_Fault]:
        before = {name: snapshot(value) for name, value in given.items()}
        again = copy.deepcopy(given)
        main = self._subject.entries[0]
        outcome = self._subject.call(main, given)
        yield from self._undeclared(outcome, given)
        kept = outcome.same()
        for name, was in before.items():
            if snapshot(given[name]) != was:
                yield _Fault(
                    "changed",
                    f"changes its argument {name} from {shown(again[name])} to {shown(given[name])}",
                )
        if self._request["repeatable"]:
            repeated = self._subject.call(main, copy.deepcopy(again))
            if repeated.same() != kept:
                yield _Fault("differs", f"{outcome.said()}, and when it is called again it {repeated.said()}")
        for other in self._subject.entries[1:]:
            twin = self._subject.call(other, copy.deepcopy(again))
            if self._request["repeatable"] and twin.same() != kept:
                yield _Fault(
                    "twins", f"{outcome.said()}, but {self._request['entries'][1]['name']} {twin.said()}"
                )
            yield from self._undeclared(twin, again)

    def _undeclared(self, outcome: _Outcome, given: dict[str, Any]) -> Iterator[_Fault]:
        if outcome.errors:
            declared = self._request["errors"]
            if outcome.errors[0] not in declared and not (
                "OSError" in declared and "OSError" in outcome.errors
            ):
                yield _Fault("raises", f"raises {outcome.errors[0]}: {outcome.message}", outcome.line)
            return
        if problem := mismatch(outcome.result, self._returns):
            yield _Fault("returns", f"returns a value of another type: {problem}")
        for name, limits in self._request["bounds"].items():
            for limit in limits:
                if name in given and given[name] is not None and _breaks(given[name], limit):
                    text = f"{outcome.said()}, though {name} breaks {limit['text']!r}"
                    yield _Fault("accepts", text, f"{name}: {limit['text']}")

    def _shown(self, given: dict[str, Any]) -> str:
        parts: list[str] = []
        named = False
        for name in self._request["parameters"]:
            if name in given:
                text = shown(given[name])
                parts.append(f"{name}={text}" if named else text)
            else:
                named = True
        text = f"{self._request['entries'][0]['name']}({', '.join(parts)})"
        text = text.replace(f"{self._subject.folder}{os.sep}", "").replace(str(self._subject.folder), ".")
        return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 4]}...)"


def _breaks(value: Any, limit: dict[str, Any]) -> bool:
    if limit["of"] == "choice":
        return value not in limit["values"]
    measured: Any = len(value) if limit["of"] == "length" else value
    exact = Decimal(measured)
    if exact.is_nan():
        return True
    low, high = limit["low"], limit["high"]
    if low and (exact < Decimal(low) or (limit["above"] and exact == Decimal(low))):
        return True
    return bool(high) and (exact > Decimal(high) or (limit["below"] and exact == Decimal(high)))
