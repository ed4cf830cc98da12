"""Repeats calls of the fuzz in a second process of the module: the same input gives the same result there (design:
module-directory, ship-gate).

What follows the order of a set of texts, the local time zone, or an address in memory is the same each time within one
process, and nowhere else. The second process has another hash seed and another time zone. Nothing is drawn for it:
calls that the fuzz made go to it as they went to the first one, the last one first, and the answers are compared as they
came. So a result that follows the calls before it shows too.

Left out: modules with effects, since their calls leave something behind; the clock, which the static stage looks for.
"""

import contextlib
import selectors
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from specwright.gate.inside.codec import Codec, UndecodableError
from specwright.gate.inside.frames import frame
from specwright.gate.inside.fuzz.rendering import shown
from specwright.gate.sandbox.kind import Sandbox
from specwright.gate.sandbox.pair import host_plan
from specwright.gate.sandbox.process import Child, start
from specwright.gate.sandbox.staging import Staged
from specwright.gate.sandbox.starvation import OwnTime
from specwright.gate.sandbox.stream import EndOfRun, Stream

_MOST_CALLS = 200
_MOST_BYTES = 1024 * 1024
_MOST_SECONDS = 0.4
"""Of what the calls took in the first process: so much the second one may take as well."""
_PATIENCE = 3.0
_MOST_SHOWN = 160


class RecordedCall(NamedTuple):
    """A call that was made, and what came of it.

    Args:
        text: The call, for a person.
        header: Which entry point.
        payload: The arguments as they crossed.
        error: The class of what it raised, or nothing.
        result: What it returned, as it crossed.
        seconds: How long it took.
    """

    text: str
    header: dict[str, Any]
    payload: bytes
    error: str
    result: bytes
    seconds: float

    def description(self) -> str:
        """What came of it, for a person."""
        if self.error:
            return f"raises {self.error}"
        try:
            text = shown(Codec({}).decode(self.result))
        except UndecodableError:  # it holds a class of the module
            text = self.result.decode(errors="replace")
        return f"gives {text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}"


@contextmanager
def prepare_second_process(staged: Staged) -> Generator[Child, None, None]:
    """Start the second process, over folders that may still be empty.

    Raises:
        SpecwrightError: the process could not be started.
    """
    sandbox = staged.sandbox or Sandbox.best()
    (staged.scratch / "second process").mkdir()
    child = start(host_plan(staged, "second process", sandbox)._replace(other_environment=True), sandbox.kind)
    try:
        yield child
    finally:
        child.stop()


def differences(
    child: Child, staged: Staged, surface: dict[str, Any], calls: Sequence[RecordedCall]
) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Calls that came to something else in the second process, each with what it came to there.

    Args:
        child: Of `prepare_second_process`; the caller stops it.
        staged: Laid out by `stage`.
        surface: Of the module.
        made: In their order.
    """
    # the last one first: a result that follows how often the module was called before shows as well
    chosen = [*_chosen(calls)][::-1]
    folder = str(staged.scratch / "second process")
    for call, (header, payload) in zip(chosen, _replies(child, surface, chosen, folder), strict=False):
        names = header.get("error")
        error = str(names[0][-1]) if names else ""
        if header.get("event") == "reply" and (error, b"" if error else payload) != _answer(call):
            yield call, call._replace(error=error, result=payload)


def _answer(call: RecordedCall) -> tuple[str, bytes]:
    return call.error, b"" if call.error else call.result


def _chosen(calls: Sequence[RecordedCall]) -> Iterator[RecordedCall]:
    """Calls from all over the run, as many as may be made again."""
    seconds = size = 0.0
    for call in calls[:: max(1, len(calls) // _MOST_CALLS)]:
        seconds, size = seconds + call.seconds, size + len(call.payload)
        if seconds > _MOST_SECONDS or size > _MOST_BYTES:
            return
        yield call


def _replies(
    child: Child, surface: dict[str, Any], calls: Sequence[RecordedCall], folder: str
) -> Iterator[tuple[dict[str, Any], bytes]]:
    """What the second process says to each call; fewer if it ends, or takes its time."""
    stream = Stream(child, "the module's second process")
    stream.outbox += frame({"surface": surface})
    for call in calls:
        stream.outbox += frame({**call.header, "cwd": folder}, call.payload)
    own_time = OwnTime([child.pid])
    with selectors.DefaultSelector() as selector, contextlib.suppress(EndOfRun):
        selector.register(child.reads, selectors.EVENT_READ)
        left = len(calls)
        while left and not stream.ended and not own_time.is_over(_PATIENCE):
            stream.write()
            selector.select(0.001 if stream.outbox else 0.1)
            stream.read()
            for header, payload in stream.frames():
                if header.get("event") not in {"ready", "loaded", "effect"}:
                    left -= 1
                    yield header, payload
