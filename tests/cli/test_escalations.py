"""`specwright escalations`: what waits for a person, and how to answer it within a minute (F§17, DESIGN §9)."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.escalation.resolutions import Action, HumanResolution, actions_for
from testkit.cli.commands import everything, filled_in, specwright

WIDTH = 100


@pytest.fixture
def here(halted_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The halted project, as the working directory: what is printed then names no directory."""
    monkeypatch.chdir(halted_once)
    return halted_once


@pytest.fixture
def waits(halted_once: Path) -> dict[str, Any]:
    """The escalation that waits."""
    (path,) = (halted_once / "state_store/escalations").iterdir()
    return json.loads(path.read_text())


def test_the_list_says_what_waits_since_when_why_and_what_to_type(here: Path, waits: dict[str, Any]) -> None:
    """Id, task, time, cause, decision, recommendation and the command, on one screen (F-17.1-01, F-17.1-04)."""
    told = specwright("escalations")
    assert told.code == 0
    lines = told.out.splitlines()
    assert len(lines) <= 12
    assert lines[0] == f"{waits['escalation_id']}  TSK-001  Initials"
    page = " ".join(told.out.split())
    for words in (
        waits["created_at"],
        "modules could not be shipped: shout",
        waits["minimal_decision_required"],
        "PROVIDE_FIX: give the files yourself",
        f"specwright resolve {waits['escalation_id']} PROVIDE_FIX --payload answer.json",
    ):
        assert words in page


def test_the_page_of_one_tells_everything_that_was_said(here: Path, waits: dict[str, Any]) -> None:
    """Faults, the three groups of modules, every answer with a payload, the whole debate (F-17.1-02, F-17.1-05)."""
    told = specwright("escalations", waits["escalation_id"])
    page = " ".join(told.out.split())
    for words in (
        "invariant shout ships",
        "failed shout: the Arbiter rejected it and no revision is left",
        "abandoned none",
        f"shipped initials {waits['details']['shipped']['initials']}",
        "Round 3: FAIL, REJECT",
        "In round 3 the name of 3 words",
        waits["task_ref"],
        *(f"{action}: " for action in actions_for("modules")),
    ):
        assert words in page, words
    assert [line for line in told.out.splitlines() if len(line) > WIDTH] == []


def test_the_decision_stands_above_the_debate(here: Path, waits: dict[str, Any]) -> None:
    """A person who reads from the top can act before the first round (F-17.1-04)."""
    page = specwright("escalations", waits["escalation_id"]).out
    order = ["To decide", "What failed", "Modules", "Recommended", "Other answers", "(debate PROP-"]
    places = [page.index(words) for words in order]
    assert places == sorted(places)


def test_every_payload_shown_is_a_valid_answer_once_it_is_filled_in(
    here: Path, waits: dict[str, Any]
) -> None:
    """The words alone are missing; as it is printed it is refused as a placeholder (F-17.2-01)."""
    shown = specwright("escalations", waits["escalation_id"], "--json").document["actions"]
    assert set(shown) == set(actions_for("modules"))
    for action, payload in shown.items():
        given = HumanResolution(action=Action(action), payload=filled_in(payload))
        assert given.read()
        with pytest.raises(ValueError, match="placeholder"):
            HumanResolution(action=Action(action), payload=payload)


def test_a_program_gets_the_record_and_the_command(here: Path, waits: dict[str, Any]) -> None:
    """The stored record with what it takes to answer it, in a list and alone (D-S9-03)."""
    (listed,) = specwright("escalations", "--json").document
    alone = specwright("escalations", waits["escalation_id"], "--json").document
    assert listed == alone
    assert {key: alone[key] for key in waits} == waits
    assert shlex.split(alone["command"])[1:4] == ["resolve", waits["escalation_id"], "PROVIDE_FIX"]


def test_what_is_not_there_is_refused(here: Path) -> None:
    """An unknown id, and a word too many (D-S9-04)."""
    specwright("escalations", "ESC-00000000").refuses("ESC-00000000", "lists those that wait")
    specwright("escalations", "ESC-00000000", "a", "b").refuses("one word too many")
    specwright("escalations", "ESC-00000000/../../x").refuses("no escalation")


def test_where_nothing_waits_it_says_so(released_once: Path) -> None:
    """A finished project asks nothing; a program gets an empty list (D-S9-01)."""
    told = specwright("escalations", released_once)
    assert (told.code, told.out) == (0, "")
    assert "Nothing waits" in told.err
    assert specwright("escalations", released_once, "--json").document == []


def test_looking_changes_nothing(here: Path, waits: dict[str, Any]) -> None:
    """Not a byte of the project (D-S9-01)."""
    before = everything(here)
    specwright("escalations")
    specwright("escalations", waits["escalation_id"])
    assert everything(here) == before


def test_raw_answers_are_kept_and_shown(here: Path, waits: dict[str, Any], tmp_path: Path) -> None:
    """What a model answered three times in vain stands on the page, long ones cut with their file named (D-11-05)."""
    long = "\n".join(f"line {number}" for number in range(100))
    spoilt = {
        **waits,
        "escalation_id": "ESC-00000001",
        "details": {"cause": "planning", "raw_answers": [long, "{"]},
    }
    path = here / "state_store/escalations/ESC-00000001.json"
    path.write_text(json.dumps(spoilt))
    try:
        page = specwright("escalations", "ESC-00000001").out
    finally:
        path.unlink()
    assert "Raw answer 1 of 2" in page
    assert "line 39" in page
    assert "line 40" not in page
    assert "60 more lines in state_store/escalations/ESC-00000001.json" in page
