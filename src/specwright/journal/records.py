"""Records of a journal and the file they stand in: JSON lines, one per answer, append-only.

A line is `{"scope", "kind", "ordinal", "request", "answer"}` with the request as its SHA-256. A line that a crash
cut short is not an answer (it was never fsynced), so it is dropped when the file is opened for writing; damage
anywhere else is corruption and is said so.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from specwright.canonical_json import JsonValue
from specwright.errors import CorruptionError, InputError

__all__ = ["JournalFile", "Place", "Recorded", "read_records"]


class Place(NamedTuple):
    """Where in a run something was asked."""

    scope: str
    kind: str
    ordinal: int


class Recorded(NamedTuple):
    """What was answered at a place."""

    place: Place
    request: str
    answer: JsonValue


def read_records(path: Path, kind: str = "") -> Iterator[Recorded]:
    """The complete records of a journal, in order; a last line without its newline is passed over.

    Args:
        path: The file.
        kind: The only kind that is wanted; most lines of others are then not read, nor whether they are damaged.

    Raises:
        InputError: no such file.
        CorruptionError: a complete line is not a record.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError("the journal cannot be read", where=f"{path}: {error.strerror}") from error
    wanted = f'"kind":"{kind}"'.encode() if kind else b""
    for number, line in enumerate(data.split(b"\n")[:-1], start=1):
        if wanted in line:  # as `append` writes it
            record = _record(line, path, number)
            if not kind or record.place.kind == kind:
                yield record


def _record(line: bytes, path: Path, number: int) -> Recorded:
    try:
        entry: dict[str, Any] = json.loads(line)
        place = Place(str(entry["scope"]), str(entry["kind"]), int(entry["ordinal"]))
        return Recorded(place, str(entry["request"]), entry["answer"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptionError(
            "the journal has a damaged line",
            where=f"{path}, line {number}",
            remedy="restore the file from a copy; the lines before it are sound",
        ) from error


class JournalFile:
    """A journal open for appending; one process at a time (the project's lock sees to it)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._drop_torn_tail()
        _sync(path.parent)  # so that the file's name survives too

    def append(self, record: Recorded) -> None:
        """Add a record; it is on the disk when this returns.

        Raises:
            InputError: it cannot be written; the journal ends with the record before it.
        """
        # ASCII escapes carry whatever a model can write: unpaired surrogates, integers of any size
        line = (
            json.dumps(
                {
                    "scope": record.place.scope,
                    "kind": record.place.kind,
                    "ordinal": record.place.ordinal,
                    "request": record.request,
                    "answer": record.answer,
                },
                separators=(",", ":"),
            ).encode()
            + b"\n"
        )
        end = os.fstat(self._descriptor).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, end)  # what follows must not stand on half a line
            raise InputError(
                "the journal cannot be written",
                where=f"{self.path}: {error.strerror}",
                remedy="free the disk, then run again; what is in it is kept",
            ) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _drop_torn_tail(self) -> None:
        data = self.path.read_bytes()
        sound = data.rfind(b"\n") + 1
        if sound != len(data):
            os.ftruncate(self._descriptor, sound)
            os.fsync(self._descriptor)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
