"""What a run of two processes is made of: their streams of messages, how it ends, and who writes it down (design:
ship-gate).

`sandbox.exchange` puts them together.
"""

import contextlib
import json
import os
import selectors
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Protocol, cast

from ship_gate.inside.frames import LENGTHS, MOST_HEADER, MOST_PAYLOAD
from ship_gate.sandbox.process import Child

_CHUNK = 65536

Ending = Literal[
    "finished", "broke", "timeout", "processor", "output", "disk", "boundary", "forged", "unloaded"
]


class ObservedEffect(NamedTuple):
    """Something that a module did beside returning a value.

    Args:
        kind: The name of a kind of effect.
        what: It did.
        line: Where in the modules, `name/file.py:7`; empty if that is not known.
    """

    kind: str
    what: str
    line: str


class RunEnd(NamedTuple):
    """How a run ended.

    Args:
        how: By itself, or by what.
        message: What was said about it.
        output: The end of what both processes printed.
        in_module: Whether it was the module's process that ended, or, if none did, a call of it had not come back.
    """

    how: Ending
    message: str
    output: str
    in_module: bool = False


class Ledger(Protocol):
    """Writes down what a run shows."""

    def reported(self, header: dict[str, Any]) -> dict[str, Any] | None:
        """The runner said something, with the nonce of its job; what is returned is sent to it."""
        return None

    def called(self, call: dict[str, Any], payload: bytes) -> dict[str, Any] | None:
        """A call was made; what is returned answers it, and nothing goes to the module then."""
        return None

    def replied(self, header: dict[str, Any], payload: bytes) -> dict[str, Any] | None:
        """A call came back from the module; what is returned is sent to the runner beside the reply, with `payload` in
        place of what the module returned, and without what is None."""
        return None

    def asked(self, method: str, origin: tuple[str, str, int]) -> dict[str, Any] | None:
        """The module asks a host; what is returned is sent to the runner with it."""
        return None


class EndOfRun(Exception):  # noqa: N818 - it carries how a run ended out of the depth
    """A run is over: how, and what is to be said about it."""

    def __init__(self, how: Ending, message: str = "") -> None:
        super().__init__(message)
        self.how: Ending = how
        self.message = message


class Stream:
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
                raise EndOfRun("output", f"{self.name} sent too much at once")
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
            raise EndOfRun("forged", f"{self.name} sent what is no message")
        return cast("dict[str, Any]", value)


def read_printed(stream: Stream, selector: selectors.BaseSelector, most: int) -> None:
    """Take what a process has printed, up to a limit."""
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
