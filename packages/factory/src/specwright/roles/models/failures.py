"""What can go wrong with a provider's answer, and what a person is told of it (design: models)."""

import re
import time
from email.utils import mktime_tz, parsedate_tz
from typing import Any, cast
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from specwright.errors import (
    AnswerError,
    ModelUnavailableError,
    NoAccessError,
    NoCreditError,
    SpecwrightError,
    SpecwrightErrors,
    UnreachableError,
)
from specwright.roles.models.replies import ONLY_REASONING
from specwright.secret_values import without_secrets

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
