"""A project whose answers are scripted, and a change that the script does not hold: where it stands and the way back."""

import shutil
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage

from specwright.errors import InputError
from specwright.ports import Place, Role
from specwright.roles.models.playbook import Playbook
from testkit.cli.commands import SMALL, everything, specwright

REQUEST = "A hyphen parts two words, too."


def stored(project: Path) -> dict[str, bytes]:
    """Its state but for what SQLite keeps beside a database, which goes when the last reader closes it."""
    files = everything(project / "state_store")
    return {name: data for name, data in files.items() if not name.endswith(("-shm", "-wal"))}


def test_a_change_that_the_script_does_not_hold_is_not_begun(released: Path) -> None:
    """It is refused before anything is written, with the way to a model that answers (D-S9-04, D-38-14)."""
    state = stored(released)
    told = specwright("change", released, "--request", REQUEST)
    told.refuses("answers of this project are scripted", "change-1", "nothing was begun", "--model")
    assert stored(released) == state
    assert specwright("status", released, "--json").document["where"] == "released"


def test_a_scripted_change_answers_its_own_request_alone(released: Path, tmp_path: Path) -> None:
    """Another one is refused with the request that can be tried, and nothing is begun; once its version is released, so is
    the one that led to it (D-S9-04, D-38-14)."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    (playbook / "change-1").mkdir()
    (playbook / "change-1/spec.json").write_text("{}")
    (playbook / "change-1/request.txt").write_text("Read digits.\n")
    assert specwright("run", released, "--model", f"playbook:{playbook}").code == 0
    state = stored(released)
    told = specwright("change", released, "--request", REQUEST)
    told.refuses("hold this change alone: Read digits.", REQUEST, "nothing was begun", "--model")
    (released / "SPEC.md").write_text((released / "SPEC.md").read_text() + "\nDigits.\n")
    specwright("change", released).refuses(
        "hold this change alone: Read digits.", "SPEC.md", "nothing was begun"
    )
    (playbook / "change-1/spec.json").write_text('{"spec_version": "1.0.0"}')
    for request in (REQUEST, "Read digits."):
        told = specwright("change", released, "--request", request)
        told.refuses(
            "hold no change of version 1.0.0, only the one that led to it; nothing was begun", "--model"
        )
        assert (str(playbook) in told.err, "hold this change" in told.err) == (False, False)
    assert stored(released) == state


def test_what_cannot_be_changed_is_told_first(released: Path) -> None:
    """Not that answers are scripted (D-S9-04)."""
    specwright("change", released).refuses("nothing has changed")


def test_a_report_that_the_script_does_not_hold_is_not_begun(released: Path, tmp_path: Path) -> None:
    """The example is tried, and no repair begins (D-S9-04, D-39-02)."""
    file = tmp_path / "bug.md"
    file.write_text(
        "## A bug\n\nOf one name.\n\n```python\nfrom modules.initials import initials\ninitials('Ada')\n```\n\n"
        "```text\n'B'\n```\n"
    )
    state = stored(released)
    for pointed, place in ((("--pointer", "criterion 1"), "TSK-001.2/initials"), ((), "change-1")):
        told = specwright("report", "initials", released, "--example", file, *pointed)
        told.refuses("answers of this project are scripted", place, "nothing was begun")
    assert stored(released) == state


def test_a_report_of_what_a_person_approved_otherwise_is_no_bug(approved: Path, tmp_path: Path) -> None:
    """A repair would have to give both, so none is begun (D-39-01, D-39-06)."""
    file = tmp_path / "bug.md"
    code = "import math\nfrom modules.initials import initials\n\ninitials('ada lovelace')"
    file.write_text(f"## A bug\n\nOf two words.\n\n```python\n{code}\n```\n\n```text\n'ALX'\n```\n")
    state = stored(approved)
    told = specwright("report", "initials", approved, "--example", file, "--pointer", "criterion 1")
    told.refuses(
        "an approved example of the same code", "Two words", "gives \"'AL'\"", "only one can be right"
    )
    assert stored(approved) == state


def test_a_change_that_the_script_ends_in_names_the_ways_on_and_back(released: Path, tmp_path: Path) -> None:
    """`status` names the change, what is released and the way back, which works (D-S9-04, D-38-14)."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    script = playbook / "change-1/spec.json"
    script.parent.mkdir()
    script.write_text("{")
    assert specwright("run", released, "--model", f"playbook:{playbook}").code == 0
    assert specwright("change", released, "--request", REQUEST).code == 1
    script.unlink()
    told = specwright("run", released)
    told.refuses(
        "answers are scripted, and the playbook holds none for change-1",
        "--model",
        f"specwright change {released} --abandon",
        code=told.code,
    )
    page = specwright("status", released).out
    assert "Change 1 is under way since 20" in page
    assert REQUEST in page
    assert f"Back:   specwright change {released} --abandon" in page
    (release,) = (released / "state_store/releases").iterdir()
    assert f"{release.name} is the product, version 1.0.0" in page
    assert f"Install: pip install {release}" in page
    assert specwright("change", released, "--abandon").code == 0
    assert specwright("status", released, "--json").document["where"] == "released"


def test_a_script_that_ends_after_something_was_done_is_said_by_status(tmp_path: Path) -> None:
    """As well as one that ends before: what stopped the run, which file is missing, and the way on (D-S9-15)."""
    playbook, project = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook")), tmp_path / "project"
    (playbook / "TSK-001/planner.json").unlink()
    options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}", "--approve")
    specwright("run", project, *options).refuses("TSK-001/planner.json", code=1)
    page = specwright("status", project).out
    assert "The last run stopped: the answers are scripted" in page
    assert "TSK-001/planner.json" in page
    assert f"Then:   specwright run {project} --model PROVIDER:MODEL" in page


@pytest.mark.parametrize(("attempt", "back"), [(1, False), (2, True)])
def test_a_repair_that_the_script_does_not_hold_names_the_way_back(attempt: int, back: bool) -> None:
    """A task that runs again is answered as the first time; what comes after that may be the repair of a report
    (D-S9-04, D-38-14)."""
    model = Playbook(SMALL / "playbook").model(
        Place("TSK-001", attempt, "initials", "round-1", Role.PROPOSER)
    )
    with pytest.raises(InputError, match="the answers are scripted") as refused:
        model.invoke([AIMessage("what was answered")])
    assert "--model" in refused.value.remedy
    assert ("specwright change --abandon" in refused.value.remedy) is back
