"""What can go wrong with a provider's answer, and what a person is told of it (design: models)."""

import re
import time
from email.utils import mktime_tz, parsedate_tz
from typing import Any, cast

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata

from specwright.errors import (
    AnswerError,
    AnyError,
    InputError,
    InputErrors,
    ModelUnavailableError,
    NoCreditError,
    SpecwrightError,
    SpecwrightErrors,
)
from specwright.secret_values import without_secrets

_UNREACHABLE = {"APIConnectionError", "ConnectError", "ConnectionError", "TransportError"}
_UNREADABLE = {"ValueError", "TypeError", "LookupError", "AttributeError"}
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


def translated(error: Exception, model: str = "") -> SpecwrightError:
    """The error that a person sees for a failed model call.

    Args:
        error: Of the provider's client.
        model: That was asked, `provider:name`; empty if that is not known.
    """
    provider, _, name = model.partition(" ")[0].partition(":")
    names = {base.__name__ for base in type(error).__mro__}
    status = _status(error)
    where = _first_line(error)
    if names & _TIMED_OUT:
        return ModelUnavailableError(
            "the model did not answer in time",
            where=where,
            remedy="raise `timeout_seconds` in specwright.toml, or run again",
        )
    if names & _UNREACHABLE:
        return ModelUnavailableError(
            "the model's endpoint cannot be reached",
            where=where,
            remedy="check --base-url and that the server runs; `specwright doctor` shows more; then run again",
        )
    if status in (401, 403):
        variable = KEY_VARIABLES.get(provider)
        remedy = f"set {variable} to a key that it takes" if variable else "set the provider's API key"
        return InputError("the endpoint refuses the key", where=where, remedy=remedy)
    if status == 404:
        return InputError(
            f"the endpoint does not know the model {name}"
            if name
            else "the endpoint does not know this model",
            where=where,
            remedy="check the name after the colon in --model, and --base-url if the server is yours",
        )
    if lasting := _lasting(error, status):
        return lasting
    if status is None and names & _UNREADABLE:
        return ModelUnavailableError(
            "the endpoint's answer does not follow its protocol",
            where=f"{type(error).__name__}: {where}",
            remedy="check --base-url (for most servers it ends in /v1) and what listens there",
        )
    if (wait := asked_wait(error) or 0) > LONGEST_WAIT:
        return ModelUnavailableError(
            f"the endpoint asks to wait {wait:.0f} seconds", where=where, remedy="run again after that"
        )
    return ModelUnavailableError(
        "the model call failed", where=f"{type(error).__name__}: {where}", remedy="run again to go on"
    )


def another_may_answer(error: AnyError) -> bool:
    """Whether a call failed for good because of its model or endpoint, so that a fallback is worth asking.

    Not an answer that is none, and not a budget: those would meet any model.
    """
    return isinstance(error, ModelUnavailableError) or is_refused_access(error)


def is_refused_access(error: AnyError) -> bool:
    """Whether the endpoint refuses the key, or does not know the model."""
    return isinstance(error, InputErrors) and getattr(error.__cause__, "status_code", None) in (401, 403, 404)


def passes(error: Exception) -> bool:
    """Whether the same call may succeed a little later."""
    status = _status(error)
    if isinstance(error, SpecwrightErrors) or _lasting(error, status):
        return False
    names = {base.__name__ for base in type(error).__mro__}
    return status in _PASSING_STATUS or bool(names & _UNREACHABLE)


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
    """The seconds for which the endpoint asks to wait, in `Retry-After` as a number or a date; None if it does not."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    text = str(headers.get("retry-after", "")).strip()
    if text.replace(".", "", 1).isdecimal():
        return float(text)
    date = parsedate_tz(text) if text else None
    try:
        return max(0.0, mktime_tz(date) - time.time()) if date else None  # noqa: TID251 - compared with the server's clock
    except (ValueError, OverflowError):  # no such day
        return None


_ANOTHER = "another model, or another wording of SPEC.md, may help"


def answer_fault(message: AIMessage) -> AnswerError | None:
    """What the provider says of an answer that it cut, filtered or refused; None of any other answer."""
    ended = _ended_by(message)
    words = _refusal(message) or (message.text.strip() if ended == "refusal" else "")
    if words or ended == "refusal":
        return AnswerError(f"the model refuses: {words or 'it does not say why'}", remedy=_ANOTHER)
    if ended in ("content_filter", "safety"):
        return AnswerError("the provider's filter stopped the answer", remedy=_ANOTHER)
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


def _status(error: Exception) -> int | None:
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
    """The `error` that an endpoint sends with status 200, as its client passes it on."""
    said: Any = error.args[0] if error.args else None
    if not isinstance(said, dict) and (response := getattr(error, "response", None)) is not None:
        try:
            said = response.json()["error"]
        except (KeyError, TypeError, ValueError):
            return None
    return cast(dict[str, Any], said) if isinstance(said, dict) else None


def _address(error: Exception) -> str:
    """The address that was asked, where the client's error still knows it; without anything that could be a secret."""
    url = str(getattr(getattr(error, "request", None), "url", ""))
    return url.partition("?")[0].rpartition("@")[2]
