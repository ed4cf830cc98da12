"""Decisions at the approval gate, and answers that are taken back (F§3.2.4)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, everything, specwright
from testkit.cli.projects import sent_back

SPEC = Path("state_store/product/spec.json")
HISTORY = Path("state_store/product/history.json")
DECISIONS = ("A digit is no letter.", "An empty name is refused.")


def write_spec(playbook: Path, file: str, *decisions: str) -> None:
    """Have the researcher answer with decisions of its first task."""
    spec = json.loads((SMALL / "playbook/researcher/spec.json").read_text())
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["decisions"] = list(decisions)
    (playbook / "researcher" / file).write_text(json.dumps(spec))


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    """A playbook whose researcher decides two cases."""
    playbook = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))
    write_spec(playbook, "spec.json", *DECISIONS)
    return playbook


@pytest.fixture
def decided(playbook: Path, tmp_path: Path) -> Path:
    """A project at the gate whose spec has two decisions."""
    project = tmp_path / "project"
    told = specwright("run", project, "--spec", SMALL / "SPEC.md", "--model", f"playbook:{playbook}")
    assert told.code == 3, told
    return project


def answers(project: Path) -> list[dict[str, Any]]:
    """What was sent back."""
    return list(json.loads((project / HISTORY).read_text())["answers"])


def test_the_gate_lists_what_was_decided_first(decided: Path) -> None:
    """In the terminal, on the page, and for a program, with the command that overturns one (F-3.2.4-01)."""
    page = specwright("status", decided).out
    assert page.startswith("DECISIONS: SPEC.md left 2 cases open. They will work like this.\n")
    assert "  1  A digit is no letter. (TSK-001 Initials)\n  2  An empty name is refused." in page
    assert f'specwright amend {decided} --decision 1 "what holds instead"' in page
    assert specwright("status", decided, "--json").document["decisions"] == [
        {"number": number, "text": text, "tasks": ["TSK-001"], "place": "TSK-001 Initials"}
        for number, text in enumerate(DECISIONS, 1)
    ]


def test_a_decision_is_overturned_by_its_number(decided: Path, playbook: Path) -> None:
    """The researcher reads what was decided and what holds instead (F-3.2.4-05)."""
    write_spec(playbook, "amended-1.json", "A digit is a letter.", DECISIONS[1])
    told = specwright("amend", decided, "--decision", "1", "It is one.")
    assert told.code == 3, told
    assert "DECISIONS: 1 new, 1 shown before.\n  1  A digit is a letter. (TSK-001 Initials)\n" in told.out
    assert f"2  {DECISIONS[1]}" not in told.out
    (answer,) = answers(decided)
    assert answer["text"] == f'Decision 1, of TSK-001 Initials, "{DECISIONS[0]}": It is one.'
    journal = (decided / ".specwright/journal.jsonl").read_text()
    assert "amended-1" not in journal


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--decision", "3", "x"), "there is no decision 3; the spec that waits has 2"),
        (("--decision", "0", "x"), "there is no decision 0"),
        (("--decision", "1", " "), "says nothing of what holds instead"),
        (("--decision", "1", "x", "--examples", "acceptance.md"), "give words or --examples"),
        (("--withdraw", "--feedback", "x"), "--withdraw stands alone"),
    ],
    ids=str,
)
def test_what_is_no_answer_changes_nothing(decided: Path, options: tuple[str, ...], said: str) -> None:
    """F-3.2.4-05, D-S9-04."""
    state = everything(decided / "state_store")
    specwright("amend", decided, *options).refuses(said)
    assert everything(decided / "state_store") == state


def test_an_amendment_that_got_no_answer_is_withdrawn(decided: Path, playbook: Path) -> None:
    """No model is asked, the spec waits as it was shown, and the next amendment goes on in the same conversation; what sent
    it back is named before (F-3.2.4-05, D-S9-04)."""
    shown = specwright("status", decided, "--json").document["sha256"]
    sent_back(decided, "Say more.")
    for command in ("status", "approve"):
        told = specwright(command, decided)
        assert f"specwright amend {decided} --withdraw" in told.out + told.err
    told = specwright("amend", decided, "--withdraw", "--json")
    assert (told.code, told.document["where"], told.document["sha256"]) == (3, "approval", shown)
    assert answers(decided) == []
    specwright("amend", decided, "--withdraw").refuses("nothing to withdraw", code=1)

    write_spec(playbook, "amended-1.json", DECISIONS[0])
    told = specwright("amend", decided, "--feedback", "Less, rather.")
    assert told.code == 3, told
    assert [one["text"] for one in answers(decided)] == ["Less, rather."]
    assert "Say more." not in (decided / ".specwright/journal.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("command", [("amend", "--feedback", "x"), ("reject", "--reasons", "x")], ids=str)
def test_what_was_answered_in_part_is_withdrawn_for_good(
    decided: Path, playbook: Path, command: tuple[str, ...]
) -> None:
    """It stays on record, the draft before it can be approved, and what comes next is a conversation that never heard of
    it (F-3.2.4-05, D-S4-01)."""
    (playbook / "researcher/amended-1.json").write_text('{"title": "No spec"}')
    if command[0] == "reject":
        (playbook / "researcher/spec.json").write_text('{"title": "No spec"}')
    shown = specwright("status", decided, "--json").document["sha256"]
    assert specwright(command[0], decided, *command[1:]).code == 1
    told = specwright("amend", decided, "--withdraw", "--json")
    assert (told.code, told.document["sha256"]) == (3, shown)
    assert [one["action"] for one in answers(decided)] == ["WITHDRAWN", "WITHDRAWN"]

    write_spec(playbook, "spec.json", *DECISIONS)
    write_spec(playbook, "amended-1.json", DECISIONS[1])
    told = specwright("amend", decided, "--feedback", "Only the second.")
    assert told.code == 3, told
    assert "DECISIONS: 0 new, 1 shown before." in told.out


def test_an_edited_text_is_withdrawn_with_its_amendment(decided: Path) -> None:
    """The run works on the text that the spec was made from again (F-3.2.4-05)."""
    file, copy = decided / "SPEC.md", decided / "state_store/product/SPEC.md"
    before = file.read_text()
    file.write_text(before + "\nMore.\n")
    sent_back(decided, "", file.read_text())
    assert specwright("run", decided).code == 1
    assert copy.read_text() != before
    assert specwright("amend", decided, "--withdraw").code == 3
    assert copy.read_text() == before
    assert specwright("status", decided, "--json").document["spec_edited"] is True


@pytest.mark.slow
def test_what_was_shown_before_can_be_approved_after_a_withdrawal(decided: Path) -> None:
    """F-3.2.4-02: nothing of the answer is left."""
    sent_back(decided, "Say more.")
    specwright("amend", decided, "--withdraw")
    told = specwright("approve", decided)
    assert told.code == 0, told
    assert specwright("verify", decided).code == 0


def test_where_nothing_was_decided_no_list_is_promised(decided: Path, playbook: Path) -> None:
    """`status` would list nothing; and after a rejection nothing can be withdrawn, which is said as it is (D-S9-04)."""
    write_spec(playbook, "spec.json")
    specwright("amend", decided, "--withdraw").refuses("the spec that waits was not sent back", code=1)
    assert specwright("reject", decided, "--reasons", "Decide nothing.").code == 3
    specwright("amend", decided, "--decision", "1", "x").refuses("no numbered decisions", "--feedback")
    told = specwright("amend", decided, "--withdraw")
    told.refuses("was written after the rejection", code=1)
