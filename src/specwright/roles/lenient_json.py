"""JSON as weak models write it: read where only one reading is possible, refused everywhere else (DESIGN §6).

Taken beside JSON: single and typographic quotes, trailing commas, comments, bare keys, the literals of Python, raw
line breaks and unknown escapes in strings. Every JSON text has the value that JSON gives it. Refused: a key that
stands twice with different values, and a text that ends before its value does, which is told apart from a fault.
"""

import json
import re
from typing import Any, NamedTuple

__all__ = ["BrokenOffError", "LenientError", "Parsed", "parse_object"]

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


class LenientError(ValueError):
    """The text is no JSON, in whatever manner of writing; the message says where."""


class BrokenOffError(LenientError):
    """The text ends before its value does.

    Attributes:
        whole: The outermost object, if nothing but its last brace is missing.
    """

    def __init__(self, message: str, whole: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.whole = whole


class Parsed(NamedTuple):
    """An object and where the text goes on after it."""

    value: dict[str, Any]
    end: int


def parse_object(text: str, start: int) -> Parsed:
    """Read the object that begins at a brace.

    Raises:
        BrokenOffError: the text ends before it does.
        LenientError: it is none.
    """
    reader = _Reader(text, start)
    value = reader.object(1)
    return Parsed(value, reader.at)


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at

    def object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._closes("}"):
            key = self._key()
            self._expect(":")
            value = self._value(depth)
            if key in found and found[key] != value:
                raise self._fault(f"the key {key!r} stands twice with different values")
            found[key] = value
            if depth == 1 and not _may_go_on(value) and self._peek() == "":
                raise BrokenOffError(self._place("the closing brace is missing"), found)
            if not self._comma("}"):
                break
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._closes("]"):
            found.append(self._value(depth))
            if not self._comma("]"):
                break
        return found

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
        raise self._ended_or("a value is expected")

    def _key(self) -> str:
        start = self._peek()
        if start in _CLOSERS and start:
            return self._string(start)
        if word := _WORD.match(self._text, self.at):
            self.at = word.end()
            return word.group()
        raise self._ended_or("a key in double quotes is expected")

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
        raise self._ended_or("")

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
        """The next character that says something; empty at the end."""
        space = _SPACE.match(self._text, self.at)
        self.at = space.end() if space else self.at
        return self._text[self.at : self.at + 1]

    def _closes(self, bracket: str) -> bool:
        if self._peek() != bracket:
            return False
        self.at += 1
        return True

    def _comma(self, bracket: str) -> bool:
        """Whether there may be more; the bracket is taken if there is none."""
        if self._closes(","):
            return not self._closes(bracket)
        if self._closes(bracket):
            return False
        raise self._ended_or(f"`,` or `{bracket}` is expected")

    def _expect(self, mark: str) -> None:
        if not self._closes(mark):
            raise self._ended_or(f"`{mark}` is expected")

    def _ended_or(self, message: str) -> LenientError:
        if self.at >= len(self._text):
            return BrokenOffError(self._place("the answer breaks off"))
        return self._fault(message)

    def _fault(self, message: str) -> LenientError:
        return LenientError(self._place(message))

    def _place(self, message: str) -> str:
        said = self._text[max(0, self.at - 40) : self.at]
        line = self._text.count("\n", 0, self.at) + 1
        return f"{message}, in line {line} after {said!r}"


def _may_go_on(value: Any) -> bool:
    """Whether a value at the end of a text may be the beginning of a longer one."""
    return isinstance(value, int | float) and not isinstance(value, bool)
