"""Two wire formats of model providers: what `testkit.endpoint` reads of a request, and how it words an answer or an error.

Both are as their providers document them, as far as the product's clients use them. An answer may be misshapen on demand,
as weak models and careless servers write it.
"""

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from langchain_core.messages import AIMessage

__all__ = ["DIALECTS", "REFUSAL", "Answer", "Dialect", "answer_of"]

REFUSAL = "I cannot help with name tags."


class Call(NamedTuple):
    """A call of a tool, its arguments as they are written."""

    id: str
    name: str
    arguments: str


class Answer(NamedTuple):
    """An answer, whatever the format.

    Args:
        text: What it says.
        calls: The tools that it calls.
        ended: Why it ended: `done`, `cut` or `refused`.
        whole: Whether there is any message at all.
        usage: `counted`, `none`, or `negative`.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    ended: str = "done"
    whole: bool = True
    usage: str = "counted"


class Dialect(Protocol):
    """A wire format."""

    name: str

    def ordinal(self, messages: Sequence[dict[str, Any]]) -> int:
        """How many answers a conversation holds."""
        ...

    def tools(self, request: dict[str, Any]) -> list[str]:
        """The names of the tools that are offered."""
        ...

    def completion(self, answer: Answer, request: dict[str, Any]) -> dict[str, Any]:
        """The body of an answer."""
        ...

    def error(self, message: str, code: str) -> dict[str, Any]:
        """The body of an error."""
        ...

    def used(self, body: dict[str, Any]) -> dict[str, int]:
        """The tokens that a body counts."""
        ...


class _OpenAI:
    name = "openai"

    def ordinal(self, messages: Sequence[dict[str, Any]]) -> int:
        return sum(message["role"] == "assistant" for message in messages)

    def tools(self, request: dict[str, Any]) -> list[str]:
        return [tool["function"]["name"] for tool in request.get("tools", [])]

    def completion(self, answer: Answer, request: dict[str, Any]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text}
        if answer.calls:
            calls = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in answer.calls
            ]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        if answer.ended == "refused":
            message = {"role": "assistant", "content": None, "refusal": REFUSAL}
        ended = "tool_calls" if answer.calls else "stop"
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "length" if answer.ended == "cut" else ended,
        }
        taken, given = _sizes(request, message, answer)
        usage = {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000, "model": request["model"],
            "choices": [choice] if answer.whole else [],
            "usage": None if answer.usage == "none" else usage,
        }  # fmt: skip

    def error(self, message: str, code: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "server_error", "code": code}}

    def used(self, body: dict[str, Any]) -> dict[str, int]:
        return body.get("usage") or {}


class _Anthropic:
    name = "anthropic"

    def ordinal(self, messages: Sequence[dict[str, Any]]) -> int:
        # the client leaves an empty answer out, so that two texts of the user follow each other
        plain = [message["role"] == "user" and isinstance(message["content"], str) for message in messages]
        dropped = sum(one and other for one, other in itertools.pairwise(plain))
        return sum(message["role"] == "assistant" for message in messages) + dropped

    def tools(self, request: dict[str, Any]) -> list[str]:
        return [tool["name"] for tool in request.get("tools", [])]

    def completion(self, answer: Answer, request: dict[str, Any]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
        content += [
            {"type": "tool_use", "id": c.id, "name": c.name, "input": _readable(c.arguments)}
            for c in answer.calls
        ]
        ended = "tool_use" if any(block["type"] == "tool_use" for block in content) else "end_turn"
        taken, given = _sizes(request, content, answer)
        said = {"content": content if answer.ended != "refused" else []} if answer.whole else {}
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], **said,
            "stop_reason": {"cut": "max_tokens", "refused": "refusal"}.get(answer.ended, ended),
            "stop_sequence": None,
            "usage": None if answer.usage == "none" else {"input_tokens": taken, "output_tokens": given},
        }  # fmt: skip

    def error(self, message: str, code: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": code, "message": message}}

    def used(self, body: dict[str, Any]) -> dict[str, int]:
        counted = body.get("usage") or {}
        taken, given = counted.get("input_tokens", 0), counted.get("output_tokens", 0)
        return {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}


DIALECTS: dict[str, Dialect] = {"openai": _OpenAI(), "anthropic": _Anthropic()}
"""By the name of the provider."""


def _sizes(request: dict[str, Any], spoken: Any, answer: Answer) -> tuple[int, int]:
    sign = -1 if answer.usage == "negative" else 1
    return sign * (len(json.dumps(request)) // 4), sign * (len(json.dumps(spoken)) // 4)


def _readable(arguments: str) -> dict[str, Any]:
    """The arguments as an object: what broke off is closed by the provider, and here nothing of it is left."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def answer_of(reply: AIMessage, fault: str, ordinal: int, tools: Sequence[str]) -> Answer:
    """An answer with the words of a reply, as a fault leaves it.

    Args:
        reply: What is said.
        fault: One of `_SHAPES`, `_ARGUMENTS` and `_ENDINGS`, `same ids`, `unknown tool`, `loop`; empty for none.
        ordinal: Of the answer in its conversation.
        tools: That are offered.
    """
    number = 0 if fault == "same ids" else ordinal
    calls = tuple(
        Call(f"call-{number}-{i}", call["name"], json.dumps(call["args"], ensure_ascii=False))
        for i, call in enumerate(reply.tool_calls)
    )
    if fault in _SHAPES:
        said = json.loads(calls[0].arguments)
        return Answer(_SHAPES[fault].format(said=json.dumps(said, ensure_ascii=False, indent=2)))
    if fault in _ARGUMENTS and calls:
        first = calls[0]._replace(arguments=_ARGUMENTS[fault](calls[0].arguments))
        return Answer("", (first, *calls[1:]), "cut" if fault == "cut arguments" else "done")
    if fault == "unknown tool":
        return Answer(calls=(Call(f"call-{number}-0", "look_around", '{"where": "everywhere"}'),))
    if fault == "loop" and (known := [name for name in _ENDLESS if name in tools]):
        return Answer(calls=(Call(f"call-{number}-0", known[0], _ENDLESS[known[0]]),))
    if fault in _ENDINGS:
        return _ENDINGS[fault]
    text = reply.content if isinstance(reply.content, str) and not calls else ""
    return Answer(text, calls, usage={"no usage": "none", "negative usage": "negative"}.get(fault, "counted"))


_SHAPES = {
    "prose": "Here is my answer, as you asked {{roughly}}.\n\n{said}\n\nI hope that this helps.",
    "fence": "```json\n{said}\n```",
    "reasoning": '<think>Perhaps {{"decision": "REJECT"}}? No.</think>\n{said}',
    "empty": "",
    "surrogate": "Half a character: \ud83d. And no object at all.",
}
"""Answers as weak models write them: as text, whatever was asked for."""

_ARGUMENTS: dict[str, Callable[[str], str]] = {
    "trailing comma": lambda said: f"{said[:-1]},}}",
    "cut arguments": lambda said: said[: len(said) // 2],
    "wrapped arguments": lambda said: json.dumps({"arguments": said}),
}
"""Arguments of calls as weak models write them."""

_ENDINGS = {
    "refusal": Answer(ended="refused"),
    "cut": Answer('{"decision": "APPR', ended="cut"),
    "no message": Answer(whole=False),
}
"""Answers that are none."""

_ENDLESS = {
    "search_code_index": '{"query": "initials of a name"}',
    "query_artifacts": "{}",
    "read_file": '{"file_path": "/SPEC.md"}',
}
"""Tools that work however often they are called, with arguments."""
