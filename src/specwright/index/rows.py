"""Entries as rows of the Code Index, and the pre-filters over them (F§14.2, F§14.3 steps 1 and 2).

The types that are filtered by stand in no field of F§14.2. They are read from the lines of `io_summary`
(`declared_types`) when an entry is added, and kept beside it in `facets`.
"""

import json
import re
import sqlite3
from collections.abc import Sequence

from pydantic import ValidationError

from specwright.domain.code_index import CodeIndexEntry, IndexStatus, declared_types, type_key
from specwright.errors import CorruptionError, InputError
from specwright.ports.code_index import IndexQuery

__all__ = ["COLUMNS", "checked", "current", "facets", "filtered", "insert", "original"]

COLUMNS = "entry, status, superseded_by, notes"
"""What `current` reads, in its order."""

_SEMVER = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")

_FACET = "seq IN (SELECT seq FROM facets WHERE kind = '{}' AND value IN (SELECT value FROM json_each(?)))"
_CONDITIONS = {
    "tags": _FACET.format("tag"),
    "input_types": _FACET.format("input_type"),
    "output_types": _FACET.format("output_type"),
    "module_ids": "module_id IN (SELECT value FROM json_each(?))",
    "statuses": "status IN (SELECT value FROM json_each(?))",
}
"""What each filter list asks of an entry; only those given are put together, so that SQLite can plan."""


def original(entry: str) -> CodeIndexEntry:
    """An entry as it was added.

    Raises:
        CorruptionError: the row does not hold an entry.
    """
    try:
        return CodeIndexEntry.model_validate_json(entry)
    except ValidationError as error:
        raise CorruptionError(
            "the Code Index holds something that is no entry",
            where=entry[:80],
            remedy="restore the file from a backup",
        ) from error


def current(row: Sequence[str | None]) -> CodeIndexEntry:
    """An entry as it stands now, from a row of `COLUMNS`."""
    entry, status, superseded_by, notes = row
    return original(entry or "").model_copy(
        update={"status": IndexStatus(status), "superseded_by": superseded_by, "notes": notes}
    )


def insert(connection: sqlite3.Connection, entry: CodeIndexEntry) -> int:
    """Add an entry and what it is filtered by; its place in the ledger."""
    cursor = connection.execute(
        "INSERT INTO entries (module_id, version, entry, status, notes) VALUES (?, ?, ?, ?, ?)",
        (entry.module_id, entry.version, entry.model_dump_json(), entry.status.value, entry.notes),
    )
    seq = int(cursor.lastrowid or 0)
    connection.executemany(
        "INSERT INTO facets (kind, value, seq) VALUES (?, ?, ?)",
        [(kind, value, seq) for kind, value in facets(entry)],
    )
    return seq


def facets(entry: CodeIndexEntry) -> list[tuple[str, str]]:
    """What an entry is filtered by, as (kind, value)."""
    found = [
        ("tag", entry.tags),
        ("input_type", declared_types(entry.io_summary.inputs)),
        ("output_type", declared_types(entry.io_summary.outputs)),
    ]
    return [(kind, value) for kind, values in found for value in sorted(set(values))]


def checked(query: IndexQuery) -> IndexQuery:
    """A query that can be answered.

    Raises:
        InputError: `top_k` below 1, or a version bound that is not `major.minor.patch`.
    """
    if query.top_k < 1:
        raise InputError("top_k must be at least 1", where=f"top_k = {query.top_k}")
    for bound in filter(None, (query.version_from, query.version_below)):
        if not _SEMVER.fullmatch(bound):
            raise InputError(f"{bound!r} is not a version", remedy="write major.minor.patch, like 1.0.0")
    return query


def filtered(connection: sqlite3.Connection, query: IndexQuery) -> list[int] | None:
    """The places of the entries that pass the filters, ascending; None if only the status filter applies."""
    given = {
        "tags": query.tags,
        "input_types": [type_key(text) for text in query.input_types],
        "output_types": [type_key(text) for text in query.output_types],
        "module_ids": query.module_ids,
        "statuses": query.statuses,
    }
    if not any(given.values()) and not (query.version_from or query.version_below):
        return None
    if not query.statuses and not query.include_inactive:
        given["statuses"] = (IndexStatus.SHIPPED,)
    # ASCII JSON: a lone surrogate in a query is an escape that matches nothing
    asked = {name: json.dumps(list(values)) for name, values in given.items() if values}
    conditions = " AND ".join(_CONDITIONS[name] for name in asked) or "TRUE"
    found = connection.execute(
        f"SELECT seq, version FROM entries WHERE {conditions} ORDER BY seq",  # noqa: S608  # constants
        tuple(asked.values()),
    )
    return [seq for seq, version in found if _within(version, query)]


def _within(version: str, query: IndexQuery) -> bool:
    low, high = query.version_from, query.version_below
    return (not low or _version(low) <= _version(version)) and (
        not high or _version(version) < _version(high)
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
