"""The mirror: follows a log and writes it to the read model (design: mirrors).

It only reads the log. A mirror that is killed, or whose database is away, goes on from the position in the database.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from agent_wire.admission import Admission
from agent_wire.entries import StoredEntry, StoredLog
from agent_wire.errors import DatabaseUnavailableError
from agent_wire.mirror.batch import Batch, LogReplay
from agent_wire.mirror.model import Position, ReadModel, other_log

BATCH = 1_000
"""Entries in a transaction."""

_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


class MirrorStatus(NamedTuple):
    """How far a log is mirrored.

    Args:
        log_id: The log, by the id of its first Wire; empty if it has none yet.
        position: The last entry that is mirrored.
        log_end: The sequence number of the last entry of the log.
        behind: The consensus time between these two, in seconds.
        problem: Why the database cannot be reached; empty if it can.
    """

    log_id: str
    position: Position
    log_end: int
    behind: float = 0.0
    problem: str = ""

    @property
    def lag(self) -> int:
        """How many entries are not mirrored yet."""
        return self.log_end - self.position.sequence_number


class Mirror:
    """Mirrors one log.

    Args:
        log: The log.
        topic_id: Its topic.
        model: Where to.
        admission: Other rules than those that ship.
        batch: Entries in a transaction.
    """

    def __init__(
        self,
        log: StoredLog,
        topic_id: str,
        model: ReadModel,
        admission: Admission | None = None,
        batch: int = BATCH,
    ) -> None:
        self._log = log
        self._topic_id = topic_id
        self._model = model
        self._admission = admission
        self._size = batch
        self._replay: LogReplay | None = None
        self._pending: Batch | None = None
        self._position = Position()

    def status(self) -> MirrorStatus:
        """How far the log is mirrored; nothing is written.

        Raises:
            CorruptionError: what is mirrored is not the beginning of the log.
            DatabaseUnavailableError: the database cannot be reached.
            RefusedError: it refuses.
        """
        first = next(self._log.stored(), None)
        if first is None:
            return MirrorStatus("", Position(), 0)
        log_id = _log_id(first)
        return self._status(log_id, self._model.position(log_id))

    def catch_up(self) -> MirrorStatus:
        """Mirror what the log has, and return where that led.

        Raises:
            CorruptionError: what is mirrored is not the beginning of the log, or an entry was altered.
            DatabaseUnavailableError: the database cannot be reached; a later call goes on.
            RefusedError: it refuses.
        """
        replay = self._replay or self._begin()
        while batch := self._pending or self._next(replay):
            self._pending = batch  # it is written again if the connection is lost
            self._position = self._model.write(batch, replay.context_id, self._topic_id)
            self._pending = None
            if self._position.sequence_number < replay.sequence_number:
                replay = self._begin()  # somebody has removed what was mirrored
        return MirrorStatus(replay.log_id, self._position, self._position.sequence_number)

    def rebuild(self) -> MirrorStatus:
        """Remove what is mirrored of the log and mirror it anew; readers see the old until the new is whole.

        Raises:
            CorruptionError: an entry was altered.
            DatabaseUnavailableError: the database cannot be reached; nothing has changed.
            RefusedError: it refuses.
        """
        replay = LogReplay(self._admission)
        first = self._next(replay)
        if first is None:
            return MirrorStatus("", Position(), 0)
        self._replay = self._pending = None
        batches = _chain(first, lambda: self._next(replay))
        position = self._model.rebuild(batches, replay.log_id, replay.context_id, self._topic_id)
        return MirrorStatus(replay.log_id, position, position.sequence_number)

    def follow(self, pause: Callable[[float], object]) -> Iterator[MirrorStatus]:
        """Mirror what the log has and will get, for as long as the caller asks; a lost database is tried again.

        Args:
            pause: Waits for these seconds.

        Yields:
            The position whenever it has moved, and the lag whenever the database cannot be reached.

        Raises:
            CorruptionError: see `catch_up`.
            RefusedError: the database refuses.
        """
        shown, seconds = -1, _PAUSE
        while True:
            try:
                status = self.catch_up()
                seconds = _PAUSE
                if status.position.sequence_number != shown:
                    shown = status.position.sequence_number
                    yield status
            except DatabaseUnavailableError as error:
                shown, seconds = -1, min(2 * seconds, _LONGEST_PAUSE)
                yield self._status("", self._position)._replace(problem=str(error.what))
            pause(seconds)

    def _begin(self) -> LogReplay:
        """Replay what is mirrored already."""
        replay = LogReplay(self._admission)
        first = next(self._log.stored(), None)
        if first is not None:
            self._position = self._model.position(_log_id(first))
            self._check(_log_id(first), self._position)
            mirrored = takewhile(
                lambda entry: entry.sequence_number <= self._position.sequence_number, self._log.stored()
            )
            replay.pass_over(mirrored)
        self._replay, self._pending = replay, None
        return replay

    def _next(self, replay: LogReplay) -> Batch | None:
        entries = list(islice(self._log.stored(replay.sequence_number), self._size))
        return replay.batch(entries) if entries else None

    def _status(self, log_id: str, position: Position) -> MirrorStatus:
        self._check(log_id, position)
        rest = deque(self._log.stored(position.sequence_number), maxlen=1)
        if not rest:
            return MirrorStatus(log_id, position, position.sequence_number)
        (last,) = rest
        behind = _seconds(last) - _seconds(position) if position.sequence_number else 0.0
        return MirrorStatus(log_id, position, last.sequence_number, behind)

    def _check(self, log_id: str, position: Position) -> None:
        """Refuse a log of which the mirrored position is no entry."""
        if position.sequence_number:
            entry = next(self._log.stored(position.sequence_number - 1), None)
            if entry is None or entry.running_hash.hex() != position.running_hash:
                raise other_log(log_id)


def _log_id(first: StoredEntry) -> str:
    replay = LogReplay()
    replay.pass_over([first])
    return replay.log_id


def _seconds(entry: StoredEntry | Position) -> float:
    return entry.consensus_seconds + entry.consensus_nanos / 1_000_000_000


def _chain(first: Batch, following: Callable[[], Batch | None]) -> Iterator[Batch]:
    batch: Batch | None = first
    while batch is not None:
        yield batch
        batch = following()
