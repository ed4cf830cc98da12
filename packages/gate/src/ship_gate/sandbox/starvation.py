"""Tells how long processes were ready to run while the machine ran something else (design: ship-gate).

A limit by the clock is for what sleeps or waits. On a busy machine a sound module waits as well, for a processor, and that
is no doing of its own: the time is taken off. The kernel counts it for each process.

Left out: threads beside the first of a process; what a hypervisor gives to others. Where the kernel does not say, the
clock alone counts.
"""

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

from ship_gate.errors import ShipGateError

_PROC = Path("/proc")
_WAITED = 1
_NANO = 1e9
_MOST_TIMES = 10
"""So many times its limit by the clock a run may last, however long it waited for a processor."""


class OwnTime:
    """The time of some processes since now, without what they waited for a processor.

    Args:
        started: Ids of processes; what they have started by now is theirs.
    """

    def __init__(self, started: Iterable[int]) -> None:
        self._files = [_PROC / f"{pid}/schedstat" for first in started for pid in _family(first)]
        # who passes the messages on waits too
        self._files.append(_PROC / "thread-self/schedstat")
        self._began = time.monotonic()
        self._last_seen = dict.fromkeys(self._files, 0.0)
        self._before = self._waited()

    def seconds(self) -> float:
        """How long they ran, slept or waited for one another."""
        return self._lasted() - self._starved()

    def is_over(self, seconds: float) -> bool:
        """Whether a limit is used up.

        Raises:
            ShipGateError: the processes hardly came to run; that says nothing about a candidate.
        """
        if self._lasted() <= seconds:
            return False
        starved = self._starved()
        if self._lasted() - starved > seconds:
            return True
        if self._lasted() > _MOST_TIMES * seconds:
            raise too_busy(
                f"in {self._lasted():.0f} s a run of the gate waited {starved:.0f} s for a processor"
            )
        return False

    def _lasted(self) -> float:
        return time.monotonic() - self._began

    def _starved(self) -> float:
        return self._waited() - self._before

    def _waited(self) -> float:
        """One that has ended waited as long as when it was last seen."""
        for file in self._files:
            self._last_seen[file] = max(self._last_seen[file], _waited(file))
        return sum(self._last_seen.values())


def too_busy(how: str) -> ShipGateError:
    """That the machine is too busy for a verdict; it says nothing about a candidate."""
    return ShipGateError(
        f"the machine is too busy: {how}", where="gate", remedy="run it again with less load"
    )


def _family(first: int) -> Iterable[int]:
    yield first
    for listing in (_PROC / f"{first}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in listing.read_text().split():
                yield from _family(int(child))


def _waited(file: Path) -> float:
    """Of a process that runs; 0 of one that is gone."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return 0.0
    try:
        return int(os.read(descriptor, 100).split()[_WAITED]) / _NANO
    except (OSError, IndexError, ValueError):
        return 0.0
    finally:
        os.close(descriptor)
