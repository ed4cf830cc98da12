"""HCS metadata as W shows it: beside the Wire's body, never in it (W HCS Metadata, D36)."""

import base64
from datetime import UTC, datetime

from specwright.canonical_json import JsonObject
from specwright.log.sqlite_log import StoredEntry

__all__ = ["consensus_timestamp", "hcs_metadata"]


def consensus_timestamp(seconds: int, nanos: int) -> str:
    """Integer seconds and nanoseconds in the ISO form with nine digits, `2026-05-06T16:00:01.123456789Z`."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{nanos:09d}Z"


def hcs_metadata(topic_id: str, entry: StoredEntry) -> JsonObject:
    """The proof of one entry, by the schema `hcs-metadata`."""
    return {
        "hcs": {
            "topic_id": topic_id,
            "sequence_number": entry.sequence_number,
            "consensus_timestamp": consensus_timestamp(entry.consensus_seconds, entry.consensus_nanos),
            "running_hash": base64.b64encode(entry.running_hash).decode(),
        }
    }
