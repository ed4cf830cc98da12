"""A playbook of a product with a command of three subcommands and an HTTP API: one task, three modules."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from testkit.loop.products import PLAYBOOK

__all__ = ["QUOTE", "SPEC", "playbook"]

SPEC = """# Tally

A command for people who keep lists in text files. It should have a window with buttons.

## What it does

- `tally find FILE --settings s.toml` prints the lines that hold the mark of the settings; exit code 1 if there are any.
- `tally join` puts the lines of its input in one. `tally longest` prints the longest of some words.
"""

QUOTE = "It should have a window with buttons."


class _Part(NamedTuple):
    purpose: str
    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    when: str
    source: str
    tests: str
    claims: dict[str, list[str]]
    examples: str


def _slot(name: str, kind: str, *said: str, field: str = "constraints") -> dict[str, Any]:
    return {"name": name, "type": kind, field: list(said)}


def _examples(name: str, *pairs: tuple[str, str, str]) -> str:
    return "".join(
        f"## {title}\n\nIt is shown.\n\n```python\nfrom modules.{name} import *\n\n{code}\n```\n\n```text\n{gives}\n```\n\n"
        for title, code, gives in pairs
    )


_FIND = '''from dataclasses import dataclass

__all__ = ["Marked", "MarkSettings", "find_marked"]


@dataclass(frozen=True)
class MarkSettings:
    """What is looked for."""

    mark: str
    most: int = 100


@dataclass(frozen=True)
class Marked:
    """A line with its number."""

    line: int
    text: str


def find_marked(lines: list[str], settings: MarkSettings) -> list[Marked]:
    """Find the lines that hold a mark."""
    if not settings.mark:
        raise ValueError("the mark is empty")
    found = [Marked(number, line) for number, line in enumerate(lines, 1) if settings.mark in line]
    return found[: max(settings.most, 0)]
'''

_FIND_TESTS = """import pytest
from modules.find_marked import Marked, MarkSettings, find_marked


def test_marked_lines_come_in_order():
    assert find_marked(["!a", "b", "c!"], MarkSettings("!")) == [Marked(1, "!a"), Marked(3, "c!")]


def test_no_more_than_the_most():
    assert find_marked(["!a", "!b"], MarkSettings("!", 1)) == [Marked(1, "!a")]
    assert find_marked(["!a"], MarkSettings("!", 0)) == []
    assert find_marked(["!a", "!b"], MarkSettings("!", -1)) == []
    assert find_marked(["!"] * 101, MarkSettings("!")) == [Marked(number, "!") for number in range(1, 101)]


def test_an_empty_mark_is_refused():
    with pytest.raises(ValueError, match="the mark is empty"):
        find_marked(["a"], MarkSettings(""))
"""

_JOIN = '''__all__ = ["join_lines"]


def join_lines(lines: list[str], separator: str = ", ") -> str:
    """Put lines in one."""
    if not lines:
        raise ValueError("there are no lines")
    return separator.join(lines)
'''

_JOIN_TESTS = """import pytest
from modules.join_lines import join_lines


def test_lines_are_joined():
    assert join_lines(["a", "b"], "+") == "a+b"


def test_a_comma_is_the_default():
    assert join_lines(["a", "b"]) == "a, b"


def test_no_lines_are_refused():
    with pytest.raises(ValueError, match="there are no lines"):
        join_lines([])
"""

_LONGEST = '''__all__ = ["longest"]


def longest(words: list[str]) -> str:
    """Find the longest word."""
    if not words:
        raise ValueError("there are no words")
    return max(words, key=len)
'''

_LONGEST_TESTS = """import pytest
from modules.longest import longest


def test_the_longest_word_is_found():
    assert longest(["z", "bcd", "ab"]) == "bcd"


def test_of_equal_ones_it_is_the_first():
    assert longest(["a", "zz", "bb"]) == "zz"


def test_no_words_are_refused():
    with pytest.raises(ValueError, match="there are no words"):
        longest([])
"""

_PARTS = {
    "find_marked": _Part(
        "Find the lines that hold a mark.",
        [
            _slot("lines", "list[str]"),
            _slot(
                "settings", "MarkSettings", "MarkSettings is a frozen dataclass: mark: str, most: int = 100"
            ),
        ],
        [
            _slot(
                "found",
                "list[Marked]",
                "the first settings.most lines that hold settings.mark, with their numbers from 1, in order; none if it is "
                "below 1",
                "Marked is a frozen dataclass: line: int, text: str",
                field="invariants",
            )
        ],
        "settings.mark is empty",
        _FIND,
        _FIND_TESTS,
        {
            "test_marked_lines_come_in_order": ["", "/outputs/0/invariants/0"],
            "test_no_more_than_the_most": ["/outputs/0/invariants/0"],
            "test_an_empty_mark_is_refused": ["/error_surfaces/0"],
        },
        _examples(
            "find_marked",
            ("A mark", "find_marked(['!a', 'b'], MarkSettings('!'))", "[Marked(line=1, text='!a')]"),
            ("No mark", "find_marked(['a'], MarkSettings(''))", "ValueError: the mark is empty"),
        ),
    ),
    "join_lines": _Part(
        "Put lines in one.",
        [_slot("lines", "list[str]"), _slot("separator", "str", "defaults to ', '")],
        [
            _slot(
                "line", "str", "the lines in their order, with the separator between two", field="invariants"
            )
        ],
        "there are no lines",
        _JOIN,
        _JOIN_TESTS,
        {
            "test_lines_are_joined": ["", "/outputs/0/invariants/0"],
            "test_a_comma_is_the_default": ["/inputs/1/constraints/0"],
            "test_no_lines_are_refused": ["/error_surfaces/0"],
        },
        _examples(
            "join_lines",
            ("Two lines", "join_lines(['a', 'b'])", "'a, b'"),
            ("No lines", "join_lines([])", "ValueError: there are no lines"),
        ),
    ),
    "longest": _Part(
        "Find the longest word.",
        [_slot("words", "list[str]")],
        [_slot("word", "str", "the first of the words that have the most characters", field="invariants")],
        "there are no words",
        _LONGEST,
        _LONGEST_TESTS,
        {
            "test_the_longest_word_is_found": ["", "/outputs/0/invariants/0"],
            "test_of_equal_ones_it_is_the_first": ["/outputs/0/invariants/0"],
            "test_no_words_are_refused": ["/error_surfaces/0"],
        },
        _examples(
            "longest",
            ("Three words", "longest(['a', 'bcd', 'ef'])", "'bcd'"),
            ("No words", "longest([])", "ValueError: there are no words"),
        ),
    ),
}

_INTERFACES = {
    "command": {
        "name": "tally",
        "subcommands": [
            {
                "name": "find",
                "calls": "find_marked",
                "parameters": [
                    {"parameter": "lines", "name": "FILE", "content": "lines"},
                    {"parameter": "settings", "place": "option", "content": "toml"},
                ],
                "exits": [{"code": 1, "when": "filled"}],
                "errors": {"ValueError": 4},
            },
            {
                "name": "join",
                "calls": "join_lines",
                "parameters": [{"parameter": "lines", "place": "stdin", "content": "lines"}],
            },
            {"name": "longest", "calls": "longest", "parameters": [{"parameter": "words", "name": "WORD"}]},
        ],
    },
    "http": {
        "name": "tally-http",
        "routes": [{"calls": "longest", "errors": {"ValueError": 409}}, {"calls": "find_marked"}],
    },
}

_PROVIDES = [
    "MarkSettings",
    "Marked",
    "find_marked(lines: list[str], settings: MarkSettings) -> list[Marked]",
    "join_lines(lines: list[str], separator: str = ', ') -> str",
    "longest(words: list[str]) -> str",
]


def playbook(folder: Path, quote: str = QUOTE) -> Path:
    """Write the playbook.

    Args:
        folder: That does not exist yet.
        quote: Of SPEC.md, of what is not built.
    """
    shutil.copytree(PLAYBOOK, folder)
    _write(folder / "researcher/spec.json", _spec(folder, quote))
    task = folder / "TSK-001"
    plan = json.loads((task / "planner.json").read_text())
    (template,) = plan["plan"]["modules"]
    plan["plan"]["modules"] = [
        {
            **template,
            "name": name,
            "purpose": part.purpose,
            "inputs": part.inputs,
            "outputs": part.outputs,
            "error_surfaces": [{"name": "ValueError", "when": part.when, "surface": "exception"}],
            "error_cases": [],
        }
        for name, part in _PARTS.items()
    ]
    _write(task / "planner.json", plan)
    first = task / "initials/round-1"
    for name, part in _PARTS.items():
        place = task / name / "round-1"
        shutil.copytree(first, place, ignore=shutil.ignore_patterns("deliverable"))
        for path, text in {
            "implementation/__init__.py": part.source,
            f"tests/test_{name}.py": part.tests,
            "tests/obligations.json": json.dumps(part.claims),
            "examples.md": f"# {name}\n\n{part.examples}",
        }.items():
            (place / "deliverable" / path).parent.mkdir(parents=True, exist_ok=True)
            (place / "deliverable" / path).write_text(text)
        _said_of(place / "challenger.json", part)
    _said_of(task / "contracts/round-1/challenger.json", None)
    shutil.rmtree(task / "initials")
    return folder


def _said_of(path: Path, part: _Part | None) -> None:
    """Let the Challenger speak of what is there."""
    said = json.loads(path.read_text())
    name = next(iter(part.claims)) if part else "/outputs/0/invariants/0"
    for one in said["rubric_assessments"]:
        one["evidence"] = (
            f"{name} shows it; inputs, outputs, error_surfaces, effects and modes are each stated."
        )
    _write(path, said)


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=2))


def _spec(folder: Path, quote: str) -> dict[str, Any]:
    spec = json.loads((folder / "researcher/spec.json").read_text())
    spec |= {
        "title": "Tally",
        "description": "A command for people who keep lists in text files.",
        "interfaces": _INTERFACES,
        "outside": [{"quote": quote, "why": "No graphical interface is built; the command comes nearest."}],
    }
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["name"] = "Lists"
    task["acceptance_criteria"] = [
        "find_marked returns the lines that hold the mark.",
        "longest returns the longest word, and raises ValueError without any.",
    ]
    task["acceptance"] = {
        "provides": _PROVIDES,
        "examples": [
            {
                "title": "Words",
                "criteria": [2],
                "code": "from tally import longest\nlongest(['a', 'bc'])",
                "gives": "'bc'",
            },
            {
                "title": "A wrong word",
                "criteria": [2],
                "code": "from tally import join_lines, longest\nlongest([join_lines(['a', 'bc'])])",
                "gives": "'a'",
            },
        ],
    }
    return spec
