"""`specwright gate` on many module directories: what is judged, and the reports that other programs read."""

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from testkit.cli.commands import ROOT, specwright

MODULES = ROOT / "packages/gate/tests/modules"
SARIF = json.loads(Path(__file__).with_name("sarif.schema.json").read_text(encoding="utf-8"))
"""What SARIF 2.1.0 says of the parts that the report has, and that it has no others."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound module, and one without examples whose docstring is not the contract's."""
    for name in ("tally_words", "shorten"):
        module = Path(shutil.copytree(MODULES / name, tmp_path / "modules" / name))
        (module / "specwright.toml").write_text("gate_fuzz_examples = 50\n")
    (tmp_path / "modules/shorten/examples.md").unlink()
    entry = tmp_path / "modules/shorten/implementation/__init__.py"
    entry.write_text(entry.read_text().replace('"""', '"""Changed. ', 1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "modules"


def results(document: dict[str, Any]) -> dict[str, str]:
    """What came of each module, by its directory's name."""
    return {Path(one["directory"]).name: one["result"] for one in document["modules"]}


def test_all_modules_below_a_directory_are_judged_and_reported(place: Path):
    """One fails, so the verdict is FAIL; each report has what was found, at its file (D-50-03)."""
    told = specwright("gate", place, "--json", "--sarif", "s.json", "--markdown", "m.md")
    assert told.code == 1, told
    assert told.document["verdict"] == "FAIL"
    assert results(told.document) == {"shorten": "FAIL", "tally_words": "PASS"}
    log = json.loads(Path("s.json").read_text())
    jsonschema.validate(log, SARIF)
    found = {
        (one["ruleId"], one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for one in log["runs"][0]["results"]
    }
    assert ("files.missing", "modules/shorten/contract.json") in found
    assert ("docstring.drift", "modules/shorten/implementation/__init__.py") in found
    rules = [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]]
    assert all(rules[one["ruleIndex"]] == one["ruleId"] for one in log["runs"][0]["results"])
    (rule,) = (one for one in log["runs"][0]["tool"]["driver"]["rules"] if one["id"] == "files.missing")
    assert "not there" in rule["fullDescription"]["text"]
    assert "examples.md" in rule["help"]["text"]
    report = Path("m.md").read_text()
    assert "1 of 2 modules pass" in report
    assert "modules/tally\\_words tally\\_words MM-" in report


@pytest.mark.slow
def test_a_module_that_passed_is_left_out_until_something_of_it_changes(place: Path):
    """By what it holds, wherever it lies; one that failed is judged again (D-50-03)."""
    tally, kept = place / "tally_words", ("--passed", "passed.json", "--json")
    assert results(specwright("gate", place, *kept).document) == {"shorten": "FAIL", "tally_words": "PASS"}
    moved = Path(shutil.move(tally, place / "elsewhere"))
    told = specwright("gate", moved, *kept)
    assert (told.code, results(told.document)) == (0, {"elsewhere": "UNCHANGED"})
    (moved / "specwright.toml").write_text("gate_fuzz_examples = 60\n")
    assert results(specwright("gate", moved, *kept).document) == {"elsewhere": "PASS"}
    (moved / "examples.md").write_text("nothing\n")
    assert results(specwright("gate", moved, *kept).document) == {"elsewhere": "FAIL"}


def test_what_was_not_judged_in_time_did_not_pass(place: Path):
    """No module is begun when the time is over; it is said, and the exit is 1."""
    told = specwright("gate", place / "tally_words", place, "--seconds", "0", "--markdown", "m.md")
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[-1].startswith("2 modules: 2 not judged in time, ")
    assert all(line.startswith("UNJUDGED") for line in lines[:-1])
    assert Path("m.md").read_text().count("| UNJUDGED |") == 2


def test_a_report_takes_the_place_of_a_report_and_of_nothing_else(place: Path):
    """It is refused before anything is judged."""
    quick = ("gate", place, "--seconds", "0")
    for name in ("--sarif", "--markdown"):
        specwright(*quick, name, "report")
        first = Path("report").read_text()
        specwright(*quick, name, "report")
        assert Path("report").read_text()[:40] == first[:40]
        Path("report").write_text("mine")
        specwright(*quick, name, "report").refuses("something else is there")
        assert Path("report").read_text() == "mine"
        Path("report").unlink()
    specwright(*quick, "--passed", place / "shorten/contract.json").refuses("no file of modules that passed")


def test_bad_input_is_told_with_the_place(place: Path, tmp_path: Path):
    """A directory that holds no module, options for one module; a module without its dependency is a finding."""
    (tmp_path / "empty").mkdir()
    specwright("gate", place, "empty").refuses("no module directory is in it", "empty")
    specwright("gate", place, "nowhere").refuses("there is no such directory", "nowhere")
    specwright("gate", place, "--fix").refuses("are for one module")
    shutil.copytree(MODULES / "save_tally", place / "alone")
    shutil.rmtree(place / "tally_words")
    told = specwright("gate", place / "alone", "--sarif", "-")
    assert told.code == 1
    assert json.loads(told.out)["runs"][0]["results"][0]["ruleId"] == "module.unreadable"
    assert "is not there" in told.out


def test_a_package_is_judged_by_a_command_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A contradicted documented example ends `package` with 1; `gate` takes module directories alone (D-60-05)."""
    monkeypatch.chdir(tmp_path)
    source = 'def double(n: int) -> int:\n    """Twice n.\n\n    >>> double(2)\n    4\n    """\n    return n * n * n\n'
    Path("doubles.py").write_text(source)

    told = specwright("package", "--json", "--sarif", "s.json", "--function", "double")

    assert (told.code, told.document["verdict"]) == (1, "WRONG"), told
    (found,) = told.document["functions"]
    assert found["name"] == "doubles.double"
    assert json.loads(Path("s.json").read_text())["runs"][0]["results"][0]["ruleId"] == "package.example"
    assert specwright("gate", "--package", ".").code == 2
