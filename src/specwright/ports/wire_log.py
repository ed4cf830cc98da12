"""The Wire log port: the append-only source of truth of a project (D29, D32, D36)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from specwright.canonical_json import JsonObject
from specwright.domain.log_end import LogEnd

__all__ = ["LogEntry", "WireLog"]


class LogEntry(NamedTuple):
    """One admitted Wire with its proof metadata, which stays outside the body (W HCS Metadata)."""

    topic_id: str
    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    wire: JsonObject


class WireLog(Protocol):
    """A log of Wires in the order in which they were accepted."""

    def append(self, wires: Sequence[JsonObject]) -> None:
        """Accept Wires, all or none, durably (fsynced before it returns).

        A Wire that is there already with the same bytes is passed over; `stream.stream_seq` is the expected
        place in its stream and must be the next one.

        Raises:
            RefusedError: inadmissible, another Wire has this id, or another holds this place in the stream.
        """
        ...

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """The entries with a sequence number greater than `after`, in order."""
        ...

    def head(self, stream_id: str) -> int:
        """The last `stream_seq` of a stream, 0 if it has none."""
        ...

    def last_wire_id(self, stream_id: str) -> str | None:
        """The id of the stream's last Wire."""
        ...

    def end(self) -> LogEnd | None:
        """Where the log ends, None if it is empty."""
        ...

    def holds(self, end: LogEnd) -> bool:
        """Whether an entry stands where it was noted, with that running hash."""
        ...
