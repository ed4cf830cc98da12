"""The journal of a run: answers what already happened, records what happens now (DESIGN §4).

A *cassette* is the journal of another run. Draws are served from it by place, so that a replay draws the same ids
and times; its model answers are served by the replay model, which reports a drifted request instead of refusing it.
"""

import hashlib
import json
import secrets  # noqa: TID251 - this is the port of randomness
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from ulid import ULID

from specwright.canonical_json import JsonValue
from specwright.errors import CorruptionError, NonDeterminismError
from specwright.journal.records import JournalFile, Place, Recorded, read_records
from specwright.ports.journal import Stamp

__all__ = ["Cassette", "FileJournal", "FileScope", "SystemSource", "request_digest"]


def request_digest(request: JsonValue) -> str:
    """The SHA-256 by which a request is recognised; unlike RFC 8785 it takes whatever a model can write."""
    return hashlib.sha256(json.dumps(request, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class SystemSource:
    """Where draws come from when nothing is recorded: the system's clock and secure randomness."""

    def hex8(self) -> str:
        """Eight random hex digits."""
        return secrets.token_hex(4)

    def now(self) -> str:
        """The time in milliseconds, UTC."""
        moment = datetime.fromtimestamp(time.time(), UTC)  # noqa: TID251 - this is the clock's port
        return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"

    def wire_id(self) -> str:
        """`wire_` + ULID."""
        return f"wire_{ULID()}"


class Cassette:
    """A recorded journal, read by place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._by_place = {record.place: record for record in read_records(path)}

    def at(self, place: Place) -> Recorded | None:
        """What was recorded at a place."""
        return self._by_place.get(place)

    def model_answer(self, scope: str, ordinal: int) -> Recorded | None:
        """A model's answer: the nth in a scope, from 0."""
        return self.at(Place(scope, "model", ordinal))


class FileJournal:
    """The journal port on one file.

    Args:
        path: The journal, created if missing.
        source: Where fresh draws come from.
        cassette: A recorded run whose draws are repeated.
    """

    def __init__(
        self, path: Path, source: SystemSource | None = None, cassette: Cassette | None = None
    ) -> None:
        self._file = JournalFile(path)
        self._source = source or SystemSource()
        self._cassette = cassette
        self._lock = threading.Lock()
        self._known: dict[Place, Recorded] = {}
        for record in read_records(path):
            if record.place in self._known:
                raise CorruptionError(
                    "the journal holds two answers for one place", where=f"{path}: {record.place}"
                )
            self._known[record.place] = record

    def scope(self, name: str) -> "FileScope":
        """Enter a stretch of work."""
        return FileScope(name, self, self._source)

    def records(self, kind: str) -> list[Recorded]:
        """All records of a kind, in the order in which they were made."""
        return [record for record in self._known.values() if record.place.kind == kind]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def answer(self, place: Place, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The recorded answer of a place, else a live one, recorded (see `Scope.recall`)."""
        asked = request_digest(request)
        if known := self._known.get(place):
            if known.request != asked:
                raise NonDeterminismError(
                    "the run asks something else than it asked at this place before its restart",
                    where=f"journal {self._file.path.name}: {place.scope}, {place.kind} {place.ordinal}",
                    remedy="go on with the version and settings that began this run, or start in a new directory",
                )
            return known.answer
        answer = self._from_cassette(place, asked, live)
        record = Recorded(place, asked, answer)
        with self._lock:
            self._file.append(record)
            self._known[place] = record
        return answer

    def _from_cassette(self, place: Place, asked: str, live: Callable[[], JsonValue]) -> JsonValue:
        """A recorded draw of the same kind; where the run draws otherwise by now, a fresh one."""
        recorded = self._cassette.at(place) if self._cassette and place.kind == "draw" else None
        return recorded.answer if recorded and recorded.request == asked else live()


class FileScope:
    """A stretch of work in a `FileJournal`."""

    def __init__(self, name: str, journal: FileJournal, source: SystemSource) -> None:
        self._name = name
        self._journal = journal
        self._source = source
        self._next: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The place in the run."""
        return self._name

    def place(self, kind: str) -> Place:
        """The place at which the next record of a kind will stand."""
        return Place(self._name, kind, self._next.get(kind, 0))

    def recall(self, kind: str, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """What was answered here before, else what `live` answers now."""
        answer = self._journal.answer(self.place(kind), request, live)
        self._next[kind] = self._next.get(kind, 0) + 1
        return answer

    def hex8(self, taken: Callable[[str], bool] = lambda _: False) -> str:
        """Eight lowercase hex digits that are not taken."""

        def draw() -> str:
            while taken(drawn := self._source.hex8()):
                continue
            return drawn

        return cast(str, self.recall("draw", "hex8", draw))

    def now(self) -> str:
        """The time."""
        return cast(str, self.recall("draw", "now", self._source.now))

    def stamps(self, count: int) -> list[Stamp]:
        """Fresh Wire ids with their times."""

        def draw() -> JsonValue:
            return [[self._source.wire_id(), self._source.now()] for _ in range(count)]

        drawn = cast(list[list[str]], self.recall("draw", f"stamps {count}", draw))
        return [Stamp(*pair) for pair in drawn]

    def readings(self, values: list[float]) -> list[float]:
        """Measured values."""
        return cast(list[float], self.recall("draw", f"readings {len(values)}", lambda: list(values)))
