"""Reads, checks and reduces files of Wires: one document, or one Wire per line (design: command-line).

The caller reads the file and passes its bytes. A document need not be a Wire: messages, parts, artifacts, agent cards and
HCS metadata have schemas too.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from agent_wire import canonical_json
from agent_wire.admission import Admission, default_admission, default_schemas
from agent_wire.canonical_json import JsonObject
from agent_wire.envelope import parse, wire_id_of
from agent_wire.errors import Rejection, WireRefusedError
from agent_wire.reducer import Reduction, RejectedWire, reduce_stream, reduce_wires, stream_of


class Verdict(NamedTuple):
    """The result of checking one document.

    Args:
        line: The number of its line, from 1.
        wire_id: The Wire's id, empty if it has no readable one.
        rejection: The first rule that it breaks on its own, or None.
        kind: `wire`, or the kind of document.
    """

    line: int
    wire_id: str
    rejection: Rejection | None
    kind: str = "wire"


class Lines(NamedTuple):
    """The Wires of a JSONL file, the line number of each (from 1), and the lines that cannot be read as Wires."""

    wires: list[JsonObject]
    numbers: list[int]
    unreadable: list[RejectedWire]


def read_lines(data: bytes) -> Lines:
    """Read one Wire per line and skip empty lines."""
    return read_numbered((n, line) for n, line in enumerate(data.split(b"\n"), start=1) if line.strip())


def read_numbered(bodies: Iterable[tuple[int, bytes]]) -> Lines:
    """Read Wires from numbered bodies: the lines of a file, or the messages of a topic."""
    lines = Lines([], [], [])
    for number, body in bodies:
        try:
            lines.wires.append(parse(body))
            lines.numbers.append(number)
        except WireRefusedError as error:
            lines.unreadable.append(RejectedWire(number, error.wire_id, error.rejection))
    return lines


def reduce_lines(data: bytes, admission: Admission | None = None, stream_id: str = "") -> Reduction:
    """Reduce a JSONL file; the position of a rejected Wire is its line.

    Args:
        data: One Wire per line.
        admission: Rules to use instead of the ones that ship.
        stream_id: Reduce only this stream.
    """
    return reduce_numbered(read_lines(data), admission, stream_id)


def reduce_numbered(lines: Lines, admission: Admission | None = None, stream_id: str = "") -> Reduction:
    """Reduce numbered Wires; the position of a rejected or unreadable Wire is its number."""
    reduction = (
        reduce_stream(lines.wires, stream_id, admission)
        if stream_id
        else reduce_wires(lines.wires, admission)
    )
    placed = [entry._replace(position=lines.numbers[entry.position - 1]) for entry in reduction.rejected]
    everything = sorted([*placed, *lines.unreadable], key=lambda entry: entry.position)
    return reduction._replace(rejected=tuple(everything))


def single_stream(data: bytes) -> str:
    """Return the id of the only stream in a JSONL file, or an empty string if there are several or none."""
    streams = {stream_of(wire) for wire in read_lines(data).wires}
    return streams.pop() if len(streams) == 1 else ""


def validate_document(data: bytes, admission: Admission | None = None) -> Verdict:
    """Check one Wire without its place in a stream; check a document of another kind against the schema of that kind."""
    rules = admission or default_admission()
    try:
        wire = parse(data)
    except WireRefusedError as error:
        return _other_document(data) or Verdict(1, error.wire_id, error.rejection)
    if "wire" not in wire and (verdict := _other_document(data)):
        return verdict
    return Verdict(1, wire_id_of(wire), rules.rejection_of(wire))


def validate_lines(data: bytes, admission: Admission | None = None) -> list[Verdict]:
    """Check each line of a JSONL file on its own and skip empty lines."""
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
"""The kinds of documents that are not Wires, each recognised by one member; the first match counts."""


def _other_document(data: bytes) -> Verdict | None:
    try:
        value: object = canonical_json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "wire" in value:
        return None
    document = cast("dict[str, Any]", value)
    kind = next((kind for member, kind in _KINDS.items() if member in document), None)
    if kind is None:
        return None
    try:
        canonical_json.pretty(document)
    except ValueError as error:
        message = f"a text of the {kind} is not valid Unicode: {error}"
        return Verdict(1, "", Rejection("wire.text", message, layer="parse"), kind)
    return Verdict(1, "", default_schemas().check_document(f"{kind}.schema.json", document), kind)
