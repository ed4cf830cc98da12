"""The gate between the two processes of a run: their streams of messages, of which it passes calls and replies on and sees
all, how the run ends, and who writes it down (design: ship-gate).

Runner and module have no connection of their own. What the runner says counts only with the nonce of its job, and what
came out of the module is known from here, not from the runner. The run ends with the runner's last word, or when its
time, its output or its disk is used up, or when either process ends.

The module's process may have been taken over, so nothing that it says of a request to a host is believed beyond its form:
whatever it asks goes to the script of the test, and to no host.
"""

import contextlib
import json
import math
import os
import selectors
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

from ship_gate.contract.contract import is_covered
from ship_gate.errors import ShipGateError
from ship_gate.inside.frames import LENGTHS, MOST_HEADER, MOST_PAYLOAD, frame
from ship_gate.inside.web.script import FAILURES, origin_of
from ship_gate.sandbox.process import Child, Limits
from ship_gate.sandbox.starvation import OwnTime

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


_FORGED = "a message came from the {}'s process that was no request and no answer"
_LONGEST_HOST = 255
_SCHEMES = ("http", "https")


class _ObservedRequest(NamedTuple):
    """A request of the module.

    Args:
        method: As it begins, in capitals, since servers differ in whether they tell them apart.
        scheme: `http` or `https`.
        host: In lower case.
        port: Of the host.
        at: Seconds that the module's clock was put forward in the call.
        line: Where in the modules, `name/file.py:7`; None if a sealed dependency asked.
    """

    method: str
    scheme: str
    host: str
    port: int
    at: float
    line: str | None

    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port."""
        return self.scheme, self.host, self.port

    def name(self) -> str:
        """For a finding: `GET https://a.example`."""
        return f"{self.method} {origin_of(*self.origin())}"

    def for_script(self) -> dict[str, Any]:
        """What the script needs of it."""
        return {"scheme": self.scheme, "host": self.host, "port": self.port, "at": self.at}

    def is_named(self, surface: Mapping[str, Any]) -> bool:
        """Whether a contract of the modules names its host for such a request."""
        effects = [tuple(effect) for of in surface.values() for effect in of.get("web", ())]
        return is_covered(effects, self.method, *self.origin())


def _asked_of(header: dict[str, Any], payload: bytes) -> _ObservedRequest:
    """What a message of the module's process asks.

    Raises:
        EndOfRun: it is no request.
    """
    method = payload[:16].partition(b" ")[0].decode("ascii", "replace").upper()
    scheme, host, port, at, line = (header.get(name) for name in ("scheme", "host", "port", "at", "line"))
    fits = scheme in _SCHEMES and _is_host(host) and isinstance(port, int) and isinstance(line, str | None)
    if not fits or not _is_time(at):
        raise EndOfRun("forged", _FORGED.format("module"))
    return _ObservedRequest(
        method, str(scheme), str(host), cast(int, port), float(cast(float, at)), cast("str | None", line)
    )


def _answer_header(header: dict[str, Any]) -> dict[str, Any]:
    """What the script answered, for the module's process.

    Raises:
        EndOfRun: it is no answer.
    """
    delay, failure = header.get("delay"), header.get("failure")
    if not _is_time(delay) or not (failure == "" or failure in FAILURES):
        raise EndOfRun("forged", _FORGED.format("tests"))
    return {"delay": delay, "failure": failure}


def _callback_answer(header: dict[str, Any]) -> dict[str, Any]:
    """What a function of the test gave or raised, for the module's process.

    Raises:
        EndOfRun: it is no answer.
    """
    if "error" not in header:
        return {}
    names, message = header["error"], header.get("message")
    pairs = cast("list[object]", names) if isinstance(names, list) else []
    if not pairs or not all(map(_is_name, pairs)) or not isinstance(message, str):
        raise EndOfRun("forged", _FORGED.format("tests"))
    return {"error": pairs, "message": message}


def _is_name(value: object) -> bool:
    parts = cast("list[object]", value) if isinstance(value, list) else []
    return len(parts) == 2 and all(isinstance(part, str) for part in parts)


def _is_host(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_HOST


def _is_time(value: object) -> bool:
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and math.isfinite(value)
        and value >= 0
    )


_TURN_SECONDS = 0.1
_READY_SECONDS = 60.0
_MOST_DEPTH = 50
_MOST_EVENTS = 16 * 1024 * 1024
_MOST_OBSERVED = 1000
_MOST_ASKED = 1000
_MOST_CALLED_BACK = 10_000
_UNMARKED = {"call", "boundary", "web", "callback"}
"""What a test may have sent: it is no report."""


class Exchange:
    """One run of two processes.

    Args:
        runner: Holds the tests or the examples.
        module: Holds the module, if calls are made.
        scratch: The folder in which both may write.
        limits: For what they print and write.
        other: Holds the module in other surroundings, for `take_other`.
    """

    def __init__(
        self, runner: Child, module: Child | None, scratch: Path, limits: Limits, other: Child | None = None
    ) -> None:
        self._runner = Stream(runner, "the tests' process")
        self._module = Stream(module, "the module's process") if module else None
        self._other = Stream(other, "the module's process in other surroundings") if other else None
        self._streams = tuple(stream for stream in (self._runner, self._module, self._other) if stream)
        self._surface: dict[str, Any] = {}
        self._surface_of_all: dict[str, Any] = {}
        self._scratch = scratch
        self._limits = limits
        self._outstanding: object = None
        self._awaited: Literal["", "web", "callback"] = ""
        self._asked = self._called_back = 0
        self._reported = 0
        self._tells_unfit = False
        self._is_over = False
        self._ended: Stream | None = None
        self._observed: dict[ObservedEffect, None] = {}
        self._answers_elsewhere = False
        self.raised: set[str] = set()
        """The lines of the module out of which exceptions came."""

    def run(
        self,
        job: dict[str, Any],
        surface: dict[str, Any],
        ledger: Ledger,
        timeout_seconds: float,
        *,
        reports_unfit: bool = False,
    ) -> RunEnd:
        """Give both their jobs and see the run to its end.

        Args:
            job: For the runner; a nonce is added.
            surface: For the module.
            ledger: Records what happens.
            timeout_seconds: Time from here on by the clock, without what the processes wait for a processor.
            reports_unfit: Whether a result that cannot cross is sent to the runner instead of ending the run.

        Raises:
            ShipGateError: a process did not come up, or hardly came to run; that is no fault of the candidate.
        """
        self._tells_unfit = reports_unfit
        with self._selector() as selector:
            self._await_ready(selector)
            nonce = os.urandom(16).hex()
            self._runner.outbox += frame({**job, "surface": surface, "nonce": nonce})
            self._surface = self._surface_of_all = surface
            if self._module:
                self._module.outbox += frame({"surface": surface})
            try:
                self._converse(selector, nonce, ledger, timeout_seconds)
            except EndOfRun as end:
                hung = self._ended is self._module if self._ended else self._outstanding is not None
                return RunEnd(end.how, end.message, self._output(), hung)
        return RunEnd("broke", "", self._output())

    def observed(self) -> tuple[ObservedEffect, ...]:
        """What the module did beside returning values; also what it printed past its host."""
        printed = self._module is not None and bool(self._module.printed)
        return (*self._observed, *([ObservedEffect("PRINTING", "a text", "")] * printed))

    def repeat(self) -> None:
        """Count what the tests print from here on: they are repeated, and a limit is that of one run."""
        self._runner.printed.clear()

    def take_other(self, *, is_other: bool) -> None:
        """Have calls answered by the process in other surroundings, or by the usual one again."""
        if self._outstanding is not None:
            raise EndOfRun("broke", "a test ended while a call that it had made was waiting")
        if self._other and (self._answers_elsewhere != is_other):
            self._answers_elsewhere = is_other
            self._module, self._other = self._other, self._module
            if self._surface:
                assert self._module is not None  # there are two
                self._module.outbox += frame({"surface": self._surface})
                self._surface = {}

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
                    raise ShipGateError(
                        f"{stream.name} did not start: {self._output()[-500:]}",
                        where="gate",
                        remedy="see whether the machine has memory and processes left, and try again",
                    )
                self._turn(selector)
            assert header[0] == {"event": "ready"}  # nothing of a candidate is loaded yet

    def _converse(
        self, selector: selectors.BaseSelector, nonce: str, ledger: Ledger, timeout_seconds: float
    ) -> None:
        own_time = OwnTime(stream.child.pid for stream in self._streams)
        looked = last_message = 0.0
        is_new = False
        while True:
            # before the turn: what a process says before it ends is heard although the time is over
            is_over = own_time.is_over(timeout_seconds)
            self._turn(selector)
            for header, payload in self._module.frames() if self._module else ():
                is_new = True
                self._from_module(header, payload, ledger)
            for header, payload in self._runner.frames():
                is_new = True
                self._from_runner(header, payload, nonce, ledger)
            for stream in self._streams:
                if len(stream.printed) > self._limits.output:
                    raise EndOfRun("output")
                if stream.ended and not (self._is_over and stream is self._runner):
                    raise self._broken(stream)
            if is_over:
                raise EndOfRun("timeout")
            now = time.monotonic()
            if now - looked > _TURN_SECONDS:
                if _overfull(self._scratch, self._limits):
                    raise EndOfRun("disk")
                looked = now
                last_message = self._last_message(own_time.seconds(), last_message, is_new=is_new)
                is_new = False

    def _last_message(self, now: float, last_message: float, *, is_new: bool) -> float:
        """When the last message came, in the processes' own time; the run ends if that is too long ago."""
        most = self._limits.call_seconds
        if self._module and not is_new and now - last_message > most:
            hangs = "a call of the module" if self._outstanding is not None else "a test"
            raise EndOfRun("timeout", f"{hangs} did not come to its end within {most:g} seconds")
        return now if is_new else last_message

    def _broken(self, stream: Stream) -> EndOfRun:
        self._ended = stream
        if stream.child.used_up():
            most = self._limits.cpu_seconds
            return EndOfRun("processor", f"{stream.name} used more than {most} s of processor time")
        return EndOfRun("broke", f"{stream.name} ended before its time")

    def _turn(self, selector: selectors.BaseSelector) -> None:
        for stream in self._streams:
            stream.write()
        # a process that does not read holds nobody up: what it is owed is tried again
        owed = any(stream.outbox for stream in self._streams)
        selector.select(0.001 if owed else _TURN_SECONDS)
        for stream in self._streams:
            stream.read()
            read_printed(stream, selector, self._limits.output)

    def _from_runner(self, header: dict[str, Any], payload: bytes, nonce: str, ledger: Ledger) -> None:
        # a call is answered and counted whoever makes it; only reports are believed by their nonce
        if header.get("nonce") != nonce and header.get("event") not in _UNMARKED:
            raise EndOfRun(
                "forged", "a message came from the tests' process that the test runner did not send"
            )
        match header.get("event"):
            case "call":
                self._call(header, payload, ledger)
            case "web" | "callback" as kind if self._awaited == kind and self._module:
                self._awaited = ""
                answer = _answer_header(header) if kind == "web" else _callback_answer(header)
                self._module.outbox += frame(answer, payload)
            case "boundary" | "forged" as how:
                raise EndOfRun(how, str(header.get("message")))
            case "end":
                # the module is looked at once more, unless a call of it hangs
                if self._module is None or self._outstanding is not None:
                    raise EndOfRun("finished")
                self._is_over = True
                self._module.outbox += frame({"finish": True})
            case _:
                self._reported += len(repr(header))
                if self._reported > _MOST_EVENTS:
                    raise EndOfRun("output")
                if answer := ledger.reported(header):
                    self._runner.outbox += frame(answer)

    def _call(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        call = {key: header.get(key) for key in ("id", "module", "entry", "cwd", "env", "clock", "again")}
        if answer := ledger.called(call, payload):
            self._runner.outbox += frame(answer)
            return
        if self._module is None or self._outstanding is not None:
            raise EndOfRun("forged", "a call was made while another one was waiting")
        self._outstanding, self._asked, self._called_back = header.get("id"), 0, 0
        self._module.outbox += frame(call, payload)

    def _from_module(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        match header.get("event"):
            case "loaded":
                return
            case "effect" if len(self._observed) < _MOST_OBSERVED:
                effect = ObservedEffect(*(str(header.get(part, "")) for part in ObservedEffect._fields))
                self._observed[effect] = None
            case "web" | "callback" as kind if self._outstanding is not None and not self._awaited:
                self._pass_on(kind, header, payload, ledger)
            case "finished":
                raise EndOfRun("finished")
            case "broken":
                raise EndOfRun("unloaded", str(header.get("message")))
            case "boundary" if self._tells_unfit and self._outstanding is not None:
                self._outstanding = None
                self._runner.outbox += frame({"unfit": str(header.get("message"))})
            case "boundary":
                raise EndOfRun("boundary", str(header.get("message")))
            case "flood":
                raise EndOfRun("output")
            case "reply" if self._outstanding is not None and header.get("id") == self._outstanding:
                self._replied(header, payload, ledger)
            case _:
                raise EndOfRun(
                    "forged", "a message came from the module's process that its host did not send"
                )

    def _replied(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        """A call came back."""
        self._outstanding = None
        reply: dict[str, Any] = {"out": str(header.get("out", "")), "err": str(header.get("err", ""))}
        reply |= {"env": header.get("env"), "clock": header.get("clock")}
        if "error" in header:
            names = _class_names(header["error"])
            header = {**header, "error": names}
            reply |= {"error": names, "message": str(header.get("message", ""))}
            self.raised.add(str(header.get("line", "")))
            if header.get("late"):
                reply["late"] = True
        reply |= ledger.replied(header, payload) or {}
        payload = reply.pop("payload", payload)
        self._runner.outbox += frame({k: v for k, v in reply.items() if v is not None}, payload)

    def _pass_on(
        self, kind: Literal["web", "callback"], header: dict[str, Any], payload: bytes, ledger: Ledger
    ) -> None:
        """The module asks something while its call is open."""
        self._awaited = kind
        if kind == "web":
            self._ask(header, payload, ledger)
        else:
            self._call_back(header, payload)

    def _ask(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        """Pass a request of the module on to the script of the test; one to a host that no contract names goes nowhere."""
        self._asked += 1
        if self._asked > _MOST_ASKED:
            # each is a message, so a loop that asks would never be silent for long
            raise EndOfRun("timeout", f"a call of the module asked hosts more than {_MOST_ASKED} times")
        asked = _asked_of(header, payload)
        if asked.line is not None:
            self._observed[ObservedEffect("REQUEST", asked.name(), asked.line)] = None
        if not asked.is_named(self._surface_of_all):
            assert self._module is not None  # it asked
            self._awaited = ""
            self._module.outbox += frame({"delay": 0.0, "failure": "no such host"})
            return
        more = ledger.asked(asked.method, asked.origin()) or {}
        self._runner.outbox += frame({"web": {**asked.for_script(), **more}}, payload)

    def _call_back(self, header: dict[str, Any], payload: bytes) -> None:
        """Pass on that the module calls a function of the test."""
        self._called_back += 1
        if self._called_back > _MOST_CALLED_BACK:
            raise EndOfRun("timeout", f"a call of the module called back more than {_MOST_CALLED_BACK} times")
        self._runner.outbox += frame({"callback": str(header.get("name"))}, payload)

    def _output(self) -> str:
        return b"".join(bytes(stream.printed[-2000:]) for stream in self._streams).decode(errors="replace")


def _class_names(value: object) -> list[list[str]]:
    """The method resolution order that a module's process claims, if it is one."""
    names: list[list[str]] = []
    for pair in cast("list[object]", value) if isinstance(value, list) else []:
        parts = cast("list[object]", pair) if isinstance(pair, list) else []
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise EndOfRun("forged", "a message came from the module's process that its host did not send")
        names.append([str(part) for part in parts])
    return names


def _overfull(folder: Path, limits: Limits) -> bool:
    """Whether there is too much below a folder: bytes, files, or folders within folders. A folder has no quota."""
    size = files = 0
    for used, depth in _sizes(folder):
        size, files = size + used, files + 1
        if size > limits.scratch_size or files > limits.scratch_files or depth > _MOST_DEPTH:
            return True
    return False


def _sizes(folder: Path) -> Iterator[tuple[int, int]]:
    """What each file and folder takes, and how deep it lies; links are not followed."""
    waiting = [(str(folder), 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_blocks * 512, depth
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            # it went away, or is locked: then it is counted where it can be
            continue
