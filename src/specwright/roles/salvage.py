"""The JSON object in a model's text: past reasoning blocks, code fences and prose (DESIGN §6)."""

import json
import re
from typing import Any, cast

__all__ = ["first_object", "visible_text"]

_REASONING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)


def visible_text(content: Any) -> str:
    """The text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = cast(list[Any], content)
    parts = [b if isinstance(b, str) else str(cast(dict[str, Any], b).get("text", "")) for b in blocks]
    return "\n".join(part for part in parts if part)


def first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text that is not part of a reasoning block."""
    text = _REASONING.sub("", text)
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start != -1:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        return cast(dict[str, Any], value) if isinstance(value, dict) else None
    return None
