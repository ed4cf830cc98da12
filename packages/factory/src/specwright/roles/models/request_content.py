"""How many characters of a request are of which kind of content (design: costs)."""

import json
import re
from collections import Counter
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_KIND = re.compile(r"[A-Za-z ]+?(?= of |[^A-Za-z ]| [^a-z]|$)")

_BEFORE_SPEC = "Turn the SPEC.md in your directory"
_AFTER_SPEC = {"What cannot be built as it says", "How an example reads"}
"""Between what a request to the researcher holds SPEC.md as it was written."""

INSTRUCTIONS = "request: instructions"
"""What stands in a request outside its titled parts."""


def content_of(messages: list[BaseMessage], options: dict[str, Any]) -> dict[str, int]:
    """The characters of a request by kind of content, the largest first.

    The parts of a user message are told apart by their titles, without the names and numbers in them.

    Args:
        messages: The conversation.
        options: What the provider is given besides: tools, response format.
    """
    sizes: Counter[str] = Counter()
    for message in messages:
        if isinstance(message, SystemMessage):
            sizes["system prompt"] += len(_text(message))
        elif isinstance(message, AIMessage):
            sizes["own earlier turns"] += len(_text(message)) + len(json.dumps(_arguments(message)))
        elif isinstance(message, ToolMessage):
            sizes["tool results"] += len(_text(message))
        else:
            sizes.update(_parts(_text(message)))
    for kind, option in (("tool definitions", "tools"), ("response format", "response_format")):
        if value := options.get(option):
            sizes[kind] += len(json.dumps(value, default=str, ensure_ascii=False))
    return {kind: size for kind, size in sizes.most_common() if size}


def _parts(text: str) -> Counter[str]:
    """The parts of a user message."""
    sizes: Counter[str] = Counter()
    titles = [(match.start(), match[1]) for match in _HEADING.finditer(_without_blocks(text))]
    own = [place for place, (_, title) in enumerate(titles) if title in _AFTER_SPEC]
    if text.startswith(_BEFORE_SPEC) and own and own[0]:  # the titles of SPEC.md are a person's
        titles = [(titles[0][0], "SPEC"), *titles[own[0] :]]
    ends = [*(start for start, _ in titles[1:]), len(text)][: len(titles)]
    sizes[INSTRUCTIONS] += titles[0][0] if titles else len(text)
    for (start, title), end in zip(titles, ends, strict=True):
        sizes[f"request: {_kind(title)}"] += end - start
    return sizes


def _kind(title: str) -> str:
    """`Contract of `parse_money`` is a contract, `/tests/test_x.py` one of the module's files."""
    if title.startswith("/"):
        return "own files"
    match = _KIND.match(title)
    return match[0].strip().lower() if match else title.lower()


def _without_blocks(text: str) -> str:
    """The text, as long as before, with the lines of its fenced blocks blanked: a `# ` in them is no title."""
    return re.sub(
        r"^(`{3,})[^`\n]*\n.*?^\1$", lambda block: " " * len(block[0]), text, flags=re.MULTILINE | re.DOTALL
    )


def _text(message: BaseMessage) -> str:
    content = cast(Any, message.content)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _arguments(message: AIMessage) -> list[Any]:
    return [[call["name"], call["args"]] for call in message.tool_calls]
