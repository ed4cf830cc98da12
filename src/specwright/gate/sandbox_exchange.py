"""The gate between the two processes of a run: passes calls and replies on, and sees all of them (D-S8-09, D-S8-11).

Runner and module have no connection of their own. What the runner says counts only with the nonce of its job, and what
came out of the module is known from here, not from the runner. The run ends with the runner's last word, or when its
time, its output or its disk is used up, or when either process ends.
"""

import contextlib
import json
import os
import selectors
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

from specwright.errors import SpecwrightError
from specwright.gate.inside.frames import LENGTHS, MOST_HEADER, MOST_PAYLOAD, frame
from specwright.gate.sandbox_disk import overfull
from specwright.gate.sandbox_process import Child, Limits

__all__ = ["Ended", "Ending", "Exchange", "Ledger"]

_CHUNK = 65536
_TURN_SECONDS = 0.1
_READY_SECONDS = 60.0
_MOST_EVENTS = 16 * 1024 * 1024

Ending = Literal["finished", "broke", "timeout", "output", "disk", "boundary", "forged", "unloaded"]


class Ended(NamedTuple):
    """How a run ended.

    Args:
        how: By itself, or by what.
        message: What was said about it.
        output: The end of what both processes printed.
    """

    how: Ending
    message: str
    output: str


class Ledger(Protocol):
    """Writes down what a run shows."""

    def told(self, header: dict[str, Any]) -> None:
        """The runner said something, with the nonce of its job."""
        ...

    def called(self) -> None:
        """A call went to the module."""
        ...

    def replied(self, header: dict[str, Any], payload: bytes) -> None:
        """A call came back from the module."""
        ...


class _End(Exception):  # noqa: N818 - it carries how a run ended out of the depth
    def __init__(self, how: Ending, message: str = "") -> None:
        super().__init__(message)
        self.how: Ending = how
        self.message = message


class _Stream:
    """One process's messages, whole or in parts."""

    def __init__(self, child: Child, name: str) -> None:
        self.child = child
        self.name = name
        self.outbox = bytearray()
        self.printed = bytearray()
        self._inbox = bytearray()
        self.ended = False

    def read(self) -> None:
        """Take what has come."""
        while len(self._inbox) <= MOST_HEADER + MOST_PAYLOAD:
            try:
                chunk = os.read(self.child.reads, _CHUNK)
            except BlockingIOError:
                return
            if not chunk:
                self.ended = True
                return
            self._inbox += chunk

    def write(self) -> None:
        """Give what fits."""
        try:
            while self.outbox:
                del self.outbox[: os.write(self.child.writes, self.outbox)]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.outbox.clear()

    def frames(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The messages that are whole."""
        while len(self._inbox) >= LENGTHS.size:
            header, payload = LENGTHS.unpack_from(self._inbox)
            if header > MOST_HEADER or payload > MOST_PAYLOAD:
                raise _End("output", f"{self.name} sent too much at once")
            start, end = LENGTHS.size + header, LENGTHS.size + header + payload
            if len(self._inbox) < end:
                return
            text, body = bytes(self._inbox[LENGTHS.size : start]), bytes(self._inbox[start:end])
            del self._inbox[:end]
            yield self._header(text), body

    def _header(self, text: bytes) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise _End("forged", f"{self.name} sent what is no message")
        return cast("dict[str, Any]", value)


class Exchange:
    """One run of two processes.

    Args:
        runner: Holds the tests or the examples.
        module: Holds the module.
        scratch: The folder in which both may write.
        limits: For what they print and write.
    """

    def __init__(self, runner: Child, module: Child, scratch: Path, limits: Limits) -> None:
        self._runner = _Stream(runner, "the tests' process")
        self._module = _Stream(module, "the module's process")
        self._streams = (self._runner, self._module)
        self._scratch = scratch
        self._limits = limits
        self._outstanding: object = None
        self._told = 0

    def run(
        self, job: dict[str, Any], surface: dict[str, Any], ledger: Ledger, timeout_seconds: float
    ) -> Ended:
        """Give both their jobs and see the run to its end.

        Args:
            job: For the runner; a nonce is added.
            surface: For the module.
            ledger: Is told what happens.
            timeout_seconds: Wall-clock time from here on.

        Raises:
            SpecwrightError: a process did not come up; that is no fault of the candidate.
        """
        with self._selector() as selector:
            self._await_ready(selector)
            nonce = os.urandom(16).hex()
            self._runner.outbox += frame({**job, "surface": surface, "nonce": nonce})
            self._module.outbox += frame({"surface": surface})
            try:
                self._converse(selector, nonce, ledger, timeout_seconds)
            except _End as end:
                return Ended(end.how, end.message, self._output())
        return Ended("broke", "", self._output())

    def _selector(self) -> selectors.DefaultSelector:
        selector = selectors.DefaultSelector()
        for stream in self._streams:
            selector.register(stream.child.reads, selectors.EVENT_READ)
            selector.register(stream.child.prints, selectors.EVENT_READ)
        return selector

    def _await_ready(self, selector: selectors.BaseSelector) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        for stream in self._streams:
            while (header := next(stream.frames(), None)) is None:
                if stream.ended or time.monotonic() > deadline:
                    raise SpecwrightError(
                        f"{stream.name} did not start: {self._output()[-500:]}",
                        where="gate",
                        remedy="run `specwright doctor`",
                    )
                self._turn(selector)
            assert header[0] == {"event": "ready"}  # nothing of a candidate is loaded yet

    def _converse(
        self, selector: selectors.BaseSelector, nonce: str, ledger: Ledger, timeout_seconds: float
    ) -> None:
        deadline = time.monotonic() + timeout_seconds
        looked = 0.0
        while True:
            self._turn(selector)
            for header, payload in self._module.frames():
                self._from_module(header, payload, ledger)
            for header, payload in self._runner.frames():
                self._from_runner(header, payload, nonce, ledger)
            for stream in self._streams:
                if len(stream.printed) > self._limits.output:
                    raise _End("output")
                if stream.ended:
                    raise _End("broke", f"{stream.name} ended before its time")
            now = time.monotonic()
            if now > deadline:
                raise _End("timeout")
            if now - looked > _TURN_SECONDS:
                if overfull(self._scratch, self._limits):
                    raise _End("disk")
                looked = now

    def _turn(self, selector: selectors.BaseSelector) -> None:
        for stream in self._streams:
            stream.write()
        # a process that does not read holds nobody up: what it is owed is tried again
        owed = any(stream.outbox for stream in self._streams)
        selector.select(0.001 if owed else _TURN_SECONDS)
        for stream in self._streams:
            stream.read()
            _take_printed(stream, selector, self._limits.output)

    def _from_runner(self, header: dict[str, Any], payload: bytes, nonce: str, ledger: Ledger) -> None:
        if header.get("nonce") != nonce:
            raise _End("forged", "a message came from the tests' process that the test runner did not send")
        match header.get("event"):
            case "call":
                if self._outstanding is not None:
                    raise _End("forged", "a call was made while another one was waiting")
                self._outstanding = header.get("id")
                call = {key: header.get(key) for key in ("id", "module", "entry", "cwd")}
                self._module.outbox += frame(call, payload)
                ledger.called()
            case "boundary" | "forged" as how:
                raise _End(how, str(header.get("message")))
            case "end":
                raise _End("finished")
            case _:
                self._told += len(header.get("message") or "") + 100
                if self._told > _MOST_EVENTS:
                    raise _End("output")
                ledger.told(header)

    def _from_module(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        match header.get("event"):
            case "loaded":
                return
            case "broken":
                raise _End("unloaded", str(header.get("message")))
            case "boundary":
                raise _End("boundary", str(header.get("message")))
            case "flood":
                raise _End("output")
            case "reply" if self._outstanding is not None and header.get("id") == self._outstanding:
                self._outstanding = None
                reply: dict[str, Any] = {"out": str(header.get("out", "")), "err": str(header.get("err", ""))}
                if "error" in header:
                    names = _class_names(header["error"])
                    header = {**header, "error": names}
                    reply |= {"error": names, "message": str(header.get("message", ""))}
                ledger.replied(header, payload)
                self._runner.outbox += frame(reply, payload)
            case _:
                raise _End("forged", "a message came from the module's process that its host did not send")

    def _output(self) -> str:
        return b"".join(bytes(stream.printed[-2000:]) for stream in self._streams).decode(errors="replace")


def _take_printed(stream: _Stream, selector: selectors.BaseSelector, most: int) -> None:
    while len(stream.printed) <= most:
        try:
            chunk = os.read(stream.child.prints, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            # at its end a descriptor is always ready, and would keep the loop spinning
            with contextlib.suppress(KeyError):
                selector.unregister(stream.child.prints)
            return
        stream.printed += chunk


def _class_names(value: object) -> list[list[str]]:
    """The method resolution order that a module's process claims, if it is one."""
    names: list[list[str]] = []
    for pair in cast("list[object]", value) if isinstance(value, list) else []:
        parts = cast("list[object]", pair) if isinstance(pair, list) else []
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise _End("forged", "a message came from the module's process that its host did not send")
        names.append([str(part) for part in parts])
    return names
