"""One run of the contract fuzz, beside the module's process (DESIGN §8.1, D-S8-09, D-S8-14; ADR 0054).

A call that does not come back in time is a counterexample, if it had that time. Where the machine was busy with something
else the run is made again with more patience. `fuzz.check` judges what a run tells.
"""

import re
from functools import cached_property
from typing import Any, NamedTuple

from specwright.errors import SpecwrightError
from specwright.gate.fuzz.elsewhere import Made
from specwright.gate.sandbox.exchange import Ended
from specwright.gate.sandbox.pair import Pair, prepare
from specwright.gate.sandbox.starvation import OwnTime, too_busy
from specwright.gate.staging import Staged

__all__ = ["Ran", "endless", "run_fuzz"]

_MOST_KEPT = 64 * 1024
"""Bytes of a call and its answer, to be made again elsewhere."""
_PATIENCE = (4, 40)
"""So many times its limit a call gets by the clock where the machine gave it little of that."""
_SHARE = 0.8


class Ran(NamedTuple):
    """What a run told, and how it ended.

    Args:
        events: What the runner told.
        ended: How it ended.
        made: Calls that were answered.
        last_call: Seconds that the last call had if it hangs, without what it waited for a processor.
    """

    events: list[dict[str, Any]]
    ended: Ended
    made: list[Made]
    last_call: float

    def finished(self) -> bool:
        """Whether it came to its end, with every call answered."""
        return self.ended.how == "finished" and not any(event.get("event") == "hang" for event in self.events)


def run_fuzz(staged: Staged, request: dict[str, Any], pair: Pair) -> Ran:
    """Run a request; more than once if the machine is too busy for its calls.

    Args:
        staged: Laid out by `stage`.
        request: What is drawn, and how long a call may take.
        pair: Of the role `fuzz_runner`.

    Raises:
        SpecwrightError: the fuzz broke off by itself, or the machine is too busy.
    """
    ran = _run(staged, request, pair)
    for patience in _PATIENCE:
        if not _was_starved(ran, request):
            return ran
        ran = _run_again(
            staged, {**request, "call_seconds": patience * request["call_seconds"]}, f"again{patience}"
        )
    if _was_starved(ran, request):
        raise too_busy("a call of the contract fuzz hardly came to run")
    return ran


def _run_again(staged: Staged, request: dict[str, Any], folder: str) -> Ran:
    """Run a request once, in processes and a folder of its own."""
    again = staged._replace(root=staged.root / folder, scratch=staged.root / folder / "scratch")
    again.scratch.mkdir(parents=True)
    with prepare(again, "fuzz_runner") as own:
        return _run(again, request, own)


def _was_starved(ran: Ran, request: dict[str, Any]) -> bool:
    hung = ran.ended.how == "finished" and not ran.finished()
    return hung and ran.last_call < _SHARE * request["call_seconds"]


class _Ledger:
    """What the fuzz tells, in its order, and where in the module an error was raised (a `Ledger`)."""

    def __init__(self, name: str, pair: Pair) -> None:
        self.events: list[dict[str, Any]] = []
        self.made: list[Made] = []
        self.last_call = 0.0
        self._pair = pair
        self._text = ""
        self._call: tuple[dict[str, Any], bytes, float] = {}, b"", 0.0
        self._place = re.compile(rf".*/lib/modules/{name}/(.+:\d+)")

    @cached_property
    def _clock(self) -> OwnTime:
        # wanted at the first call: both processes are there by then
        return self._pair.own_time()

    def told(self, header: dict[str, Any]) -> None:
        """Something is called, or was found."""
        self.events.append(header)
        if header.get("event") == "calling":
            self._text = str(header["call"])
        elif header.get("event") == "hang":
            self.last_call = self._clock.seconds() - self._call[2]

    def called(self, call: dict[str, Any], payload: bytes) -> None:
        """A call goes to the module."""
        self._call = call, payload, self._clock.seconds()

    def replied(self, header: dict[str, Any], payload: bytes) -> dict[str, Any]:
        """What the fuzz needs beside the reply."""
        call, given, since = self._call
        error = str(header["error"][0][-1]) if header.get("error") else ""
        if len(given) + len(payload) <= _MOST_KEPT:
            self.made.append(Made(self._text, call, given, error, payload, self._clock.seconds() - since))
        place = self._place.fullmatch(str(header.get("line", "")))
        return {"changed": header.get("changed") is not False, "line": place[1] if place else ""}


def _run(staged: Staged, request: dict[str, Any], pair: Pair) -> Ran:
    ledger = _Ledger(request["name"], pair)
    most = 10 + 12 * request["seconds"] + 2 * request["call_seconds"]
    ended = pair.run({"request": request}, dict(staged.surface), ledger, most, tells_unfit=True)
    if ended.how in {"broke", "processor"} and "module's process" not in ended.message:
        raise SpecwrightError(
            f"the contract fuzz broke off: {ended.output[-500:]}",
            where="gate",
            remedy="run `specwright doctor`",
        )
    return Ran(ledger.events, ended, ledger.made, ledger.last_call)


def endless(ran: Ran) -> dict[str, Any] | None:
    """The call that did not come back, if there is one."""
    if ran.finished() or ran.ended.how == "unloaded":
        return None
    return next((event for event in reversed(ran.events) if event.get("event") == "calling"), None)
