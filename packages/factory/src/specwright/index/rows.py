"""The rows of the Code Index: entries, the filters over them, and sets of embeddings (design: code-index).

No field of an entry has the types that a query filters by. They are read from the lines of `io_summary`
(`declared_types`) when an entry is added, and stored beside it in `facets`.

A set of embeddings has every entry once, by one model, and one set is active. A new set is filled beside the active one,
in as many transactions as it takes, and becomes active in one. A set that a crash left unfinished is continued, so that
no vector is paid for twice.
"""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from agent_wire.database import Connection
from specwright.domain.modules.code_index import CodeIndexEntry, IndexStatus, declared_types, searched_types
from specwright.errors import CorruptionError, InputError
from specwright.index.matrix import Vectors
from specwright.ports import IndexQuery

COLUMNS = "entry, status, superseded_by, notes"
"""The columns that `current` reads."""

_SEMVER = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")

_FACET = "seq IN (SELECT seq FROM facets WHERE kind = '{}' AND value IN ({{}}))"
_CONDITIONS = {
    "tags": _FACET.format("tag"),
    "input_types": _FACET.format("input_type"),
    "output_types": _FACET.format("output_type"),
    "module_ids": "module_id IN ({})",
    "statuses": "status IN ({})",
}
"""The condition of each filter; only those of the query are combined, so that the database can plan."""


def original(entry: str) -> CodeIndexEntry:
    """An entry as it was added.

    Raises:
        CorruptionError: the row does not hold an entry.
    """
    try:
        return CodeIndexEntry.model_validate_json(entry)
    except ValidationError as error:
        raise CorruptionError(
            "the Code Index has a row that is not an entry",
            where=entry[:80],
            remedy="restore the file from a backup",
        ) from error


def current(row: Sequence[str | None]) -> CodeIndexEntry:
    """An entry with its present status, from a row of `COLUMNS`."""
    entry, status, superseded_by, notes = row
    return original(entry or "").model_copy(
        update={"status": IndexStatus(status), "superseded_by": superseded_by, "notes": notes}
    )


_BATCH = 1000


def entries_at(connection: Connection, seqs: Sequence[int]) -> dict[int, CodeIndexEntry]:
    """Entries with their present status by their sequence numbers."""
    found: dict[int, CodeIndexEntry] = {}
    for start in range(0, len(seqs), _BATCH):
        batch = seqs[start : start + _BATCH]
        selected = connection.execute(
            f"SELECT seq, {COLUMNS} FROM entries WHERE seq IN ({marks(batch)})",  # noqa: S608  # constants
            batch,
        )
        found |= {row[0]: current(row[1:]) for row in selected}
    return found


def insert(connection: Connection, entry: CodeIndexEntry) -> int:
    """Add an entry and its facets; returns its sequence number."""
    cursor = connection.execute(
        "INSERT INTO entries (module_id, version, entry, status, notes) VALUES (?, ?, ?, ?, ?) RETURNING seq",
        (entry.module_id, entry.version, entry.model_dump_json(), entry.status.value, entry.notes),
    )
    seq = int(cursor.fetchone()[0])
    connection.executemany(
        "INSERT INTO facets (kind, value, seq) VALUES (?, ?, ?)",
        [(kind, value, seq) for kind, value in facets(entry)],
    )
    return seq


def facets(entry: CodeIndexEntry) -> list[tuple[str, str]]:
    """The values that filters compare, as (kind, value)."""
    values_of = {
        "tag": entry.tags,
        "input_type": declared_types(entry.io_summary.inputs),
        "output_type": declared_types(entry.io_summary.outputs),
    }
    return [(kind, value) for kind, values in values_of.items() for value in sorted(set(values))]


def check_query(query: IndexQuery) -> None:
    """Check a query.

    Raises:
        InputError: `top_k` below 1, or a version bound that is not `major.minor.patch`.
    """
    if query.top_k < 1:
        raise InputError("top_k must be at least 1", where=f"top_k = {query.top_k}")
    for bound in filter(None, (query.version_from, query.version_below)):
        if not _SEMVER.fullmatch(bound):
            raise InputError(f"{bound!r} is not a version", remedy="write major.minor.patch, like 1.0.0")


def filtered(connection: Connection, query: IndexQuery) -> list[int] | None:
    """The sequence numbers of the entries that pass the filters, ascending; None if there is no filter but the status."""
    filters = {
        "tags": query.tags,
        "input_types": searched_types(query.input_types),
        "output_types": searched_types(query.output_types),
        "module_ids": query.module_ids,
        "statuses": query.statuses,
    }
    if not any(filters.values()) and not (query.version_from or query.version_below):
        return None
    if not query.statuses and not query.include_inactive:
        filters["statuses"] = (IndexStatus.SHIPPED,)
    arguments = {name: [*map(_storable, values)] for name, values in filters.items() if values}
    conditions = [_CONDITIONS[name].format(marks(values)) for name, values in arguments.items()]
    rows = connection.execute(
        f"SELECT seq, version FROM entries WHERE {' AND '.join(conditions) or 'TRUE'} ORDER BY seq",  # noqa: S608  # constants
        [value for values in arguments.values() for value in values],
    )
    return [seq for seq, version in rows if _within(version, query)]


def marks(values: Collection[object]) -> str:
    """A `?` for each value; for none, what nothing equals."""
    return ", ".join("?" * len(values)) or "NULL"


def _storable(text: str) -> str:
    """A text with lone surrogates and NUL escaped, which no database stores; it then matches nothing."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")


def _within(version: str, query: IndexQuery) -> bool:
    low, high = query.version_from, query.version_below
    return (not low or _version(low) <= _version(version)) and (
        not high or _version(version) < _version(high)
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


class EmbeddingSet(NamedTuple):
    """A set of embeddings: its number, its model, and the length of its vectors."""

    id: int
    model: str
    dimension: int


def active_set(connection: Connection) -> EmbeddingSet | None:
    """The set that searches read; None if the index never had an entry."""
    row = connection.execute(
        "SELECT id, model, dimension FROM embedding_sets WHERE id = (SELECT set_id FROM active_set)"
    ).fetchone()
    return EmbeddingSet(*row) if row else None


def open_set(connection: Connection, model: str, dimension: int) -> EmbeddingSet:
    """The inactive set of a model that is being filled, or a new one."""
    row = connection.execute(
        "SELECT id, model, dimension FROM embedding_sets WHERE model = ? AND dimension = ? "
        "AND id NOT IN (SELECT set_id FROM active_set) ORDER BY id DESC",
        (model, dimension),
    ).fetchone()
    if row:
        return EmbeddingSet(*row)
    cursor = connection.execute(
        "INSERT INTO embedding_sets (model, dimension) VALUES (?, ?) RETURNING id", (model, dimension)
    )
    return EmbeddingSet(int(cursor.fetchone()[0]), model, dimension)


def unembedded(connection: Connection, target: EmbeddingSet, limit: int) -> list[tuple[int, str]]:
    """Entries that the set lacks, as sequence number and JSON."""
    return connection.execute(
        "SELECT seq, entry FROM entries WHERE seq NOT IN (SELECT seq FROM embeddings WHERE set_id = ?) "
        "ORDER BY seq LIMIT ?",
        (target.id, limit),
    ).fetchall()


def store_vectors(
    connection: Connection, target: EmbeddingSet, seqs: Sequence[int], vectors: Vectors
) -> None:
    """Store vectors, except those that another process has stored already."""
    known = connection.execute(
        f"SELECT seq FROM embeddings WHERE set_id = ? AND seq IN ({marks(seqs)})",  # noqa: S608  # marks
        (target.id, *seqs),
    )
    stored = {seq for (seq,) in known}
    connection.executemany(
        "INSERT INTO embeddings (set_id, seq, vector) VALUES (?, ?, ?)",
        [
            (target.id, seq, vector.astype("<f4").tobytes())
            for seq, vector in zip(seqs, vectors, strict=True)
            if seq not in stored
        ],
    )


def activate(connection: Connection, target: EmbeddingSet) -> None:
    """Make a complete set the active one and drop the one before."""
    old = active_set(connection)
    connection.execute(
        "INSERT INTO active_set (one, set_id) VALUES (1, ?) "
        "ON CONFLICT (one) DO UPDATE SET set_id = excluded.set_id",
        (target.id,),
    )
    if old and old.id != target.id:
        connection.execute("DELETE FROM embeddings WHERE set_id = ?", (old.id,))
        connection.execute("DELETE FROM embedding_sets WHERE id = ?", (old.id,))
