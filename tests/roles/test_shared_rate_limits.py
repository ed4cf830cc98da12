"""The limits of providers hold for all processes that drive projects in one database (design: models, workers)."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import pytest

from specwright.errors import RefusedError
from specwright.postgres import PostgresDatabase, StoreAddress
from specwright.roles.models.shared_rate_limits import SharedRateLimiter
from specwright.settings import ProviderLimits
from testkit.postgres_projects import connected
from testkit.processes import process

MINUTE = 2.0
"""Of the tests."""


class WaitedInVainError(Exception):
    """Somebody would have had to wait."""


def refuse(seconds: float) -> None:
    """Wait for nothing."""
    raise WaitedInVainError


@contextmanager
def limiter(url: str, minute: float = 60.0, **limits: int) -> Iterator[SharedRateLimiter]:
    """The limiter of a process of its own, which never waits."""
    database = PostgresDatabase(StoreAddress.parse(url))
    try:
        yield SharedRateLimiter(database, {"openai": ProviderLimits(**limits)}, refuse, minute)
    finally:
        database.close()


def admits(one: SharedRateLimiter, tokens: int = 10, took: int = 0, provider: str = "openai") -> str:
    """Why a request is not admitted; empty if it is, and answered at once."""
    told: list[str] = []
    try:
        with one.admitted(provider, tokens, told.append) as request:
            one.settle(request, took)
    except WaitedInVainError:
        return told[0]
    return ""


@pytest.fixture
def url(postgres_url: str, request: pytest.FixtureRequest) -> str:
    """A database whose minute begins now."""
    with connected(postgres_url) as connection:
        connection.execute("DROP SCHEMA IF EXISTS specwright__limits CASCADE")
    return postgres_url


def test_requests_of_all_processes_count(url: str) -> None:
    """D-46-06: two have together what one would have; the wait is told."""
    with limiter(url, requests_per_minute=3) as one, limiter(url, requests_per_minute=3) as other:
        assert [admits(one), admits(other), admits(one)] == ["", "", ""]
        assert "3 requests a minute is reached; asked in" in admits(other)
        assert "3 requests a minute" in admits(one)
        assert admits(one, provider="anthropic") == ""


def test_tokens_of_all_processes_count_as_the_provider_counted_them(url: str) -> None:
    """D-46-06: an estimate counts until then."""
    with limiter(url, tokens_per_minute=100) as one, limiter(url, tokens_per_minute=100) as other:
        assert admits(one, tokens=90, took=30) == ""
        assert admits(other, tokens=70) == ""
        assert "100 tokens a minute" in admits(one, tokens=1)


def test_requests_under_way_count_until_they_are_answered(url: str) -> None:
    """D-46-06: in threads of one process, and in several."""
    with limiter(url, concurrent_requests=2) as one, limiter(url, concurrent_requests=2) as other:
        with one.admitted("openai", 1, print), one.admitted("openai", 1, print):
            assert "2 requests are under way" in admits(other)
            assert "2 requests are under way" in admits(one)
        with other.admitted("openai", 1, print):
            assert admits(one) == ""


def test_a_minute_that_is_over_counts_no_more(url: str) -> None:
    """D-46-06: any minute of the server's clock."""
    with limiter(url, minute=0.001, requests_per_minute=1) as one:
        for _ in range(5):
            with connected(url) as connection:
                connection.execute("SELECT pg_sleep(0.002)")
            assert admits(one) == ""


_HOLDER = """
import sys, time
from specwright.postgres import PostgresDatabase, StoreAddress
from specwright.roles.models.shared_rate_limits import SharedRateLimiter
from specwright.settings import ProviderLimits
limiter = SharedRateLimiter(
    PostgresDatabase(StoreAddress.parse(sys.argv[1])), {"openai": ProviderLimits(concurrent_requests=1)}
)
with limiter.admitted("openai", 1, print):
    print("under way", flush=True)
    time.sleep(100)
"""


def test_a_request_of_a_process_that_died_is_over(url: str) -> None:
    """D-46-06: its slot ends with its session."""
    holder = process(_HOLDER, url)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "under way\n"
    with limiter(url, concurrent_requests=1) as one:
        assert "1 requests are under way" in admits(one)
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
        with connected(url) as connection:
            while connection.execute(
                "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2"
            ).fetchone():
                connection.execute("SELECT pg_sleep(0.01)")
        assert admits(one) == ""


def test_a_driver_that_was_cut_off_asks_nothing_more(url: str) -> None:
    """D-46-04: neither with limits nor without, so that it asks nothing that another one has asked."""
    for provider in ("openai", "anthropic"):
        with limiter(url, requests_per_minute=9) as one:
            assert admits(one, provider=provider) == ""
            with connected(url) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            with pytest.raises(RefusedError, match="was lost"):
                admits(one, provider=provider)


_ASKER = """
import json, sys
from specwright.postgres import PostgresDatabase, StoreAddress
from specwright.roles.models.shared_rate_limits import SharedRateLimiter
from specwright.settings import ProviderLimits
limiter = SharedRateLimiter(
    PostgresDatabase(StoreAddress.parse(sys.argv[1])),
    {"openai": ProviderLimits(requests_per_minute=6, tokens_per_minute=100)},
    minute=float(sys.argv[2]),
)
for number in range(15):
    with limiter.admitted("openai", tokens := 5 + 7 * number % 30, lambda why: None) as request:
        print(json.dumps([request.sent_at, tokens]), flush=True)
"""


@pytest.mark.slow
def test_two_processes_together_never_exceed_a_limit(url: str) -> None:
    """D-46-06: in no window of a minute, by the stamps of the server."""
    with ExitStack() as stack:
        both: list[subprocess.Popen[str]] = [
            stack.enter_context(process(_ASKER, url, MINUTE)) for _ in range(2)
        ]
        sent = sorted(tuple(json.loads(line)) for asker in both for line in asker.stdout or ())
    assert len(sent) == 30
    assert all(one < other for (one, _), (other, _) in pairwise(sent))
    for at, _ in sent:
        window = [tokens for when, tokens in sent if at <= when < at + MINUTE]
        assert len(window) <= 6
        assert sum(window) <= 100
