"""The journal of a run: returns the answers that it has, records the new ones (design: journal).

The records of a journal and their file: JSON lines, one per answer, append-only (design: journal).

A line is `{"scope", "kind", "ordinal", "request", "answer"}` with the request as its SHA-256. A line that a crash cut
short is not an answer, since it was never fsynced; it is removed when the file is opened for writing. Any other damage
is reported as corruption.
"""

import hashlib
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ulid import ULID

from agent_wire.canonical_json import JsonValue
from specwright.errors import CorruptionError, InputError, NonDeterminismError
from specwright.files import read_bounded, sync_directory

if TYPE_CHECKING:
    from specwright.journal.postgres_journal import PostgresJournal


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
        self._end = self._remove_partial_line()
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
        end = self._checked_end()
        try:
            written = 0
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
            os.fsync(self._descriptor)
            self._end += written
        except OSError as error:
            os.ftruncate(self._descriptor, end)  # the next record must not follow half a line
            raise InputError(
                "the journal cannot be written",
                where=f"{self.path}: {error.strerror}",
                remedy="free the disk, then run again; nothing recorded is lost",
            ) from error

    def _checked_end(self) -> int:
        """Where the file ends, if it is the one that was opened, and ends as it was left."""
        status = os.fstat(self._descriptor)
        with suppress(OSError):
            if os.path.samestat(self.path.stat(), status) and status.st_size == self._end:
                return self._end
        raise CorruptionError(
            "the journal was changed or replaced while a run was writing it",
            where=str(self.path),
            remedy="restore the file from a copy, and leave it alone while a run is at work",
        )

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def _remove_partial_line(self) -> int:
        data = read_bounded(self.path)
        complete = data.rfind(b"\n") + 1
        if complete != len(data):
            os.ftruncate(self._descriptor, complete)
            os.fsync(self._descriptor)
        return complete


IDS = 8
"""The ids that a step draws at once, with its time; one that needs more draws again."""


_STEP = "ids, time and hashes of files"


def _other_request(where: str) -> NonDeterminismError:
    return NonDeterminismError(
        "the request differs from the one that was recorded at this place before the restart",
        where=where,
        remedy="continue with the version and settings that began this run, or start in a new directory",
    )


def request_digest(request: JsonValue) -> str:
    """The SHA-256 of a request; unlike RFC 8785 it accepts anything that a model can write."""
    return hashlib.sha256(json.dumps(request, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class SystemSource:
    """The source of new draws: the system's clock and secure randomness."""

    def uuid(self) -> str:
        """A UUID4, 32 hex digits."""
        return uuid.uuid4().hex  # noqa: TID251 - this is the port of ids

    def now(self) -> str:
        """The time in milliseconds, UTC."""
        moment = datetime.fromtimestamp(time.time(), UTC)  # noqa: TID251 - this is the clock's port
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class StoredJournal:
    """The journal port on a storage of records.

    Args:
        storage: Of the records.
        source: The source of new draws.
    """

    def __init__(self, storage: "JournalFile | PostgresJournal", source: SystemSource | None = None) -> None:
        self._storage = storage
        self._source = source or SystemSource()
        self._lock = threading.Lock()
        self._known = dict[Place, JournalRecord]()
        self._lines, self._heads = hashlib.sha256(), [hashlib.sha256().hexdigest()]
        for record in storage.records():
            self._add(record)
        steps = [cast("dict[str, Any]", record.answer) for record in self.records("step")]
        self._drawn = {one[:8] for step in steps for one in step.get("ids", ())}
        self._latest = max((step.get("time", "") for step in steps), default="")

    def scope(self, name: str, *, deferred: bool = False) -> "JournalScope":
        """Enter a stretch of work."""
        return JournalScope(name, self, deferred=deferred)

    def draw(self) -> JsonValue:
        """A time that is not before any other of this journal, and ids of which none begins like another one."""
        ids: list[str] = []
        while len(ids) < IDS:
            if (one := self._source.uuid())[:8] not in self._drawn:
                self._drawn.add(one[:8])
                ids.append(one)
        self._latest = max(self._latest, self._source.now())
        return {"time": self._latest, "ids": cast(JsonValue, ids)}

    def at(self, place: Place) -> JsonValue:
        """What is recorded at a place; None if nothing is."""
        record = self._known.get(place)
        return record.answer if record else None

    def __len__(self) -> int:
        """How many records it has."""
        return len(self._known)

    def _add(self, record: JournalRecord) -> None:
        self._known[record.place] = record
        self._lines.update(line_of(record))
        self._heads.append(self._lines.hexdigest())

    def head(self, most: int | None = None) -> tuple[int, str]:
        """How many records it has, and the SHA-256 of their lines; of its first ones if it has more than `most`."""
        count = len(self) if most is None else min(most, len(self))
        return count, self._heads[count]

    def recorded(self, scope: str, kind: str) -> JsonValue:
        """The last record of a kind in a scope; None if there is none."""
        record, ordinal = None, 0
        while found := self._known.get(Place(scope, kind, ordinal)):
            record, ordinal = found, ordinal + 1
        return record.answer if record else None

    def count(self, scope: str, kind: str) -> int:
        """How many records of a kind a scope has."""
        return sum(place.scope == scope and place.kind == kind for place in self._known)

    def records(self, kind: str) -> list[JournalRecord]:
        """All records of a kind, in order."""
        return [record for record in self._known.values() if record.place.kind == kind]

    def close(self) -> None:
        """Close the storage."""
        self._storage.close()

    def answer(self, place: Place, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer at a place, or a live one, which is recorded (see `Scope.recall`)."""
        digest = request_digest(request)
        if known := self._known.get(place):
            if known.request != digest:
                where = f"journal {self._storage.name}: {place.scope}, {place.kind} {place.ordinal}"
                raise _other_request(where)
            return known.answer
        answer = live()
        record = JournalRecord(place, digest, answer)
        with self._lock:
            self._storage.append(record)
            self._add(record)
        return answer


class FileJournal(StoredJournal):
    """The journal in a file.

    Args:
        path: The journal, created if missing.
        source: The source of new draws.
    """

    def __init__(self, path: Path, source: SystemSource | None = None) -> None:
        super().__init__(JournalFile(path), source)


class JournalScope:
    """A stretch of work in a journal."""

    def __init__(self, name: str, journal: StoredJournal, *, deferred: bool = False) -> None:
        self.name = name
        self._journal = journal
        self._deferred = deferred
        self._pending: dict[str, Any] = {}
        self._next: dict[str, int] = {}
        self._time = ""
        self._ids: list[str] = []

    def place(self, kind: str) -> Place:
        """The place of the next record of a kind."""
        return Place(self.name, kind, self._next.get(kind, 0))

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer, or what `live` answers now."""
        self.record()
        return self._answer(kind, request, live)

    def record(self, files: Mapping[str, str] = MappingProxyType({})) -> None:
        """Record what was drawn and waits for it, with the hashes of the files that are written next."""
        if not self._pending and not files:
            return
        new: Any = self._pending | ({"files": {**files}} if files else {})
        self._pending = {}
        known = cast("dict[str, Any]", self._answer("step", _STEP, lambda: new))
        if files and known.get("files") != files:
            raise _other_request(f"{self.name}, files of a step")

    def _answer(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        answer = self._journal.answer(self.place(kind), request, live)
        self._next[kind] = self._next.get(kind, 0) + 1
        return answer

    def hex8(self) -> str:
        """The first eight hex digits of the next UUID4."""
        return self._next_id()[:8]

    def wire_id(self) -> str:
        """`wire_` + the ULID of the step's time and the next UUID4."""
        milliseconds = int(datetime.fromisoformat(self.now()).timestamp() * 1000)
        return f"wire_{ULID(milliseconds.to_bytes(6, 'big') + bytes.fromhex(self._next_id())[:10])}"

    def now(self) -> str:
        """The time of the step."""
        while not self._time:
            self._draw()
        return self._time

    def _next_id(self) -> str:
        while not self._ids:  # a record may hold only hashes
            self._draw()
        return self._ids.pop(0)

    def _draw(self) -> None:
        drawn = cast("dict[str, Any]", self._journal.at(self.place("step")) or self._journal.draw())
        self._time = self._time or drawn.get("time", "")
        self._ids += drawn.get("ids", [])
        self._pending = {
            **drawn,
            **self._pending,
            "ids": [*self._pending.get("ids", []), *drawn.get("ids", [])],
        }
        if not self._deferred or not drawn.get("ids"):
            self.record()
