from __future__ import annotations

from typing import Literal, TypedDict

__all__ = ["changed_rows", "TableError", "DuplicateKeyError", "Changes", "ChangedRow"]


class TableError(ValueError):
    """The tables cannot be compared."""


class DuplicateKeyError(ValueError):
    """A key stands in two rows of one table."""

    table: Literal['before', 'after']
    row: int
    key: str

    def __init__(self, message: str, *, table: Literal['before', 'after'], row: int, key: str) -> None:
        super().__init__(message)
        self.table = table
        self.row = row
        self.key = key


class Changes(TypedDict):
    """What changed between two tables."""

    added: list[str]
    removed: list[str]
    changed: list[ChangedRow]


class ChangedRow(TypedDict):
    """A row that changed."""

    key: str
    columns: list[str]


def _check(rows: list[list[str]], key: str) -> None:
    if not rows or key not in rows[0]:
        raise TableError("a table has no rows, or its first row lacks the key")
    if len(set(rows[0])) != len(rows[0]):
        raise TableError("a first row holds a name twice")
    if any(len(row) != len(rows[0]) for row in rows):
        raise TableError("a row has more or fewer fields than the first one")


def _records(rows: list[list[str]], key: str, table: Literal['before', 'after']) -> dict[str, dict[str, str]]:
    records: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows[1:], 2):
        record = dict(zip(rows[0], row))
        if record[key] in records:
            raise DuplicateKeyError(
                f"{table}: row {number} has the key of a row above it", table=table, row=number, key=record[key]
            )
        records[record[key]] = record
    return records


def changed_rows(before: list[list[str]], after: list[list[str]], key: str) -> Changes:
    _check(before, key)
    _check(after, key)
    if set(before[0]) != set(after[0]):
        raise TableError("the first rows do not hold the same names")
    old = _records(before, key, "before")
    new = _records(after, key, "after")
    changed = []
    for value, record in old.items():
        if value in new:
            columns = [name for name, field in record.items() if field != new[value][name]]
            if columns:
                changed.append(ChangedRow(key=value, columns=columns))
    return Changes(
        added=[value for value in new if value not in old],
        removed=[value for value in old if value not in new],
        changed=changed,
    )
