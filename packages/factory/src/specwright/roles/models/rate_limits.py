"""What each provider is asked at most: requests and tokens in a minute, and requests at once (design: models).

`RateLimiter` holds them for the process, over all roles and threads; `shared_rate_limits` for every process that drives a
project in the same database. A minute is any sixty seconds, so that no burst at the turn of
a minute exceeds what the provider allows.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from specwright.settings import ProviderLimits

if TYPE_CHECKING:
    from specwright.roles.models.shared_rate_limits import SharedRateLimiter

MINUTE = 60.0


@dataclass(slots=True)
class Request:
    """A request that was sent in the last minute.

    Args:
        sent_at: Seconds of the limiter's clock.
        tokens: What it takes: an estimate, until the provider has counted.
        number: Of its row, where requests are rows.
    """

    sent_at: float
    tokens: int
    number: int = 0


@dataclass(slots=True)
class Use:
    """What a provider was asked."""

    sent: deque[Request] = field(default_factory=deque[Request])
    under_way: int = 0


@dataclass(eq=False)
class RateLimiter:
    """Admits requests to providers as their limits allow.

    Args:
        limits: By provider; those that are not in it have none.
        ticks: Monotonic seconds.
        wait: Waits on a condition for some seconds, or until it is notified.
    """

    limits: Mapping[str, ProviderLimits]
    ticks: Callable[[], float] = time.monotonic
    wait: Callable[[threading.Condition, float | None], object] = threading.Condition.wait
    _changed: threading.Condition = field(init=False, default_factory=threading.Condition)
    _uses: dict[str, Use] = field(init=False, default_factory=lambda: defaultdict(Use))

    @contextmanager
    def admitted(self, provider: str, tokens: int, waits: Callable[[str], None]) -> Generator[Request]:
        """Wait until a request may be sent; it is under way until the block ends.

        Args:
            provider: That is asked.
            tokens: What the request may take. One that is larger than the limit is sent once nothing else is counted.
            waits: Told in a few words before each wait for another reason.
        """
        told = ""
        with self._changed:
            use, limits = self._uses[provider], self.limits.get(provider, ProviderLimits())
            while (lacking := shortage(limits, use, tokens, self.ticks())) is not None:
                why, seconds = lacking
                if why != told:
                    told = why
                    waits(in_words(provider, why, seconds))
                self.wait(self._changed, seconds)
            request = Request(self.ticks(), tokens)
            use.sent.append(request)
            use.under_way += 1
        try:
            yield request
        finally:
            with self._changed:
                use.under_way -= 1
                self._changed.notify_all()

    def settle(self, request: Request, tokens: int) -> None:
        """Replace the estimate of a request by what the provider counted, unless it counted nothing."""
        with self._changed:
            request.tokens = tokens or request.tokens
            self._changed.notify_all()


Limiter: TypeAlias = "RateLimiter | SharedRateLimiter"


def in_words(provider: str, why: str, seconds: float | None) -> str:
    """Why a request waits, and how long if that is known."""
    return f"{provider}: {why}" + (f"; asked in {seconds:.3g} s" if seconds else "")


def shortage(
    limits: ProviderLimits, use: Use, tokens: int, now: float, minute: float = MINUTE
) -> tuple[str, float | None] | None:
    """Why a request must wait, and for how long if that is known; None if it may be sent."""
    while use.sent and use.sent[0].sent_at <= now - minute:
        use.sent.popleft()
    if limits.concurrent_requests and use.under_way >= limits.concurrent_requests:
        return f"{use.under_way} requests are under way, which is the limit", None
    if limits.requests_per_minute and len(use.sent) >= limits.requests_per_minute:
        free = use.sent[-limits.requests_per_minute]
        why = f"the limit of {limits.requests_per_minute:,} requests a minute is reached"
        return why, free.sent_at + minute - now
    excess = sum(request.tokens for request in use.sent) + tokens - limits.tokens_per_minute
    if limits.tokens_per_minute and excess > 0 and use.sent:
        why = f"the limit of {limits.tokens_per_minute:,} tokens a minute is reached"
        return why, _last_to_expire(use.sent, excess).sent_at + minute - now
    return None


def _last_to_expire(sent: deque[Request], tokens: int) -> Request:
    """The request with whose end so many tokens are no longer counted; the last if there are fewer."""
    for request in sent:
        tokens -= request.tokens
        if tokens <= 0:
            return request
    return sent[-1]
