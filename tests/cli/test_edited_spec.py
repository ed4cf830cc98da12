"""SPEC.md is edited while its spec waits for approval: an amendment, which nobody approves unseen (F§3.2.4)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, everything, specwright
from testkit.cli.projects import sent_back

SPEC = Path("state_store/product/spec.json")
HISTORY = Path("state_store/product/history.json")
MORE = "\nNames may hold digits.\n"


def playbook_of(directory: Path, drafts: int = 3) -> Path:
    """A playbook whose researcher can be sent back."""
    playbook = Path(shutil.copytree(SMALL / "playbook", directory / "playbook"))
    for number in range(1, drafts + 1):
        spec = json.loads((playbook / "researcher/spec.json").read_text())
        spec["description"] += f" Names may hold digits, as of amendment {number}."
        (playbook / f"researcher/amended-{number}.json").write_text(json.dumps(spec))
    return playbook


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A project at the gate whose SPEC.md was edited since."""
    project = tmp_path / "project"
    model = f"playbook:{playbook_of(tmp_path)}"
    assert specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model).code == 3
    file = project / "SPEC.md"
    file.write_text(file.read_text() + MORE)
    return project


def description(project: Path) -> str:
    """What the spec that waits says of the product."""
    return str(json.loads((project / SPEC).read_text())["description"])


def answers(project: Path) -> list[dict[str, Any]]:
    """What was sent back."""
    return list(json.loads((project / HISTORY).read_text())["answers"])


@pytest.mark.slow
def test_the_old_spec_can_be_approved_by_name(edited: Path) -> None:
    """It is built and released, later commands go on, and `change` builds the edited text (D-S9-15)."""
    approved = specwright("approve", edited, "--old-spec")
    assert approved.code == 0, approved
    assert specwright("run", edited).code == 0
    assert MORE not in (edited / "state_store/product/SPEC.md").read_text()
    told = specwright("verify", edited)
    assert (told.code, "SPEC.md was edited" in told.err) == (0, True), told


@pytest.mark.parametrize(("place", "takes_it_up"), [("released", "change"), ("waiting", "amend")])
def test_an_edit_that_waits_is_no_damage(
    place: str, takes_it_up: str, request: pytest.FixtureRequest
) -> None:
    """`verify` names it, and what takes it up; the records are what they were (D-S9-02)."""
    project: Path = request.getfixturevalue(place)
    before = specwright("verify", project, "--json")
    assert (before.code, before.document["spec_edited"], "SPEC.md" in before.err) == (0, False, False), before
    file = project / "SPEC.md"
    file.write_text(file.read_text() + MORE)
    told = specwright("verify", project, "--json")
    assert (told.code, told.document) == (0, before.document | {"spec_edited": True})
    assert "SPEC.md was edited after" in told.err
    assert f"specwright {takes_it_up} {project}" in told.err


@pytest.mark.parametrize("command", [("run",), ("amend",), ("amend", "--feedback", "Say it.")], ids=" ".join)
def test_an_edited_text_is_an_amendment(edited: Path, command: tuple[str, ...]) -> None:
    """The conversation goes on with the whole text; the copy follows; nothing is edited any more (F-3.2.4-05)."""
    text = (edited / "SPEC.md").read_text()
    told = specwright(command[0], edited, *command[1:], "--json")
    assert told.code == 3, told
    assert description(edited).endswith("as of amendment 1.")
    assert (told.document["where"], told.document["spec_edited"]) == ("approval", False)
    assert (edited / "state_store/product/SPEC.md").read_text() == text
    (answer,) = answers(edited)
    assert (answer["action"], answer["spec_text"]) == ("AMEND", text)
    assert "Names may hold digits" in (edited / ".specwright/journal.jsonl").read_text()
    state = everything(edited / "state_store")
    assert specwright("run", edited).code == 3
    assert everything(edited / "state_store") == state


def test_a_rejection_starts_over_from_the_edited_text(edited: Path) -> None:
    """The new conversation begins with it, and so does the next one (F-3.2.4-04)."""
    told = specwright("reject", edited)
    assert told.code == 3, told
    (answer,) = answers(edited)
    assert (answer["action"], answer["text"]) == ("REJECT", "")
    assert MORE in (edited / "state_store/product/SPEC.md").read_text()
    # and once more, now with reasons: nothing is edited, so the text stays
    assert specwright("reject", edited, "--reasons", "Too short.").code == 3
    assert MORE in (edited / "state_store/product/SPEC.md").read_text()


def test_an_edited_text_is_not_approved_away(edited: Path) -> None:
    """`status` names the two ways on, and a program reads it too; an approval is refused with them, exit 1, and changes
    nothing; neither does a text that cannot be used (F-3.2.4-01, D-S9-04, D-S9-15)."""
    state = everything(edited / "state_store")
    page = specwright("status", edited).out
    assert [
        words for words in ("SPEC.md was edited", "specwright amend", "--old-spec") if words not in page
    ] == []
    assert specwright("status", edited, "--json").document["spec_edited"] is True
    specwright("approve", edited).refuses("SPEC.md was edited", "specwright amend", "--old-spec", code=1)
    (edited / "SPEC.md").write_bytes(b"\xff\xfeH\x00")
    specwright("run", edited).refuses("UTF-16")
    specwright("amend", edited).refuses("UTF-16")
    specwright("approve", edited).refuses("SPEC.md was edited", code=1)
    assert everything(edited / "state_store") == state


def test_a_structured_spec_that_was_edited_goes_to_the_gate_as_it_is(tmp_path: Path, edited: Path) -> None:
    """No model is asked; one that is incomplete is refused (F-3.2.4-01, D-S9-04)."""
    spec = json.loads((edited / SPEC).read_text())
    spec["description"] = "Written by hand, and long enough."
    (edited / "SPEC.md").write_text(json.dumps(spec))
    shutil.rmtree(tmp_path / "playbook/researcher")
    told = specwright("run", edited)
    assert told.code == 3, told
    assert description(edited) == spec["description"]
    state = everything(edited / "state_store")
    del spec["pillars"][0]["epics"][0]["stories"]
    (edited / "SPEC.md").write_text(json.dumps(spec))
    specwright("run", edited).refuses("not complete", "stories")
    assert everything(edited / "state_store") == state


def test_an_amendment_keeps_when_the_spec_was_created(edited: Path) -> None:
    """`updated_at` moves, `created_at` does not; nor does a rejection move it."""
    before = json.loads((edited / SPEC).read_text())
    assert specwright("amend", edited).code == 3
    assert specwright("reject", edited, "--reasons", "Too short.").code == 3
    after = json.loads((edited / SPEC).read_text())
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]


@pytest.fixture
def unanswered(tmp_path: Path) -> Path:
    """A project whose amendment has failed: the playbook has no answer to it."""
    project = tmp_path / "project"
    model = f"playbook:{playbook_of(tmp_path, drafts=0)}"
    assert specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model).code == 3
    sent_back(project, "Say that names may hold digits.")
    assert specwright("run", project).code == 1
    return project


def test_an_amendment_that_the_playbook_does_not_hold_is_not_recorded(tmp_path: Path) -> None:
    """It is refused with the file that is missing and the way to a model that answers; so is an edited SPEC.md that `run`
    would send; the spec waits as it was (F-3.2.4-05, D-S9-04)."""
    project = tmp_path / "project"
    model = f"playbook:{playbook_of(tmp_path, drafts=0)}"
    assert specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", model).code == 3
    state = everything(project / "state_store")
    missing = str(tmp_path / "playbook/researcher/amended-1.json")
    said = ("no answer 2 is there for product.1/researcher", "nothing was begun", missing)
    told = specwright("amend", project, "--feedback", "Say that names may hold digits.")
    told.refuses(*said, f"specwright run {project} --model PROVIDER:NAME")
    assert everything(project / "state_store") == state
    before = (project / "SPEC.md").read_text()
    (project / "SPEC.md").write_text(before + "\nMore.\n")
    specwright("run", project).refuses(*said)
    (project / "SPEC.md").write_text(before)
    assert everything(project / "state_store") == state
    assert specwright("status", project, "--json").document["where"] == "approval"


def test_a_playbook_without_an_answer_to_an_amendment_names_its_file(
    unanswered: Path, tmp_path: Path
) -> None:
    """The file that is missing, the ways on and back, and not the request, cut off; `status` says it too (D-S9-04)."""
    told = specwright("run", unanswered)
    assert str(tmp_path / "playbook/researcher/amended-1.json") in told.err, told
    assert f"specwright amend {unanswered} --withdraw" in told.err
    assert "no new model call, 1 earlier answer read from the journal" in told.err
    assert told.code == 1
    assert "--model" in told.err
    assert "Address every point" not in told.err
    status = specwright("status", unanswered)
    assert "The last run stopped: the answers are scripted" in status.out
    assert f"Then:   specwright run {unanswered} --model PROVIDER:MODEL" in status.out
    assert f"specwright amend {unanswered} --withdraw" in status.out
    assert specwright("status", unanswered, "--json").document["stop"]["kind"] == "script"


def test_an_amendment_that_failed_is_gone_on_with_by_run(unanswered: Path, tmp_path: Path) -> None:
    """`status` says so, `approve` does not approve the draft before it, and no answer is lost (F-3.2.4-05, D-S9-15)."""
    page = specwright("status", unanswered)
    assert "sent back" in page.out
    assert "specwright run" in page.out
    assert "approve" not in page.out
    specwright("approve", unanswered).refuses("no spec waits", "specwright run", code=1)
    assert "amended" not in description(unanswered)
    shutil.rmtree(tmp_path / "playbook")
    playbook_of(tmp_path)
    assert specwright("run", unanswered).code == 3
    assert description(unanswered).endswith("as of amendment 1.")
    assert len(answers(unanswered)) == 1


def test_what_failed_can_be_sent_back_again(unanswered: Path, tmp_path: Path) -> None:
    """A rejection starts over from SPEC.md, without the amendment that nobody answered (F-3.2.4-04)."""
    assert specwright("reject", unanswered, "--reasons", "Start again.").code == 3
    assert specwright("status", unanswered, "--json").document["where"] == "approval"


@pytest.mark.parametrize("lost", ["checkpoints.db", ""], ids=["lost checkpoints", "a crash"])
def test_an_answer_is_kept_whatever_is_lost(edited: Path, lost: str) -> None:
    """Written before anything is asked: a later `run` shows the draft that takes it into account (D29)."""
    assert specwright("amend", edited).code == 3
    drafted = everything(edited / "state_store")
    if lost:
        for path in (edited / ".specwright").glob(f"{lost}*"):
            path.unlink()
    else:  # as if it had come right behind the record of the answer
        history = json.loads((edited / HISTORY).read_text())
        (edited / HISTORY).write_text(json.dumps({**history, "drafted": 0}))
        (edited / "state_store/product/SPEC.md").write_text("the text before")
    assert specwright("run", edited).code == 3
    assert everything(edited / "state_store") == drafted
