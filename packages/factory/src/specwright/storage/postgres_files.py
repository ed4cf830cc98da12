"""Files in a Postgres schema: write-once publishing and replacement, each in a transaction (design: store-layout)."""

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specwright.errors import CorruptionError, RefusedError
from specwright.files import write_atomically
from specwright.postgres import PostgresDatabase, QuestionMarks
from specwright.storage.files import ANOTHER_VERSION, ImmutableArtifactBackend, check_path


class PostgresTree:
    """The `FileTree` port on the table `file`.

    Args:
        database: Of the project.
        root: The folder in the project that paths are relative to; empty for the project itself.
        copies: A directory on this machine for copies of files that programs read.
    """

    def __init__(self, database: PostgresDatabase, root: str, copies: Path) -> None:
        self._database = database
        self._root = f"{root}/" if root else ""
        self._copies = copies

    @property
    def address(self) -> str:
        """The store and the folder, for messages."""
        return f"{self._database.address} {self._root}".rstrip("/ ")

    def directory(self, path: str) -> Path:
        """A directory with copies of the files below a path, brought up to date by each call."""
        name = self._name(path)
        place, found = self._copies / name, self.tree(path)
        if place.is_file():
            place.unlink()
        for old in sorted(place.rglob("*")) if place.is_dir() else ():
            if old.is_file() and old.relative_to(place).as_posix() not in found:
                old.unlink()
        for relative, data in found.items():
            target = place / relative
            if target.is_dir():
                shutil.rmtree(target)
            if not target.is_file() or target.read_bytes() != data:
                target.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(target, data)
        place.mkdir(parents=True, exist_ok=True)
        return place

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once."""
        self.publish_tree("", {path: data})

    def publish_tree(self, path: str, files: Mapping[str, bytes]) -> None:
        """Publish several files, all or none."""
        with self._writing() as connection:
            for relative, data in files.items():
                name = self._name(f"{path}/{relative}" if path else relative)
                inserted = connection.execute(
                    "INSERT INTO file VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING path", (name, data)
                ).fetchone()
                if inserted is None and _content(connection, name) != data:
                    where = f"{self._database.address} {name}"
                    raise RefusedError("a published file never changes", where=where, remedy=ANOTHER_VERSION)

    def move(self, path: str, to: str) -> None:
        """Move the files below a directory."""
        old, new = self._below(path), self._below(to)
        query = "UPDATE file SET path = ? || substr(path, ?::int) WHERE path >= ? AND path < ?"
        with self._writing() as connection:
            if not self.names(to):
                connection.execute(query, (new, str(len(old) + 1), old, f"{old[:-1]}0"))

    def replace(self, path: str, data: bytes) -> None:
        """Write a file, or replace it."""
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO file VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET content = excluded.content",
                (self._name(path), data),
            )

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        content = None
        if self._database.exists:
            with self._database.reading() as connection:
                content = _content(connection, self._name(path))
        if content is None:
            raise CorruptionError("a record is missing", where=f"{self.address}/{path}")
        return content

    def exists(self, path: str) -> bool:
        """Whether a file is there."""
        if not self._database.exists:
            return False
        with self._database.reading() as connection:
            query = "SELECT 1 FROM file WHERE path = ?"
            return connection.execute(query, (self._name(path),)).fetchone() is not None

    def names(self, path: str) -> list[str]:
        """The names in a directory."""
        below = self._below(path)
        depth = str(below.count("/") + 1)
        rows = self._below_rows("SELECT DISTINCT split_part(path, '/', ?::int) FROM file", below, depth)
        return [_checked(name) for (name,) in rows]

    def tree(self, path: str) -> dict[str, bytes]:
        """Every file below a directory."""
        below = self._below(path)
        rows = self._below_rows("SELECT path, content FROM file", below)
        return {_checked(name)[len(below) :]: content for name, content in rows}

    def _below_rows(self, query: str, below: str, *parameters: str) -> list[Any]:
        """The rows of a query about files whose path begins so, in the order of their paths."""
        if not self._database.exists:
            return []
        with self._database.reading() as connection:
            if not below:
                return connection.execute(f"{query} ORDER BY 1", parameters).fetchall()
            # the paths that begin with `a/` are those from `a/` to before `a0`
            bounds = (*parameters, below, f"{below[:-1]}0")
            return connection.execute(f"{query} WHERE path >= ? AND path < ? ORDER BY 1", bounds).fetchall()

    @contextmanager
    def _writing(self) -> Generator[QuestionMarks]:
        self._database.prepare()
        with self._database.writing() as connection:
            yield connection

    def _below(self, path: str) -> str:
        name = self._name(path)
        return f"{name}/" if name else ""

    def _name(self, path: str) -> str:
        if path:
            check_path(path)
        return (self._root + path).strip("/")


class PostgresStateStore(ImmutableArtifactBackend, PostgresTree):
    """The `StateStore` port on `state_store/` of the table."""


def _checked(path: str) -> str:
    check_path(path)
    return path


def _content(connection: QuestionMarks, name: str) -> bytes | None:
    row = connection.execute("SELECT content FROM file WHERE path = ?", (name,)).fetchone()
    return row[0] if row else None
