import os
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from modules.scan_notes import ScanSummary, scan_notes

MONDAY = datetime(2026, 3, 2, 9, 30, tzinfo=timezone.utc)
TUESDAY = datetime(2026, 3, 3, 1, 30, 0, 5, tzinfo=timezone(timedelta(hours=2)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    os.chdir(tmp_path)


def note(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(text.encode("utf-8", "surrogateescape"))


def rows(database: str, query: str = "SELECT * FROM links ORDER BY file, url, occurrence") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as store:
        return list(store.execute(query))


def test_a_first_scan() -> None:
    note("n/a.md", "https://a.example https://b.example")
    note("n/deep/er/b.md", "https://a.example")
    note("n/c.txt", "https://c.example")
    assert scan_notes(Path("n"), MONDAY) == ScanSummary(2, 3, 3, 0)


def test_the_database_has_each_link() -> None:
    note("n/b.md", "\n[x](https://a.example)\nhttps://b.example [y](https://a.example)")
    note("n/a/z.md", "https://a.example")
    scan_notes(Path("n"), MONDAY, Path("l.db"))
    at = "2026-03-02T09:30:00+00:00"
    assert rows("l.db") == [
        ("a/z.md", "https://a.example", 1, 1, "https://a.example", at, at),
        ("b.md", "https://a.example", 1, 2, "x", at, at),
        ("b.md", "https://a.example", 2, 3, "y", at, at),
        ("b.md", "https://b.example", 1, 3, "https://b.example", at, at),
    ]
    assert sorted(os.listdir("n")) == ["a", "b.md"]
    assert rows("l.db", "SELECT url, checked_at, status, final_url, moved_to, reason, failures FROM checks") == []


def test_the_database_of_a_folder() -> None:
    note("n/a.md", "https://a.example")
    scan_notes(Path("n"), MONDAY)
    assert rows("n/linkwatch.db", "SELECT file, line FROM links") == [("a.md", 1)]
    assert sorted(os.listdir("n")) == ["a.md", "linkwatch.db"]


def test_what_is_gone_is_forgotten() -> None:
    note("n/a.md", "https://a.example https://b.example https://a.example")
    note("n/b.md", "https://a.example")
    scan_notes(Path("n"), MONDAY)
    with closing(sqlite3.connect("n/linkwatch.db")) as store:
        for url in ("https://a.example", "https://b.example"):
            store.execute("INSERT INTO checks VALUES (?, '2026-03-02T10:00:00+00:00', 200, ?, '', '', 0)", (url, url))
        store.commit()
    note("n/a.md", "https://a.example")
    Path("n/b.md").unlink()
    note("n/c.md", "https://c.example")
    assert scan_notes(Path("n"), TUESDAY) == ScanSummary(2, 2, 1, 3)
    assert rows("n/linkwatch.db", "SELECT file, url, occurrence FROM links ORDER BY file") == [
        ("a.md", "https://a.example", 1),
        ("c.md", "https://c.example", 1),
    ]
    assert rows("n/linkwatch.db", "SELECT url FROM checks") == [("https://a.example",)]


def test_a_link_keeps_the_time_when_it_was_first_seen() -> None:
    note("n/a.md", "[a](https://a.example)")
    scan_notes(Path("n"), MONDAY)
    note("n/a.md", "\n[b](https://a.example)")
    assert scan_notes(Path("n"), TUESDAY) == ScanSummary(1, 1, 0, 0)
    assert rows("n/linkwatch.db", "SELECT line, text, first_seen, last_seen FROM links") == [
        (2, "b", "2026-03-02T09:30:00+00:00", "2026-03-02T23:30:00+00:00")
    ]


def test_a_note_that_is_not_utf_8() -> None:
    note("n/a.md", "[\udcff](https://a.example)")
    scan_notes(Path("n"), MONDAY)
    assert rows("n/linkwatch.db", "SELECT text FROM links") == [("\ufffd",)]


def test_a_folder_with_the_name_of_a_note() -> None:
    note("n/x.md/y.md", "https://a.example")
    assert scan_notes(Path("n"), MONDAY) == ScanSummary(1, 1, 1, 0)


def test_an_empty_file_and_an_empty_folder() -> None:
    Path("n").mkdir()
    note("e.db", "")
    assert scan_notes(Path("n"), MONDAY, Path("e.db")) == ScanSummary(0, 0, 0, 0)
    assert rows("e.db") == []


def test_a_time_without_a_zone_is_refused() -> None:
    Path("n").mkdir()
    with pytest.raises(ValueError, match="now has no time zone"):
        scan_notes(Path("n"), datetime(2026, 3, 2))
    with pytest.raises(ValueError, match="outside of the years 1 to 9999"):
        scan_notes(Path("n"), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert scan_notes(Path("n"), datetime(1, 1, 1, tzinfo=timezone.utc)) == ScanSummary(0, 0, 0, 0)
    assert sorted(os.listdir("n")) == ["linkwatch.db"]


@pytest.mark.parametrize("bad", ["a\0", "\ud800", "\udfff"])
def test_paths_that_cannot_be_are_refused(bad: str) -> None:
    Path("n").mkdir()
    with pytest.raises(ValueError, match="a path has a NUL or an unpaired surrogate"):
        scan_notes(Path("n"), MONDAY, Path(bad))
    with pytest.raises(ValueError, match="a path has a NUL or an unpaired surrogate"):
        scan_notes(Path(bad), MONDAY, Path("l.db"))


def test_what_is_no_database_of_links() -> None:
    note("n/a.md", "https://a.example")
    note("bad.db", "no database" * 200)
    with closing(sqlite3.connect("other.db")) as store:
        store.execute("CREATE TABLE links (a)")
        store.commit()
    for path in ("bad.db", "other.db"):
        before = Path(path).read_bytes()
        with pytest.raises(ValueError, match=f"{path} is no database of links"):
            scan_notes(Path("n"), MONDAY, Path(path))
        assert Path(path).read_bytes()[100:] == before[100:] or path == "other.db"


def test_no_folder_is_refused() -> None:
    with pytest.raises(NotADirectoryError, match="n is no folder"):
        scan_notes(Path("n"), MONDAY, Path("l.db"))
    assert os.listdir() == []


def test_a_database_that_cannot_be_written() -> None:
    Path("n").mkdir()
    with pytest.raises(OSError, match="missing/l.db cannot be written"):
        scan_notes(Path("n"), MONDAY, Path("missing/l.db"))
    with pytest.raises(OSError, match="n cannot be written"):
        scan_notes(Path("n"), MONDAY, Path("n"))
