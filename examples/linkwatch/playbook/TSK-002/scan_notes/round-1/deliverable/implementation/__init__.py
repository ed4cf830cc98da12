"""Remember the links of a folder of notes in a database."""

import os
import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from ..find_links import find_links

__all__ = ["ScanSummary", "scan_notes"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS links (
    file TEXT NOT NULL, url TEXT NOT NULL, occurrence INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
    first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, PRIMARY KEY (file, url, occurrence));
CREATE TABLE IF NOT EXISTS checks (
    url TEXT PRIMARY KEY, checked_at TEXT NOT NULL, status INTEGER, final_url TEXT NOT NULL, moved_to TEXT NOT NULL,
    reason TEXT NOT NULL, failures INTEGER NOT NULL);
"""
_KEEP = """
INSERT INTO links VALUES (:file, :url, :occurrence, :line, :text, :seen, :seen)
ON CONFLICT DO UPDATE SET line = :line, text = :text, last_seen = :seen
"""


@dataclass(frozen=True)
class ScanSummary:
    """What a scan found."""

    files: int
    links: int
    new: int
    forgotten: int


def scan_notes(directory: Path, now: datetime, database: Path | None = None) -> ScanSummary:
    if now.tzinfo is None:
        raise ValueError("now has no time zone")
    try:
        seen = now.astimezone(timezone.utc).isoformat(timespec="seconds")
    except OverflowError as error:
        raise ValueError("now lies outside of the years 1 to 9999 of UTC") from error
    path = database or directory / "linkwatch.db"
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in f"{directory}{path}"):
        raise ValueError("a path has a NUL or an unpaired surrogate")
    notes = _notes(directory)
    rows = [row | {"file": name, "seen": seen} for name, text in notes for row in _rows(text)]
    try:
        with closing(sqlite3.connect(path)) as store:
            before, after = _update(store, rows)
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise OSError(f"{path} cannot be written: {error}") from error
        raise ValueError(f"{path} is no database of links: {error}") from error
    return ScanSummary(len(notes), len(after), len(after - before), len(before - after))


def _notes(directory: Path) -> list[tuple[str, str]]:
    """The notes below a folder, by their names: path from there, and text."""
    if not directory.is_dir():
        raise NotADirectoryError(f"{directory} is no folder")
    found: list[tuple[str, str]] = []
    for folder, _, names in os.walk(directory, onerror=_refuse):
        for path in (Path(folder, name) for name in names if name.endswith(".md")):
            if path.is_file():
                name = path.relative_to(directory).as_posix().encode("utf-8", "backslashreplace").decode()
                found.append((name, path.read_text(encoding="utf-8", errors="replace")))
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise error


def _rows(text: str) -> list[dict[str, object]]:
    """The links of a note; those to one address are counted from 1."""
    met: Counter[str] = Counter()
    rows: list[dict[str, object]] = []
    for link in find_links(text):
        met[link.url] += 1
        rows.append({"url": link.url, "occurrence": met[link.url], "line": link.line, "text": link.text})
    return rows


def _update(store: sqlite3.Connection, rows: list[dict[str, object]]) -> tuple[set[object], set[object]]:
    """Remember these links and forget all others; which there were before, and which there are now."""
    store.executescript(_SCHEMA)
    with store:
        store.execute("BEGIN IMMEDIATE")
        before = set(store.execute("SELECT file, url, occurrence FROM links"))
        store.executemany(_KEEP, rows)
        after: set[object] = {(row["file"], row["url"], row["occurrence"]) for row in rows}
        store.executemany("DELETE FROM links WHERE file = ? AND url = ? AND occurrence = ?", sorted(before - after))
        store.execute("DELETE FROM checks WHERE url NOT IN (SELECT url FROM links)")
    return before, after
