"""The records of a journal and their file: JSON lines, one per answer, append-only (design: journal).

A line is `{"scope", "kind", "ordinal", "request", "answer"}` with the request as its SHA-256. A line that a crash cut
short is not an answer, since it was never fsynced; it is removed when the file is opened for writing. Any other damage
is reported as corruption.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent_wire.canonical_json import JsonValue
from specwright.atomic_write import sync_directory
from specwright.bounded_read import read_bounded
from specwright.errors import CorruptionError, InputError


class Place(NamedTuple):
    """The place of a request in a run."""

    scope: str
    kind: str
    ordinal: int


class JournalRecord(NamedTuple):
    """The answer at a place."""

    place: Place
    request: str
    answer: JsonValue


def read_records(path: Path, kind: str = "") -> Iterator[JournalRecord]:
    """The complete records of a journal, in order; a last line without its newline is ignored.

    Args:
        path: The file.
        kind: The only kind to return; most lines of other kinds are then not parsed, so damage in them goes unnoticed.

    Raises:
        InputError: no such file.
        CorruptionError: a complete line is not a record, or two are for one place.
    """
    try:
        data = read_bounded(path)
    except OSError as error:
        raise InputError("the journal cannot be read", where=f"{path}: {error.strerror}") from error
    yield from parse_records(data, str(path), kind)


def parse_records(data: bytes, where: str, kind: str = "") -> Iterator[JournalRecord]:
    """The complete records in the bytes of a journal; see `read_records`.

    Args:
        data: Lines.
        where: They are from, for messages.
        kind: The only kind to return.
    """
    marker = f'"kind":"{kind}"'.encode() if kind else b""
    seen: set[Place] = set()
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        if marker in line:  # the spelling of `append`
            record = _record(line, where, number)
            if record.place in seen:
                raise CorruptionError(
                    "the journal has two answers for one place",
                    where=f"{where}, line {number}: {record.place.scope}, {record.place.kind} {record.place.ordinal}",
                    remedy="restore the file from a copy, or remove the line if it only repeats an earlier one",
                )
            seen.add(record.place)
            if not kind or record.place.kind == kind:
                yield record


def _record(line: bytes, path: str, number: int) -> JournalRecord:
    try:
        entry: dict[str, Any] = json.loads(line)
        place = Place(str(entry["scope"]), str(entry["kind"]), int(entry["ordinal"]))
        return JournalRecord(place, str(entry["request"]), entry["answer"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise CorruptionError(
            "the journal has a damaged line",
            where=f"{path}, line {number}",
            remedy="restore the file from a copy; the lines before it are intact",
        ) from error


def line_of(record: JournalRecord) -> bytes:
    """A record as a line; its ASCII escapes carry whatever a model can write: lone surrogates, integers of any size."""
    fields = {**record.place._asdict(), "request": record.request, "answer": record.answer}
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


class JournalFile:
    """A journal open for appending, by one process at a time, as the project's lock ensures."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.name = path.name
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._remove_partial_line()
        sync_directory(path.parent)  # so that the file's name survives too

    def records(self) -> Iterator[JournalRecord]:
        """Its records, in order.

        Raises:
            CorruptionError: one cannot be read.
        """
        return read_records(self.path)

    def append(self, record: JournalRecord) -> None:
        """Add a record; it is on the disk when this returns.

        Raises:
            InputError: it cannot be written; the journal then ends with the record before it.
        """
        line = line_of(record)
        end = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, end)  # the next record must not follow half a line
            raise InputError(
                "the journal cannot be written",
                where=f"{self.path}: {error.strerror}",
                remedy="free the disk, then run again; nothing recorded is lost",
            ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _remove_partial_line(self) -> None:
        data = read_bounded(self.path)
        complete = data.rfind(b"\n") + 1
        if complete != len(data):
            os.ftruncate(self._descriptor, complete)
            os.fsync(self._descriptor)
