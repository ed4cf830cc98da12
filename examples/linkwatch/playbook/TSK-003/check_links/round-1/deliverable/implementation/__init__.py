"""Ask the web about the links of a database that are due."""

import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

from ..ask import Answer, ask

__all__ = ["CheckSummary", "Settings", "check_links"]

_MOVED, _FOR_GOOD = (301, 302, 303, 307, 308), (301, 308)
_NO_HEAD = (400, 403, 404, 405, 406, 501)
_MOST_REDIRECTS = 5
_PAUSE = 1.0
_MOST_DAYS = 36500
_FIRST = datetime(1, 1, 1, tzinfo=timezone.utc)
_KEEP = """
INSERT INTO checks VALUES (:url, :at, :status, :final, :moved, :reason, :failed)
ON CONFLICT DO UPDATE SET checked_at = :at, status = :status, final_url = :final, moved_to = :moved, reason = :reason,
    failures = (failures + 1) * :failed
"""


@dataclass(frozen=True)
class Settings:
    """How a user wants links checked."""

    ignore: tuple[str, ...] = ()
    headers: dict[str, dict[str, str]] | None = None
    days: int = 7


@dataclass(frozen=True)
class CheckSummary:
    """What a check did; of `checked` those `failed` that came to no page."""

    checked: int
    failed: int
    fresh: int
    ignored: int


def check_links(database: Path, now: datetime, settings: Settings | None = None, days: int | None = None) -> CheckSummary:
    chosen = settings or Settings()
    age = chosen.days if days is None else days
    if not 0 <= age <= _MOST_DAYS:
        raise ValueError(f"days is not from 0 to {_MOST_DAYS}")
    if now.tzinfo is None:
        raise ValueError("now has no time zone")
    try:
        at = now.astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError("now lies outside of the years 1 to 9999 of UTC") from error
    if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in str(database)):
        raise ValueError("database has a NUL or an unpaired surrogate")
    if not database.is_file():
        raise FileNotFoundError(f"there is no database {database}; scan a folder first")
    try:
        with closing(sqlite3.connect(database)) as store:
            return _check(store, chosen, at, age)
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise OSError(f"{database} cannot be used: {error}") from error
        raise ValueError(f"{database} is no database of links: {error}") from error


def _check(store: sqlite3.Connection, chosen: Settings, now: datetime, age: int) -> CheckSummary:
    asker = _Asker(chosen.headers or {})
    urls = [str(url) for (url,) in store.execute("SELECT DISTINCT url FROM links ORDER BY url")]
    ignored = {url for url in urls if _host(url) in chosen.ignore}
    with store:
        store.executemany("DELETE FROM checks WHERE url = ?", [(url,) for url in sorted(ignored)])
    newest = _text(now - min(timedelta(days=age), now - _FIRST))
    fresh = {url for (url,) in store.execute("SELECT url FROM checks WHERE checked_at > ?", (newest,))}
    fresh = fresh.intersection(urls)
    failed = checked = 0
    for url in _mixed(sorted({*urls} - fresh - ignored)):
        if _host(url) not in asker.busy:
            row = asker.check(url)
            with store:
                store.execute(_KEEP, {"url": url, "at": _text(now), **row})
            checked += 1
            failed += int(row["failed"] or 0)
    return CheckSummary(checked, failed, len(fresh), len(ignored))


class _Asker:
    """Asks one host after the other, each at most once a second; a host that asks for a rest is `busy`."""

    def __init__(self, headers: dict[str, dict[str, str]]) -> None:
        self.busy: set[str] = set()
        self._headers = headers
        self._ready: dict[str, float] = {}

    def check(self, url: str) -> dict[str, int | str | None]:
        """What comes of an address: status, last address, the address that it has for good, a reason if it failed."""
        here, moved, lasting = urldefrag(url).url, "", True
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._ask(here, "HEAD")
            if answer.status in _NO_HEAD:
                answer = self._ask(here, "GET")
            if answer.status not in _MOVED or not answer.location:
                failed = answer.status is None or answer.status >= 400
                return self._row(answer.status, here, "" if failed else moved, answer.reason, failed=failed)
            try:
                here = urldefrag(urljoin(here, answer.location)).url
            except ValueError:
                return self._row(answer.status, here, "", "leads to no address", failed=True)
            lasting = lasting and answer.status in _FOR_GOOD
            moved = here if lasting else moved
        return self._row(answer.status, here, "", "too many redirects", failed=True)

    def _row(self, status: int | None, final: str, moved: str, reason: str, *, failed: bool) -> dict[str, int | str | None]:
        return {"status": status, "final": final, "moved": moved, "reason": reason, "failed": int(failed)}

    def _ask(self, url: str, method: str) -> Answer:
        host = _host(url)
        if host in self._ready:
            time.sleep(max(0.0, self._ready[host] - time.monotonic()))
        answer = ask(url, method, self._headers.get(host, {}))
        self._ready[host] = time.monotonic() + _PAUSE
        if answer.status == 429:
            self.busy.add(host)
        return answer


def _mixed(urls: list[str]) -> list[str]:
    """Addresses so that one host follows another where there are several."""
    met: Counter[str] = Counter()
    turns: list[tuple[int, str]] = []
    for url in urls:
        met[_host(url)] += 1
        turns.append((met[_host(url)], url))
    return [url for _, url in sorted(turns)]


def _host(url: str) -> str:
    """The host of an address in small letters; empty if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
