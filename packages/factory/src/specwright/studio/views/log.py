"""The trace: the log as a timeline by stream, each Wire with its proof (design: wire, studio)."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from agent_wire.envelope import StreamId
from specwright.bootstrap.views.reading import log_length, wires_after
from specwright.errors import InputError

PER_PAGE = 100
"""Entries on one page."""

_MOST_LANES = 12
"""Streams of a page that have a lane of their own."""

_TONES = {
    "task.complete": "good",
    "task.blocked": "bad",
    "task.failed": "bad",
    "task.cancelled": "calm",
    "task.started": "busy",
    "review.recorded": "ask",
}


class WireRow(NamedTuple):
    """An entry of the log on one line.

    Args:
        number: Its sequence number.
        ts: When it was written.
        type: Of the event.
        stream: By which it is one of a kind, `TSK-001 attempt 2`.
        sender: Who wrote it.
        about: What it says, in a few words.
        tone: For its colour.
        lane: Of its stream on the page.
    """

    number: int
    ts: str
    type: str
    stream: str
    sender: str
    about: str
    tone: str
    lane: int


class LogPage(NamedTuple):
    """A page of the log: its rows, the streams of the lanes, and where it is in the whole."""

    rows: list[WireRow]
    lanes: list[str]
    number: int
    pages: int
    total: int


class WirePage(NamedTuple):
    """One Wire with its proof, as text, and the length of the log."""

    row: WireRow
    wire: str
    proof: dict[str, Any]
    total: int


def log_page(directory: Path, number: int) -> LogPage:
    """A page of the log, from 1."""
    total = log_length(directory)
    pages = max(1, -(-total // PER_PAGE))
    number = min(max(1, number), pages)
    lanes: dict[str, int] = {}
    rows = [_row(one, lanes) for one in wires_after(directory, (number - 1) * PER_PAGE, PER_PAGE)]
    return LogPage(rows, list(lanes)[:_MOST_LANES], number, pages, total)


def wire_page(directory: Path, number: int) -> WirePage:
    """One entry.

    Raises:
        InputError: there is none of that number.
    """
    found = wires_after(directory, number - 1, 1) if number > 0 else []
    if not found:
        raise InputError(f"the log has no entry {number}", where="the address")
    text = json.dumps(found[0]["wire"], indent=2, ensure_ascii=False)
    return WirePage(_row(found[0], {}), text, found[0]["hcs"], log_length(directory))


def _row(one: dict[str, Any], lanes: dict[str, int]) -> WireRow:
    wire: dict[str, Any] = one["wire"]
    stream, payload = _stream(wire["stream"]["stream_id"]), wire.get("payload", {})
    lane = lanes.setdefault(stream, len(lanes))
    subject = payload.get("subject", "")
    about = [subject, payload.get("reference", ""), payload.get("reason", ""), payload.get("artifact_id", "")]
    about += payload.get("artifact_ids", [])
    return WireRow(
        one["hcs"]["sequence_number"],
        wire["ts"],
        wire["type"],
        stream,
        wire["sender"],
        " · ".join(dict.fromkeys(str(text) for text in about if text)),
        _TONES.get(wire["type"], "calm"),
        min(lane, _MOST_LANES - 1),
    )


def _stream(text: str) -> str:
    try:
        found = StreamId.parse(text)
    except ValueError:
        return text
    if found.kind == "task":
        return f"{found.id} attempt {found.attempt}"
    return found.kind if found.kind == "project" else f"{found.kind} {found.id}"
