"""What a docstring of everyday Python says, in the Google, NumPy or reST style, read by griffe (design: adoption).

The style is the one in which most of the text has a meaning. Nothing is held against it: what is no section of a contract
is left to the reader.
"""

import ast
import inspect
import re
from typing import Any, NamedTuple, cast

import griffe

from specwright.domain.base.text import one_line
from specwright.gate.source.files import Definition

_STYLES = ("google", "numpy", "sphinx")
_KNOWN = {"parameters", "other parameters", "returns", "raises", "yields", "examples"}
_MOST_PURPOSE = 300
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_MARKUP = re.compile(r":[a-z:]+:`~?([^`<]+?)(?:\s*<[^`]*>)?`")
_DIRECTIVE = re.compile(r"^\.\. [a-z-]+::.*(?:\n(?:[ \t].*)?)*", re.MULTILINE)


class Described(NamedTuple):
    """A parameter, a result or an error, as a docstring describes it; what it does not say is empty."""

    name: str
    type: str
    text: str


class DocstringText(NamedTuple):
    """What a docstring says.

    Args:
        text: All of it, without its indentation.
        purpose: Its first sentence or paragraph, on one line.
        parameters: By name.
        returns: What is returned.
        raises: The errors; the name is the class's.
    """

    text: str = ""
    purpose: str = ""
    parameters: dict[str, Described] = {}  # noqa: RUF012 - nobody changes it
    returns: tuple[Described, ...] = ()
    raises: tuple[Described, ...] = ()


def docstring_text(node: Definition | ast.Module | ast.ClassDef) -> DocstringText:
    """Read the docstring of a definition; an empty one if it has none."""
    raw = ast.get_docstring(node, clean=False)
    if not raw:
        return DocstringText()
    text = inspect.cleandoc(raw)
    sections = max((_sections(text, style) for style in _STYLES), key=_meaning)
    parameters = [
        _described(one) for kind in ("parameters", "other parameters") for one in sections.get(kind, [])
    ]
    return DocstringText(
        text,
        _purpose(sections.get("text", "")),
        {one.name.lstrip("*"): one for one in parameters},
        tuple(_described(one) for one in sections.get("returns", [])),
        tuple(_error(one) for one in sections.get("raises", [])),
    )


def _sections(text: str, style: str) -> dict[str, Any]:
    """The sections by kind, the first text alone."""
    found: dict[str, Any] = {}
    options: dict[str, Any] = {"warnings": False}
    if style == "google":
        options |= {"returns_named_value": False, "returns_multiple_items": False}
    for section in griffe.Docstring(text).parse(cast("Any", style), **options):
        kind = str(section.kind.value)
        if kind == "text":
            found.setdefault("text", section.value)
        elif kind in _KNOWN:
            value = section.value
            found[kind] = [*found.get(kind, []), *(value if isinstance(value, list) else [value])]
    return found


def _meaning(sections: dict[str, Any]) -> int:
    return sum(len(value) for kind, value in sections.items() if kind != "text")


def _described(item: Any) -> Described:
    annotation = getattr(item, "annotation", None)
    name = str(getattr(item, "name", "") or "")
    return Described(name, str(annotation or ""), _first(str(item.description)))


def _error(item: Any) -> Described:
    name = str(item.annotation or "").strip("`~: ").rpartition(".")[2]
    return Described(name, "", _first(str(item.description)))


def _first(text: str) -> str:
    """The first paragraph of a text on one line, without examples and directives."""
    paragraph = next((part for part in _DIRECTIVE.sub("", text).split("\n\n") if part.strip()), "")
    return without_markup(paragraph.partition(">>>")[0])


def _purpose(text: str) -> str:
    line = _first(text)
    return line if len(line) <= _MOST_PURPOSE else _SENTENCE.split(line)[0][:_MOST_PURPOSE].rstrip()


def without_markup(text: str) -> str:
    """A text on one line, without the markup of reST."""
    return one_line(_MARKUP.sub(r"\1", text).replace("``", "`")).strip().rstrip(":").strip()
