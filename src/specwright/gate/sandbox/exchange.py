"""The gate between the two processes of a run: passes calls and replies on, and sees all of them (D-S8-09, D-S8-11).

Runner and module have no connection of their own. What the runner says counts only with the nonce of its job, and what
came out of the module is known from here, not from the runner. The run ends with the runner's last word, or when its
time, its output or its disk is used up, or when either process ends.
"""

import os
import selectors
import time
from pathlib import Path
from typing import Any, cast

from specwright.errors import SpecwrightError
from specwright.gate.inside.frames import frame
from specwright.gate.sandbox.disk import overfull
from specwright.gate.sandbox.plan import Limits
from specwright.gate.sandbox.process import Child
from specwright.gate.sandbox.starvation import OwnTime
from specwright.gate.sandbox.stream import End, Ended, Ending, Ledger, Stream, take_printed

__all__ = ["Ended", "Ending", "Exchange", "Ledger"]

_TURN_SECONDS = 0.1
_READY_SECONDS = 60.0
_MOST_EVENTS = 16 * 1024 * 1024
_SILENCE = {
    "error": [["specwright", "NoAnswer"], ["builtins", "BaseException"]],
    "message": "no module is here",
}


class Exchange:
    """One run of two processes.

    Args:
        runner: Holds the tests or the examples.
        module: Holds the module; without one, every call meets an error that nobody expects.
        scratch: The folder in which both may write.
        limits: For what they print and write.
    """

    def __init__(self, runner: Child, module: Child | None, scratch: Path, limits: Limits) -> None:
        self._runner = Stream(runner, "the tests' process")
        self._module = Stream(module, "the module's process") if module else None
        self._streams = (self._runner, *([self._module] if self._module else []))
        self._scratch = scratch
        self._limits = limits
        self._outstanding: object = None
        self._told = 0
        self._tells_unfit = False
        self._used_up: Stream | None = None

    def run(
        self,
        job: dict[str, Any],
        surface: dict[str, Any],
        ledger: Ledger,
        timeout_seconds: float,
        *,
        tells_unfit: bool = False,
    ) -> Ended:
        """Give both their jobs and see the run to its end.

        Args:
            job: For the runner; a nonce is added.
            surface: For the module.
            ledger: Is told what happens.
            timeout_seconds: Time from here on by the clock, without what the processes wait for a processor.
            tells_unfit: Whether a result that cannot cross is told to the runner instead of ending the run.

        Raises:
            SpecwrightError: a process did not come up, or hardly came to run; that is no fault of the candidate.
        """
        self._tells_unfit = tells_unfit
        with self._selector() as selector:
            self._await_ready(selector)
            nonce = os.urandom(16).hex()
            self._runner.outbox += frame({**job, "surface": surface, "nonce": nonce})
            if self._module:
                self._module.outbox += frame({"surface": surface})
            try:
                self._converse(selector, nonce, ledger, timeout_seconds)
            except End as end:
                hung = self._used_up is self._module if self._used_up else self._outstanding is not None
                return Ended(end.how, end.message, self._output(), hung)
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
        own_time = OwnTime(stream.child.pid for stream in self._streams)
        looked = 0.0
        while True:
            self._turn(selector)
            for header, payload in self._module.frames() if self._module else ():
                self._from_module(header, payload, ledger)
            for header, payload in self._runner.frames():
                self._from_runner(header, payload, nonce, ledger)
            for stream in self._streams:
                if len(stream.printed) > self._limits.output:
                    raise End("output")
                if stream.ended:
                    raise self._broken(stream)
            if own_time.is_over(timeout_seconds):
                raise End("timeout")
            now = time.monotonic()
            if now - looked > _TURN_SECONDS:
                if overfull(self._scratch, self._limits):
                    raise End("disk")
                looked = now

    def _broken(self, stream: Stream) -> End:
        if stream.child.used_up():
            self._used_up = stream
            most = self._limits.cpu_seconds
            return End("processor", f"{stream.name} used more than {most} s of processor time")
        return End("broke", f"{stream.name} ended before its time")

    def _turn(self, selector: selectors.BaseSelector) -> None:
        for stream in self._streams:
            stream.write()
        # a process that does not read holds nobody up: what it is owed is tried again
        owed = any(stream.outbox for stream in self._streams)
        selector.select(0.001 if owed else _TURN_SECONDS)
        for stream in self._streams:
            stream.read()
            take_printed(stream, selector, self._limits.output)

    def _from_runner(self, header: dict[str, Any], payload: bytes, nonce: str, ledger: Ledger) -> None:
        # a call is answered and counted whoever makes it; only reports are believed by their nonce
        if header.get("nonce") != nonce and header.get("event") not in {"call", "boundary"}:
            raise End("forged", "a message came from the tests' process that the test runner did not send")
        match header.get("event"):
            case "call":
                self._call(header, payload, ledger)
            case "boundary" | "forged" as how:
                raise End(how, str(header.get("message")))
            case "end":
                raise End("finished")
            case _:
                self._told += len(header.get("message") or "") + 100
                if self._told > _MOST_EVENTS:
                    raise End("output")
                ledger.told(header)

    def _call(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        call = {key: header.get(key) for key in ("id", "module", "entry", "cwd")}
        ledger.called(call, payload)
        if self._module is None:
            self._runner.outbox += frame(_SILENCE)
            return
        if self._outstanding is not None:
            raise End("forged", "a call was made while another one was waiting")
        self._outstanding = header.get("id")
        self._module.outbox += frame(call, payload)

    def _from_module(self, header: dict[str, Any], payload: bytes, ledger: Ledger) -> None:
        match header.get("event"):
            case "loaded":
                return
            case "broken":
                raise End("unloaded", str(header.get("message")))
            case "boundary" if self._tells_unfit and self._outstanding is not None:
                self._outstanding = None
                self._runner.outbox += frame({"unfit": str(header.get("message"))})
            case "boundary":
                raise End("boundary", str(header.get("message")))
            case "flood":
                raise End("output")
            case "reply" if self._outstanding is not None and header.get("id") == self._outstanding:
                self._outstanding = None
                reply: dict[str, Any] = {"out": str(header.get("out", "")), "err": str(header.get("err", ""))}
                if "error" in header:
                    names = _class_names(header["error"])
                    header = {**header, "error": names}
                    reply |= {"error": names, "message": str(header.get("message", ""))}
                reply |= ledger.replied(header, payload) or {}
                self._runner.outbox += frame(reply, payload)
            case _:
                raise End("forged", "a message came from the module's process that its host did not send")

    def _output(self) -> str:
        return b"".join(bytes(stream.printed[-2000:]) for stream in self._streams).decode(errors="replace")


def _class_names(value: object) -> list[list[str]]:
    """The method resolution order that a module's process claims, if it is one."""
    names: list[list[str]] = []
    for pair in cast("list[object]", value) if isinstance(value, list) else []:
        parts = cast("list[object]", pair) if isinstance(pair, list) else []
        if len(parts) != 2 or not all(isinstance(part, str) for part in parts):
            raise End("forged", "a message came from the module's process that its host did not send")
        names.append([str(part) for part in parts])
    return names
