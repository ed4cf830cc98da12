"""The entries of a Wire log, in the terms of the Hedera Consensus Service, and the log's interface (design: wire).

`running_hash` computes version 3 of the service's running hash, exact to the byte. The network's nodes write its preimage
with a Java ObjectOutputStream, so it is a serialization stream and not the plain list of fields that the documentation
shows: stream header, the class descriptor of `byte[]`, the previous hash, one block of numbers, and the SHA-384 of the
message as a second array that refers back to the class of the first.
"""

import base64
import hashlib
import re
import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol, Self

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject
from agent_wire.errors import InputError

GENESIS = bytes(48)
"""The running hash before the first message of a topic."""

NANOS = 1_000_000_000

_ENTITY = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})")
HASH_VERSION = 3
_NUMBERS = struct.Struct(">q3q3qqiq")
# stream header, class descriptor of byte[], array length; block of data, its size; array of that class, array length
_BEFORE_PREVIOUS = bytes.fromhex("aced0005 757200025b42acf317f8060854e00200007870 00000030")
_BEFORE_NUMBERS = bytes([0x77, _NUMBERS.size])
_BEFORE_MESSAGE = bytes.fromhex("7571007e0000 00000030")
_RUNNING_HASH = re.compile(r"[0-9a-f]{96}")


class LogEntry(NamedTuple):
    """An admitted Wire with its consensus metadata, which is not part of the Wire (design: wire)."""

    topic_id: str
    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    wire: JsonObject


class StoredEntry(NamedTuple):
    """An entry as stored: the canonical bytes of the Wire, consensus time and running hash (design: wire)."""

    sequence_number: int
    consensus_seconds: int
    consensus_nanos: int
    body: bytes
    running_hash: bytes


class StreamEnd(NamedTuple):
    """The last Wire of a stream: its `stream_seq` (0 if the stream is empty) and its id."""

    stream_seq: int = 0
    wire_id: str | None = None


class LogEnd(NamedTuple):
    """The end of a log, for a record outside it; the running hash covers this entry and all before it (design: wire).

    Args:
        topic_id: The topic, `0.0.1001`.
        sequence_number: The entry, from 1.
        running_hash: The running hash after it, 48 bytes in hex.
    """

    topic_id: str
    sequence_number: int
    running_hash: str

    def to_bytes(self) -> bytes:
        """Encode the record for storage."""
        return canonical_json.pretty(self._asdict())

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Self:
        """Read a stored record.

        Raises:
            InputError: the data is not such a record.
        """
        try:
            end = cls(**canonical_json.loads(data))
            valid = (
                _ENTITY.fullmatch(end.topic_id)
                and type(end.sequence_number) is int
                and end.sequence_number > 0
                and _RUNNING_HASH.fullmatch(end.running_hash)
            )
        except (TypeError, ValueError) as error:
            raise InputError(f"this is not a record of a log's end: {error}", where=where) from error
        if not valid:
            raise InputError("this is not a record of a log's end", where=where)
        return end


class WireLog(Protocol):
    """A log of Wires in the order in which they were accepted."""

    def append(self, wires: Sequence[JsonObject]) -> Sequence[LogEntry]:
        """Append Wires, all or none; they are on disk (fsync) when this returns.

        A Wire that the log already holds with the same bytes is skipped. `stream.stream_seq` must be the next number of
        its stream.

        Returns:
            The new entries. Their sequence numbers are consecutive, but there may be entries before them that the
            caller has not seen, because another process may append too.

        Raises:
            RefusedError: a Wire is inadmissible, or another Wire has its id or its place in the stream.
        """
        ...

    def entries(self, after: int = 0) -> Iterator[LogEntry]:
        """Yield the entries with a sequence number greater than `after`, in order."""
        ...

    def stream_end(self, stream_id: str) -> StreamEnd:
        """Return the last Wire of a stream."""
        ...

    def end(self) -> LogEnd | None:
        """Return the end of the log, or None if it is empty."""
        ...

    def holds(self, end: LogEnd) -> bool:
        """Return whether the log has this entry with this running hash."""
        ...


class StoredLog(Protocol):
    """A log as mirrors read it: stored bytes, which are not checked again."""

    def stored(self, after: int = 0) -> Iterator[StoredEntry]:
        """Yield the entries with a sequence number greater than `after`, in order."""
        ...


class EntityId(NamedTuple):
    """The id of a topic or an account, `shard.realm.number`."""

    shard: int
    realm: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "EntityId":
        """Parse an id such as `0.0.1234`.

        Raises:
            InputError: the text is not three numbers with dots between them.
        """
        match = _ENTITY.fullmatch(text)
        if match is None:
            raise InputError(f"{text!r} is not a topic or account id", remedy="write it like 0.0.1001")
        return cls(*map(int, match.groups()))

    def __str__(self) -> str:
        return f"{self.shard}.{self.realm}.{self.number}"


def running_hash(previous: bytes, entry: StoredEntry, *, payer: EntityId, topic: EntityId) -> bytes:
    """Compute the running hash after an entry.

    Args:
        previous: The running hash before it, 48 bytes.
        entry: The entry; the `running_hash` that it holds is not used.
        payer: The account that submitted it.
        topic: The topic.

    Returns:
        48 bytes.
    """
    time = entry.consensus_seconds, entry.consensus_nanos
    numbers = _NUMBERS.pack(HASH_VERSION, *payer, *topic, *time, entry.sequence_number)
    digest = hashlib.sha384(entry.body).digest()
    parts = (_BEFORE_PREVIOUS, previous, _BEFORE_NUMBERS, numbers, _BEFORE_MESSAGE, digest)
    return hashlib.sha384(b"".join(parts)).digest()


def consensus_timestamp(seconds: int, nanos: int) -> str:
    """Format a consensus time as ISO 8601 with nine decimals, `2026-05-06T16:00:01.123456789Z`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z"


def hcs_metadata(topic_id: str, entry: StoredEntry) -> JsonObject:
    """Build the proof of an entry, by the schema `hcs-metadata`; it is shown beside the Wire, never in it."""
    return {
        "hcs": {
            "topic_id": topic_id,
            "sequence_number": entry.sequence_number,
            "consensus_timestamp": consensus_timestamp(entry.consensus_seconds, entry.consensus_nanos),
            "running_hash": base64.b64encode(entry.running_hash).decode(),
        }
    }
