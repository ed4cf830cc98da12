"""The Code Index in a database, with one exact numpy matrix per process (design: code-index).

The database, an SQLite file or a Postgres schema, holds everything and enforces the rules, even against raw SQL: entries
are never deleted; a key is used once; only status, `superseded_by` and notes change, once, together, and away from
SHIPPED. A database cannot defend its own triggers, so they are compared when the file is opened. WAL with
`synchronous=FULL` survives `kill -9` and a power cut; `BEGIN IMMEDIATE` makes a second writer wait.

The matrix is a copy of the active vectors in the order of the entries, updated when any process has written. Nothing is
approximated: 100,000 rows of 256 numbers take milliseconds.

The audit reads a copy of the file and compares every row with one computed from the sealed modules: entry, facets and
status exactly, vectors of the default embedder as closely as two processors agree. It cannot check vectors of a
provider's model.
"""

import sqlite3
import tempfile
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agent_wire.database import Connection, Database, enter_wal, make_directory, sqlite_errors
from ship_gate.base.ids import ModuleRef
from specwright.domain.modules.code_index import (
    CodeIndexEntry,
    Deprecation,
    IndexStatus,
    SearchHit,
    embedding_text,
)
from specwright.errors import CorruptionError, RefusedError, SpecwrightErrors
from specwright.files import read_bounded
from specwright.index import rows
from specwright.index.database import STATEMENTS, VERSION
from specwright.index.embedder import Embedder
from specwright.index.matrix import VectorMatrix, Vectors
from specwright.index.rows import EmbeddingSet
from specwright.ports import IndexQuery

_NAME = "the Code Index"
_REMEDY = "restore the file from a backup"
_BUSY_SECONDS = 30.0


class IndexFile:
    """The `Database` of an SQLite file; one connection, shared by the threads of a process.

    Args:
        path: The file; made with its directories if it is missing.
        busy_seconds: How long to wait for another writer.

    Raises:
        CorruptionError: not a database, or its triggers were removed.
        BusyError: another process wrote for longer than `busy_seconds`.
        RefusedError: a later Specwright made it, or it cannot be made.
    """

    def __init__(self, path: Path, busy_seconds: float = _BUSY_SECONDS) -> None:
        self.path = path
        self.address = str(path)
        self._lock = threading.RLock()
        make_directory(_NAME, path)
        with sqlite_errors(_NAME, path, _REMEDY):
            self._connection = sqlite3.connect(
                path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
            )
        try:
            with sqlite_errors(_NAME, path, _REMEDY):
                enter_wal(self._connection, busy_seconds)
                self._connection.execute("PRAGMA synchronous=FULL")
                self._connection.execute("PRAGMA foreign_keys=ON")
            self._establish()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the file; what was committed stays."""
        with self._lock:
            self._connection.close()

    def version(self, connection: Connection) -> int:
        """SQLite's number of what other connections have committed."""
        return int(connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A transaction that reads one consistent state."""
        with self._lock, sqlite_errors(_NAME, self.path, _REMEDY):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._rollback()

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A transaction that is committed when the block ends, and rolled back if it raises."""
        with self._lock, sqlite_errors(_NAME, self.path, _REMEDY):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                self._rollback()

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _establish(self) -> None:
        with self.reading() as connection:
            version = _layout(connection)
        if version == 0:
            with self.writing() as connection:
                if _layout(connection) == 0:  # another process may have made the tables meanwhile
                    for statement in STATEMENTS:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version={VERSION}")
        elif version > VERSION:
            raise RefusedError(
                "the Code Index was written by a later Specwright",
                where=str(self.path),
                remedy="use that version, or another index directory",
            )
        with self.reading() as connection:
            statements = {row[0] for row in connection.execute("SELECT sql FROM sqlite_master")}
        if not statements.issuperset(STATEMENTS):
            raise CorruptionError(
                "the Code Index has lost rules that keep it append-only; its entries cannot be trusted",
                where=str(self.path),
                remedy=_REMEDY,
            )


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


_BATCH = 256


class AppendOnlyCodeIndex:
    """An append-only registry of shipped modules, found by meaning.

    Args:
        database: With the tables of the index.
        embedder: The model; it is first called for the first entry or search.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._matrix = VectorMatrix(0)
        self._matrix_set: EmbeddingSet | None = None
        self._matrix_version: int | None = None  # the data_version of the matrix

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @property
    def needs_reindex(self) -> bool:
        """Whether another model embedded the entries; searching and adding are then refused."""
        with self._database.reading() as connection:
            active = rows.active_set(connection)
            return active is not None and active.model != self._embedder.name and not _is_empty(connection)

    def add(self, entry: CodeIndexEntry) -> None:
        """Append an entry with its embedding, in one transaction (design: code-index)."""
        self.add_all([entry])

    def add_all(self, entries: Iterable[CodeIndexEntry]) -> None:
        """Append several entries, all or none.

        Raises:
            RefusedError: as `add`, or the index is embedded by another model.
            ModelError: the embedding model gave no usable vectors.
        """
        with self._database.reading() as connection:
            new = [entry for entry in entries if not _has_entry(connection, entry)]
        if not new:
            return
        # outside the transaction, since a remote model takes its time
        vectors = self._embedder.embed([embedding_text(entry) for entry in new])
        with self._database.writing() as connection:
            target = self._set_for_adding(connection)
            for entry, vector in zip(new, vectors, strict=True):
                if not _has_entry(connection, entry):  # another process may have added it
                    seq = rows.insert(connection, entry)
                    rows.store_vectors(connection, target, [seq], vector[np.newaxis])
            self._matrix_version = None

    def search(self, query: IndexQuery) -> list[SearchHit]:
        """Filter, then rank by cosine; exactly the `top_k` nearest (design: code-index)."""
        rows.check_query(query)
        vector = self._embedder.embed([query.query])[0]
        with self._database.reading() as connection:
            self._refresh(connection)
            candidates = rows.filtered(connection, query)
            ranked = self._matrix.nearest(vector, query.top_k, candidates, query.include_inactive)
            entries = rows.entries_at(connection, [hit.seq for hit in ranked])
        return [SearchHit(entries[hit.seq], hit.similarity) for hit in ranked]

    def get(self, module_id: str, version: str) -> CodeIndexEntry | None:
        """One entry by its key."""
        with self._database.reading() as connection:
            row = _row(connection, module_id, version)
        return rows.current(row) if row else None

    def entries(self) -> list[CodeIndexEntry]:
        """All entries in the order in which they were added."""
        with self._database.reading() as connection:
            entries = connection.execute(f"SELECT {rows.COLUMNS} FROM entries ORDER BY seq").fetchall()  # noqa: S608  # a constant
        return [rows.current(row) for row in entries]

    def retire(self, decided: Deprecation) -> None:
        """Set status, `superseded_by` and the note in one transaction (design: deprecation)."""
        ref = decided.module_ref
        with self._database.writing() as connection:
            row = _row(connection, *ModuleRef.parse(ref))
            if row is None:
                raise RefusedError("the Code Index has no such entry", where=ref)
            retired = rows.original(row[0]).retired(decided)
            if (entry := rows.current(row)) == retired:
                return
            if entry.status is not IndexStatus.SHIPPED:
                raise RefusedError(
                    f"the entry is {entry.status} already, and a status goes one way", where=ref
                )
            connection.execute(
                "UPDATE entries SET status = ?, superseded_by = ?, notes = ? "
                "WHERE module_id = ? AND version = ?",
                (retired.status.value, retired.superseded_by, retired.notes, entry.module_id, entry.version),
            )
            self._matrix_version = None

    def reindex(self, embedder: Embedder | None = None) -> None:
        """Embed every entry again in a new set, and switch to it in one transaction.

        After a crash the old ranking is in effect; a second call continues where the first one stopped.

        Args:
            embedder: The model from now on; None is the present one.

        Raises:
            ModelError: the model gave no usable vectors; the old ranking stays in effect.
        """
        embedder = embedder or self._embedder
        dimension = embedder.dimension
        with self._database.writing() as connection:
            target = rows.open_set(connection, embedder.name, dimension)
        while not self._extend(target, embedder):
            pass
        self._embedder = embedder

    def _extend(self, target: EmbeddingSet, embedder: Embedder) -> bool:
        """Embed some of the entries that the set lacks; True once it is complete and active."""
        with self._database.reading() as connection:
            batch = rows.unembedded(connection, target, _BATCH)
        vectors = embedder.embed([embedding_text(rows.original(entry)) for _, entry in batch])
        with self._database.writing() as connection:
            rows.store_vectors(connection, target, [seq for seq, _ in batch], vectors)
            # in the same transaction, since others may have added entries meanwhile
            complete = not rows.unembedded(connection, target, 1)
            if complete:
                rows.activate(connection, target)
                self._matrix_version = None
        return complete

    def _set_for_adding(self, connection: Connection) -> EmbeddingSet:
        active = rows.active_set(connection)
        if active is None or _is_empty(connection):
            active = rows.open_set(connection, self._embedder.name, self._embedder.dimension)
            rows.activate(connection, active)
        self._require_own_model(active)
        return active

    def _require_own_model(self, active: EmbeddingSet) -> None:
        if (active.model, active.dimension) != (self._embedder.name, self._embedder.dimension):
            raise RefusedError(
                f"the Code Index is embedded by {active.model} ({active.dimension} dimensions), "
                f"but {self._embedder.name} ({self._embedder.dimension}) is configured",
                where=self._database.address,
                remedy="reindex it by the configured model, or configure the one it was made with",
            )

    def _refresh(self, connection: Connection) -> None:
        """Update the matrix with what this and other processes have committed."""
        version = self._database.version(connection)
        if version == self._matrix_version:
            return
        active = rows.active_set(connection)
        if active is None or _is_empty(connection):
            active = EmbeddingSet(0, self._embedder.name, self._embedder.dimension)
        self._require_own_model(active)
        if active != self._matrix_set:
            self._matrix, self._matrix_set = VectorMatrix(active.dimension), active
        self._append_new(connection, active)
        retired = connection.execute("SELECT seq FROM entries WHERE status IN ('DEPRECATED', 'SUPERSEDED')")
        self._matrix.retire(seq for (seq,) in retired)
        self._matrix_version = version

    def _append_new(self, connection: Connection, active: EmbeddingSet) -> None:
        cursor = connection.execute(
            "SELECT e.seq, v.vector FROM entries e "
            "LEFT JOIN embeddings v ON v.set_id = ? AND v.seq = e.seq WHERE e.seq > ? ORDER BY e.seq",
            (active.id, self._matrix.last),
        )
        while batch := cursor.fetchmany(_BATCH * 16):
            seqs, vectors = zip(*batch, strict=True)
            if None in vectors:
                raise CorruptionError(
                    "the Code Index holds an entry without its embedding",
                    where=self._database.address,
                    remedy="reindex it",
                )
            joined = np.frombuffer(b"".join(vectors), "<f4").reshape(len(seqs), active.dimension)
            self._matrix.append(seqs, joined)


class SqliteCodeIndex(AppendOnlyCodeIndex):
    """The index in an SQLite file.

    Args:
        directory: `state_store/code_index/`, or one that several projects share; `index.db` is made in it.
        embedder: The model.

    Raises:
        SpecwrightError: the file cannot be opened, is damaged, or lacks its triggers.
    """

    def __init__(self, directory: Path, embedder: Embedder) -> None:
        super().__init__(IndexFile(directory / "index.db"), embedder)


def _is_empty(connection: Connection) -> bool:
    return connection.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None


def _row(connection: Connection, module_id: str, version: str) -> tuple[Any, ...] | None:
    return connection.execute(
        f"SELECT {rows.COLUMNS} FROM entries WHERE module_id = ? AND version = ?",  # noqa: S608  # a constant
        (module_id, version),
    ).fetchone()


def _has_entry(connection: Connection, entry: CodeIndexEntry) -> bool:
    """Whether the index has the entry, as it was added or with its present status."""
    row = _row(connection, entry.module_id, entry.version)
    if row is None:
        if entry.status is not IndexStatus.SHIPPED or entry.superseded_by is not None:
            raise RefusedError(
                "an entry enters the Code Index as SHIPPED", where=entry.ref, remedy="retire it afterwards"
            )
        return False
    if entry not in (rows.original(row[0]), rows.current(row)):
        raise RefusedError(
            "the Code Index has another entry under this module version, and a key is never reused",
            where=entry.ref,
            remedy="ship it as a new version",
        )
    return True


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
