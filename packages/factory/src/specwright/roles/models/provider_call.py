"""One call of a provider's model: within a time of our own, and tried again after faults that pass (design: models)."""

import queue
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import NamedTuple, TypeVar

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from tenacity import RetryCallState, Retrying, retry_if_exception

from specwright.domain.costs import tokens_in
from specwright.errors import ModelUnavailableError
from specwright.roles.models.failures import LONGEST_WAIT, asked_wait, passes
from specwright.roles.models.rate_limits import Limiter

T = TypeVar("T")

_FIRST_WAIT, _LONGEST_OWN_WAIT = 0.5, 8.0


class CallLimits(NamedTuple):
    """What one call may take.

    Args:
        seconds: In all, its retries and the waits between them included.
        retries: After faults that pass.
    """

    seconds: float = 600.0
    retries: int = 2


def ask_provider(
    ask: Callable[[], T],
    size: int,
    limits: CallLimits,
    waits: Callable[[str], None],
    provider: str = "",
    limiter: "Limiter | None" = None,
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

    Raises:
        ModelUnavailableError: no whole answer in time.
        Exception: the last fault, as the provider's client raises it.
    """
    ends = time.monotonic() + limits.seconds

    def attempt() -> T:
        nonlocal ends
        if limiter is None:
            return _in_time(ask, ends, limits.seconds)
        began = time.monotonic()
        with limiter.admitted(provider, tokens_in(size), waits) as request:
            ends += time.monotonic() - began
            answer = _in_time(ask, ends, limits.seconds)
            limiter.settle(request, _tokens_of(answer))
            return answer

    def is_over(state: RetryCallState) -> bool:
        return state.attempt_number > limits.retries or time.monotonic() + state.upcoming_sleep >= ends

    retrying = Retrying(
        retry=retry_if_exception(_may_be_tried_again),
        stop=is_over,
        wait=_seconds_to_wait,
        before_sleep=lambda state: waits(_waiting(state)),
        reraise=True,
    )
    return retrying(attempt)


def _tokens_of(answer: object) -> int:
    """The tokens that the provider counted for an answer; 0 if it did not."""
    generations = answer.generations if isinstance(answer, ChatResult) else []
    message = generations[0].message if generations else None
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return max(0, usage["total_tokens"]) if usage else 0


def _in_time(ask: Callable[[], T], ends: float, seconds: float) -> T:
    """The answer, or an error when the time is over; the call is then left to itself, since no client can be stopped."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put((ask(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(0.0, ends - time.monotonic()))
    except queue.Empty:
        raise ModelUnavailableError(
            "the model did not answer in time",
            where=f"there was no whole answer after {seconds:g} seconds",
            remedy="raise `timeout_seconds` in specwright.toml, or run again",
        ) from None
    if error is not None:
        raise error
    return answer  # pyright: ignore[reportReturnType]  # None only beside an error


def _may_be_tried_again(error: BaseException) -> bool:
    return isinstance(error, Exception) and passes(error) and (asked_wait(error) or 0.0) <= LONGEST_WAIT


def _seconds_to_wait(state: RetryCallState) -> float:
    own = min(_LONGEST_OWN_WAIT, _FIRST_WAIT * 2 ** (state.attempt_number - 1))
    error = state.outcome.exception() if state.outcome else None
    asked = asked_wait(error) if error else None
    return own if asked is None else asked


def _waiting(state: RetryCallState) -> str:
    error = state.outcome.exception() if state.outcome else None
    status = getattr(error, "status_code", None)
    what = f"the endpoint answers {status}" if status else "the endpoint cannot be reached"
    seconds = state.next_action.sleep if state.next_action else 0.0
    return f"{what}; asked again in {seconds:.3g} s"
