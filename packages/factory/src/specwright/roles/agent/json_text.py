"""The JSON objects in a model's text: a tolerant reader, and a search past reasoning, code fences and prose (design:
models).

The reader accepts JSON, and what has only one reading: single and typographic quotes, trailing commas, comments, bare
keys, the literals of Python, raw line breaks and unknown escapes in strings. It writes these as JSON, token by token, and
leaves the rest to `json`. A key that occurs twice with different values is refused, and so is a text that ends before its
value does.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

_TOKEN = re.compile(
    r"""(?P<space>(?:[\s\ufeff\u200b\u2060]|//[^\n]*|\#[^\n]*|/\*.*?\*/)++)
    |(?P<text>"(?:[^"\\]|\\.)*+"
        |'(?:[^'\\]|\\.|'(?!\s*(?:[,:}\]]|\Z)))*+'
        |\u201c(?:[^\u201d\\]|\\.)*+\u201d|\u201e(?:[^\u201c\u201d\\]|\\.)*+[\u201c\u201d]
        |\u2018(?:[^\u2019\\]|\\.|\u2019(?!\s*(?:[,:}\]]|\Z)))*+\u2019)
    |(?P<mark>[{}\[\],:])
    |(?P<key>[A-Za-z_][\w$-]*(?=\s*:))
    |(?P<word>[A-Za-z_][\w$-]*)
    |(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.]))""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|.)|\"", re.DOTALL)
_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_QUOTES = "\"'\u201c\u201e\u2018"
_DEPTH = 60
_REASONING = r"(?:think|thinking|reasoning)"
_OPENS = re.compile(rf"[{{]|<({_REASONING})>", re.IGNORECASE)
_CLOSES = re.compile(rf"</{_REASONING}>", re.IGNORECASE)
_OBJECT_LIKE = re.compile(r"\{\s*(?:[\"'“‘]|\Z)")
_WRAPPERS = {
    "answer", "final_answer", "arguments", "args", "input", "parameters", "properties", "function", "tool_calls",
    "output", "result", "response", "data", "json", "spec",
}  # fmt: skip
_LAYERS = 4
_MOST_TRIES = 500
"""Braces of a text that begin no object. Each may be read to the end of the text, so without a limit the time grows with the
square of its length."""


class LenientError(ValueError):
    """The text is not JSON, not even with what the reader tolerates; the message says where."""


class BrokenOffError(LenientError):
    """The text ends before its value does."""


class Parsed(NamedTuple):
    """An object, and the position after it."""

    value: dict[str, Any]
    end: int


def parse_object(text: str, start: int) -> Parsed:
    """Read the object that begins at a brace.

    Raises:
        BrokenOffError: the text ends before it does.
        LenientError: it is not an object.
    """
    written: list[str] = []
    depth, at = 0, start
    while not written or depth:
        token = _TOKEN.match(text, at)
        if token is None and text[at : at + 1] in _QUOTES:  # the end of the text as well
            raise BrokenOffError(_place("the answer breaks off", text, at))
        kind, one = (token.lastgroup, token.group()) if token else ("", "")
        if not token or (kind == "word" and one not in _WORDS):
            raise LenientError(_place("a value is expected", text, at))
        at = token.end()
        if kind == "space":
            continue
        if kind == "mark":
            depth += (one in "{[") - (one in "}]")
            if one in "}]" and written[-1] == "," and written[-2] not in ("{", "[", ","):
                written.pop()
        written.append(_as_json(kind, one))
        if depth > _DEPTH:
            raise LenientError(_place("it is nested too deeply", text, at))
    try:
        return Parsed(json.loads(" ".join(written), strict=False, object_pairs_hook=_unique), at)
    except json.JSONDecodeError as error:
        raise LenientError(f"{error.msg}, after {error.doc[max(0, error.pos - 40) : error.pos]!r}") from error
    except ValueError as error:  # a number that is too long, a key that occurs twice
        raise LenientError(_place(str(error), text, at)) from error


def _as_json(kind: str | None, token: str) -> str:
    if kind == "text":
        return f'"{_ESCAPE.sub(_escaped, token[1:-1])}"'
    return f'"{token}"' if kind == "key" else _WORDS[token] if kind == "word" else token


def _escaped(found: re.Match[str]) -> str:
    """An escape as JSON has it; one that nobody knows is a backslash and a character."""
    what = found[1]
    if what is None:
        return r"\""
    if len(what) > 1:
        return f"\\u00{what[1:]}"
    return what if what == "'" else f"\\{what}" if what in '"\\/bfnrtu' else f"\\\\{what}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if members.setdefault(key, value) != value:
            raise ValueError(f"the key {key!r} occurs twice with different values")
    return members


def _place(message: str, text: str, at: int) -> str:
    return f"{message}, in line {text.count(chr(10), 0, at) + 1} after {text[max(0, at - 40) : at]!r}"


class ObjectsFound(NamedTuple):
    """The JSON objects of a text.

    Args:
        objects: The complete ones, in order.
        fault: Why something that looks like an object cannot be read; empty if there is none.
        before_fault: How many of the objects precede it; they may be drafts of what could not be read.
    """

    objects: tuple[dict[str, Any], ...] = ()
    fault: str = ""
    before_fault: int = 0


def visible_text(content: Any) -> str:
    """The text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = cast(list[Any], content or [])
    parts = [b if isinstance(b, str) else str(cast(dict[str, Any], b).get("text", "")) for b in blocks]
    return "\n".join(part for part in parts if part)


def objects_in(text: str) -> ObjectsFound:
    """The JSON objects in a text that are not part of its reasoning."""
    text = _after_reasoning(text)
    found = _scan(text)
    # what is quoted in a text that was encoded twice may look like objects of its own
    if (not any(found.objects) or found.fault) and '\\"' in text and (inner := _unquoted(text)):
        again = _scan(inner)
        return again if again.objects and not (any(found.objects) and again.fault) else found
    return found


def within(value: Any) -> Iterator[dict[str, Any]]:
    """A value and the objects that it may wrap, from the outside inwards: `{"answer": {...}}`, a call as text."""
    waiting = deque([(value, 0)])
    while waiting:
        one, depth = waiting.popleft()
        if isinstance(one, str):
            found = objects_in(one)
            one = found.objects[0] if len(found.objects) == 1 and not found.fault else None
        if isinstance(one, list) and len(cast(list[Any], one)) == 1:
            one = cast(list[Any], one)[0]
        if isinstance(one, dict):
            layer = cast(dict[str, Any], one)
            yield layer
            if depth < _LAYERS:
                waiting.extend((inner, depth + 1) for key, inner in layer.items() if _wraps(key, layer))


def _wraps(key: str, layer: dict[str, Any]) -> bool:
    """Whether a layer may be nothing but a wrapper of one of its values."""
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


def _scan(text: str) -> ObjectsFound:
    objects: list[dict[str, Any]] = []
    fault, before, at, tries = "", -1, 0, 0
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
            tries += 1
            if tries == _MOST_TRIES:
                fault, before = f"{tries} braces begin no JSON object", len(objects)
                break
            if not _OBJECT_LIKE.match(text, opens.start()):
                continue
            if len(objects) > before:
                fault, before = str(error), len(objects)
            if isinstance(error, BrokenOffError):
                break  # what follows is a part of it
    return ObjectsFound(tuple(objects), fault, max(before, 0))


def _unquoted(text: str) -> str:
    """A text that was encoded once more than it should be, with or without the quotes around it."""
    inner = text.strip().removeprefix("```json").removeprefix("```").strip().removesuffix("```").strip()
    if inner.startswith('"') and inner.endswith('"'):
        inner = inner[1:-1]
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return ""
