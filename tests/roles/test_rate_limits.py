"""The limits of providers: requests and tokens in a minute, and requests at once (design: models)."""

import threading
from contextlib import ExitStack

import pytest

from specwright.roles.models.rate_limits import RateLimiter
from specwright.settings import ProviderLimits


class FakeClock:
    """A clock that is at once where somebody waits for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waited: list[float | None] = []

    def ticks(self) -> float:
        """The time."""
        return self.now

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Note the wait, and let it be over."""
        self.waited.append(seconds)
        assert seconds is not None, "nothing ends this wait"
        self.now += seconds


class Provider:
    """A provider with limits, asked by a test."""

    def __init__(self, **limits: int) -> None:
        self.clock, self.told = FakeClock(), list[str]()
        self.limiter = RateLimiter({"openai": ProviderLimits(**limits)}, self.clock.ticks, self.clock.wait)

    def ask(self, tokens: int = 10, took: int = 0, provider: str = "openai") -> None:
        """A request that is answered at once."""
        with self.limiter.admitted(provider, tokens, self.told.append) as request:
            self.limiter.settle(request, took)


def test_requests_beyond_the_limit_wait_until_the_minute_is_over() -> None:
    """D-S6-11: any sixty seconds hold so many at most; the wait is told."""
    provider = Provider(requests_per_minute=2)
    provider.ask()
    provider.clock.now = 20.0
    for _ in range(3):
        provider.ask()
    assert provider.clock.waited == [40.0, 20.0]
    assert provider.told == [
        "openai: the limit of 2 requests a minute is reached; asked in 40 s",
        "openai: the limit of 2 requests a minute is reached; asked in 20 s",
    ]


def test_tokens_beyond_the_limit_wait_for_as_many_as_are_missing() -> None:
    """D-S6-11: an estimate counts until the provider has counted."""
    provider = Provider(tokens_per_minute=100)
    provider.ask(tokens=90, took=30)
    provider.clock.now = 10.0
    provider.ask(tokens=60)
    provider.ask(tokens=20)
    assert provider.clock.waited == [50.0]
    assert "the limit of 100 tokens a minute" in provider.told[0]


def test_a_request_larger_than_the_limit_is_sent_when_nothing_else_counts() -> None:
    """It waits for those before it, and not for ever."""
    provider = Provider(tokens_per_minute=100)
    provider.ask(tokens=500)
    provider.ask(tokens=500)
    assert provider.clock.waited == [60.0]


def test_providers_without_limits_never_wait() -> None:
    """The limits of one are not those of another."""
    provider = Provider(requests_per_minute=1)
    for _ in range(5):
        provider.ask(provider="anthropic")
    provider.ask()
    assert provider.clock.waited == []


@pytest.mark.parametrize("limit", [1, 3])
def test_so_many_requests_are_under_way_at_once(limit: int) -> None:
    """D-S6-11: over threads; the next one is sent when one ends, also when it fails."""
    limiter = RateLimiter({"openai": ProviderLimits(concurrent_requests=limit)})
    told, entered, most = list[str](), list[int](), list[int]()
    waits, done = threading.Event(), threading.Event()

    def tell(why: str) -> None:
        told.append(why)
        waits.set()

    def ask(number: int) -> None:
        try:
            with limiter.admitted("openai", 1, tell):
                entered.append(number)
                most.append(len(entered))
                done.wait(10)
                entered.remove(number)
                raise ValueError
        except ValueError:
            pass

    with ExitStack() as stack:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(limit + 2)]
        for thread in threads:
            thread.start()
            stack.callback(thread.join, 10)
        assert waits.wait(10)
        done.set()
    assert len(most) == limit + 2
    assert max(most) <= limit
    assert f"openai: {limit} requests are under way" in told[0]
