"""What an entry point's docstring says, read by griffe in the Google style and held to
docs/contracts.md's grammar.

The grammar is stricter than the style: a section that a contract does not know, prose after the purpose or
a line that is no entry is refused rather than dropped, because a dropped line would be a difference that
nobody sees."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import griffe

from ship_gate.findings import FindingCode
from ship_gate.source.files import SourceError

_EFFECT = re.compile(r"(?P<type>[A-Z]+) `(?P<target>[^`]+)`: (?P<description>.+)")
_ERROR = re.compile(r"(?P<name>\S+) \[(?P<surface>code|variant)\]: (?P<when>.+)")
_CLASS = re.compile(r"(?P<name>\w+)(?: is an? (?P<base>\w+))?(?:: (?P<shared>.+))?")
_SECTIONS = ("parameters", "returns", "raises", "error-classes", "errors", "effects", "modes")


class DocstringSections(NamedTuple):
    """The docstring's sections in the shape of a contract's dimensions; what is absent is empty."""

    parameters: dict[str, list[str]]
    returns: list[tuple[str, list[str]]]
    raises: list[dict[str, str]]
    errors: list[dict[str, str]]
    effects: list[dict[str, str]]
    notes: str
    classes: dict[str, dict[str, str]]


class _Reader(NamedTuple):
    location: str

    def fault(self, message: str) -> SourceError:
        return SourceError(FindingCode.SURFACE_DOCSTRING, self.location, message)

    def bullets(self, text: str) -> list[str]:
        """`- one per line`."""
        lines = [line for line in text.split("\n") if line]
        for line in lines:
            if not line.startswith("- "):
                raise self.fault(f"{line[:60]!r} is no entry; write each on one line, starting with `- `")
        return [line.removeprefix("- ") for line in lines]

    def matched(self, pattern: re.Pattern[str], texts: Iterable[str], shape: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for text in texts:
            if not (match := pattern.fullmatch(text)):
                raise self.fault(f"{text[:60]!r} cannot be read; write {shape}")
            found.append(match.groupdict())
        return found


def read_docstring(docstring: griffe.Docstring | None, location: str) -> DocstringSections:
    """Read a docstring.

    Raises:
        SourceError: `surface.docstring`; there is none, or it is not in the grammar.
    """
    reader = _Reader(location)
    if docstring is None:
        raise reader.fault("the entry point has no docstring; it carries the contract")
    sections = _sections(docstring, reader)
    parameters = {entry.name: reader.bullets(entry.description) for entry in sections.get("parameters", [])}
    if len(parameters) != len(sections.get("parameters", [])):
        raise reader.fault("Args names a parameter twice; name each once")
    errors = reader.bullets(sections.get("errors", ""))
    effects = reader.bullets(sections.get("effects", ""))
    return DocstringSections(
        parameters=parameters,
        returns=[(entry.name, reader.bullets(entry.description)) for entry in sections.get("returns", [])],
        raises=[
            {"name": str(entry.annotation), "when": entry.description, "surface": "exception"}
            for entry in sections.get("raises", [])
        ],
        errors=reader.matched(_ERROR, errors, "`- NAME [code]: when` or `- NAME [variant]: when`"),
        effects=reader.matched(_EFFECT, effects, "`- WRITE `target`: description`"),
        notes=sections.get("modes", ""),
        classes=_error_classes(reader, sections),
    )


def _error_classes(reader: _Reader, sections: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What is stated of each error class: its base, what holds for all its surfaces, or both."""
    shape = "`- NAME is a BASE: what always holds`"
    found: dict[str, dict[str, str]] = {}
    named = {str(entry.annotation) for entry in sections.get("raises", [])}
    for entry in reader.matched(_CLASS, reader.bullets(sections.get("error-classes", "")), shape):
        name = entry.pop("name")
        if name not in named or name in found:
            raise reader.fault(f"{name} is twice among the error classes or not raised; name each once")
        found[name] = {part: text for part, text in entry.items() if text}
    return found


def _sections(docstring: griffe.Docstring, reader: _Reader) -> dict[str, Any]:
    """The sections by their kind; griffe calls those that it does not know admonitions."""
    found: dict[str, Any] = {}
    for place, section in enumerate(docstring.parse("google", warnings=False)):
        kind, value = str(section.kind.value), section.value
        if kind == "admonition":
            kind, value = value.kind, value.contents
        if place == 0 and kind == "text":
            if "\n" in value.strip():
                raise reader.fault("the purpose is more than one line; say it in one")
            continue
        if kind not in _SECTIONS or kind in found:
            raise reader.fault(f"the section {kind!r} occurs twice or belongs to no contract; take it out")
        found[kind] = value
    return found
