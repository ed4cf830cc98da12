"""A Code Index in memory for tests, and embedding models that need no download.

`FakeCodeIndex` keeps the promises of `specwright.ports.code_index` (tests/testkit/index/behaviour.py runs on it too).
"""

import zlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from specwright.domain.modules.code_index import (
    CodeIndexEntry,
    IndexStatus,
    SearchHit,
    declared_types,
    embedding_text,
    searched_types,
)
from specwright.errors import InputError, RefusedError
from specwright.ports.code_index import IndexQuery

__all__ = ["FakeCodeIndex", "WordEmbedder"]


class WordEmbedder:
    """Counts words, each at a place drawn from its letters: texts that share words are near each other.

    Args:
        name: The model's name.
        dimension: The length of its vectors.
        salt: Another salt ranks otherwise.
    """

    def __init__(self, name: str = "words", dimension: int = 256, salt: str = "") -> None:
        self.name = name
        self.dimension = dimension
        self.asked: list[str] = []
        self._salt = salt

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One unit row per text; a text without words is a row of zeros."""
        self.asked += texts
        matrix = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(matrix, texts, strict=True):
            words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
            for word in words:
                row[zlib.crc32((self._salt + word).encode()) % self.dimension] += 1
            row /= np.linalg.norm(row) or 1
        return matrix


class FakeCodeIndex:
    """The port in memory; word counts stand for meaning."""

    def __init__(self, embedder: WordEmbedder | None = None) -> None:
        self._embedder = embedder or WordEmbedder()
        self._added: dict[tuple[str, str], CodeIndexEntry] = {}
        self._now: dict[tuple[str, str], CodeIndexEntry] = {}

    def add(self, entry: CodeIndexEntry) -> None:
        """Append an entry."""
        key = (entry.module_id, entry.version)
        if key in self._added:
            if entry not in (self._added[key], self._now[key]):
                raise RefusedError("another entry has this key", where=entry.ref)
            return
        if entry.status is not IndexStatus.SHIPPED or entry.superseded_by:
            raise RefusedError("an entry enters the index as SHIPPED", where=entry.ref)
        self._added[key] = self._now[key] = entry

    def search(self, query: IndexQuery) -> list[SearchHit]:
        """Filter, rank, cut."""
        if query.top_k < 1:
            raise InputError("top_k must be at least 1")
        for bound in filter(None, (query.version_from, query.version_below)):
            _version(bound)
        found = [entry for entry in self._now.values() if _passes(entry, query)]
        rows = self._embedder.embed([query.query, *map(embedding_text, found)]).astype(np.float64)
        hits = [(float(row @ rows[0]), entry) for row, entry in zip(rows[1:], found, strict=True)]
        hits.sort(key=lambda hit: -hit[0])
        return [SearchHit(entry, min(1.0, max(0.0, score))) for score, entry in hits[: query.top_k]]

    def get(self, module_id: str, version: str) -> CodeIndexEntry | None:
        """One entry."""
        return self._now.get((module_id, version))

    def entries(self) -> list[CodeIndexEntry]:
        """All, in order."""
        return list(self._now.values())

    def retire(
        self, module_id: str, version: str, status: IndexStatus, superseded_by: str | None, note: str
    ) -> None:
        """Leave SHIPPED, once."""
        key, ref = (module_id, version), f"{module_id}@{version}"
        if key not in self._now:
            raise RefusedError("no such entry", where=ref)
        retired = self._added[key].retired(status, superseded_by, note)
        if self._now[key] == retired:
            return
        if self._now[key].status is not IndexStatus.SHIPPED:
            raise RefusedError("a status goes one way", where=ref)
        self._now[key] = retired


def _passes(entry: CodeIndexEntry, query: IndexQuery) -> bool:
    statuses = query.statuses or (tuple(IndexStatus) if query.include_inactive else (IndexStatus.SHIPPED,))
    wanted_and_had = [
        (statuses, [entry.status]),
        (query.module_ids, [entry.module_id]),
        (query.tags, entry.tags),
        (searched_types(query.input_types), declared_types(entry.io_summary.inputs)),
        (searched_types(query.output_types), declared_types(entry.io_summary.outputs)),
    ]
    for wanted, had in wanted_and_had:
        if (listed := set(wanted)) and not listed & set(had):
            return False
    low, high = query.version_from or "0.0.0", query.version_below
    bounds = [_version(low), _version(entry.version)]
    return all(a <= b for a, b in pairwise(bounds)) and (not high or bounds[-1] < _version(high))


def _version(text: str) -> tuple[int, ...]:
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(f"{text!r} is not a version")
    return tuple(map(int, parts))
