"""What is no spec is told before a model is asked (D-S9-04)."""

from pathlib import Path

import pytest

from specwright.bootstrap.text_kind import kind_of_text

README = "# Left pad\n\n[![build](b.svg)](ci)\n\nPads texts.\n\n## Installation\n\n    pip install left-pad\n"
LOG = "".join(f"2026-01-02 10:00:0{one} INFO request {one} served in 12 ms\n" for one in range(6))
ACCESS = '10.0.0.1 - - [02/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 12\n' * 6

OTHER = {
    "README": (README, "README", (3, 7, 9)),
    "Python": ("import os\n\nprint(os.getcwd())\n", "Python program", ()),
    "shell": ("#!/bin/sh\necho hello\n", "script", (1,)),
    "log": (LOG, "log", ()),
    "access log": (ACCESS, "log", ()),
    "JSON": ('{"name": "left-pad"}\n', "JSON", ()),
    "HTML": ("<!doctype html>\n<p>Hello</p>\n", "web page", (1,)),
}

SPECS = {
    "a log reader": "# A log reader\n\nReads lines such as\n\n    2026-01-02 10:00:00 INFO served\n\ncounts them.\n",
    "installer": "# Installer\n\n## Install\n\n`tool install NAME` copies a package.\n",
    "with code": "# Title\n\n```python\nimport os\n```\n\nA function that reads it.\n",
    "a sentence": "a function that adds two numbers\n",
    "a word": "reverse\n",
    "a heading": "# Reverse a text\n",
    "structured": '{"pillars": []}\n',
    "times": "10:00 to 11:00 is an hour\n" * 3,
}


@pytest.mark.parametrize("kind", OTHER)
def test_another_file_is_named_with_the_lines_that_show_it(kind: str) -> None:
    """D-S9-04: it says what the file is, where that is seen, and what to do."""
    text, words, lines = OTHER[kind]
    found = kind_of_text(text)
    assert found is not None
    assert words in found.what
    assert found.lines == lines
    assert found.remedy


@pytest.mark.parametrize("kind", SPECS)
def test_an_odd_spec_is_a_spec(kind: str) -> None:
    """D-S9-04: a text in prose is a spec, whatever it quotes."""
    assert kind_of_text(SPECS[kind]) is None


def test_the_readme_of_this_program_is_told_as_one() -> None:
    """D-S9-04: a README without badges and chapters of its own for its installation."""
    found = kind_of_text(Path("README.md").read_text(encoding="utf-8"))
    assert found is not None
    assert "README" in found.what


def test_the_specs_of_the_examples_are_specs() -> None:
    """D-S9-04: none of the examples' specs is taken for another file."""
    found = [*Path("examples").glob("*/SPEC.md")]
    assert len(found) > 5
    assert [path for path in found if kind_of_text(path.read_text(encoding="utf-8"))] == []
