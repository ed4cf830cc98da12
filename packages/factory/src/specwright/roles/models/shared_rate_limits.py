"""What each provider is asked at most by every process that drives a project in one database (design: models, workers).

The requests of the last minute are rows, stamped by the server's clock. Requests under way are advisory locks of sessions,
so that those of a process that died, or was cut off, are over when the server ends its session. The connection is the
one that holds the project: a driver that was cut off is refused here, before it would ask what another one has asked.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from specwright.errors import RefusedErrors
from specwright.postgres import PostgresDatabase, QuestionMarks
from specwright.roles.models.rate_limits import MINUTE, Request, Use, in_words, shortage
from specwright.settings import ProviderLimits

SCHEMA = "specwright__limits"
"""No project can have this name: that of a project begins with a letter."""

_TABLE = (
    f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
    f"""CREATE TABLE IF NOT EXISTS {SCHEMA}.request (
        number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        provider text COLLATE "C" NOT NULL,
        sent_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
        tokens   bigint NOT NULL
    )""",
    f"CREATE INDEX IF NOT EXISTS request_of_provider ON {SCHEMA}.request (provider, sent_at)",
)
_LONGEST_WAIT = 1.0
"""Seconds until the database is asked again: nobody announces that a request is over."""


class _Found(NamedTuple):
    """A request that may be sent, or why none may be."""

    request: Request | None
    slot: int | None = None
    why: str = ""
    seconds: float | None = None


@dataclass(eq=False)
class SharedRateLimiter:
    """Admits the requests of all processes that use a database.

    Args:
        database: Of the project.
        limits: By provider; those that are not in it have none.
        wait: Waits some seconds.
        minute: Seconds; another one is for tests.
    """

    database: PostgresDatabase
    limits: Mapping[str, ProviderLimits]
    wait: Callable[[float], object] = time.sleep
    minute: float = MINUTE
    _slots: set[tuple[str, int]] = field(init=False, default_factory=set[tuple[str, int]])
    _turn: threading.RLock = field(init=False, default_factory=threading.RLock)
    _prepared: bool = field(init=False, default=False)

    @contextmanager
    def admitted(self, provider: str, tokens: int, waits: Callable[[str], None]) -> Generator[Request]:
        """Wait until a request may be sent, as `RateLimiter` does.

        Raises:
            RefusedError: the session that holds the project is over.
        """
        limits = self.limits.get(provider)
        if limits is None:
            with self.database.reading() as connection:
                connection.execute("SELECT 1")
            yield Request(0.0, tokens)
            return
        self._prepare()
        told = ""
        while (found := self._admit(provider, limits, tokens)).request is None:
            if found.why != told:
                told = found.why
                waits(in_words(provider, told, found.seconds))
            self.wait(min(_LONGEST_WAIT, found.seconds or _LONGEST_WAIT))
        try:
            yield found.request
        finally:
            with suppress(*RefusedErrors):  # a session that is over holds no slot
                self._free(provider, found.slot)

    def settle(self, request: Request, tokens: int) -> None:
        """Replace the estimate of a request by what the provider counted, unless it counted nothing."""
        if not tokens or not request.number:
            return
        request.tokens = tokens
        with self.database.writing() as connection:
            connection.execute(
                f"UPDATE {SCHEMA}.request SET tokens = ? WHERE number = ?",  # noqa: S608  # a constant
                (tokens, request.number),
            )

    def _admit(self, provider: str, limits: ProviderLimits, tokens: int) -> _Found:
        """Note a request if it may be sent; whoever else asks this provider waits for the answer."""
        with self._turn, self.database.writing() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 1))", (provider,))
            slot = self._take(connection, provider, limits.concurrent_requests)
            use, now = self._use(connection, provider)
            if limits.concurrent_requests and slot is None:
                use.under_way = limits.concurrent_requests
            if (lacking := shortage(limits, use, tokens, now, self.minute)) is not None:
                self._free(provider, slot)
                return _Found(None, None, *lacking)
            row = connection.execute(
                f"INSERT INTO {SCHEMA}.request (provider, tokens) VALUES (?, ?)"  # noqa: S608  # a constant
                " RETURNING extract(epoch FROM sent_at)::float8, number",
                (provider, tokens),
            ).fetchone()
        sent_at, number = row or (now, 0)
        return _Found(Request(sent_at, tokens, number), slot)

    def _use(self, connection: QuestionMarks, provider: str) -> tuple[Use, float]:
        """What a provider was asked in the last minute, and the server's time; older requests are forgotten."""
        connection.execute(
            f"DELETE FROM {SCHEMA}.request WHERE provider = ?"  # noqa: S608  # a constant
            " AND sent_at <= clock_timestamp() - make_interval(secs => ?)",
            (provider, self.minute),
        )
        rows = connection.execute(
            f"SELECT extract(epoch FROM sent_at)::float8, tokens FROM {SCHEMA}.request"  # noqa: S608  # a constant
            " WHERE provider = ? ORDER BY sent_at",
            (provider,),
        ).fetchall()
        row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
        return Use(deque(Request(*row) for row in rows)), float(row[0]) if row else 0.0

    def _take(self, connection: QuestionMarks, provider: str, number: int) -> int | None:
        """A slot for a request under way; None if there is none."""
        for slot in range(number):
            if (provider, slot) in self._slots:
                continue  # a session gets a lock that it has as often as it asks
            if connection.execute(
                "SELECT pg_try_advisory_lock(hashtext(?), ?)", (provider, slot)
            ).fetchone() == (True,):
                self._slots.add((provider, slot))
                return slot
        return None

    def _free(self, provider: str, slot: int | None) -> None:
        if slot is None:
            return
        with self._turn:
            self._slots.discard((provider, slot))
            with self.database.writing() as connection:
                connection.execute("SELECT pg_advisory_unlock(hashtext(?), ?)", (provider, slot))

    def _prepare(self) -> None:
        """Make the table unless it is there."""
        if self._prepared:
            return
        with self.database.writing() as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"{SCHEMA} is made",))
            for statement in _TABLE:
                connection.execute(statement)
        self._prepared = True
