"""Is an index what its entries make it? Every row held against one made anew (F§14.1, DESIGN §12).

The file is looked at in a copy, so that nothing beside it is written. Entry, facets and status are compared exactly; a
vector of the embedder in the box is made again, and compared as closely as the numbers of two processors agree. Leaves
out the vectors of a provider's model, which it alone can make again, and bytes of the file that hold no row.
"""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import numpy as np

from specwright.domain.code_index import CodeIndexEntry, embedding_text
from specwright.errors import SpecwrightError
from specwright.index import embedding_sets, rows
from specwright.index.database import Database
from specwright.index.embedder import Embedder
from specwright.index.matrix import Vectors

__all__ = ["FILE", "audit"]

FILE = "index.db"

_CLOSE = 1e-5
"""How far two processors may differ in a number of a vector of length 1."""


def audit(
    directory: Path,
    entries: Sequence[CodeIndexEntry],
    embedder: Embedder,
    *,
    required: Collection[str],
    retired: Collection[str],
) -> list[str]:
    """What is wrong with the index of a project that nobody drives.

    Args:
        directory: Where the database lies; it is only read.
        entries: Of every sealed version, as they were added.
        embedder: The one in the box.
        required: References of those that must be there; a crash may have kept the others out.
        retired: References of those that somebody decided to retire.

    Returns:
        A sentence for each thing.
    """
    if not (directory / FILE).is_file():
        return ["the file is gone"] if required else []
    with tempfile.TemporaryDirectory() as copied:
        for name in (FILE, f"{FILE}-wal"):
            if (directory / name).is_file():
                shutil.copyfile(directory / name, Path(copied) / name)
        try:
            with closing(Database(Path(copied) / FILE)) as database, database.reading() as connection:
                found = _Audit(connection, entries, embedder)
                return [*found.structure(), *found.entries(required, retired), *found.vectors()]
        except SpecwrightError as error:
            return [error.what]
        except (ValueError, TypeError) as error:  # a text that is none, a vector that is cut short
            return [f"a row cannot be read: {error}"]


class _Audit:
    """One database, at one moment."""

    def __init__(self, connection: Connection, entries: Sequence[CodeIndexEntry], embedder: Embedder) -> None:
        self._connection = connection
        self._expected = {entry.ref: entry for entry in entries}
        self._embedder = embedder

    def structure(self) -> Iterator[str]:
        """What SQLite itself finds."""
        for (told,) in self._connection.execute("PRAGMA integrity_check").fetchall():
            if told != "ok":
                yield f"its structure is damaged: {told}"
        for table, *_ in self._connection.execute("PRAGMA foreign_key_check").fetchall():
            yield f"a row of {table} refers to nothing"

    def entries(self, required: Collection[str], retired: Collection[str]) -> Iterator[str]:
        """Every entry, with what it is filtered by and what has become of it."""
        selected = f"SELECT module_id || '@' || version, seq, {rows.COLUMNS} FROM entries ORDER BY seq"  # noqa: S608  # constants
        found = {ref: row for ref, *row in self._connection.execute(selected)}
        for ref in sorted(set(required) - found.keys()):
            yield f"it does not know {ref}"
        for ref, (seq, stored, *status) in found.items():
            entry = self._expected.get(ref)
            if entry is None:
                yield f"it knows {ref}, which was never sealed here"
                continue
            if stored != entry.model_dump_json():
                yield f"its entry of {ref} is not what the contract makes it"
            if status != [entry.status.value, None, entry.notes] and ref not in retired:
                yield f"{ref} is {status[0]}, and nobody decided so"
            facets = self._connection.execute("SELECT kind, value FROM facets WHERE seq = ?", (seq,))
            if sorted(facets) != sorted(rows.facets(entry)):
                yield f"{ref} is filtered by something else than its contract says"

    def vectors(self) -> Iterator[str]:
        """The active set. The vectors themselves tell whether the embedder in the box made them."""
        active = embedding_sets.active(self._connection)
        stored = self._vectors(active.id if active else 0)
        bare = self._connection.execute(
            "SELECT module_id || '@' || version FROM entries "
            "WHERE seq NOT IN (SELECT seq FROM embeddings WHERE set_id = ?)",
            (active.id if active else 0,),
        )
        yield from (f"{ref} has no vector" for (ref,) in bare.fetchall())
        own = {ref: entry for ref, entry in self._expected.items() if ref in stored}
        for ref, vector in stored.items():
            length = float(np.linalg.norm(vector.astype(np.float64)))
            if not (abs(length - 1) <= _CLOSE or length == 0):  # nor is it no number
                yield f"the vector of {ref} has not the length 1"
        if active is None or not own or len(stored[next(iter(own))]) != self._embedder.dimension:
            return
        again = self._embedder.embed([embedding_text(entry) for entry in own.values()])
        strange = [
            ref
            for ref, vector in zip(own, again, strict=True)
            if not np.allclose(stored[ref], vector, rtol=0, atol=_CLOSE)
        ]
        if active.model == self._embedder.name:
            yield from (f"the vector of {ref} is not that of its entry" for ref in strange)
        elif not strange:
            yield f"its vectors are those of {self._embedder.name}, but it says {active.model}"

    def _vectors(self, set_id: int) -> Mapping[str, Vectors]:
        found = self._connection.execute(
            "SELECT e.module_id || '@' || e.version, v.vector FROM embeddings v JOIN entries e USING (seq) "
            "WHERE v.set_id = ?",
            (set_id,),
        )
        return {ref: np.frombuffer(vector, "<f4") for ref, vector in found}
