"""Ids, times and measures that are those of another run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_wire.canonical_json import JsonValue
from specwright.application.factory import Adapters
from specwright.journal import JournalScope, read_records
from specwright.journal.journal import Place, request_digest

__all__ = ["repeated_draws"]

_DRAWS = ("step", "draw")


def repeated_draws(adapters: Adapters, path: Path) -> Adapters:
    """The adapters of a project that draws at each place what the journal at `path` has there."""
    return replace(adapters, journal=_Repeating(adapters.journal, path))  # type: ignore[arg-type]


class _Repeating:
    """A journal that takes its draws from another one; beyond the end of that, new ones."""

    def __init__(self, journal: Any, path: Path) -> None:
        self._journal = journal
        self._known = {record.place: record for record in read_records(path) if record.place.kind in _DRAWS}

    def scope(self, name: str, *, deferred: bool = False) -> JournalScope:
        """Enter a stretch of work."""
        return JournalScope(name, self, deferred=deferred)  # type: ignore[arg-type]

    def at(self, place: Place) -> JsonValue:
        """What is recorded, or else the other run's ids and time; its files may be others."""
        other = self._known.get(place)
        drawn = {**other.answer, "files": {}} if other and isinstance(other.answer, dict) else None
        return self._journal.at(place) or drawn

    def answer(self, place: Place, request: JsonValue, live: Callable[[], JsonValue]) -> JsonValue:
        """The other run's draw, if it was asked for the same."""
        record = self._known.get(place) if place.kind != "step" else None
        if record and record.request == request_digest(request):
            return self._journal.answer(place, request, lambda: record.answer)
        return self._journal.answer(place, request, live)

    def __len__(self) -> int:
        return len(self._journal)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)
