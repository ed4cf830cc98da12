"""Messages between the processes of a run: a header of JSON and a payload that only the ends understand.

A frame is two lengths, then the header, then the payload. The gate in the middle reads headers and passes payloads on
unread, so a value of a module is never decoded in the factory's process.
"""

import json
import os
import struct
import threading
from collections.abc import Callable
from typing import Any

from ship_gate.base.boundary_values import BoundaryLimit

LENGTHS = struct.Struct(">II")
MOST_HEADER = 1024 * 1024
MOST_PAYLOAD = BoundaryLimit.BYTES.most

# bound here, so that whoever replaces them where they belong does not get to see a message
_read, _write = os.read, os.write


def frame(header: dict[str, Any], payload: bytes = b"") -> bytes:
    """The bytes of a message."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return LENGTHS.pack(len(text), len(payload)) + text + payload


class Link:
    """The end of a connection that a process inside the sandbox holds.

    Args:
        reads: Descriptor from which messages come.
        writes: Descriptor to which they go.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self._reads = reads
        self._writes = writes
        self._lock = threading.Lock()

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Write a whole message."""
        rest = memoryview(frame(header, payload))
        with self._lock:
            while rest:
                rest = rest[_write(self._writes, rest) :]

    def marked(self, nonce: str) -> Callable[..., None]:
        """A way to send messages that carry a nonce: reports count with it alone."""

        def send(header: dict[str, Any], payload: bytes = b"") -> None:
            self.send({**header, "nonce": nonce}, payload)

        return send

    def receive(self) -> tuple[dict[str, Any], bytes]:
        """Read a whole message.

        Raises:
            EOFError: the other end is gone.
        """
        header, payload = LENGTHS.unpack(self._exactly(LENGTHS.size))
        return json.loads(self._exactly(header)), self._exactly(payload)

    def _exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            if not (chunk := _read(self._reads, size - len(received))):
                raise EOFError
            received += chunk
        return bytes(received)
