"""Wires in files: one document, or one Wire a line (DESIGN §9: `wire validate`, `wire reduce`, `wire a2a`).

Bytes come in, verdicts go out; reading the file is the caller's part. A document may also be one of those that Wires
refer to or that stand beside them: a message, a part, an artifact, an agent card, HCS metadata (D36, D37).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from specwright import canonical_json
from specwright.canonical_json import JsonObject
from specwright.wire import canonical
from specwright.wire.admission import Admission, default_admission
from specwright.wire.reducer import Reduction, Rejected, reduce_wires
from specwright.wire.rejection import Rejection, WireRefusedError
from specwright.wire.validation import default_schemas

__all__ = ["Lines", "Verdict", "read_lines", "reduce_lines", "validate_document", "validate_lines"]


class Verdict(NamedTuple):
    """What was found in one line.

    Args:
        line: Its number, from 1.
        wire_id: The Wire's id, empty if it has no readable one.
        rejection: The first rule that it breaks by itself, None if it breaks none.
        kind: `wire`, or which other document it is.
    """

    line: int
    wire_id: str
    rejection: Rejection | None
    kind: str = "wire"


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
    """Check one Wire by itself: bytes, schema, content boundary. Its place in a stream is not asked.

    A document of another kind is checked by the schema of that kind.
    """
    rules = admission or default_admission()
    try:
        wire = canonical.parse(data)
    except WireRefusedError as error:
        return _other_document(data) or Verdict(1, error.wire_id, error.rejection)
    wire_id = wire.get("wire_id")
    found = None if "wire" in wire else _other_document(data)
    return found or Verdict(1, wire_id if isinstance(wire_id, str) else "", rules.fault_of(wire))


def validate_lines(data: bytes, admission: Admission | None = None) -> list[Verdict]:
    """Check each line of a JSONL file by itself; empty lines are passed over."""
    return [
        validate_document(line, admission)._replace(line=number)
        for number, line in enumerate(data.split(b"\n"), start=1)
        if line.strip()
    ]


_KINDS: Mapping[str, str] = {
    "hcs": "hcs-metadata",
    "identity": "agent-card",
    "parts": "message",
    "kind": "part",
    "artifact_id": "artifact",
}
"""By which member a document that is no Wire is known; the first that it has decides."""


def _other_document(data: bytes) -> Verdict | None:
    try:
        found: object = canonical_json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "wire" in found:
        return None
    document = cast("dict[str, Any]", found)
    kind = next((kind for member, kind in _KINDS.items() if member in document), None)
    if kind is None:
        return None
    return Verdict(1, "", default_schemas().check_document(f"{kind}.schema.json", document), kind)
