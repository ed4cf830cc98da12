"""Say which links of a database are dead, and which have moved for good."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

__all__ = ["DeadLink", "LinkReport", "MovedLink", "report_links"]

_DEAD = """
SELECT file, line, text, url, CASE WHEN reason = '' THEN CAST(status AS TEXT) ELSE reason END
FROM links JOIN checks USING (url)
WHERE status IN (404, 410) OR reason = 'no such host' OR failures >= 3
ORDER BY file, line, url, occurrence
"""
_MOVED = """
SELECT file, line, text, url, moved_to FROM links JOIN checks USING (url)
WHERE moved_to != '' ORDER BY file, line, url, occurrence
"""


@dataclass(frozen=True)
class DeadLink:
    """A link that leads nowhere, and why."""

    file: str
    line: int
    text: str
    url: str
    reason: str


@dataclass(frozen=True)
class MovedLink:
    """A link whose page has another address for good."""

    file: str
    line: int
    text: str
    url: str
    moved_to: str


@dataclass(frozen=True)
class LinkReport:
    """The links of a database that want mending, by file and line."""

    dead: list[DeadLink]
    moved: list[MovedLink]


def report_links(database: Path) -> LinkReport:
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in str(database)):
        raise ValueError("database has a NUL or an unpaired surrogate")
    if not database.is_file():
        raise FileNotFoundError(f"there is no database {database}; scan a folder first")
    try:
        with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True, timeout=1.0)) as store:
            dead = [DeadLink(*row) for row in store.execute(_DEAD)]
            moved = [MovedLink(*row) for row in store.execute(_MOVED)]
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise OSError(f"{database} cannot be read: {error}") from error
        raise ValueError(f"{database} is no database of links: {error}") from error
    return LinkReport(dead, moved)
