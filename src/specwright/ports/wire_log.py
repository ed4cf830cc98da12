"""The Wire log port: the append-only source of truth of a project (design: projection, wire)."""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple, Protocol

from pydantic import Field

from specwright.canonical_json import JsonObject
from specwright.domain.base.record import Record


class LogEntry(NamedTuple):
    """One admitted Wire with its consensus metadata, which stays outside the Wire (design: wire)."""

    topic_id: str
    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    wire: JsonObject


class StoredEntry(NamedTuple):
    """An entry as it is stored: canonical bytes with their proof (design: wire)."""

    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    body: bytes
    running_hash: bytes


class StreamEnd(NamedTuple):
    """The last Wire of a stream: its `stream_seq`, 0 before the first, and its id."""

    stream_seq: int = 0
    wire_id: str | None = None


class LogEnd(Record):
    """The end of a log, recorded outside it: the running hash covers this entry and all before it (design: wire-log).

    Args:
        topic_id: The topic.
        sequence_number: The entry.
        running_hash: The running hash after it, 48 bytes in hex.
    """

    topic_id: Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
    sequence_number: Annotated[int, Field(ge=1)]
    running_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{96}$")]


class WireLog(Protocol):
    """A log of Wires in the order in which they were accepted."""

    def append(self, wires: Sequence[JsonObject]) -> Sequence[LogEntry]:
        """Accept Wires, all or none, durably (fsynced before it returns).

        A Wire that is in the log with the same bytes is passed over. `stream.stream_seq` must be the next place in its
        stream.

        Returns:
            The new entries. Their sequence numbers follow each other, but not always on the last one that the caller
            has seen, since another process may append too.

        Raises:
            RefusedError: inadmissible, or another Wire has this id or this place in the stream.
        """
        ...

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """The entries with a sequence number greater than `after`, in order."""
        ...

    def stream_end(self, stream_id: str) -> StreamEnd:
        """Where a stream ends."""
        ...

    def end(self) -> LogEnd | None:
        """Where the log ends, None if it is empty."""
        ...

    def holds(self, end: LogEnd) -> bool:
        """Whether the log has this entry with this running hash."""
        ...


class StoredLog(Protocol):
    """A log as mirrors read it: the stored bytes, which are not checked again."""

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """The entries with a sequence number greater than `after`, in order."""
        ...
