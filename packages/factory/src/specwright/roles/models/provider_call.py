"""One call of a provider's model: bounded in time, tried again after faults that pass, and each fault said in words (design:
models).

Careless servers send replies that their own client cannot read. `repair_openai` and `repair_anthropic` take a whole reply
as JSON and change it in place. What has no single reading is left to the client, which refuses it.
"""

import json
import math
import queue
import re
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from email.utils import mktime_tz, parsedate_tz
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatResult

from specwright.domain.costs import tokens_in
from specwright.errors import (
    AnswerError,
    ModelUnavailableError,
    NoAccessError,
    NoCreditError,
    SpecwrightError,
    SpecwrightErrors,
    UnreachableError,
)
from specwright.roles.models.rate_limits import Limiter
from specwright.secret_values import without_secrets

ONLY_REASONING = "only_reasoning"
"""Stands for the reason why an answer ended, where the model's reasoning came and no answer."""

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]+$")
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")

Json = dict[str, Any]


def repair_openai(reply: Json) -> None:
    """Repair a chat completion: roles, tool calls, and counts of tokens."""
    for choice in cast(list[Json], reply.get("choices") or []):
        message: Json = choice.get("message") or {}
        calls = cast(list[Json], message.get("tool_calls") or [])
        message["role"] = "assistant"
        for number, call in enumerate(calls):
            function: Json = call.get("function") or {}
            call["id"] = _id(call.get("id"), reply, number)
            function["name"] = _name(function.get("name"))
            function["arguments"] = _arguments(function.get("arguments"))
        thought = message.get("reasoning_content") or message.get("reasoning")
        if thought and not (calls or message.get("content")) and choice.get("finish_reason") == "stop":
            choice["finish_reason"] = ONLY_REASONING
    reply["usage"] = _whole(reply.get("usage"))


def repair_anthropic(reply: Json) -> None:
    """Repair a message: tool calls, and counts of tokens. One that counts tokens and has no content is an empty answer,
    which was paid."""
    if isinstance(content := reply.get("content"), str):
        reply["content"] = [{"type": "text", "text": content}]
    elif content is None and reply.get("usage"):
        reply["content"] = []
    for number, block in enumerate(cast(list[Json], reply.get("content") or [])):
        if block.get("type") == "tool_use":
            block["id"] = _id(block.get("id"), reply, number)
            block["name"] = _name(block.get("name"))
            if isinstance(given := block.get("input"), str):
                block["input"] = json.loads(given)
    reply["usage"] = _whole(reply.get("usage"))


def _id(given: Any, reply: Json, number: int) -> str:
    """The id of a call; of one without, an id that no other reply has."""
    return str(given) if given is not None else _NOT_IN_IDS.sub("_", f"{reply.get('id') or 'call'}_{number}")


def _name(given: Any) -> Any:
    """The name of a tool without what some models write around it: `functions.NAME`, `NAME<|channel|>commentary`."""
    found = _TOOL_NAME.search(str(given or "").partition("<|")[0].strip())
    return found[0] if found else given


def _arguments(given: Any) -> Any:
    """The arguments of a call as JSON text, once: some servers send the object, or the text of the text."""
    if isinstance(given, dict):
        return json.dumps(given)
    try:
        while isinstance(given, str) and isinstance(inner := json.loads(given), str):
            given = inner
    except (ValueError, RecursionError):
        pass  # broken or bottomless text is refused where answers are read
    return given


def _whole(usage: Any) -> Any:
    """Counts of tokens, with their details, as whole numbers."""
    if isinstance(usage, dict):
        return {name: _whole(count) for name, count in cast(Json, usage).items()}
    if isinstance(usage, float):
        return round(usage) if math.isfinite(usage) else 0
    return usage


_UNREACHABLE = {"APIConnectionError", "ConnectError", "ConnectionError", "TransportError"}
_UNREADABLE = {"ValueError", "TypeError", "LookupError", "AttributeError", "Warning"}
_TIMED_OUT = {"APITimeoutError", "TimeoutException", "TimeoutError"}
_PASSING_STATUS = {408, 409, 429, *range(500, 600)} - {501, 505}
_TOO_LONG = re.compile(
    r"context.?length|maximum context|context window|prompt is too long|too many tokens", re.IGNORECASE
)
_NO_CREDIT = re.compile(
    r"insufficient.?quota|exceeded your current quota|credit balance|billing", re.IGNORECASE
)
_NO_QUOTA = re.compile(r"insufficient.?quota", re.IGNORECASE)
"""Of a 429, which otherwise passes, whatever else it says of quotas, tokens and billing."""
_LOOPBACK = re.compile(r"localhost|127(\.\d+){3}|::1")
RATE_LIMIT = 429
_ASKED_IN_WORDS = re.compile(
    r"(?:again|retry)\s+(?:in|after)\s+(?:(\d+)\s*h[a-z]*\s*)?(?:(\d+)\s*m(?!s)[a-z]*?\s*)?(?:(\d+(?:\.\d+)?)\s*(ms|s))?",
    re.IGNORECASE,
)
"""As in `Please try again in 1m30s.`"""
LONGEST_WAIT = 120.0
"""Seconds that are waited at an endpoint's request; one that asks for more is not asked again."""


KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "cohere": "COHERE_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "fireworks": "FIREWORKS_API_KEY",
    "google_genai": "GOOGLE_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistralai": "MISTRAL_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "together": "TOGETHER_API_KEY",
    "xai": "XAI_API_KEY",
}
"""The variable that holds the key of a provider."""


def too_late(
    where: str, remedy: str = "raise `timeout_seconds` in specwright.toml, or run again"
) -> UnreachableError:
    """The error for an answer that does not come in time."""
    return UnreachableError("the model did not answer in time", where=where, remedy=remedy)


def translated(error: Exception, model: str = "") -> SpecwrightError:
    """The error that a person sees for a failed model call.

    Args:
        error: Of the provider's client.
        model: That was asked, `provider:name`; empty if that is not known.
    """
    provider, _, name = model.partition(" ")[0].partition(":")
    names = {base.__name__ for base in type(error).__mro__}
    status = status_of(error)
    where = _first_line(error)
    if names & _TIMED_OUT:
        return too_late(where)
    if is_refused_here(error):
        return UnreachableError(
            "nothing listens at the model's endpoint on this machine",
            where=where,
            remedy="start its server there, or check --base-url; then run again: nothing is lost",
        )
    if names & _UNREACHABLE:
        proxy = "that the proxy of HTTP_PROXY and the like lets it through (NO_PROXY leaves a host out), "
        return UnreachableError(
            "the model's endpoint cannot be reached",
            where=where,
            remedy=f"check --base-url, {proxy if getproxies_environment() else ''}and that the server runs; then run again",
        )
    if status in (401, 403):
        variable = KEY_VARIABLES.get(provider)
        remedy = f"set {variable} to a key that it takes" if variable else "set the provider's API key"
        return NoAccessError(
            "the endpoint refuses the key", where=where, remedy=f"{remedy}; then run again: nothing is lost"
        )
    if status == 404:
        return NoAccessError(
            f"the endpoint does not know the model {name}, or not this address",
            where=where,
            remedy="check the name after the colon in --model, and --base-url: for most servers it ends in /v1",
            options="--model PROVIDER:MODEL",
        )
    if lasting := _lasting(error, status):
        return lasting
    if status is None and names & _UNREADABLE:
        return ModelUnavailableError(
            "the endpoint's answer does not follow its protocol",
            where=f"{type(error).__name__}: {where}",
            remedy="check --base-url (for most servers it ends in /v1) and what listens there",
        )
    wait = asked_wait(error)
    if status == RATE_LIMIT or (wait or 0) > LONGEST_WAIT:
        what = "the rate limit of the endpoint is reached" if status == RATE_LIMIT else "the endpoint is busy"
        return UnreachableError(
            f"{what}; it asks to wait {wait:.0f} seconds" if wait else what,
            where=where,
            remedy="run again after that; `limits` in specwright.toml keep requests below a provider's limits",
        )
    return UnreachableError(
        f"the endpoint answers {status}" if status else f"the model call failed: {type(error).__name__}",
        where=where,
        remedy="look at the server, or wait; then run again: nothing is lost",
    )


def passes(error: Exception) -> bool:
    """Whether the same call may succeed a little later."""
    status = status_of(error)
    if isinstance(error, SpecwrightErrors) or _lasting(error, status):
        return False
    names = {base.__name__ for base in type(error).__mro__}
    return status in _PASSING_STATUS or bool(names & _UNREACHABLE)


def is_refused_here(error: Exception) -> bool:
    """Whether this machine itself refuses the connection: a server that nobody starts is not there a little later either."""
    url = _address(error)
    host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ConnectionRefusedError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None and _LOOPBACK.fullmatch(host) is not None


def _lasting(error: Exception, status: int | None) -> SpecwrightError | None:
    """What is told of a fault that the next run would meet again; None for any other."""
    said = _error_object(error)
    if status is None and said is None:
        return None
    text, where = f"{error} {said}", _first_line(error)
    if (_NO_QUOTA if status == 429 else _NO_CREDIT).search(text) or status == 402:
        return NoCreditError(
            "the account behind the key has no credit left",
            where=where,
            remedy="add credit there, or choose another model with --model; then run again",
        )
    if (status in (None, 400, 422) and _TOO_LONG.search(text)) or status == 413:
        return ModelUnavailableError(
            "the request is longer than this model takes",
            where=where,
            remedy="choose a model with a longer context with --model or --role-model; then run again",
        )
    if status is None or status in (400, 405, 410, 415, 422):
        return ModelUnavailableError(
            "the endpoint refuses the request",
            where=where,
            remedy="it would refuse it again: choose another model with --model, or another endpoint with --base-url",
        )
    return None


def asked_wait(error: BaseException) -> float | None:
    """The seconds for which the endpoint asks to wait, in `Retry-After` as a number or a date or in what it says; None if it
    does not."""
    asked = [wait for wait in (_wait_in_header(error), _wait_in_words(error)) if wait is not None]
    return max(asked, default=None)


def _wait_in_header(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    text = str(headers.get("retry-after", "")).strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    date = parsedate_tz(text) if text else None
    try:
        return max(0.0, mktime_tz(date) - time.time()) if date else None  # noqa: TID251 - compared with the server's clock
    except (ValueError, OverflowError):  # no such day
        return None


def _wait_in_words(error: BaseException) -> float | None:
    found = _ASKED_IN_WORDS.search(str(error)) if getattr(error, "status_code", None) == RATE_LIMIT else None
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds, unit = found.groups()
    return (
        3600.0 * int(hours or 0)
        + 60 * int(minutes or 0)
        + float(seconds or 0) / (1000 if unit == "ms" else 1)
    )


_ANOTHER = "another model, or another wording of SPEC.md, may help"


def answer_fault(message: AIMessage) -> AnswerError | None:
    """What the provider says of an answer that it cut, filtered or refused; None of any other answer."""
    ended = _ended_by(message)
    words = _refusal(message) or (message.text.strip() if ended == "refusal" else "")
    if words or ended == "refusal":
        return AnswerError(f"the model refuses: {words or 'it does not say why'}", remedy=_ANOTHER)
    if ended in ("content_filter", "safety"):
        return AnswerError("the provider's filter stopped the answer", remedy=_ANOTHER)
    if ended == ONLY_REASONING:
        return AnswerError(
            "only the model's reasoning came back, and no answer",
            remedy="have the server put the answer into the message's content, or take a model that reasons less",
        )
    if ended in ("length", "max_tokens"):
        return AnswerError(
            "the answer was cut off where the model's output ends; write less at once",
            remedy="a model with a longer output, or smaller tasks in SPEC.md, may help",
        )
    return None


def last_call_is_cut(message: AIMessage) -> bool:
    """Whether the arguments of the last call broke off, though they can be read: Anthropic's API closes what is open."""
    return bool(message.tool_calls) and _ended_by(message) == "max_tokens"


def _ended_by(message: AIMessage) -> str | None:
    told = message.response_metadata
    return told.get("finish_reason") or told.get("stop_reason")


def _refusal(message: AIMessage) -> str:
    if words := message.additional_kwargs.get("refusal"):
        return str(words)
    blocks = cast(list[Any], message.content if isinstance(message.content, list) else [])
    parts = [cast(dict[str, Any], block) for block in blocks if isinstance(block, dict)]
    return " ".join(str(part["refusal"]) for part in parts if "refusal" in part)


def answer_in(error: Exception) -> AIMessage | None:
    """The answer that came, and was paid, although the provider's client raises an error for how it ended."""
    if type(error).__name__ not in ("LengthFinishReasonError", "ContentFilterFinishReasonError"):
        return None
    body: dict[str, Any] = cast(Any, error).response.json()
    choice: dict[str, Any] = body["choices"][0]
    content: str | None = choice["message"].get("content")
    return AIMessage(
        content or "",
        response_metadata={"finish_reason": choice["finish_reason"]},
        usage_metadata=openai_usage(body.get("usage")),
    )


def openai_usage(counted: dict[str, Any] | None) -> UsageMetadata:
    """The usage that an endpoint reports in the OpenAI form; zeros where it does not."""
    taken, given = (int((counted or {}).get(name) or 0) for name in ("prompt_tokens", "completion_tokens"))
    return UsageMetadata(input_tokens=taken, output_tokens=given, total_tokens=taken + given)


def status_of(error: Exception) -> int | None:
    """The status of the reply, or the one that an error object names where the reply itself has the status 200."""
    status: int | None = getattr(error, "status_code", None)
    code = (_error_object(error) or {}).get("code")
    return code if status is None and isinstance(code, int) and 400 <= code < 600 else status


def _first_line(error: Exception) -> str:
    text = str((_error_object(error) or {}).get("message") or error).strip().splitlines()
    line = without_secrets(text[0] if text else type(error).__name__)[:300]
    if status := getattr(error, "status_code", None):
        line = f"{status}: {line}"
    address = _address(error)
    return f"{address}: {line}" if address else line


def _error_object(error: Exception) -> dict[str, Any] | None:
    """The `error` that an endpoint sends, also with status 200, as its client passes it on; some send a text."""
    said: Any = error.args[0] if error.args else None
    if not isinstance(said, dict) and (response := getattr(error, "response", None)) is not None:
        try:
            body = response.json()
            said = body.get("error") or body.get("message") or body.get("detail")
        except (AttributeError, ValueError):
            return None
        said = {"message": said} if isinstance(said, str) else said
    return cast(dict[str, Any], said) if isinstance(said, dict) else None


def _address(error: Exception) -> str:
    """The address that was asked, where the client's error still knows it; without anything that could be a secret."""
    url = str(getattr(getattr(error, "request", None), "url", ""))
    return url.partition("?")[0].rpartition("@")[2]


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
