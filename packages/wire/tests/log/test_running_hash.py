"""The running hash of the Hedera Consensus Service, version 3 (D36)."""

import base64

import pytest

from agent_wire.entries import GENESIS, EntityId, running_hash
from agent_wire.errors import InputError

TOPIC = EntityId.parse("0.0.4603900")
PAYER = EntityId.parse("0.0.2617920")
FIRST = "vKnW8bYSjhYtHtMNOJWrkfyv77kKc4EREDycKE2L37aU0SYlx+g6HB9ah7CTFSxl"
SECOND = "JM8LpmRwUVc+wiwzRHBgcCv8uJkbfan8BV2QPC0hBMgXA9KIvy8TwOoXsukgmeC+"


def test_it_reproduces_real_network_history():
    """Two messages of topic 0.0.4603900, as the public network hashed them (D-36-01)."""
    first = running_hash(
        GENESIS,
        payer=PAYER,
        topic=TOPIC,
        seconds=1683553059,
        nanos=977315003,
        sequence=1,
        message=base64.b64decode("TWVzc2FnZSAx"),
    )
    second = running_hash(
        first,
        payer=PAYER,
        topic=TOPIC,
        seconds=1683553060,
        nanos=92158003,
        sequence=2,
        message=base64.b64decode("TWVzc2FnZSAy"),
    )

    assert base64.b64encode(first).decode() == FIRST
    assert base64.b64encode(second).decode() == SECOND


def test_every_field_is_in_the_hash():
    """No part of an entry can change without its running hash (D-36-02)."""
    same = {"payer": PAYER, "topic": TOPIC, "seconds": 1, "nanos": 2, "sequence": 3, "message": b"x"}
    others = {
        "payer": EntityId(0, 0, 3),
        "topic": EntityId(0, 1, 4603900),
        "seconds": 2,
        "nanos": 3,
        "sequence": 4,
        "message": b"y",
    }
    hashes = {running_hash(GENESIS, **{**same, name: value}) for name, value in others.items()}

    assert len(hashes | {running_hash(GENESIS, **same), running_hash(bytes([1]) * 48, **same)}) == 8


@pytest.mark.parametrize("text", ["", "1001", "0.0", "0.0.x", "0.0.-1", "0.0.1.2", "0.0.9999999999999999999"])
def test_what_is_no_topic_id_is_told(text: str):
    """A topic is `shard.realm.number` (D-36-01)."""
    with pytest.raises(InputError, match="topic or account id"):
        EntityId.parse(text)
