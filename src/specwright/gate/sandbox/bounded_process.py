"""Runs a script of the gate in a sandboxed process of its own, bounded in time and output (rule 4, D-S8-11).

For scripts that hold the module themselves (`inside.script_host`); its results come over a pipe that only the script
inherits, as JSON lines. Nothing that it started goes on when this returns.

Tests and examples are run in two processes instead (`sandbox.pair`): a module that shares the process with a script
can forge its results."""

import contextlib
import json
import os
import selectors
import time
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, cast

from specwright.errors import SpecwrightError
from specwright.gate.inside.frames import frame
from specwright.gate.sandbox.disk import overfull
from specwright.gate.sandbox.kind import Sandbox
from specwright.gate.sandbox.packages import TEST_TOOLS, link_packages
from specwright.gate.sandbox.plan import Plan
from specwright.gate.sandbox.process import Child, start
from specwright.gate.staging import remove_tree

__all__ = ["MOST_OUTPUT", "Ran", "Started", "run_bounded", "start_bounded"]

MOST_OUTPUT = 4 * 1024 * 1024
"""Bytes that a run may print, and again that it may report."""

_CHUNK = 65536
_POLL_SECONDS = 0.05
_READY = frame({"event": "ready"})
_READY_SECONDS = 60.0
_WORD = b"."


class Ran(NamedTuple):
    """What a run left.

    Args:
        ended: By itself, or stopped because its time, or its output and disk, were used up.
        events: Its results, in order.
        garbled: Whether something stood among the results that is none.
        output: The end of what it printed, at most 2,000 characters.
    """

    ended: Literal["exited", "timeout", "output"]
    events: tuple[dict[str, Any], ...]
    garbled: bool
    output: str


def run_bounded(
    script: Path,
    arguments: list[str],
    *,
    cwd: Path,
    timeout_seconds: float,
    reads: tuple[Path, ...] = (),
    sandbox: Sandbox | None = None,
    forks: bool = False,
) -> Ran:
    """Run a script to its end or to its limits; the arguments and errors are those of `start_bounded`."""
    with start_bounded(
        script,
        arguments,
        cwd=cwd,
        timeout_seconds=timeout_seconds,
        reads=reads,
        sandbox=sandbox,
        forks=forks,
    ) as started:
        return started.run()


def start_bounded(
    script: Path,
    arguments: list[str],
    *,
    cwd: Path,
    timeout_seconds: float,
    reads: tuple[Path, ...] = (),
    sandbox: Sandbox | None = None,
    forks: bool = False,
) -> "Started":
    """Start a script, which may load what it needs and then wait for the word to go on.

    Args:
        script: A file of this package; its first argument is the descriptor for its results, its last the one on which
            the word comes.
        arguments: Those between.
        cwd: A fresh directory, also its home and its place for temporary files, and all that it may write to.
        timeout_seconds: Wall-clock time from the word on.
        reads: What it may read besides Python, its own folder, pytest and hypothesis.
        sandbox: In what it runs; the best of this machine if not given.
        forks: Whether the script itself may fork; its forks may not.

    Raises:
        SpecwrightError: the process could not be started at all, or there is no sandbox.
    """
    sandbox = (sandbox or Sandbox.best()).within(timeout_seconds)
    site = cwd.with_name(cwd.name + "-site")
    places = link_packages(TEST_TOOLS | sandbox.packages, site)
    plan = Plan(
        "script_host",
        cwd,
        cwd,
        (script.parent, site, *places, *reads),
        site,
        sandbox.limits,
        {"forks": forks},
    )
    try:
        child = start(plan, sandbox.kind)
    except BaseException:
        remove_tree(site)
        raise
    _give(child, frame({"script": str(script), "arguments": arguments}))
    return Started(child, plan, site, timeout_seconds)


class Started:
    """A script that waits for the word; used as a context manager, it leaves nothing running."""

    def __init__(self, child: Child, plan: Plan, site: Path, timeout_seconds: float) -> None:
        self._child = child
        self._plan = plan
        self._site = site
        self._timeout_seconds = timeout_seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._child.stop()
        finally:
            remove_tree(self._site)

    def run(self) -> Ran:
        """Give the word, and see the script to its end or to its limits.

        Raises:
            SpecwrightError: the process did not come up.
        """
        _give(self._child, _WORD)
        ended, results, printed = _collect(self._child, self._plan, self._timeout_seconds)
        events, garbled = _events(results)
        return Ran(ended, events, garbled, printed.decode(errors="replace")[-2000:])


def _give(child: Child, data: bytes) -> None:
    # little, so the pipe takes it at once; a process that is gone is told by its end
    with contextlib.suppress(BrokenPipeError):
        os.write(child.writes, data)


def _collect(
    child: Child, plan: Plan, timeout_seconds: float
) -> tuple[Literal["exited", "timeout", "output"], bytes, bytes]:
    began = looked = time.monotonic()
    received = {child.reads: bytearray(), child.prints: bytearray()}
    is_ready = False
    with selectors.DefaultSelector() as selector:
        for descriptor in received:
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            selector.select(_POLL_SECONDS)
            ended = [_drain(descriptor, data, selector) for descriptor, data in received.items()]
            results, printed = received[child.reads], received[child.prints]
            now = time.monotonic()
            if not is_ready and len(results) >= len(_READY):
                del results[: len(_READY)]
                is_ready, began = True, now
            if not is_ready and (ended[0] or now > began + _READY_SECONDS):
                raise SpecwrightError(
                    f"a process of the gate did not start: {printed.decode(errors='replace')[-500:]}",
                    where="gate",
                    remedy="run `specwright doctor`",
                )
            too_much = any(len(data) > MOST_OUTPUT for data in received.values())
            # a look at the disk takes its time; between two of them little can be written
            if now > looked + _POLL_SECONDS:
                too_much, looked = too_much or overfull(plan.writes, plan.limits), now
            if too_much:
                return "output", bytes(results), bytes(printed)
            if ended[0]:
                return "exited", bytes(results), bytes(printed)
            if is_ready and now > began + timeout_seconds:
                return "timeout", bytes(results), bytes(printed)


def _drain(descriptor: int, data: bytearray, selector: selectors.BaseSelector) -> bool:
    """Take what has come; true at the end."""
    while len(data) <= MOST_OUTPUT:
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            # at its end a descriptor is always ready, and would keep the loop spinning
            with contextlib.suppress(KeyError):
                selector.unregister(descriptor)
            return True
        data += chunk
    return False


def _events(data: bytes) -> tuple[tuple[dict[str, Any], ...], bool]:
    events: list[dict[str, Any]] = []
    # what stands after the last newline was cut off by the end of the process
    for line in data.split(b"\n")[:-1]:
        try:
            event = json.loads(line)
        except ValueError:
            return tuple(events), True
        if not isinstance(event, dict):
            return tuple(events), True
        events.append(cast("dict[str, Any]", event))
    return tuple(events), False
