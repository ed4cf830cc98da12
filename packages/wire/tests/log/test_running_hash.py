"""The running hash of the Hedera Consensus Service, version 3 (D36)."""

import base64

import pytest

from agent_wire.entries import GENESIS, EntityId, StoredEntry, running_hash
from agent_wire.errors import InputError

TOPIC = EntityId.parse("0.0.4603900")
PAYER = EntityId.parse("0.0.2617920")
FIRST = "vKnW8bYSjhYtHtMNOJWrkfyv77kKc4EREDycKE2L37aU0SYlx+g6HB9ah7CTFSxl"
SECOND = "JM8LpmRwUVc+wiwzRHBgcCv8uJkbfan8BV2QPC0hBMgXA9KIvy8TwOoXsukgmeC+"


def test_it_reproduces_real_network_history():
    """Two messages of topic 0.0.4603900, as the public network hashed them (D-36-01)."""
    first = running_hash(
        GENESIS, StoredEntry(1, 1683553059, 977315003, b"Message 1", b""), payer=PAYER, topic=TOPIC
    )
    second = running_hash(
        first, StoredEntry(2, 1683553060, 92158003, b"Message 2", b""), payer=PAYER, topic=TOPIC
    )

    assert base64.b64encode(first).decode() == FIRST
    assert base64.b64encode(second).decode() == SECOND


def test_every_field_is_in_the_hash():
    """No part of an entry can change without its running hash (D-36-02)."""
    entry = StoredEntry(3, 1, 2, b"x", b"")
    changes = {"sequence_number": 4, "consensus_seconds": 2, "consensus_nanos": 3, "body": b"y"}
    cases = [
        (GENESIS, entry, PAYER, TOPIC),
        (bytes([1]) * 48, entry, PAYER, TOPIC),
        (GENESIS, entry, EntityId(0, 0, 3), TOPIC),
        (GENESIS, entry, PAYER, EntityId(0, 1, 4603900)),
        *((GENESIS, entry._replace(**{name: value}), PAYER, TOPIC) for name, value in changes.items()),
    ]
    hashes = {running_hash(previous, row, payer=payer, topic=topic) for previous, row, payer, topic in cases}

    assert len(hashes) == 8


@pytest.mark.parametrize("text", ["", "1001", "0.0", "0.0.x", "0.0.-1", "0.0.1.2", "0.0.9999999999999999999"])
def test_what_is_no_topic_id_is_told(text: str):
    """A topic is `shard.realm.number` (D-36-01)."""
    with pytest.raises(InputError, match="topic or account id"):
        EntityId.parse(text)
