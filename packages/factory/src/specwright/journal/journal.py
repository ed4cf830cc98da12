"""The journal of a run: returns the answers that it has, records the new ones (design: journal)."""

import hashlib
import json
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ulid import ULID

from agent_wire.canonical_json import JsonValue
from specwright.errors import NonDeterminismError
from specwright.journal.records import JournalFile, JournalRecord, Place

if TYPE_CHECKING:
    from specwright.journal.postgres_journal import PostgresJournal

IDS = 8
"""The ids that a step draws at once, with its time; one that needs more draws again."""


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
        self._known = {record.place: record for record in storage.records()}
        steps = (record.answer for record in self.records("step"))
        self._drawn = {one[:8] for step in steps for one in cast("dict[str, list[str]]", step)["ids"]}

    def scope(self, name: str) -> "JournalScope":
        """Enter a stretch of work."""
        return JournalScope(name, self)

    def draw(self) -> JsonValue:
        """A new time, and ids of which none begins like another one of this journal."""
        ids: list[str] = []
        while len(ids) < IDS:
            if (one := self._source.uuid())[:8] not in self._drawn:
                self._drawn.add(one[:8])
                ids.append(one)
        return {"time": self._source.now(), "ids": cast(JsonValue, ids)}

    def __len__(self) -> int:
        """How many records it has."""
        return len(self._known)

    def recorded(self, scope: str, kind: str) -> JsonValue:
        """The first record of a kind in a scope; None if there is none."""
        record = self._known.get(Place(scope, kind, 0))
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
                raise NonDeterminismError(
                    "the request differs from the one that was recorded at this place before the restart",
                    where=f"journal {self._storage.name}: {place.scope}, {place.kind} {place.ordinal}",
                    remedy="continue with the version and settings that began this run, or start in a new directory",
                )
            return known.answer
        answer = live()
        record = JournalRecord(place, digest, answer)
        with self._lock:
            self._storage.append(record)
            self._known[place] = record
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

    def __init__(self, name: str, journal: StoredJournal) -> None:
        self.name = name
        self._journal = journal
        self._next: dict[str, int] = {}
        self._time = ""
        self._ids: list[str] = []

    def place(self, kind: str) -> Place:
        """The place of the next record of a kind."""
        return Place(self.name, kind, self._next.get(kind, 0))

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer, or what `live` answers now."""
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
        if not self._time:
            self._draw()
        return self._time

    def _next_id(self) -> str:
        if not self._ids:
            self._draw()
        return self._ids.pop(0)

    def _draw(self) -> None:
        drawn = cast("dict[str, Any]", self.recall("step", "ids and time", self._journal.draw))
        self._time = self._time or drawn["time"]
        self._ids += drawn["ids"]
