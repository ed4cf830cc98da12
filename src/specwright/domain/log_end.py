"""The record of where the log ended (D36): what no chain of hashes shows by itself, a note outside it does."""

from typing import Annotated

from pydantic import Field

from specwright.domain.record import Record

__all__ = ["LogEnd"]


class LogEnd(Record):
    """An entry that a log must hold unchanged, with all that led to it: the running hash covers them.

    Args:
        topic_id: The topic.
        sequence_number: The entry.
        running_hash: The running hash after it, 48 bytes in hex.
    """

    topic_id: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
    sequence_number: Annotated[int, Field(ge=1)]
    running_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{96}$")]
