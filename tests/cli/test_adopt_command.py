"""`specwright adopt`: what it prints, its document, and what it does with bad input."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from testkit.cli.commands import ROOT, specwright

SOURCE = '''
def half(n: int) -> int:
    """Halve a number.

    >>> half(8)
    4
    """
    return n // 2


def halves(**numbers: int) -> list[int]:
    """Halve numbers."""
    return [half(n) for n in numbers.values()]
'''


def test_it_tells_of_each_function_and_writes_what_can_be_judged(tmp_path: Path) -> None:
    """As text and as a document that holds to its schema (D-50-01, D-50-02)."""
    path = tmp_path / "numbers_of.py"
    path.write_text(SOURCE)
    told = specwright("adopt", path, "--out", tmp_path / "a")
    assert told.code == 0
    assert "draft complete    numbers_of.half  numbers_of.py:2" in told.out
    assert "no draft          numbers_of.halves  numbers_of.py:11" in told.out
    assert "`**numbers` takes " in told.out
    shown, stated = re.search(r"(\d+) of (\d+) statements? shown", told.out).groups()  # type: ignore[union-attr]  # it stands there
    assert told.out.count(": no run has shown it") == int(stated) - int(shown)
    assert (tmp_path / "a/half/contract.json").is_file()
    assert [one.name for one in (tmp_path / "a").iterdir()] == ["half"]

    document = specwright("adopt", path, "--out", tmp_path / "b", "--json").document
    schema = json.loads((ROOT / "schemas/command-line/v1/adoption.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    assert document["counts"] == {"COMPLETE": 1, "INCOMPLETE": 0, "INEXPRESSIBLE": 1}
    page = (ROOT / "docs/command-line.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith("| `adopt` |"))
    assert all(
        f"`{key}`" in row
        for key in (*document, *document["functions"][0])
        if key not in ("schema", "version")
    )


def test_a_model_is_named_for_a_draft_alone(tmp_path: Path) -> None:
    """And a draft needs one (D-50-06)."""
    path = tmp_path / "numbers_of.py"
    path.write_text(SOURCE)
    specwright("adopt", path, "--model", "openai:x").refuses("--model and --budget-tokens are for --draft")
    specwright("adopt", path, "--draft", "--model", "nothing", "--out", tmp_path / "a").refuses(
        "does not say whose model it is"
    )
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
def test_a_playbook_drafts_what_is_missing(tmp_path: Path) -> None:
    """Offline: what it has for a function lies at adopt/NAME/round-1/proposer.json (D-50-06)."""
    path = tmp_path / "numbers_of.py"
    path.write_text('def twice(n: int) -> int:\n    """Double a number."""\n    return 2 * n\n')
    answer = {
        "examples": [{"sentence": "Zero stays zero.", "call": "twice(0)"}],
        "tests": [{"code": "def test_twice():\n    assert [twice(3), twice(-1)] == [6, -2]", "shows": [""]}],
    }
    folder = tmp_path / "playbook/adopt/twice/round-1"
    folder.mkdir(parents=True)
    (folder / "proposer.json").write_text(json.dumps(answer))
    (tmp_path / "playbook/playbook.json").write_text('{"name": "p", "description": "d"}')
    words = (
        "adopt",
        path,
        "--draft",
        "--model",
        f"playbook:{tmp_path / 'playbook'}",
        "--out",
        tmp_path / "a",
    )
    told = specwright(*words, "--json")
    assert told.document["counts"]["COMPLETE"] == 1, told.document
    assert "1 request of a model: 0 tokens in, 0 out" in told.err
    assert specwright("gate", tmp_path / "a").code == 0


def test_it_overwrites_nothing_and_says_what_is_wrong_with_a_source(tmp_path: Path) -> None:
    """Exit code 2, one clear error, nothing written; 1 where nothing can be adopted (D-50-01)."""
    path = tmp_path / "one.py"
    path.write_text("def f(**a: int) -> int:\n    return 1\n")
    (tmp_path / "out/f").mkdir(parents=True)
    there = specwright("adopt", f"{path}:f", "--out", tmp_path / "out")
    assert there.code == 2
    assert "there already" in there.err
    missing = specwright("adopt", f"{path}:g", "--out", tmp_path / "other")
    assert missing.code == 2
    assert "it defines f" in missing.err
    assert specwright("adopt", path, "--out", tmp_path / "other").code == 1
    assert not (tmp_path / "other").exists()


def test_one_function_lacks_something(tmp_path: Path) -> None:
    """The counts are in the number of what they count (D-50-01)."""
    path = tmp_path / "bare.py"
    path.write_text("def half(number: int) -> int:\n    return number // 2\n")
    told = specwright("adopt", path, "--out", tmp_path / "out")
    assert "1 function: 1 lacks something" in told.out
