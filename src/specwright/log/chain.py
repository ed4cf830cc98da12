"""What comes next in a topic: dense numbers, rising consensus time, the running hash (D36).

Leaves out where it is stored, and whether it may be.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from specwright.log.running_hash import GENESIS, EntityId, running_hash

__all__ = ["BEFORE_THE_FIRST", "NANOS", "Chain", "Row", "Tail"]

NANOS = 1_000_000_000

Row: TypeAlias = tuple[str, int, int, int, bytes, bytes]
"""An entry as the table has it: topic, number, seconds, nanoseconds, body, running hash."""


class Tail(NamedTuple):
    """Where a topic ends, as far as somebody has read.

    Args:
        sequence_number: Of the last entry, 0 before the first.
        consensus: Its time in nanoseconds.
        running_hash: Its hash.
    """

    sequence_number: int
    consensus: int
    running_hash: bytes


BEFORE_THE_FIRST = Tail(0, 0, GENESIS)


class Chain(NamedTuple):
    """A topic's entries depend on these.

    Args:
        topic: The topic.
        payer: The account that the running hash names.
        clock: The time in nanoseconds since 1970; consensus time never goes back even if it does.
    """

    topic: EntityId
    payer: EntityId
    clock: Callable[[], int]

    def after(self, tail: Tail, bodies: Iterable[bytes]) -> tuple[list[Row], Tail]:
        """The entries that hold these bodies, and where the topic ends with them."""
        topic_id = str(self.topic)
        sequence, consensus, digest = tail
        rows: list[Row] = []
        for body in bodies:
            sequence += 1
            consensus = max(self.clock(), consensus + 1)
            seconds, nanos = divmod(consensus, NANOS)
            digest = running_hash(
                digest,
                payer=self.payer,
                topic=self.topic,
                seconds=seconds,
                nanos=nanos,
                sequence=sequence,
                message=body,
            )
            rows.append((topic_id, sequence, seconds, nanos, body, digest))
        return rows, Tail(sequence, consensus, digest)
