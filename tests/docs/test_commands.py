"""What the documents tell a person to type exists: commands, options, targets, settings."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from specwright.settings import Settings
from testkit.cli.commands import refusal
from testkit.documents import generator_of
from testkit.paths import ROOT

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`((?:specwright|make) [^`]+)`")
_TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)


def _typed(path: Path) -> Iterator[list[str]]:
    """The lines of shell blocks and the inline commands, as words."""
    text = path.read_text(encoding="utf-8")
    lines = [line for block in _BLOCK.findall(text) for line in block.splitlines()]
    for line in (*lines, *_SPAN.findall(text)):
        # other lines may hold a quotation that goes on in the next one
        if line.removeprefix(".venv/bin/").startswith(("specwright ", "make ")):
            words = shlex.split(line, comments=True)
            yield [words[0].removeprefix(".venv/bin/"), *words[1:]]


SPECWRIGHT = [(p, words[1:]) for p in DOCUMENTS for words in _typed(p) if words[0] == "specwright"]
MAKE = [(p, words[1]) for p in DOCUMENTS for words in _typed(p) if words[0] == "make"]


def test_the_readme_shows_what_to_type():
    """The README begins with the two commands of a fresh machine, within one screen, and has the everyday ones."""
    typed = [words for path, words in SPECWRIGHT if path.name == "README.md" and path.parent == ROOT]
    made = [target for path, target in MAKE if path.name == "README.md" and path.parent == ROOT]

    before = (ROOT / "README.md").read_text(encoding="utf-8").partition("make demo")[0]

    assert made[:2] == ["demo", "test"]
    assert len(before.splitlines()) <= 40
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
    assert {words[0] for words in typed} >= {"init", "run", "approve", "status"}


def test_the_readme_answers_a_newcomer_in_the_order_of_the_questions():
    """What it takes stands before the command that installs it, how to use a model in the first hundred lines, and what the
    lines of a run name before they are shown (D-S9-01)."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    begins = "\n".join(text.splitlines()[:100])

    assert re.search(r"MB\s+of disk.* minutes", text.partition("tool install .")[0], re.DOTALL)
    assert re.search(r"^specwright run trips --model openai:", begins, re.MULTILINE)
    before, _, lines = text.partition("<!-- run -->")
    for term in re.findall(r"researcher|planner|challenger|arbiter|proposer|sealed|shipped", lines):
        assert f"**{term}**" in before.lower(), term


def test_a_command_is_one_that_the_command_line_takes():
    """Every `specwright` command in the documents has a name, arguments and options that exist (D-S9-01)."""
    wrong = [(path.name, words, said) for path, words in SPECWRIGHT if (said := refusal(words))]
    assert wrong == []
    assert refusal(["run", "--no-such-option"])


def test_a_make_target_is_in_the_makefile():
    """Every `make` command in the documents is a target."""
    targets = _TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert [(path.name, target) for path, target in MAKE if target not in targets] == []


def test_the_settings_in_the_documents_are_the_settings():
    """The table of docs/configuration.md lists every setting with its default."""
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z_]+)` \| ([^|]+) \|", text, re.MULTILINE))
    shown = {name: _shown(getattr(Settings.model_construct(), name)) for name in Settings.model_fields}

    assert listed == shown


def _shown(value: object) -> str:
    if value == "":
        return "none"
    if isinstance(value, BaseModel):
        return "`{}`"  # a table whose keys have defaults of their own
    return f"{value:g}" if isinstance(value, int | float) else f"`{value}`"


def test_every_command_is_in_the_list_of_commands():
    """The table is what `.venv/bin/python docs/make_command_table.py` writes."""
    generator = generator_of("make_command_table")
    written = generator.PAGE.read_text(encoding="utf-8")
    assert generator.page(written) == written, "run `.venv/bin/python docs/make_command_table.py`"
