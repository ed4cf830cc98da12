"""The entries of a log of Wires, and the log as its callers see it (design: projection, wire)."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject
from agent_wire.errors import InputError

_TOPIC = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_RUNNING_HASH = re.compile(r"[0-9a-f]{96}")


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


class LogEnd(NamedTuple):
    """The end of a log, recorded outside it: the running hash covers this entry and all before it (design: wire).

    Args:
        topic_id: The topic, `0.0.1001`.
        sequence_number: The entry, from 1.
        running_hash: The running hash after it, 48 bytes in hex.
    """

    topic_id: str
    sequence_number: int
    running_hash: str

    def to_bytes(self) -> bytes:
        """The record as it is stored."""
        return canonical_json.pretty(self._asdict())

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Self:
        """Read a stored record.

        Raises:
            InputError: the data is not a log end.
        """
        try:
            value: Any = canonical_json.loads(data)
            end = cls(**value)
            valid = (
                _TOPIC.fullmatch(end.topic_id)
                and type(end.sequence_number) is int
                and end.sequence_number > 0
                and _RUNNING_HASH.fullmatch(end.running_hash)
            )
        except (TypeError, ValueError) as error:
            raise InputError(f"this is not the end of a log: {error}", where=where) from error
        if not valid:
            raise InputError("this is not the end of a log", where=where)
        return end


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
