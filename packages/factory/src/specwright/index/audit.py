"""The audit of an index: every row is compared with one computed from the sealed modules (design: code-index).

The audit reads a copy of the file, so that SQLite writes nothing beside the original. It compares entry, facets and
status exactly. It computes vectors of the default embedder again and compares them as closely as two processors agree.
It cannot check the vectors of a provider's model, nor bytes of the file outside its rows.
"""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from agent_wire.database import Connection
from specwright.bounded_read import read_bounded
from specwright.domain.modules.code_index import CodeIndexEntry, embedding_text
from specwright.errors import SpecwrightErrors
from specwright.index import rows
from specwright.index.embedder import Embedder
from specwright.index.matrix import Vectors
from specwright.index.sqlite_index import IndexFile

FILE = "index.db"

_CLOSE = 1e-5
"""How much two processors may differ in a component of a vector of length 1."""


def audit(
    directory: Path,
    embedder: Embedder,
    entries: Sequence[CodeIndexEntry],
    required: Collection[str],
    retired: Sequence[CodeIndexEntry],
) -> list[str]:
    """The problems of the index of a project that no process drives, a sentence each.

    Args:
        directory: The directory of the database; it is only read.
        embedder: The default one.
        entries: Of every sealed version, as they were added.
        required: References that the index must have; after a crash the others may be missing.
        retired: Entries whose retirement is recorded, as they are then; after a crash they may not be so yet.
    """
    if not (directory / FILE).is_file():
        return ["the file is gone"] if required else []
    with tempfile.TemporaryDirectory() as copy:
        try:
            for name in (FILE, f"{FILE}-wal"):
                if (directory / name).is_file():
                    (Path(copy) / name).write_bytes(read_bounded(directory / name))
            with closing(IndexFile(Path(copy) / FILE)) as database, database.reading() as connection:
                checks = _Audit(connection, entries, embedder)
                return [*checks.structure(), *checks.entries(required, retired), *checks.vectors()]
        except SpecwrightErrors as error:
            return [error.what]
        except OSError as error:
            return [f"the file cannot be read: {error.strerror}"]
        except (ValueError, TypeError) as error:  # invalid UTF-8, a truncated vector
            return [f"a row cannot be read: {error}"]


class _Audit:
    """The checks of one database, in one transaction."""

    def __init__(self, connection: Connection, entries: Sequence[CodeIndexEntry], embedder: Embedder) -> None:
        self._connection = connection
        self._expected = {entry.ref: entry for entry in entries}
        self._embedder = embedder

    def structure(self) -> Iterator[str]:
        """The problems that SQLite itself reports."""
        for (problem,) in self._connection.execute("PRAGMA integrity_check").fetchall():
            if problem != "ok":
                yield f"its structure is damaged: {problem}"
        for table, *_ in self._connection.execute("PRAGMA foreign_key_check").fetchall():
            yield f"a row of {table} refers to nothing"

    def entries(self, required: Collection[str], retired: Sequence[CodeIndexEntry]) -> Iterator[str]:
        """The problems of entries, facets and statuses."""
        selected = f"SELECT module_id || '@' || version, seq, {rows.COLUMNS} FROM entries ORDER BY seq"  # noqa: S608  # constants
        indexed = {ref: row for ref, *row in self._connection.execute(selected)}
        for ref in sorted(set(required) - indexed.keys()):
            yield f"it lacks {ref}"
        after = {entry.ref: entry for entry in retired}
        for ref, (seq, stored, *status) in indexed.items():
            entry = self._expected.get(ref)
            if entry is None:
                yield f"it has {ref}, which was never sealed here"
                continue
            if stored != entry.model_dump_json():
                yield f"its entry of {ref} is not that of the contract"
            known = (entry, after.get(ref, entry))
            decided = [[one.status.value, one.superseded_by, one.notes] for one in known]
            if status not in decided:
                yield f"{ref} is {status[0]} without a recorded decision"
            facets = self._connection.execute("SELECT kind, value FROM facets WHERE seq = ?", (seq,))
            if sorted(facets) != sorted(rows.facets(entry)):
                yield f"the facets of {ref} are not those of its contract"

    def vectors(self) -> Iterator[str]:
        """The problems of the active set. The vectors themselves show whether the default embedder made them."""
        active = rows.active_set(self._connection)
        stored = self._vectors(active.id if active else 0)
        unembedded = self._connection.execute(
            "SELECT module_id || '@' || version FROM entries "
            "WHERE seq NOT IN (SELECT seq FROM embeddings WHERE set_id = ?)",
            (active.id if active else 0,),
        )
        yield from (f"{ref} has no vector" for (ref,) in unembedded.fetchall())
        own = {ref: entry for ref, entry in self._expected.items() if ref in stored}
        for ref, vector in stored.items():
            length = float(np.linalg.norm(vector.astype(np.float64)))
            if not (abs(length - 1) <= _CLOSE or length == 0):  # NaN is neither
                yield f"the vector of {ref} does not have the length 1"
        if active is None or not own or len(stored[next(iter(own))]) != self._embedder.dimension:
            return
        computed = self._embedder.embed([embedding_text(entry) for entry in own.values()])
        different = [
            ref
            for ref, vector in zip(own, computed, strict=True)
            if not np.allclose(stored[ref], vector, rtol=0, atol=_CLOSE)
        ]
        if active.model == self._embedder.name:
            yield from (f"the vector of {ref} is not that of its entry" for ref in different)
        elif not different:
            yield f"its vectors are those of {self._embedder.name}, but it says {active.model}"

    def _vectors(self, set_id: int) -> Mapping[str, Vectors]:
        rows_of_set = self._connection.execute(
            "SELECT e.module_id || '@' || e.version, v.vector FROM embeddings v JOIN entries e USING (seq) "
            "WHERE v.set_id = ?",
            (set_id,),
        )
        return {ref: np.frombuffer(vector, "<f4") for ref, vector in rows_of_set}
