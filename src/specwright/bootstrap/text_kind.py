"""A file that was given as SPEC.md by mistake: a program, a log, the README of something that exists.

A model makes a product of any text, and that costs money; so what no person writes as a spec is told before one is
asked. Prose with code in it is a spec; only a file that is nothing but code is a program.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_README_MARKS = (
    re.compile(r"^\s*(?:\[!\[|!\[(?:build|ci|coverage|pypi|npm|license)\b)", re.IGNORECASE),
    re.compile(
        r"^#+\s*(?:installation|installing|install|contributing|changelog|contributors)\s*$", re.IGNORECASE
    ),
    re.compile(r"^#+\s*licen[sc]e\s*$", re.IGNORECASE),
    re.compile(r"^\s*[$>]?\s*(?:pip|pipx|uv tool|npm|cargo|brew|go|gem|apt(?:-get)?) install\s+\S"),
    re.compile(r"^```(?:sh|bash|console|shell)\s*$"),
    re.compile(r"^\s*[$>]?\s*git clone\s+\S"),
)
"""What a README says of a program that exists; each kind counts once."""

_MARKS_OF_A_README = 2
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ,]\s*\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d"
_LOG_LINE = re.compile(
    rf"^\s*(?:[\[(<]?(?:{_TIME})|[\[(]?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\b[\])]?[ :]"
    rf"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{{2}}/\d{{4}}:)"
)
_LINES_OF_A_LOG = 5
_WEB_PAGE = re.compile(r"\A\s*(?:<!doctype html|<html\b|<\?xml\b)", re.IGNORECASE)
_SCRIPT = re.compile(r"\A#!\s*/\S+")


class TextKind(NamedTuple):
    """What a text is that is no spec.

    Args:
        what: In a few words, with its article.
        lines: Those that show it, the first of them; empty if the whole text does.
        remedy: What to do about it.
    """

    what: str
    lines: tuple[int, ...] = ()
    remedy: str = "say what the product does, in prose, and name that file"


def kind_of_text(text: str) -> TextKind | None:
    """What a text is, if nobody wrote it as a spec; None of a spec, however short or odd."""
    return next((found for look in _KINDS if (found := look(text))), None)


def _script(text: str) -> TextKind | None:
    return TextKind("a script", (1,)) if _SCRIPT.match(text) else None


def _web_page(text: str) -> TextKind | None:
    return TextKind("a web page or XML", (1,)) if _WEB_PAGE.match(text) else None


def _python(text: str) -> TextKind | None:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    code = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)
    if not any(isinstance(one, code) for one in body):
        return None
    return TextKind(
        "a Python program",
        remedy="say in prose what the product does",
    )


def _data(text: str) -> TextKind | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, dict) and "pillars" in data:
        return None  # a structured spec, which is judged as one
    return TextKind("JSON, and no product spec, which has `pillars`")


def _log(text: str) -> TextKind | None:
    lines = [line for line in text.splitlines() if line.strip()]
    stamped = sum(1 for line in lines if _LOG_LINE.match(line))
    is_log = len(lines) >= _LINES_OF_A_LOG and stamped * 2 > len(lines)
    return TextKind("a log: most of its lines begin with a time or a level") if is_log else None


def _readme(text: str) -> TextKind | None:
    found = [line for mark in _README_MARKS if (line := next(_lines_with(mark, text), 0))]
    if len(found) < _MARKS_OF_A_README:
        return None
    return TextKind(
        "the README of a program that exists",
        tuple(sorted(found)),
        "say what is to be built; if this text says it, take out how to install it, badges and the licence",
    )


def _lines_with(mark: re.Pattern[str], text: str) -> Iterator[int]:
    return (number for number, line in enumerate(text.splitlines(), 1) if mark.search(line))


_KINDS: tuple[Callable[[str], TextKind | None], ...] = (_script, _web_page, _python, _data, _log, _readme)
