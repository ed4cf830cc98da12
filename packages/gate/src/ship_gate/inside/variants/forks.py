"""Forks a process for each variant of a module, a few at a time, and takes the result of each (design: ship-gate).

A fork holds no other's pipe, and the name of its folder tells it nothing. What it may use is bounded, by processor
time first: a busy machine does not change a verdict.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

_MIB = 1024 * 1024
_MEMORY = 1024 * _MIB
_FILE = 16 * _MIB
_WALL = 10
_LEAST_SECONDS = 0.3
_TIMES = 6
_MOST_MORE = 5.0
_STILL_SECONDS = 2.0
_LEAST_MOVED = 0.001
_MOST_WALL = 60.0
_LEFT_OUT: dict[str, Any] = {"outcome": "left_out", "passed": [], "failed": [], "seconds": 0.0}
_PROCESS_CLOCK = 2  # of the processor time of the process whose id the rest of the number is


class Forked(NamedTuple):
    """That this process is a fork: for which variant, in which folder, and where its result goes."""

    place: int
    home: Path
    writer: int


class _Running:
    """One fork that is running.

    Args:
        place: Its variant.
        home: Its folder.
        reader: Brings its result.
        pid: Of the fork.
    """

    def __init__(self, place: int, home: Path, reader: int, pid: int) -> None:
        self.place = place
        self._home = home
        self.reader = reader
        self._pid = pid
        self.began = time.monotonic()
        self.seconds = 0.0
        self._data = b""
        self._looked = self.began
        self._spent = 0.0

    def ended(self) -> bool:
        """Read what is there; at its end the fork is gone."""
        chunk = os.read(self.reader, 65536)
        self._data += chunk
        return not chunk

    def is_overdue(self, seconds: float) -> bool:
        """Whether its time by the clock is over, and it stands still: on a busy machine the others are slow as well."""
        now = time.monotonic()
        if now - self.began <= seconds or now - self._looked <= _STILL_SECONDS:
            return False
        before, self._spent, self._looked = self._spent, _processor_seconds(self._pid), now
        return self._spent - before < _LEAST_MOVED or now - self.began > max(_MOST_WALL, seconds)

    def result(self) -> dict[str, Any]:
        """End it and say how it was."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        _, _, usage = os.wait4(self._pid, 0)
        self.seconds = usage.ru_utime + usage.ru_stime
        os.close(self.reader)
        shutil.rmtree(self._home, ignore_errors=True)
        stopped: dict[str, Any] = {"outcome": "stopped", "passed": [], "failed": []}
        try:
            return json.loads(self._data) if self._data else stopped
        except ValueError:
            return stopped


def _processor_seconds(pid: int) -> float:
    """What a process has used so far; nothing where the system does not say."""
    try:
        return time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except (AttributeError, OSError):
        return 0.0


def _forked(place: int, others: Iterable[_Running]) -> _Running | Forked:
    home = Path.cwd() / os.urandom(8).hex()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return _Running(place, home, reader, pid)
    for descriptor in (reader, *(other.reader for other in others)):
        os.close(descriptor)
    return Forked(place, home, writer)


def run_all(work: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> Forked | None:
    """Run every variant and send its outcome; None when all have ended, and in a fork what it is."""
    waiting = [*range(len(work["variants"]))]
    running: dict[int, _Running] = {}
    while waiting or running:
        # the first is the module as it is: what it takes bounds the others, so that an endless loop is soon stopped
        is_first = waiting[:1] == [0] or any(fork.place == 0 for fork in running.values())
        while waiting and len(running) < (1 if is_first else work["jobs"]):
            started = _forked(waiting.pop(0), running.values())
            if isinstance(started, Forked):
                return started
            running[started.reader] = started
        for fork in _ended(running, work["seconds"]):
            send({"event": "variant", "place": fork.place, **fork.result(), "seconds": fork.seconds})
            if fork.place == 0:
                most = min(_TIMES * fork.seconds, fork.seconds + _MOST_MORE)
                work["seconds"] = min(work["seconds"], max(_LEAST_SECONDS, most))
                waiting, left_out = _affordable(work, waiting, fork.seconds)
                for place in left_out:
                    send({"event": "variant", "place": place, **_LEFT_OUT})
    return None


def _affordable(work: dict[str, Any], waiting: list[int], seconds: float) -> tuple[list[int], list[int]]:
    """Those for which the budget reaches, the highest tier that it can be, and those that are left out."""
    tiers = {place: int(work["variants"][place]["tier"]) for place in waiting}
    for tier in sorted(set(tiers.values()), reverse=True):
        affordable = [place for place in waiting if tiers[place] <= tier]
        if tier == 0 or len(affordable) * seconds <= work["budget"]:
            return affordable, [place for place in waiting if tiers[place] > tier]
    return waiting, []


def _ended(running: dict[int, _Running], seconds: float) -> list[_Running]:
    """Wait a little; those that came to their end, or are late."""
    ready = set(select.select([*running], [], [], 0.2)[0])
    overdue = {reader for reader, fork in running.items() if fork.is_overdue(_WALL * seconds)}
    over = [
        reader for reader, fork in running.items() if (reader in ready and fork.ended()) or reader in overdue
    ]
    return [running.pop(reader) for reader in over]


def limit(seconds: float) -> None:
    """Bound what this process may use."""
    try:
        import resource
    except ImportError:
        return
    for limit, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_FSIZE, _FILE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, int(seconds) + 2),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (most, most))
    # processor time, not the clock: a busy machine does not change the verdict
    signal.setitimer(signal.ITIMER_PROF, seconds)


def write(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(descriptor, data) :]
