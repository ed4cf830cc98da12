"""Whether two SQLite databases hold the same, however they came to it (design: ship-gate).

A counter of changes, numbers of rows that nobody chose, and the order of pages differ between databases of one content.
What the schema says, the rows of each table in any order, and the program's own numbers are compared.

The bytes come out of a module's process, so they are read as SQLite reads what nobody vouches for: in memory, with
bounded lengths and steps, without functions that a schema names, and without virtual tables.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing

_HEADER = b"SQLite format 3\0"
_COMPANIONS = ("-journal", "-wal", "-shm")
_NO_LOG = b"\x01\x01"
_MOST_LENGTH = 1_000_000
_MOST_STEPS = 2_000_000

Files = Mapping[str, bytes | None]


def comparable(files: Files) -> Files:
    """Files by their paths, without what SQLite keeps beside a database for itself."""
    bases = {path for path, data in files.items() if data and data.startswith(_HEADER)}
    return {
        path: data
        for path, data in files.items()
        if not any(path.endswith(end) and path.removesuffix(end) in bases for end in _COMPANIONS)
    }


def same_content(one: bytes | None, other: bytes | None) -> bool:
    """Whether two files hold the same: the same bytes, or databases with the same in them."""
    if one == other:
        return True
    if not one or not other or not (one.startswith(_HEADER) and other.startswith(_HEADER)):
        return False
    try:
        return _content(one) == _content(other)
    except sqlite3.Error:
        return False


def _content(data: bytes) -> tuple[object, ...]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_LENGTH)
        database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _MOST_LENGTH)
        database.set_progress_handler(lambda: 1, _MOST_STEPS)
        database.execute("pragma trusted_schema = off")
        database.deserialize(data[:18] + _NO_LOG + data[20:])
        database.execute("pragma cell_size_check = on")
        schema = database.execute(
            "select type, name, tbl_name, sql from sqlite_master order by name"
        ).fetchall()
        tables = [name for kind, name, _, sql in schema if kind == "table" and not _is_virtual(sql)]
        rows = {name: Counter(database.execute(f"select * from {_quoted(name)}")) for name in tables}  # noqa: S608 - quoted
        return schema, rows, data[60:64], data[68:72]


def _is_virtual(sql: object) -> bool:
    return str(sql).lower().startswith("create virtual")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
