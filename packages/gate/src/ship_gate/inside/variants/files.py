"""Changes the files that a call of the module wrote, to see whether a test reads them (design: ship-gate).

A database of SQLite that could not be opened any more would be noticed by any test that opens it. So rows are changed: those
that came since, or all are deleted, or the database is put back as it was.

SQLite locks a file by its process, and a process gives up all locks of a file as soon as it closes any descriptor of it. A
test that holds a lock while it calls the module would lose it to whoever reads the file beside it. So a descriptor of a
database stays open.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from ship_gate.base.boundary_values import other_bytes
from ship_gate.inside.variants.values import perturb

COMPANIONS = ("-journal", "-wal", "-shm")
"""How the names of files end that SQLite keeps beside a database."""

_HEADER = b"SQLite format 3\0"
_MODES = slice(18, 20)
_NO_LOG = b"\x01\x01"
_MOST_ROWS = 1000
_MOST_KEPT = 64
_kept: dict[tuple[int, int], int] = {}
"""Descriptors by device and inode: while one is open, nobody else gets the number."""

_Row = tuple[object, ...]


def is_database(data: bytes | None) -> bool:
    """Whether a file's content is that of a database."""
    return data is not None and data.startswith(_HEADER)


def is_companion(path: str) -> bool:
    """Whether a file belongs to a database beside it."""
    return any(
        path.endswith(end) and (os.path.isfile(path.removesuffix(end)) or end != COMPANIONS[0])  # noqa: PTH113 - texts
        for end in COMPANIONS
    )


def content_of(path: Path) -> bytes:
    """What is in a file; of a database with a log beside it, what a reader would find.

    Raises:
        OSError: it cannot be read.
    """
    log = path.with_name(f"{path.name}-wal")
    data = _bytes_of(path)
    if is_database(data) and log.exists() and log.stat().st_size:
        with contextlib.suppress(sqlite3.Error), closing(_read_only(path)) as database:
            return database.serialize()
    return data


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=0)


def _bytes_of(path: Path) -> bytes:
    status = path.stat()
    if not status.st_size:
        return b""
    known = status.st_dev, status.st_ino
    if (descriptor := _kept.get(known)) is not None:
        return os.pread(descriptor, status.st_size, 0)
    descriptor = os.open(path, os.O_RDONLY)
    data = os.pread(descriptor, status.st_size, 0)
    if is_database(data) and len(_kept) < _MOST_KEPT:
        _kept[known] = descriptor
    else:
        os.close(descriptor)
    return data


def change_rows(path: Path, before: bytes | None, *, delete: bool) -> None:
    """Change the rows of a database that were not there before, all of them if there are none; or delete every row.

    Args:
        path: Of the database; one that is locked stays as it is.
        before: What the file held then.
        delete: Whether rows are deleted.
    """
    with contextlib.suppress(sqlite3.Error), closing(_open(path)) as database:
        database.execute("begin immediate")
        now = {table: [*_rows(database, table)] for table in _tables(database)}
        then = _rows_before(before)
        new = {table: [row for row in rows if row not in then.get(table, ())] for table, rows in now.items()}
        chosen = new if any(new.values()) else now
        for table, rows in chosen.items():
            if delete:
                database.execute(f"delete from {_quoted(table)}")  # noqa: S608 - quoted names
            else:
                _alter(database, table, rows)
        database.execute("commit")


def restore_database(path: Path, before: bytes) -> bool:
    """Make a database what it was; whether that was possible."""
    with (
        contextlib.suppress(sqlite3.Error),
        closing(_in_memory(before)) as source,
        closing(_open(path)) as target,
    ):
        source.backup(target)
        return True
    return False


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=0, isolation_level=None)


def _in_memory(data: bytes) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", isolation_level=None)
    whole = bytearray(data)
    whole[_MODES] = _NO_LOG
    database.deserialize(bytes(whole))
    return database


def _rows_before(before: bytes | None) -> dict[str, set[_Row]]:
    if before is None or not is_database(before):
        return {}
    with contextlib.suppress(sqlite3.Error), closing(_in_memory(before)) as database:
        return {table: {*_rows(database, table)} for table in _tables(database)}
    return {}


def _tables(database: sqlite3.Connection) -> Iterator[str]:
    """The tables that a program fills: none of SQLite's own, and none that lies behind a virtual one."""
    found = dict(database.execute("select name, sql from sqlite_master where type = 'table'").fetchall())
    virtual = tuple(
        f"{name}_" for name, sql in found.items() if str(sql).lower().startswith("create virtual")
    )
    yield from (name for name in found if not name.startswith(("sqlite_", *virtual)))


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [str(column[1]) for column in database.execute(f"pragma table_info({_quoted(table)})")]


def _rows(database: sqlite3.Connection, table: str) -> Iterator[_Row]:
    columns = ", ".join(map(_quoted, _columns(database, table)))
    yield from database.execute(f"select {columns} from {_quoted(table)} limit {_MOST_ROWS}")  # noqa: S608 - quoted names


def _alter(database: sqlite3.Connection, table: str, rows: list[_Row]) -> None:
    columns = _columns(database, table)
    same = " and ".join(f"{_quoted(column)} is ?" for column in columns)
    # the highest first, so that the next number is free
    for row in rows[::-1]:
        for chosen in (columns, *([column] for column in columns)):
            names = ", ".join(f"{_quoted(column)} = ?" for column in chosen)
            values = [
                perturb(value, "other") for name, value in zip(columns, row, strict=True) if name in chosen
            ]
            text = f"update or ignore {_quoted(table)} set {names} where {same}"  # noqa: S608 - quoted names
            if database.execute(text, (*values, *row)).rowcount:
                break


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


FILE_WAYS = ("alter", "clear", "move", "undo")
"""`alter` changes what is in the files, and `clear` leaves them empty. `undo` puts everything back as it was; `move` does
so where files came, went or changed places, and nothing new is written in any. Of a database rows are changed, or
deleted."""

_MOST_FILES = 500
_MOST_BYTES = 1024 * 1024

Files = dict[str, bytes | None]
"""What lies below a folder: the content of files, and None for folders."""


def files_below(folder: Path) -> Files:
    """What lies below a folder now; of a large number, or of large files, a part."""
    found: Files = {}
    for place, _, names in os.walk(folder):
        found[place] = None
        for name in names:
            path = Path(place, name)
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size <= _MOST_BYTES and not is_companion(str(path)):
                    found[str(path)] = content_of(path)
        if len(found) > _MOST_FILES:
            break
    return found


def perturb_files(folder: Path, before: Files, variation: str) -> None:
    """Change what was written since.

    Args:
        folder: As for `files_below`.
        before: What lay there then.
        variation: One of `FILE_WAYS`.
    """
    now = files_below(folder)
    written = {path: data for path, data in now.items() if path not in before or before[path] != data}
    if variation == "move" and any(data and data not in before.values() for data in written.values()):
        return
    if variation in {"move", "undo"}:
        _undo(written, before)
        for path in sorted(before.keys() - now.keys()):
            _restore(Path(path), before[path])
        return
    for path, data in written.items():
        if is_database(data):
            change_rows(Path(path), before.get(path), delete=variation == "clear")
        elif data is not None:
            _replace(Path(path), b"" if variation == "clear" else other_bytes(data, "other"))


def _undo(written: Files, before: Files) -> None:
    for path in sorted(written, reverse=True):
        if path in before:
            _restore(Path(path), before[path])
        elif written[path] is None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            for end in ("", *(COMPANIONS if is_database(written[path]) else ())):
                with contextlib.suppress(OSError):
                    Path(path + end).unlink()


def _restore(path: Path, data: bytes | None) -> None:
    if data is None:
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
    elif not (is_database(data) and restore_database(path, data)):
        _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.write_bytes(data)
