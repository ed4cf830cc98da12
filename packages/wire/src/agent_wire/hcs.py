"""The log in the terms of the Hedera Consensus Service: ids, running hash version 3, metadata (design: wire).

The running hash is exact to the byte. The network's nodes write its preimage with a Java ObjectOutputStream, so it is
a serialization stream and not the plain list of fields that the documentation shows: stream header, the class
descriptor of `byte[]`, the previous hash, one block of numbers, and the SHA-384 of the message as a second array that
refers back to the first one's class.
"""

import base64
import hashlib
import re
import struct
from datetime import UTC, datetime
from typing import NamedTuple

from agent_wire.canonical_json import JsonObject
from agent_wire.entries import StoredEntry
from agent_wire.errors import InputError

GENESIS = bytes(48)
"""The running hash before the first message of a topic."""

NANOS = 1_000_000_000

_NUMBER = re.compile(r"[0-9]{1,18}")
_VERSION = 3
_HASH_BYTES = 48
_STREAM_HEADER = bytes.fromhex("aced0005")
_NEW_ARRAY_OF_BYTES = bytes.fromhex("757200025b42acf317f8060854e00200007870")
_ARRAY_OF_THE_SAME_CLASS = bytes.fromhex("7571007e0000")
_BLOCK_DATA = b"\x77"
_NUMBERS = struct.Struct(">q3q3qqiq")
_ARRAY_LENGTH = struct.pack(">i", _HASH_BYTES)

_BEFORE_PREVIOUS = _STREAM_HEADER + _NEW_ARRAY_OF_BYTES + _ARRAY_LENGTH
_BEFORE_NUMBERS = _BLOCK_DATA + bytes([_NUMBERS.size])
_BEFORE_MESSAGE = _ARRAY_OF_THE_SAME_CLASS + _ARRAY_LENGTH


class EntityId(NamedTuple):
    """A topic or an account, `shard.realm.number`."""

    shard: int
    realm: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "EntityId":
        """Read `0.0.1234`.

        Raises:
            InputError: not three numbers.
        """
        parts = text.split(".")
        if len(parts) != 3 or not all(_NUMBER.fullmatch(part) for part in parts):
            raise InputError(f"{text!r} is not a topic or account id", remedy="write it like 0.0.1001")
        return cls(*(int(part) for part in parts))

    def __str__(self) -> str:
        return f"{self.shard}.{self.realm}.{self.number}"


def running_hash(
    previous: bytes,
    *,
    payer: EntityId,
    topic: EntityId,
    seconds: int,
    nanos: int,
    sequence: int,
    message: bytes,
) -> bytes:
    """The running hash after a message.

    Args:
        previous: The running hash before it, 48 bytes.
        payer: The account that submitted it.
        topic: The topic.
        seconds: Consensus time, whole seconds.
        nanos: Consensus time, the nanoseconds below them.
        sequence: The message's sequence number in the topic.
        message: Its bytes.

    Returns:
        48 bytes.
    """
    numbers = _NUMBERS.pack(_VERSION, *payer, *topic, seconds, nanos, sequence)
    digest = hashlib.sha384(message).digest()
    parts = (_BEFORE_PREVIOUS, previous, _BEFORE_NUMBERS, numbers, _BEFORE_MESSAGE, digest)
    return hashlib.sha384(b"".join(parts)).digest()


def consensus_timestamp(seconds: int, nanos: int) -> str:
    """Seconds and nanoseconds in ISO form with nine digits, `2026-05-06T16:00:01.123456789Z`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z"


def hcs_metadata(topic_id: str, entry: StoredEntry) -> JsonObject:
    """The proof of one entry by the schema `hcs-metadata`; it is shown beside the Wire, never in it."""
    return {
        "hcs": {
            "topic_id": topic_id,
            "sequence_number": entry.sequence_number,
            "consensus_timestamp": consensus_timestamp(entry.consensus_seconds, entry.consensus_nanos),
            "running_hash": base64.b64encode(entry.running_hash).decode(),
        }
    }
