"""One run of the contract fuzz, beside the module's process (design: module-directory, ship-gate).

A call that does not come back in time is a counterexample, if it had that time and does it again with more patience: what
a disk or a stopped machine takes of it is counted nowhere. `fuzz.check` judges what a run tells.
"""

import re
from functools import cached_property
from typing import Any, NamedTuple

from ship_gate.errors import ShipGateError
from ship_gate.fuzz.determinism import RecordedCall, answer_of
from ship_gate.sandbox.pair import Pair, Role, started
from ship_gate.sandbox.staging import Staged
from ship_gate.sandbox.starvation import OwnTime, too_busy
from ship_gate.sandbox.stream import Ledger, RunEnd

_MOST_KEPT = 64 * 1024
"""Bytes of a call and its answer, to be made again in a second process."""
_MOST_BYTES_OF_FILES = 16 * 1024 * 1024
"""What all such calls may leave in files."""
_PATIENCE = (4, 40)
"""So many times its limit a call gets by the clock: where it hung, and then where the machine gave it little of that."""
_SHARE = 0.8


class RaisedError(NamedTuple):
    """A call that raised a declared error.

    Args:
        text: The call, for a person.
        error: The exception's class.
        size: Of the arguments.
    """

    text: str
    error: str
    size: int


class FuzzRun(NamedTuple):
    """What a run reported, and how it ended.

    Args:
        events: What the runner reported.
        ended: How it ended.
        made: Calls that were answered.
        raised: By line of the module, the plainest call that raised a declared error there.
        last_call: Seconds that the last call had if it hangs, without what it waited for a processor.
    """

    events: list[dict[str, Any]]
    ended: RunEnd
    calls: list[RecordedCall]
    raised: dict[str, RaisedError]
    last_call: float

    def finished(self) -> bool:
        """Whether it came to its end, with every call answered."""
        return self.ended.how == "finished" and not any(event.get("event") == "hang" for event in self.events)


def run_fuzz(staged: Staged, request: dict[str, Any], pair: Pair, role: Role = "fuzz.runner") -> FuzzRun:
    """Run a request; more than once if the machine may be too busy for its calls.

    Args:
        staged: Laid out by `stage`.
        request: What is drawn, and how long a call may take.
        pair: Of the role.
        role: What draws.

    Raises:
        ShipGateError: the fuzz broke off by itself, or the machine is too busy.
    """
    ran = _run(staged, request, pair)
    for patience in _PATIENCE:
        in_doubt = patience == _PATIENCE[0] and _hung(ran)
        if not in_doubt and not _was_starved(ran, request):
            return ran
        patient = {**request, "call_seconds": patience * request["call_seconds"]}
        again = staged.beside(f"again{patience}")
        with started(again, role) as own:
            ran = _run(again, patient, own)
    if _was_starved(ran, request):
        raise too_busy("a call of the contract fuzz hardly came to run")
    return ran


def _hung(ran: FuzzRun) -> bool:
    return ran.ended.how == "finished" and not ran.finished()


def _was_starved(ran: FuzzRun, request: dict[str, Any]) -> bool:
    return _hung(ran) and ran.last_call < _SHARE * request["call_seconds"]


class _Ledger(Ledger):
    """What the fuzz tells, in its order, and where in the module an error was raised (a `Ledger`)."""

    def __init__(self, request: dict[str, Any], pair: Pair) -> None:
        self.events: list[dict[str, Any]] = []
        self.calls: list[RecordedCall] = []
        self.raised: dict[str, RaisedError] = {}
        self._declared = {
            *request["errors"],
            *(name for one in request.get("makers", ()) for name in one["errors"]),
        }
        self.last_call = 0.0
        self._pair = pair
        self._text = ""
        self._call: tuple[dict[str, Any], bytes, float] = {}, b"", 0.0
        self._place = re.compile(rf".*/lib/modules/{request['name']}/(.+:\d+)")
        self._files = pair.scratch / "here" if request["files"] else None
        self._found = request["found"]
        self._bytes_of_files = 0

    @cached_property
    def _clock(self) -> OwnTime:
        # wanted at the first call: both processes are there by then
        return self._pair.own_time()

    def reported(self, header: dict[str, Any]) -> None:
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
        call, arguments, since = self._call
        # one that found another's files is not made elsewhere
        # nor is one that only makes what is drawn for another
        if len(arguments) + len(payload) <= _MOST_KEPT and call.get("again") is False:
            seconds = self._clock.seconds() - since
            answer = answer_of(header, payload, self._files)
            self._bytes_of_files += sum(len(content or b"") for content in answer.files.values())
            if self._bytes_of_files <= _MOST_BYTES_OF_FILES:
                self.calls.append(RecordedCall(self._text, call, arguments, answer, seconds, self._found))
        place = self._place.fullmatch(str(header.get("line", "")))
        if (
            place
            and header.get("error")
            and call.get("again") is not None
            and (name := str(header["error"][0][1])) in self._declared
        ):
            one = RaisedError(self._text, name, len(arguments))
            self.raised[place[1]] = min(one, self.raised.get(place[1], one), key=lambda error: error.size)
        changed, used = header.get("changed") is not False, self._clock.seconds()
        return {"changed": changed, "line": place[1] if place else "", "used": used}


def _run(staged: Staged, request: dict[str, Any], pair: Pair) -> FuzzRun:
    ledger = _Ledger(request, pair)
    most = 10 + 12 * request["whole_seconds"] + 2 * request["call_seconds"]
    ended = pair.exchange.run({"request": request}, dict(staged.surface), ledger, most, reports_unfit=True)
    if ended.how in {"broke", "processor"} and not ended.in_module:
        raise ShipGateError(
            f"the fuzz broke off: {ended.output[-500:]}",
            where="gate",
            remedy="see whether the machine has memory and processes left, and try again",
        )
    return FuzzRun(ledger.events, ended, ledger.calls, ledger.raised, ledger.last_call)


def before_any_answer(ran: FuzzRun, what: str) -> str:
    """What was running where a run ended and no call can be blamed: the last one that was begun, or what comes before the
    first.

    Args:
        ran: The run.
        what: Is called or executed, for a person.
    """
    last = next((str(one["call"]) for one in reversed(ran.events) if one.get("event") == "calling"), "")
    place = (
        f"the last call that was begun is {last}"
        if last
        else f"no input of {what} was tried yet: it was being loaded"
    )
    return f"the module cannot be called: {ran.ended.message[-500:].strip()}; {place}"


def unanswered_call(ran: FuzzRun) -> dict[str, Any] | None:
    """The call that did not come back, if there is one."""
    if ran.finished() or ran.ended.how == "unloaded":
        return None
    return next((event for event in reversed(ran.events) if event.get("event") == "calling"), None)
