"""Sets of embeddings: every entry once, by one model; one set is the active one (F§14.1, DESIGN §12).

A new set is filled beside the active one, in as many transactions as it takes, and becomes active in one.
A set that a crash left unfinished is taken up again, so that no vector is paid for twice.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from specwright.index.matrix import Vectors

__all__ = ["EmbeddingSet", "activate", "active", "is_complete", "missing", "open_set", "store"]


class EmbeddingSet(NamedTuple):
    """A set by its number, the model that made it, and the length of its vectors."""

    id: int
    model: str
    dimension: int


def active(connection: sqlite3.Connection) -> EmbeddingSet | None:
    """The set that searches read; None while the index has never had an entry."""
    row = connection.execute(
        "SELECT id, model, dimension FROM embedding_sets WHERE id = (SELECT set_id FROM active_set)"
    ).fetchone()
    return EmbeddingSet(*row) if row else None


def open_set(connection: sqlite3.Connection, model: str, dimension: int) -> EmbeddingSet:
    """The inactive set of a model that is being filled, or a new one."""
    row = connection.execute(
        "SELECT id, model, dimension FROM embedding_sets WHERE model = ? AND dimension = ? "
        "AND id NOT IN (SELECT set_id FROM active_set) ORDER BY id DESC",
        (model, dimension),
    ).fetchone()
    if row:
        return EmbeddingSet(*row)
    cursor = connection.execute(
        "INSERT INTO embedding_sets (model, dimension) VALUES (?, ?)", (model, dimension)
    )
    return EmbeddingSet(int(cursor.lastrowid or 0), model, dimension)


def missing(connection: sqlite3.Connection, target: EmbeddingSet, limit: int) -> list[tuple[int, str]]:
    """Entries that the set lacks, as place in the ledger and JSON."""
    return connection.execute(
        "SELECT seq, entry FROM entries WHERE seq NOT IN (SELECT seq FROM embeddings WHERE set_id = ?) "
        "ORDER BY seq LIMIT ?",
        (target.id, limit),
    ).fetchall()


def is_complete(connection: sqlite3.Connection, target: EmbeddingSet) -> bool:
    """Whether the set lacks no entry."""
    return not missing(connection, target, 1)


def store(
    connection: sqlite3.Connection, target: EmbeddingSet, seqs: Sequence[int], vectors: Vectors
) -> None:
    """Keep vectors, except those that another process has kept already."""
    connection.executemany(
        "INSERT INTO embeddings (set_id, seq, vector) SELECT :set_id, :seq, :vector "
        "WHERE NOT EXISTS (SELECT 1 FROM embeddings WHERE set_id = :set_id AND seq = :seq)",
        [
            {"set_id": target.id, "seq": seq, "vector": vector.astype("<f4").tobytes()}
            for seq, vector in zip(seqs, vectors, strict=True)
        ],
    )


def activate(connection: sqlite3.Connection, target: EmbeddingSet) -> None:
    """Switch to a complete set and drop the one that it replaces."""
    old = active(connection)
    connection.execute(
        "INSERT INTO active_set (one, set_id) VALUES (1, ?) "
        "ON CONFLICT (one) DO UPDATE SET set_id = excluded.set_id",
        (target.id,),
    )
    if old and old.id != target.id:
        connection.execute("DELETE FROM embeddings WHERE set_id = ?", (old.id,))
        connection.execute("DELETE FROM embedding_sets WHERE id = ?", (old.id,))
