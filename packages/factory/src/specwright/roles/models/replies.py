"""Repairs what careless servers get wrong around an answer, before a provider's client reads the reply (design: models).

Each function takes a whole reply as JSON and changes it in place. What is sound stays the same; what has no single reading
is left to the client, which refuses it. The answer itself is read by `roles.answers`.
"""

import json
import math
import re
from typing import Any, cast

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
