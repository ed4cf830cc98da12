"""The JSON objects in a model's text: a tolerant parser, and a search past reasoning, code fences and prose (design:
models).

The parser accepts JSON, and what has only one reading: single and typographic quotes, trailing commas, comments, bare
keys, the literals of Python, raw line breaks and unknown escapes in strings. Every JSON text has the value that JSON
gives it. A key that occurs twice with different values is refused. A text that ends before its value does is an error
of its own.
"""

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

_SPACE = re.compile(r"(?:[\s\ufeff\u200b\u2060]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_][\w$-]*")
_UNITS = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_BYTE = re.compile(r"\\x([0-9a-fA-F]{2})")
_LITERALS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_CLOSERS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\u2018": "\u2019"}
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|\Z)")
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
    """The text is not JSON, not even with what the parser tolerates; the message says where."""


class BrokenOffError(LenientError):
    """The text ends before its value does.

    Attributes:
        whole: The outermost object, if nothing but its last brace is missing.
    """

    def __init__(self, message: str, whole: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.whole = whole


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
    reader = _Reader(text, start)
    value = reader.object(1)
    return Parsed(value, reader.at)


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def object(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        self.at += 1
        while not self._closes("}"):
            key = self._key()
            self._expect(":")
            value = self._value(depth)
            if key in members and members[key] != value:
                raise self._fault(f"the key {key!r} occurs twice with different values")
            members[key] = value
            if depth == 1 and not _may_continue(value) and self._peek() == "":
                raise BrokenOffError(self._place("the closing brace is missing"), members)
            if not self._comma("}"):
                break
        return members

    def _array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        while not self._closes("]"):
            items.append(self._value(depth))
            if not self._comma("]"):
                break
        return items

    def _value(self, depth: int) -> Any:
        start = self._peek()
        if depth > _DEPTH:
            raise self._fault("it is nested too deeply")
        if start == "{":
            return self.object(depth + 1)
        if start == "[":
            return self._array(depth + 1)
        if start in _CLOSERS and start:
            return self._string(start)
        if number := _NUMBER.match(self._text, self.at):
            self.at = number.end()
            return json.loads(number.group())
        word = _WORD.match(self._text, self.at)
        if word and word.group() in _LITERALS:
            self.at = word.end()
            return _LITERALS[word.group()]
        raise self._error("a value is expected")

    def _key(self) -> str:
        start = self._peek()
        if start in _CLOSERS and start:
            return self._string(start)
        if word := _WORD.match(self._text, self.at):
            self.at = word.end()
            return word.group()
        raise self._error("a key in double quotes is expected")

    def _string(self, opener: str) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self._text):
            character = self._text[self.at]
            if character in _CLOSERS[opener] and (
                opener == '"' or _AFTER_STRING.match(self._text, self.at + 1)
            ):
                self.at += 1
                return "".join(parts)
            if character == "\\":
                parts.append(self._escape())
            else:
                parts.append(character)
                self.at += 1
        raise self._error("")

    def _escape(self) -> str:
        following = self._text[self.at + 1 : self.at + 2]
        if following == "u":
            if unit := _UNITS.match(self._text, self.at):
                self.at = unit.end()
                return str(json.loads(f'"{unit.group()}"'))
            raise self._fault("\\u is followed by four hexadecimal digits")
        if unit := _BYTE.match(self._text, self.at):
            self.at = unit.end()
            return chr(int(unit.group(1), 16))
        self.at += 2
        return _ESCAPES.get(following, f"\\{following}")

    def _peek(self) -> str:
        """The next character that is not space or comment; empty at the end."""
        space = _SPACE.match(self._text, self.at)
        self.at = space.end() if space else self.at
        return self._text[self.at : self.at + 1]

    def _closes(self, bracket: str) -> bool:
        if self._peek() != bracket:
            return False
        self.at += 1
        return True

    def _comma(self, bracket: str) -> bool:
        """Whether another item may follow; consumes the bracket if none does."""
        if self._closes(","):
            return not self._closes(bracket)
        if self._closes(bracket):
            return False
        raise self._error(f"`,` or `{bracket}` is expected")

    def _expect(self, mark: str) -> None:
        if not self._closes(mark):
            raise self._error(f"`{mark}` is expected")

    def _error(self, message: str) -> LenientError:
        if self.at >= len(self._text):
            return BrokenOffError(self._place("the answer breaks off"))
        return self._fault(message)

    def _fault(self, message: str) -> LenientError:
        return LenientError(self._place(message))

    def _place(self, message: str) -> str:
        before = self._text[max(0, self.at - 40) : self.at]
        line = self._text.count("\n", 0, self.at) + 1
        return f"{message}, in line {line} after {before!r}"


def _may_continue(value: Any) -> bool:
    """Whether a value at the end of a text may be the beginning of a longer one."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class ObjectsFound(NamedTuple):
    """The JSON objects of a text.

    Args:
        objects: The complete ones, in order.
        unclosed: One at the end of the text that lacks nothing but its last brace.
        fault: Why something that looks like an object cannot be read; empty if there is none.
        before_fault: How many of the objects precede it; they may be drafts of what could not be read.
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


def objects_in(text: str) -> ObjectsFound:
    """The JSON objects in a text that are not part of its reasoning."""
    text = _after_reasoning(text)
    found = _scan(text)
    # what is quoted in a text that was encoded twice may look like objects of its own
    if (not found.objects or found.fault) and '\\"' in text and (inner := _unquoted(text)):
        again = _scan(inner)
        return again if again.objects and not (found.objects and again.fault) else found
    return found


def within(value: Any) -> Iterator[dict[str, Any]]:
    """A value and the objects that it may wrap, from the outside inwards: `{"answer": {...}}`, a call as text."""
    waiting = deque([(value, 0)])
    while waiting:
        one, depth = waiting.popleft()
        if isinstance(one, str):
            one = _decoded(one)
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
    text = text.rstrip().removesuffix("```").rstrip()
    objects: list[dict[str, Any]] = []
    unclosed, fault, before, at, tries = None, "", -1, 0, 0
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
                unclosed = error.whole
                break  # what follows is a part of it
    return ObjectsFound(tuple(objects), unclosed, fault, max(before, 0))


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
