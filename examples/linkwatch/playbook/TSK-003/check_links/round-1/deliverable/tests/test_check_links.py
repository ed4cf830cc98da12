import os
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from modules.check_links import CheckSummary, Settings, check_links
from modules.testing import clock, web

NOW = datetime(2026, 3, 9, 9, 30, 0, 5, tzinfo=timezone(timedelta(hours=2)))
AT = "2026-03-09T07:30:00+00:00"
DATABASE = Path("l.db")
SCHEMA = """
CREATE TABLE links (
    file TEXT NOT NULL, url TEXT NOT NULL, occurrence INTEGER NOT NULL, line INTEGER NOT NULL, text TEXT NOT NULL,
    first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, PRIMARY KEY (file, url, occurrence));
CREATE TABLE checks (
    url TEXT PRIMARY KEY, checked_at TEXT NOT NULL, status INTEGER, final_url TEXT NOT NULL, moved_to TEXT NOT NULL,
    reason TEXT NOT NULL, failures INTEGER NOT NULL);
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    os.chdir(tmp_path)


def made(*urls: str) -> Path:
    with closing(sqlite3.connect(DATABASE)) as store:
        store.executescript(SCHEMA)
        for place, url in enumerate(urls):
            store.execute("INSERT INTO links VALUES ('a.md', ?, ?, 1, '', '', '')", (url, place))
        store.commit()
    return DATABASE


def was_checked(url: str, at: str, failures: int = 0) -> None:
    with closing(sqlite3.connect(DATABASE)) as store:
        store.execute("INSERT INTO checks VALUES (?, ?, 200, ?, 'm', 'r', ?)", (url, at, url, failures))
        store.commit()


def kept() -> list[tuple[object, ...]]:
    """What the database holds of each address: status, last address, new address, reason, failures."""
    with closing(sqlite3.connect(DATABASE)) as store:
        rows = store.execute("SELECT status, final_url, moved_to, reason, failures FROM checks ORDER BY url")
        return list(rows)


def asked() -> list[tuple[str, str]]:
    return [(one.method, one.url) for one in web.requests]


def test_a_summary_counts() -> None:
    for page in "abc":
        web.serve(f"https://{page}.example/", status=404 if page == "c" else 200)
    made(*(f"https://{page}.example/" for page in "abbcde"))
    was_checked("https://d.example/", AT)
    was_checked("https://gone.example/", AT)
    assert check_links(DATABASE, NOW, Settings(("e.example",))) == CheckSummary(3, 1, 1, 1)


def test_what_a_check_keeps() -> None:
    web.serve("https://a.example/x")
    check_links(made("https://a.example/x#part"), NOW)
    assert kept() == [(200, "https://a.example/x", "", "", 0)]
    with closing(sqlite3.connect(DATABASE)) as store:
        assert list(store.execute("SELECT url, checked_at FROM checks")) == [("https://a.example/x#part", AT)]
    assert asked() == [("HEAD", "https://a.example/x")]


@pytest.mark.parametrize("status", [400, 403, 404, 405, 406, 501])
def test_get_if_the_server_does_not_like_head(status: int) -> None:
    web.serve("https://a.example/", method="HEAD", status=status)
    web.serve("https://a.example/", method="GET")
    check_links(made("https://a.example/"), NOW)
    assert asked() == [("HEAD", "https://a.example/"), ("GET", "https://a.example/")]
    assert kept() == [(200, "https://a.example/", "", "", 0)]


@pytest.mark.parametrize("status", [200, 399, 401, 410, 500, 503])
def test_no_second_request_after_other_answers(status: int) -> None:
    web.serve("https://a.example/", status=status)
    check_links(made("https://a.example/"), NOW)
    assert asked() == [("HEAD", "https://a.example/")]
    assert kept() == [(status, "https://a.example/", "", "", int(status >= 400))]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_permanent_ones_noted(status: int) -> None:
    web.serve("https://a.example/x", status=status, headers={"Location": "../y?z#part"})
    web.serve("https://a.example/y?z")
    check_links(made("https://a.example/x"), NOW)
    moved = "https://a.example/y?z" if status in (301, 308) else ""
    assert kept() == [(200, "https://a.example/y?z", moved, "", 0)]


def test_an_address_for_good_ends_where_a_redirect_is_not() -> None:
    for page, status in (("a", 301), ("b", 302), ("c", 301)):
        web.serve(f"https://{page}.example/", status=status, headers={"Location": f"https://{chr(ord(page) + 1)}.example/"})
    web.serve("https://d.example/")
    check_links(made("https://a.example/", "https://b.example/"), NOW)
    assert kept() == [(200, "https://d.example/", "https://b.example/", "", 0), (200, "https://d.example/", "", "", 0)]


def test_a_page_that_moved_and_is_dead_has_no_new_address() -> None:
    web.serve("https://a.example/", status=301, headers={"Location": "https://b.example/"})
    web.serve("https://b.example/", status=410)
    check_links(made("https://a.example/"), NOW)
    assert kept() == [(410, "https://b.example/", "", "", 1)]


def test_a_redirect_without_a_place_is_an_answer() -> None:
    web.serve("https://a.example/", status=302)
    check_links(made("https://a.example/"), NOW)
    assert kept() == [(302, "https://a.example/", "", "", 0)]


def test_five_redirects_are_followed() -> None:
    for page in range(5):
        web.serve(f"https://h{page}.example/", status=302, headers={"Location": f"https://h{page + 1}.example/"})
    web.serve("https://h5.example/")
    check_links(made("https://h0.example/"), NOW)
    assert kept() == [(200, "https://h5.example/", "", "", 0)]


def test_a_loop_ends() -> None:
    web.serve("https://a.example/", status=301, headers={"Location": "https://a.example/"})
    assert check_links(made("https://a.example/"), NOW) == CheckSummary(1, 1, 0, 0)
    assert kept() == [(301, "https://a.example/", "", "too many redirects", 1)]
    assert asked() == [("HEAD", "https://a.example/")] * 6


def test_a_redirect_to_no_address() -> None:
    web.serve("https://a.example/", status=301, headers={"Location": "http://[x/"})
    web.serve("https://b.example/", status=301, headers={"Location": "ftp://b.example/"})
    check_links(made("https://a.example/", "https://b.example/"), NOW)
    (first, second) = kept()
    assert first == (301, "https://a.example/", "", "leads to no address", 1)
    assert (second[0], second[1], second[2], second[4]) == (None, "ftp://b.example/", "", 1)


@pytest.mark.parametrize("how", ["no such host", "refused", "timeout", "certificate"])
def test_each_failure_is_kept_with_its_reason(how: str) -> None:
    web.fail("https://a.example/", how)
    assert check_links(made("https://a.example/"), NOW) == CheckSummary(1, 1, 0, 0)
    assert kept() == [(None, "https://a.example/", "", how, 1)]


def test_an_answer_is_waited_for_ten_seconds() -> None:
    web.serve("https://a.example/", delay=9.9)
    web.serve("https://b.example/", delay=10.1)
    assert check_links(made("https://a.example/", "https://b.example/"), NOW).failed == 1


def test_failures_in_a_row_are_counted() -> None:
    for status in (500, 500, 200, 500):
        web.serve("https://a.example/", status=status)
    made("https://a.example/")
    found: list[object] = []
    for day in range(4):
        check_links(DATABASE, NOW + timedelta(days=8 * day))
        found.append(kept()[0][4])
    assert found == [1, 2, 0, 1]


def test_a_host_is_asked_once_a_second() -> None:
    clock.set(NOW)
    for page in ("a.example/1", "a.example/2", "b.example/1", "b.example/2", "a.example/3"):
        web.serve(f"https://{page}", delay=0.25 if page == "a.example/1" else 0.0)
    check_links(made("https://a.example/1", "https://a.example/2", "https://a.example/3", "https://b.example/1", "https://b.example/2"), NOW)
    assert [(one.url.removeprefix("https://"), round(one.at, 1)) for one in web.requests] == [
        ("a.example/1", 0.0),
        ("b.example/1", 0.2),
        ("a.example/2", 1.2),
        ("b.example/2", 1.2),
        ("a.example/3", 2.2),
    ]


def test_a_host_that_wants_a_rest() -> None:
    web.serve("https://a.example/1", status=429)
    web.serve("https://a.example/2")
    assert check_links(made("https://a.example/1", "https://a.example/2"), NOW) == CheckSummary(1, 1, 0, 0)
    assert asked() == [("HEAD", "https://a.example/1")]
    assert kept() == [(429, "https://a.example/1", "", "", 1)]


@pytest.mark.parametrize(
    ("checked_at", "days", "stated", "fresh"),
    [
        ("2026-03-02T07:30:01+00:00", None, 7, 1),
        ("2026-03-02T07:30:00+00:00", None, 7, 0),
        ("2026-03-08T07:30:01+00:00", 1, 7, 1),
        ("2026-03-08T07:30:00+00:00", 1, 7, 0),
        ("2026-03-08T07:30:01+00:00", None, 1, 1),
        ("2026-03-08T07:30:00+00:00", None, 1, 0),
        (AT, 0, 7, 0),
        ("1930-01-01T00:00:00+00:00", 36500, 7, 1),
    ],
)
def test_what_was_checked_lately_is_not_asked_about(checked_at: str, days: int | None, stated: int, fresh: int) -> None:
    web.serve("https://a.example/")
    made("https://a.example/")
    was_checked("https://a.example/", checked_at)
    assert check_links(DATABASE, NOW, Settings(days=stated), days).fresh == fresh
    assert len(web.requests) == 1 - fresh


def test_seven_days_without_settings() -> None:
    web.serve("https://a.example/")
    made("https://a.example/")
    was_checked("https://a.example/", "2026-03-02T07:30:01+00:00")
    assert check_links(DATABASE, NOW) == CheckSummary(0, 0, 1, 0)
    assert check_links(DATABASE, NOW + timedelta(seconds=1)) == CheckSummary(1, 0, 0, 0)


def test_hosts_to_ignore_are_forgotten() -> None:
    made("https://A.example/1", "https://b.example/")
    web.serve("https://b.example/")
    was_checked("https://A.example/1", "2026-01-01T00:00:00+00:00", 3)
    assert check_links(DATABASE, NOW, Settings(("a.example",))) == CheckSummary(1, 0, 0, 1)
    assert asked() == [("HEAD", "https://b.example/")]
    assert [row[1] for row in kept()] == ["https://b.example/"]


def test_headers_go_to_their_host() -> None:
    web.serve("https://a.example/", status=302, headers={"Location": "https://b.example/"})
    web.serve("https://b.example/")
    check_links(made("https://a.example/"), NOW, Settings(headers={"a.example": {"X-Mark": "mine"}}))
    assert [one.headers.get("X-Mark") for one in web.requests] == ["mine", None]


def test_what_is_no_address_is_a_failure() -> None:
    assert check_links(made("http://[x/"), NOW) == CheckSummary(1, 1, 0, 0)
    assert web.requests == []


@pytest.mark.parametrize("days", [-1, 36501])
def test_days_out_of_range_are_refused(days: int) -> None:
    with pytest.raises(ValueError, match="days is not from 0 to 36500"):
        check_links(made(), NOW, None, days)
    with pytest.raises(ValueError, match="days is not from 0 to 36500"):
        check_links(DATABASE, NOW, Settings(days=days))


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="now has no time zone"):
        check_links(made(), datetime(2026, 3, 2))
    with pytest.raises(ValueError, match="outside of the years 1 to 9999"):
        check_links(DATABASE, datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert check_links(DATABASE, datetime(1, 1, 1, tzinfo=timezone.utc)) == CheckSummary(0, 0, 0, 0)


@pytest.mark.parametrize("bad", ["a\0", "\ud800", "\udfff"])
def test_paths_that_cannot_be_are_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="database has a NUL or an unpaired surrogate"):
        check_links(Path(bad), NOW)


def test_no_file_is_refused() -> None:
    with pytest.raises(FileNotFoundError, match="there is no database l.db; scan a folder first"):
        check_links(DATABASE, NOW)
    assert os.listdir() == []


def test_what_is_no_database_of_links() -> None:
    DATABASE.write_text("no database" * 200)
    with pytest.raises(ValueError, match="l.db is no database of links"):
        check_links(DATABASE, NOW)
    Path("e.db").touch()
    with pytest.raises(ValueError, match="e.db is no database of links"):
        check_links(Path("e.db"), NOW)


def test_a_database_that_cannot_be_used() -> None:
    made()
    with closing(sqlite3.connect(DATABASE)) as store:
        store.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="l.db cannot be used: database is locked"):
            check_links(DATABASE, NOW)
