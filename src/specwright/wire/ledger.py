"""What has been admitted so far: the memory that admission asks (D31, D32).

A ledger may be staged: changes go to the stage and reach the ledger below only when it is committed, so that
a log accepts several Wires all or none.
"""

from collections.abc import Iterator
from typing import NamedTuple

from specwright.wire.stream import StreamState

__all__ = ["Change", "Ledger"]


class Change(NamedTuple):
    """What one admitted Wire adds.

    Args:
        wire_id: Its id.
        digest: The SHA-256 of its canonical bytes.
        stream_id: Its stream.
        stream: The stream after it.
        body: Its canonical bytes.
    """

    wire_id: str
    digest: bytes
    stream_id: str
    stream: StreamState
    body: bytes


class Ledger:
    """The streams and the Wire ids that were admitted."""

    def __init__(self, below: "Ledger | None" = None) -> None:
        self._below = below
        self._streams: dict[str, StreamState] = {}
        self._wires: dict[str, bytes] = {}

    def stream(self, stream_id: str) -> StreamState | None:
        """Where a stream stands, None before its first Wire."""
        found = self._streams.get(stream_id)
        if found is None and self._below is not None:
            return self._below.stream(stream_id)
        return found

    def digest(self, wire_id: str) -> bytes | None:
        """The digest of an admitted Wire, None if there is none of this id."""
        found = self._wires.get(wire_id)
        if found is None and self._below is not None:
            return self._below.digest(wire_id)
        return found

    def streams(self) -> Iterator[tuple[str, StreamState]]:
        """Every stream, in the order of their first Wires; of a committed ledger only."""
        yield from self._streams.items()

    def add(self, change: Change) -> None:
        """Take in an admitted Wire."""
        self._streams[change.stream_id] = change.stream
        self._wires[change.wire_id] = change.digest

    def staged(self) -> "Ledger":
        """A ledger on top of this one, whose changes wait for `commit`."""
        return Ledger(self)

    def commit(self) -> None:
        """Hand what was staged to the ledger below."""
        if self._below is not None:
            self._below._streams.update(self._streams)
            self._below._wires.update(self._wires)
            self._streams, self._wires = {}, {}
