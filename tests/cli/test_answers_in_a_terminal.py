"""The payload of an answer is asked for where there is a terminal, or written in an editor (F§17.2, DESIGN §9)."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from specwright.cli.session.questions import NotAnsweredError, asked
from specwright.domain.escalation import Action, HumanResolution
from testkit.cli.commands import everything, specwright
from testkit.cli.terminal import on_a_terminal

PART = {"name": "...", "description": "...", "acceptance_criteria": ["It is so", "..."], "depends_on": []}
TYPED: dict[str, tuple[dict[str, Any], dict[str, list[str]], str, dict[str, Any]]] = {
    "AMEND_SPEC": (
        {"amended_acceptance_criteria": ["Returns the initials", "..."], "amendment_rationale": "..."},
        {},
        "\n\nRaises ValueError\nTakes digits\n\nIt was not said\n",
        {
            "amended_acceptance_criteria": ["Returns the initials", "Raises ValueError", "Takes digits"],
            "amendment_rationale": "It was not said",
        },
    ),
    "SPLIT_TASK": (
        {"new_tasks": [PART]},
        {},
        "Letters\nThe letters of a name\n\nIt is shown\n\n\nTags\nThe tags\nFirst\nSecond\n\nLetters, TSK-001\n\n",
        {
            "new_tasks": [
                {**PART, "name": "Letters", "description": "The letters of a name"}
                | {"acceptance_criteria": ["It is so", "It is shown"]},
                {"name": "Tags", "description": "The tags", "depends_on": ["Letters", "TSK-001"]}
                | {"acceptance_criteria": ["First", "Second"]},
            ]
        },
    ),
    "ATTEST_SHIPPED": (
        {"module_ref": "MM-00000000@1.0.0", "rationale": "..."},
        {"module_ref": ["MM-11111111@1.0.0", "MM-22222222@1.0.0"]},
        "2\nIt does the same\n",
        {"module_ref": "MM-22222222@1.0.0", "rationale": "It does the same"},
    ),
    "APPROVE_OVERRIDE": (
        {"rationale": "...", "module": "first"},
        {"module": ["first", "second"]},
        "It is fine\n2\n",
        {"rationale": "It is fine", "module": "second"},
    ),
    "REVISE_PLAN": (
        {"revised_micro_plan": [{"module_id": "shout", "description": "...", "depends_on": []}]},
        {},
        "\nWrites a name in capitals\n\n\n",
        {
            "revised_micro_plan": [
                {"module_id": "shout", "description": "Writes a name in capitals", "depends_on": []}
            ]
        },
    ),
}


@pytest.mark.parametrize("action", TYPED)
def test_each_field_is_asked_for_with_what_is_known(action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-17.2-01: Enter keeps what is there, a number takes a choice, lists end with Enter."""
    draft, choices, typed, payload = TYPED[action]
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    given = asked(draft, choices, lambda fields: HumanResolution(action=Action(action), payload=fields))
    assert given.payload == payload
    assert sys.stdin.read() == ""


def test_the_end_of_the_input_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """F-17.2-01: not a half answer."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("Letters\n"))
    with pytest.raises(NotAnsweredError):
        asked({"new_tasks": [PART]}, {}, dict)


def escalation_of(project: Path) -> str:
    """The escalation that waits."""
    (path,) = (project / "state_store/escalations").iterdir()
    return path.stem


def test_a_person_is_asked_why_and_may_leave(halted_once: Path) -> None:
    """F-17.2-13: without a payload in a terminal; the end of the input changes nothing (exit 3)."""
    before = everything(halted_once)
    escalation = escalation_of(halted_once)
    painted = on_a_terminal("resolve", escalation, "ABANDON_TASK", halted_once, typed=(("Why: ", "\x04"),))
    assert (painted.code, "Nothing was answered" in painted.screen) == (3, True)
    painted = on_a_terminal(
        *("resolve", escalation, "ABANDON_TASK", halted_once),
        typed=(("Why: ", "Nobody needs it\n"), ("Type yes: ", "no\n")),
    )
    assert painted.code == 3
    assert everything(halted_once) == before


def test_a_wrong_draft_is_opened_again_as_it_was_written(
    halted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-17.2-01: the error, then the same text; who leaves is told where it is kept."""
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\n"
        "draft, seen = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).with_name('seen')\n"
        "seen.open('a').write(draft.read_text() + '\\0')\n"
        "draft.write_text('{ half an answer')\n"
    )
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    monkeypatch.delenv("VISUAL", raising=False)
    painted = on_a_terminal(
        *("resolve", escalation_of(halted_once), "AMEND_SPEC", halted_once, "--edit"),
        typed=(("q leaves it: ", "\n"), ("q leaves it: ", "q\n")),
    )
    assert painted.code == 3
    first, second = (tmp_path / "seen").read_text().split("\0")[:2]
    assert '"amended_acceptance_criteria"' in first
    assert second == "{ half an answer"
    assert "it is no JSON" in painted.screen
    kept = Path(painted.screen.partition("--payload ")[2].split()[0])
    assert kept.read_text() == "{ half an answer"


def test_an_editor_that_is_none_is_told(halted_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: which one, and where the draft is."""
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    monkeypatch.delenv("VISUAL", raising=False)
    told = specwright("resolve", escalation_of(halted_once), "AMEND_SPEC", halted_once, "--edit")
    told.refuses("the editor '/no/such/editor' failed", "set EDITOR")
