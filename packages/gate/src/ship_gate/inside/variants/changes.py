"""Changes what a call of the module returned, or the files that it wrote, to see whether a test notices (design: ship-gate).

What is altered keeps its type, so that a test which fails has read the value and not merely used it. There are several
ways, because an assertion may look at one side only: a length that is at most ten, an order, a name that is left out.

A database of SQLite that could not be opened any more would be noticed by any test that opens it. So rows are changed: those
that came since, or all are deleted, or the database is put back as it was.

SQLite locks a file by its process, and a process gives up all locks of a file as soon as it closes any descriptor of it. A
test that holds a lock while it calls the module would lose it to whoever reads the file beside it. So a descriptor of a
database stays open.
"""

import contextlib
import copy
import dataclasses
import enum
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from ship_gate.base.boundary_values import CLASSES, ROWS_OF_CLASS, other_bytes
from ship_gate.inside.codec import KEPT, unchecked_value
from ship_gate.inside.values import Items

WAYS = ("other", "last", "higher", "lower", "more", "fewer", "order")
"""`other` changes every part and keeps the shape, `last` the last part alone; `higher` and `lower` go far from each part,
`more` and `fewer` change the number of items, and `order` turns them round."""


def perturb(value: object, variation: str) -> object:
    """Another value of the same type; the same one where the variation leads to no other."""
    kind = type(value)
    if isinstance(value, Items):
        return value._replace(values=_items(value.values, variation, grows=True))
    if (
        isinstance(value, (dict, tuple))
        or kind in _CONTAINERS
        or dataclasses.is_dataclass(kind)
        or isinstance(value, enum.Enum)
    ):
        return _composite(value, variation)
    row = ROWS_OF_CLASS.get(kind)
    try:
        return value if row is None else row.altered(value, variation)
    except (OverflowError, ValueError, ArithmeticError):
        return value


def _composite(value: Any, variation: str) -> object:
    kind = cast("Any", type(value))
    if isinstance(value, enum.Enum):
        members: list[enum.Enum] = list(kind)
        return members[(members.index(value) + (-1 if variation == "lower" else 1)) % len(members)]
    if isinstance(value, dict):
        changed = _dict(cast("dict[Any, Any]", value), variation)
        return changed if kind is dict else _filled(cast("dict[Any, Any]", value), changed)
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind) if field.init]
        chosen = names[-1:] if variation == "last" else names
        if getattr(kind, KEPT, False):
            # no call: the check would refuse most of what is altered
            kept: dict[str, object] = {
                name: part if name in names and name not in chosen else perturb(part, variation)
                for name, part in cast("dict[str, object]", vars(value)).items()
            }
            fields = {name: kept.pop(name) for name in names}
            return unchecked_value(kind, fields, kept)
        return dataclasses.replace(
            value, **{name: perturb(getattr(value, name), variation) for name in chosen}
        )
    items = _items(list(value), variation, grows=not isinstance(value, tuple))
    build: Any = getattr(kind, "_make", kind)  # of a named tuple
    return build(items)


def _filled(value: dict[Any, Any], items: dict[Any, Any]) -> dict[Any, Any]:
    """A Counter, defaultdict or OrderedDict with other items."""
    other = copy.copy(value)
    other.clear()
    other.update(items)
    return other


def _items(items: list[object], variation: str, *, grows: bool) -> list[object]:
    match variation:
        case "last":
            return [*items[:-1], *(perturb(item, variation) for item in items[-1:])] or ["~"]
        case "order":
            return items[::-1]
        # a tuple has a fixed number of parts, as a rule
        case "fewer" if grows:
            return []
        case "more" if grows:
            doubled = [item for item in items for _ in range(2)]
            return [*doubled, *(perturb(item, "other") for item in items)] or ["~"]
        case _:
            return [perturb(item, variation) for item in items] or ["~"]


def _dict(value: dict[Any, Any], variation: str) -> dict[Any, Any]:
    match variation:
        case "fewer":
            return {}
        case "order":
            # the values too, so that it is another one, and what is said of their sum still holds
            return dict(zip(reversed(value), value.values(), strict=True))
        case "more":
            key: Any = perturb(next(reversed(value)), "other") if value else "~"
            return {**value, key: next(iter(value.values()), 0)}
        case _:
            chosen = [*value][-1:] if variation == "last" else [*value]
            return {**value, **{key: perturb(value[key], variation) for key in chosen}} or {"~": 0}


_CONTAINERS = {*CLASSES.values()}


def spoil(values: list[object]) -> None:
    """Change what can be changed in place, however deep, as a module must not do with its arguments."""
    waiting, seen = [*values], set[int]()
    while waiting:
        value: Any = waiting.pop()
        if type(value) is bytearray:
            value.append(0)
        if id(value) in seen or type(value) not in _CONTAINERS:
            continue
        seen.add(id(value))
        waiting += value.values() if type(value) is dict else value
        match value:
            case list():
                cast("list[object]", value).append("~")
            case dict():
                value["~"] = "~"
            case set():
                cast("set[object]", value).add("~")
            case _:
                pass


_COMPANIONS = ("-journal", "-wal", "-shm")
"""How the names of files end that SQLite keeps beside a database."""

_HEADER = b"SQLite format 3\0"
_MODES = slice(18, 20)
_NO_LOG = b"\x01\x01"
_MOST_ROWS = 1000
_MOST_KEPT = 64
_kept: dict[tuple[int, int], int] = {}
"""Descriptors by device and inode: while one is open, nobody else gets the number."""

_Row = tuple[object, ...]


def _is_database(data: bytes | None) -> bool:
    """Whether a file's content is that of a database."""
    return data is not None and data.startswith(_HEADER)


def _is_companion(path: str) -> bool:
    """Whether a file belongs to a database beside it."""
    return any(
        path.endswith(end) and (os.path.isfile(path.removesuffix(end)) or end != _COMPANIONS[0])  # noqa: PTH113 - texts
        for end in _COMPANIONS
    )


def _content_of(path: Path) -> bytes:
    """What is in a file; of a database with a log beside it, what a reader would find.

    Raises:
        OSError: it cannot be read.
    """
    log = path.with_name(f"{path.name}-wal")
    data = _bytes_of(path)
    if _is_database(data) and log.exists() and log.stat().st_size:
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
    if _is_database(data) and len(_kept) < _MOST_KEPT:
        _kept[known] = descriptor
    else:
        os.close(descriptor)
    return data


def _change_rows(path: Path, before: bytes | None, *, delete: bool) -> None:
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


def _restore_database(path: Path, before: bytes) -> bool:
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
    if before is None or not _is_database(before):
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
                if path.is_file() and path.stat().st_size <= _MOST_BYTES and not _is_companion(str(path)):
                    found[str(path)] = _content_of(path)
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
        if _is_database(data):
            _change_rows(Path(path), before.get(path), delete=variation == "clear")
        elif data is not None:
            _replace(Path(path), b"" if variation == "clear" else other_bytes(data, "other"))


def _undo(written: Files, before: Files) -> None:
    for path in sorted(written, reverse=True):
        if path in before:
            _restore(Path(path), before[path])
        elif written[path] is None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            for end in ("", *(_COMPANIONS if _is_database(written[path]) else ())):
                with contextlib.suppress(OSError):
                    Path(path + end).unlink()


def _restore(path: Path, data: bytes | None) -> None:
    if data is None:
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
    elif not (_is_database(data) and _restore_database(path, data)):
        _replace(path, data)


def _replace(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        path.write_bytes(data)
