"""The JSON objects in a model's text: past reasoning, code fences, prose, and one more coat of quotes (DESIGN §6)."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from specwright.roles.lenient_json import BrokenOffError, LenientError, parse_object

__all__ = ["Found", "objects_in", "visible_text", "within"]

_REASONING = r"(?:think|thinking|reasoning)"
_OPENS = re.compile(rf"[{{]|<({_REASONING})>", re.IGNORECASE)
_CLOSES = re.compile(rf"</{_REASONING}>", re.IGNORECASE)
_OBJECT_LIKE = re.compile(r"\{\s*(?:[\"'“‘]|\Z)")
_WRAPPERS = {
    "answer", "final_answer", "arguments", "args", "input", "parameters", "properties", "function", "tool_calls",
    "output", "result", "response", "data", "json", "spec",
}  # fmt: skip
_LAYERS = 4


class Found(NamedTuple):
    """What a text holds.

    Args:
        objects: The whole ones, in order.
        unclosed: One that lacks nothing but its last brace, if the text ends so.
        fault: Why something that looks like an object is none; empty if there is no such thing.
        before_fault: How many of the objects stand before it: drafts of what could not be read, perhaps.
    """

    objects: tuple[dict[str, Any], ...] = ()
    unclosed: dict[str, Any] | None = None
    fault: str = ""
    before_fault: int = 0


def visible_text(content: Any) -> str:
    """The text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = cast(list[Any], content or [])
    parts = [b if isinstance(b, str) else str(cast(dict[str, Any], b).get("text", "")) for b in blocks]
    return "\n".join(part for part in parts if part)


def objects_in(text: str) -> Found:
    """The JSON objects in a text that are not part of its reasoning."""
    text = _after_reasoning(text)
    found = _scan(text)
    if not found.objects and '\\"' in text and (inner := _unquoted(text)):
        again = _scan(inner)
        return again if again.objects else found
    return found


def within(value: Any) -> Iterator[dict[str, Any]]:
    """A value, and what it may be a wrapping of, from the outside inwards: `{"answer": {...}}`, a call as text."""
    waiting = [(value, 0)]
    while waiting:
        one, depth = waiting.pop(0)
        if isinstance(one, str):
            one = _decoded(one)
        if isinstance(one, list) and len(cast(list[Any], one)) == 1:
            one = cast(list[Any], one)[0]
        if isinstance(one, dict):
            layer = cast(dict[str, Any], one)
            yield layer
            if depth < _LAYERS:
                waiting += [(inner, depth + 1) for key, inner in layer.items() if _wraps(key, layer)]


def _wraps(key: str, layer: dict[str, Any]) -> bool:
    """Whether a layer may be nothing but a wrapping of one of its values."""
    plain = not any(isinstance(value, dict | list) for name, value in layer.items() if name != key)
    return plain and (key.lower() in _WRAPPERS or len(layer) == 1)


def _after_reasoning(text: str) -> str:
    """Without reasoning whose beginning the server has cut off."""
    close, opened = _CLOSES.search(text), _OPENS.search(text)
    while opened and opened.group() == "{":
        opened = _OPENS.search(text, opened.end())
    if close and "{" in text[close.end() :] and (opened is None or opened.start() > close.start()):
        return text[close.end() :]
    return text


def _scan(text: str) -> Found:
    text = text.rstrip().removesuffix("```").rstrip()
    objects: list[dict[str, Any]] = []
    unclosed, fault, before, at = None, "", -1, 0
    while opens := _OPENS.search(text, at):
        at = opens.end()
        if opens.group() != "{":
            close = _CLOSES.search(text, at)
            at = close.end() if close else len(text)
            continue
        try:
            value, at = parse_object(text, opens.start())
            objects.append(value)
        except LenientError as error:
            if not _OBJECT_LIKE.match(text, opens.start()):
                continue
            if len(objects) > before:
                fault, before = str(error), len(objects)
            if isinstance(error, BrokenOffError):
                unclosed = error.whole
                break  # what follows is a part of it
    return Found(tuple(objects), unclosed, fault, max(before, 0))


def _decoded(text: str) -> Any:
    found = objects_in(text)
    return found.objects[0] if len(found.objects) == 1 and not found.fault else None


def _unquoted(text: str) -> str:
    """A text that was encoded once more than it should be, with or without the quotes around it."""
    inner = text.strip().removeprefix("```json").removeprefix("```").strip().removesuffix("```").strip()
    if inner.startswith('"') and inner.endswith('"'):
        inner = inner[1:-1]
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return ""
