"""A product whose plan has a module of definitions, built from a playbook to its wheel (design: contracts)."""

import json
import shutil
import zipfile

import pytest

from testkit.cli.commands import SMALL, specwright

NOTE = "definitions alone"
TERMS = """from dataclasses import dataclass

__all__ = ["NoLetterError", "Tag"]


class NoLetterError(ValueError):
    pass


@dataclass(frozen=True)
class Tag:
    letters: str
    words: int
"""
SOURCE = """from ..tag_terms import NoLetterError, Tag

__all__ = ["initials", "NoLetterError", "Tag"]


def initials(name: str) -> Tag:
    letters = [next((letter for letter in word if letter.isalpha()), "") for word in name.split()]
    if not any(letters):
        raise NoLetterError("name has no letter")
    return Tag("".join(letters).upper(), len(letters))
"""
TESTS = """import pytest
from modules.initials import NoLetterError, Tag, initials


def test_each_word_gives_its_first_letter():
    assert initials("ada lovelace") == Tag("AL", 2)


def test_every_word_is_counted():
    assert initials(" ada 42 (lovelace)") == Tag("AL", 3)


@pytest.mark.parametrize("name", ["", "42", " - "])
def test_a_name_without_a_letter_is_refused(name):
    with pytest.raises(NoLetterError, match="name has no letter"):
        initials(name)
"""
CLAIMS = {
    "test_each_word_gives_its_first_letter": ["", "/outputs/0/invariants/0"],
    "test_every_word_is_counted": ["/outputs/0/invariants/1"],
    "test_a_name_without_a_letter_is_refused": ["/inputs/0/constraints/0", "/error_surfaces/0"],
}
TAG = "Tag(letters='AL', words=2)"
EXAMPLE = f"# tag_terms\n\n## A tag\n\nOf two words.\n\n```python\nfrom modules.tag_terms import Tag\n\n{TAG}\n```\n"
EVIDENCE = {
    "contracts": "inputs: initials takes /inputs/0/constraints/0; outputs: tag_terms states /outputs/0, and initials has "
    "/outputs/0/invariants/0; error_surfaces: /error_surfaces/0 in both; effects: none; modes: sync.",
    "initials": "inputs: test_a_name_without_a_letter_is_refused covers /inputs/0/constraints/0; outputs: "
    "test_each_word_gives_its_first_letter and test_every_word_is_counted; error_surfaces: "
    "test_a_name_without_a_letter_is_refused; effects: none; modes: sync.",
    "tag_terms": "inputs: none; outputs: /outputs/0 states Tag, shown by the example 'A tag'; error_surfaces: "
    "/error_surfaces/0 defines NoLetterError; effects: none, nothing is called; modes: sync, as the notes say.",
}


def read(path):
    """A file of JSON."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(folder, files):
    """Texts, or JSON, by their paths."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )


@pytest.fixture
def playbook(tmp_path):
    """Of the small product: its record and its error are a module of their own."""
    whole = tmp_path / "product"
    shutil.copytree(SMALL, whole)
    task = whole / "playbook/TSK-001"
    plan = read(task / "planner.json")
    (initials,) = plan["plan"]["modules"]
    terms = {
        **initials,
        "name": "tag_terms",
        "purpose": "Define what a tag is made of.",
        "inputs": "none: definitions",
        "outputs": [
            {
                "name": "tag",
                "type": "Tag",
                "invariants": ["Tag is a frozen dataclass: letters: str, words: int"],
            }
        ],
        "error_surfaces": [{"name": "NoLetterError", "when": "a name has no letter", "surface": "exception"}],
        "modes": {"sync": True, "async": False, "notes": NOTE},
        "error_cases": [],
    }
    about_letters = "letters are the first letters of the words that have one, as capitals"
    initials |= {
        "depends_on": [{"module": "tag_terms", "why": "It defines the tag and the error."}],
        "outputs": [{"name": "tag", "type": "Tag", "invariants": [about_letters, "words counts the words"]}],
        "error_surfaces": [{"name": "NoLetterError", "when": "name has no letter", "surface": "exception"}],
    }
    plan["plan"]["modules"] = [terms, initials]
    spec = whole / "playbook/researcher/spec.json"
    write(task, {"planner.json": plan})
    spec.write_text(spec.read_text(encoding="utf-8").replace("ValueError", "NoLetterError"), encoding="utf-8")
    shutil.copytree(task / "initials", task / "tag_terms")
    (task / "tag_terms/round-1/deliverable/tests/test_initials.py").unlink()
    examples = task / "initials/round-1/deliverable/examples.md"
    shown = examples.read_text(encoding="utf-8").replace("'AL'", TAG).replace("ValueError:", "NoLetterError:")
    write(
        task,
        {
            "initials/round-1/deliverable/implementation/__init__.py": SOURCE,
            "initials/round-1/deliverable/tests/test_initials.py": TESTS,
            "initials/round-1/deliverable/tests/obligations.json": CLAIMS,
            "initials/round-1/deliverable/examples.md": shown,
            "tag_terms/round-1/deliverable/implementation/__init__.py": TERMS,
            "tag_terms/round-1/deliverable/tests/obligations.json": {},
            "tag_terms/round-1/deliverable/examples.md": f"{EXAMPLE}\n```text\n{TAG}\n```\n",
        },
    )
    for place, evidence in EVIDENCE.items():
        verdict = read(task / place / "round-1/challenger.json")
        for one in verdict["rubric_assessments"]:
            one["evidence"] = evidence
        write(task, {f"{place}/round-1/challenger.json": verdict})
    return whole


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_product_shares_its_record_and_its_error(playbook, tmp_path):
    """D-43-10: planned, debated, gated, sealed and released like any module; the package exports one class of each name."""
    model = f"playbook:{playbook / 'playbook'}"
    built = specwright(
        "run", tmp_path / "built", "--spec", playbook / "SPEC.md", "--model", model, "--approve"
    )
    assert built.code == 0, built
    assert "from nameplate import NoLetterError, Tag, initials" in built.out
    assert specwright("verify", tmp_path / "built").code == 0
    (wheel,) = (tmp_path / "built").rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert b"class Tag" in archive.read("nameplate/tag_terms/__init__.py")
        assert b"class Tag" not in archive.read("nameplate/initials/__init__.py")
        assert NOTE.encode() in archive.read("nameplate/tag_terms/__init__.py")
