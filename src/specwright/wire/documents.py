"""Wires in files: one document, or one Wire a line (DESIGN §9: `wire validate`, `wire reduce`, `wire a2a`).

Bytes come in, verdicts go out; reading the file is the caller's part.
"""

from typing import NamedTuple

from specwright.canonical_json import JsonObject
from specwright.wire import canonical
from specwright.wire.admission import Admission, default_admission
from specwright.wire.reducer import Reduction, Rejected, reduce_wires
from specwright.wire.rejection import Rejection, WireRefusedError

__all__ = ["Lines", "Verdict", "read_lines", "reduce_lines", "validate_document", "validate_lines"]


class Verdict(NamedTuple):
    """What was found in one line.

    Args:
        line: Its number, from 1.
        wire_id: The Wire's id, empty if it has no readable one.
        rejection: The first rule that it breaks by itself, None if it breaks none.
    """

    line: int
    wire_id: str
    rejection: Rejection | None


class Lines(NamedTuple):
    """A JSONL file, read.

    Args:
        wires: What could be read, in order.
        numbers: The line of each of them, from 1.
        unreadable: The other lines; their position is their line.
    """

    wires: list[JsonObject]
    numbers: list[int]
    unreadable: list[Rejected]


def read_lines(data: bytes) -> Lines:
    """Read one Wire a line; empty lines are passed over."""
    lines = Lines([], [], [])
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            lines.wires.append(canonical.parse(line))
            lines.numbers.append(number)
        except WireRefusedError as error:
            lines.unreadable.append(Rejected(number, error.wire_id, error.rejection))
    return lines


def reduce_lines(data: bytes, admission: Admission | None = None) -> Reduction:
    """Reduce a JSONL file; a line that cannot be read is among the rejected, its position its line."""
    lines = read_lines(data)
    streams, rejected = reduce_wires(lines.wires, admission)
    placed = [entry._replace(position=lines.numbers[entry.position - 1]) for entry in rejected]
    everything = sorted([*placed, *lines.unreadable], key=lambda entry: entry.position)
    return Reduction(streams, tuple(everything))


def validate_document(data: bytes, admission: Admission | None = None) -> Verdict:
    """Check one Wire by itself: bytes, schema, content boundary. Its place in a stream is not asked."""
    rules = admission or default_admission()
    try:
        wire = canonical.parse(data)
    except WireRefusedError as error:
        return Verdict(1, error.wire_id, error.rejection)
    wire_id = wire.get("wire_id")
    return Verdict(1, wire_id if isinstance(wire_id, str) else "", rules.fault_of(wire))


def validate_lines(data: bytes, admission: Admission | None = None) -> list[Verdict]:
    """Check each line of a JSONL file by itself; empty lines are passed over."""
    return [
        validate_document(line, admission)._replace(line=number)
        for number, line in enumerate(data.split(b"\n"), start=1)
        if line.strip()
    ]
