import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from modules.report_links import DeadLink, LinkReport, MovedLink, report_links

SCHEMA = """
CREATE TABLE links (
    file TEXT NOT NULL, url TEXT NOT NULL, occurrence INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
    first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, PRIMARY KEY (file, url, occurrence));
CREATE TABLE checks (
    url TEXT PRIMARY KEY, checked_at TEXT NOT NULL, status INTEGER, final_url TEXT NOT NULL, moved_to TEXT NOT NULL,
    reason TEXT NOT NULL, failures INTEGER NOT NULL);
"""
DATABASE = Path("l.db")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    os.chdir(tmp_path)


def reported(
    links: list[tuple[str, int, str]], checks: list[tuple[str, int | None, str, str, int]] = []
) -> LinkReport:
    """What comes of links (file, line, URL) and checks (URL, status, new address, reason, failures)."""
    made(links, checks)
    return report_links(DATABASE)


def made(
    links: list[tuple[str, int, str]] = [], checks: list[tuple[str, int | None, str, str, int]] = []
) -> None:
    with closing(sqlite3.connect(DATABASE)) as store:
        store.executescript(SCHEMA)
        for occurrence, (file, line, url) in enumerate(links):
            store.execute(
                "INSERT INTO links VALUES (?, ?, ?, ?, ?, '', '')", (file, url, occurrence, line, f"to {url}")
            )
        for url, status, moved, reason, failures in checks:
            store.execute("INSERT INTO checks VALUES (?, '', ?, ?, ?, ?, ?)", (url, status, url, moved, reason, failures))
        store.commit()


@pytest.mark.parametrize(
    ("status", "reason", "failures", "said"),
    [
        (404, "", 1, "404"),
        (410, "", 1, "410"),
        (None, "no such host", 1, "no such host"),
        (500, "", 3, "500"),
        (None, "timeout", 4, "timeout"),
    ],
)
def test_dead_links(status: int | None, reason: str, failures: int, said: str) -> None:
    report = reported([("a.md", 7, "u")], [("u", status, "", reason, failures)])
    assert report == LinkReport([DeadLink("a.md", 7, "to u", "u", said)], [])


@pytest.mark.parametrize(
    ("status", "reason", "failures"), [(200, "", 0), (500, "", 2), (None, "timeout", 2), (405, "", 1), (411, "", 1)]
)
def test_links_that_are_not_dead(status: int | None, reason: str, failures: int) -> None:
    assert reported([("a.md", 7, "u"), ("a.md", 8, "v")], [("u", status, "", reason, failures)]) == LinkReport([], [])


def test_moved_links() -> None:
    report = reported([("a.md", 7, "u"), ("b.md", 1, "v")], [("u", 200, "w", "", 0), ("v", 200, "", "", 0)])
    assert report == LinkReport([], [MovedLink("a.md", 7, "to u", "u", "w")])


def test_the_order_is_that_of_files_and_lines() -> None:
    links = [("b.md", 1, "u"), ("a.md", 10, "u"), ("a.md", 9, "v"), ("a.md", 9, "u"), ("b.md", 2, "m"), ("b.md", 1, "m"), ("a.md", 3, "m")]
    report = reported(links, [("u", 404, "", "", 1), ("v", 410, "", "", 1), ("m", 200, "n", "", 0)])
    assert [(one.file, one.line, one.url) for one in report.dead] == [
        ("a.md", 9, "u"),
        ("a.md", 9, "v"),
        ("a.md", 10, "u"),
        ("b.md", 1, "u"),
    ]
    assert [(one.file, one.line) for one in report.moved] == [("a.md", 3), ("b.md", 1), ("b.md", 2)]


def test_no_file_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match="there is no database l.db; scan a folder first"):
        report_links(DATABASE)
    assert os.listdir() == []


def test_what_is_no_database_of_links() -> None:
    DATABASE.write_text("no database" * 200)
    with pytest.raises(ValueError, match="l.db is no database of links"):
        report_links(DATABASE)
    Path("e.db").touch()
    with pytest.raises(ValueError, match="e.db is no database of links"):
        report_links(Path("e.db"))


def test_a_database_that_cannot_be_read() -> None:
    made()
    with closing(sqlite3.connect(DATABASE)) as store:
        store.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="l.db cannot be read: database is locked"):
            report_links(DATABASE)


@pytest.mark.parametrize("bad", ["a\0", "\ud800", "\udfff"])
def test_paths_that_cannot_be_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="database has a NUL or an unpaired surrogate"):
        report_links(Path(bad))
