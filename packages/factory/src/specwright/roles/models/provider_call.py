"""One call of a provider's model: within a time of our own, and tried again after faults that pass (design: models)."""

import queue
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import NamedTuple, TypeVar

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult

from specwright.domain.costs import tokens_in
from specwright.errors import UnreachableError
from specwright.roles.models.failures import (
    LONGEST_WAIT,
    RATE_LIMIT,
    asked_wait,
    is_refused_here,
    passes,
    status_of,
    too_late,
)
from specwright.roles.models.rate_limits import Limiter

T = TypeVar("T")

_FIRST_WAIT, _LONGEST_OWN_WAIT = 0.5, 30.0
_LONGEST_WAIT_HERE = 2.0
"""After three and a half seconds in all, a server on this machine that refuses connections is not waited for."""


class CallLimits(NamedTuple):
    """What one call may take, in seconds.

    Args:
        seconds: In all, its retries and the waits between them included.
        retry_seconds: For how long it is tried again after faults that pass; 0 for not at all.
    """

    seconds: float = 600.0
    retry_seconds: float = 150.0


class Clock(NamedTuple):
    """Time as a call sees it.

    Args:
        ticks: Monotonic seconds.
        sleep: Waits for some seconds.
    """

    ticks: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def ask_provider(
    ask: Callable[[], T],
    size: int,
    limits: CallLimits,
    waits: Callable[[str], None],
    provider: str = "",
    limiter: "Limiter | None" = None,
    clock: Clock = Clock(),  # noqa: B008 - immutable
) -> T:
    """The answer of a provider.

    The provider's client bounds each read only, so an endpoint that sends a byte a second would be heard for hours.

    Args:
        ask: Asks once.
        size: Of the request, in bytes.
        limits: Of the call.
        waits: Told in a few words before each wait.
        provider: That is asked.
        limiter: Of the providers. What is waited for it is not counted as time of the call.
        clock: Of the call.

    Raises:
        UnreachableError: no whole answer in time.
        Exception: the last fault, as the provider's client raises it.
    """
    began, late = clock.ticks(), too_late(f"there was no whole answer after {limits.seconds:g} seconds")

    def attempt() -> T:
        nonlocal began
        if limiter is None:
            return in_time(ask, began + limits.seconds - clock.ticks(), late)
        asked = clock.ticks()
        with limiter.admitted(provider, tokens_in(size), waits) as request:
            began += clock.ticks() - asked
            answer = in_time(ask, began + limits.seconds - clock.ticks(), late)
            limiter.settle(request, _tokens_of(answer))
            return answer

    own = _FIRST_WAIT
    while True:
        try:
            return attempt()
        except Exception as error:  # of whatever client; `passes` knows which may pass
            wait = max(own, asked_wait(error) or 0.0)
            last = began + min(limits.seconds, limits.retry_seconds)
            longest = _LONGEST_WAIT_HERE if is_refused_here(error) else LONGEST_WAIT
            if not passes(error) or wait > longest or clock.ticks() + wait >= last:
                raise
            waits(f"{_reason(error)}; asked again in {wait:.3g} s")
        clock.sleep(wait)
        own = min(_LONGEST_OWN_WAIT, own * 2)


def _tokens_of(answer: object) -> int:
    """The tokens that the provider counted for an answer; 0 if it did not."""
    generations = answer.generations if isinstance(answer, ChatResult) else []
    message = generations[0].message if generations else None
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return max(0, usage["total_tokens"]) if usage else 0


def in_time(ask: Callable[[], T], left: float, late: UnreachableError) -> T:
    """The answer, or an error when the seconds that are left are over; the call is then left to itself, since no client can
    be stopped."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put((ask(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(0.0, left))
    except queue.Empty:
        raise late from None
    if error is not None:
        raise error
    return answer  # pyright: ignore[reportReturnType]  # None only beside an error


def _reason(error: Exception) -> str:
    status = status_of(error)
    if status == RATE_LIMIT:
        return "the rate limit of the endpoint is reached"
    return f"the endpoint answers {status}" if status else "the endpoint cannot be reached"
