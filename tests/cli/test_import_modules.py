"""`specwright import`: module directories or an exported project, told apart by what is named."""

import shutil
from pathlib import Path

import pytest

from testkit.cli.commands import everything, specwright
from testkit.paths import GATE_MODULES
from testkit.sampling import slow

SHORTEN = GATE_MODULES / "shorten"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which no run has begun."""
    assert specwright("init", tmp_path / "project").code == 0
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("nothing/here", "there is no such directory"),
        ("empty", "no module directory is in it"),
        ("unreadable", "the contract cannot be read"),
    ],
)
def test_what_is_no_module_directory_is_told(project: Path, tmp_path: Path, named: str, words: str):
    """With what it lacks; nothing is written (D-S9-01)."""
    (tmp_path / "empty").mkdir()
    broken = tmp_path / "unreadable"
    broken.mkdir()
    (broken / "contract.json").write_text("{}")
    before = everything(project)

    specwright("import", tmp_path / named, "--project", project).refuses(words)

    assert everything(project) == before


def test_a_directory_that_is_no_project_takes_nothing(tmp_path: Path):
    """And nothing is made there."""
    (tmp_path / "none").mkdir()
    specwright("import", SHORTEN, "--project", tmp_path / "none").refuses(
        "no project here", "specwright init"
    )
    assert [*(tmp_path / "none").iterdir()] == []


def test_one_file_says_nothing_of_where_it_goes(tmp_path: Path):
    """An exported project needs a place as well."""
    (tmp_path / "trips.tar").write_bytes(b"")
    specwright("import", tmp_path / "trips.tar").refuses("it is a file", "import DIR-OR-URL")


def test_a_place_and_a_file_are_an_exported_project(tmp_path: Path):
    """As they always were."""
    (tmp_path / "trips.tar").write_bytes(b"not a tar file")
    specwright("import", tmp_path / "place", tmp_path / "trips.tar").refuses(
        "the file is no exported project"
    )


def test_what_a_module_calls_is_named_with_it(project: Path):
    """Else it is told who calls what (D-S9-01)."""
    told = specwright("import", GATE_MODULES / "save_tally", "--project", project)
    told.refuses(
        "save_tally (save_tally) calls MM-00000001@^1.0.0: It counts the words.", "name the directories"
    )


@pytest.mark.parametrize("spoilt", [slow("docstring"), slow("tests")])
def test_what_the_gate_does_not_pass_is_not_taken(project: Path, tmp_path: Path, spoilt: str):
    """Its findings are those of `specwright gate`, also a docstring that is not the contract's; exit 1."""
    module = Path(shutil.copytree(SHORTEN, tmp_path / "shorten"))
    source, test = module / "implementation/__init__.py", next((module / "tests").glob("test_*.py"))
    if spoilt == "docstring":
        source.write_text(source.read_text().replace("at least 1", "at least one"))
    else:
        test.write_text(
            test.read_text() + "\n\ndef test_it_is_wrong():\n    assert shorten('abc', 1)[0] == 'x'\n"
        )

    told = specwright("import", module, "--project", project, "--json")

    (one,) = told.document["modules"]
    assert told.code == told.document["exit_code"] == 1
    assert (one["state"], one["module_ref"]) == ("failed", None)
    judged = specwright("gate", module, "--json").document
    assert {found["code"] for found in one["findings"]} == {found["code"] for found in judged["findings"]}
    assert not (project / "state_store/modules").exists()
    assert specwright("modules", project, "--json").document["waiting"] == []
