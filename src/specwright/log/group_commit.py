"""Appends that wait together share one transaction, and so one flush of the disk (D36).

Whoever finds nobody at work leads: it writes its own append and those that queued while the group before it was
being written. Nobody waits for a group to fill. Leaves out what writing means: that is the log's.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from specwright.errors import HeldError

__all__ = ["GroupCommit", "Pending"]

Item = TypeVar("Item")

_MOST_ITEMS = 256
"""How many items a leader writes at most, so that nobody waits for the work of all others."""


class Pending(Generic[Item]):
    """One append between its call and its acknowledgement.

    Args:
        items: What to write, all or none.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.refusal: Exception | None = None
        self.done = False
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def wait(self) -> None:
        """Sleep until it is done or leads."""
        self._asleep.acquire()

    def wake(self) -> None:
        """End the wait."""
        self._asleep.release()


class GroupCommit(Generic[Item]):
    """The queue of those who append.

    Args:
        write: Writes the appends of a group in one transaction, each all or none, and sets `refusal` on those
            that break a rule. What it raises concerns the whole group, of which then nothing is written.
    """

    def __init__(self, write: Callable[[Sequence[Pending[Item]]], None]) -> None:
        self._write = write
        self._queue = threading.Lock()
        self._waiting: deque[Pending[Item]] = deque()
        self._leader: Pending[Item] | None = None

    def submit(self, items: Sequence[Item]) -> None:
        """Have items written, and return when they are on the disk.

        Raises:
            Exception: the refusal of this append, or what `write` raised for it alone.
        """
        own = Pending(items)
        try:
            if not self._leads(own):
                own.wait()
            if not own.done:
                self._lead(own)
        finally:
            if not own.done:
                self._withdraw(own)
        if own.refusal is not None:
            raise own.refusal

    def _leads(self, own: Pending[Item]) -> bool:
        with self._queue:
            if self._leader is not None:
                self._waiting.append(own)
                return False
            self._leader = own
            return True

    def _lead(self, own: Pending[Item]) -> None:
        others = self._joining(own)
        try:
            self._write([own, *others])
        except BaseException as error:
            with self._queue:
                self._waiting.extendleft(reversed(others))  # each of them leads in its turn
            if not others or isinstance(error, HeldError) or not isinstance(error, Exception):
                raise
            others = []
            self._write([own])  # it may have been another's fault
        own.done = True
        for pending in others:
            pending.done = True
            pending.wake()
        self._hand_over()

    def _joining(self, own: Pending[Item]) -> list[Pending[Item]]:
        """Take along who waits, up to the bound."""
        others: list[Pending[Item]] = []
        room = _MOST_ITEMS - len(own.items)
        with self._queue:
            while self._waiting and (room := room - len(self._waiting[0].items)) >= 0:
                others.append(self._waiting.popleft())
        return others

    def _hand_over(self) -> None:
        with self._queue:
            self._leader = self._waiting.popleft() if self._waiting else None
            if self._leader is not None:
                self._leader.wake()

    def _withdraw(self, own: Pending[Item]) -> None:
        """Nobody waits for it any more: it failed, or its thread was interrupted."""
        with self._queue, suppress(ValueError):
            self._waiting.remove(own)
        if self._leader is own:
            self._hand_over()
