"""The payload of an answer is asked for where there is a terminal, or written in an editor (F§17.2, DESIGN §9)."""

import io
import sys
from pathlib import Path

import pytest

from specwright.cli.questions import NotAnsweredError, asked
from specwright.domain.escalation import Action, HumanResolution
from testkit.cli.commands import everything
from testkit.cli.terminal import on_a_terminal

TYPED: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "ATTEST_SHIPPED": (
        {"module_ref": "MM-11111111@1.0.0", "rationale": "..."},
        "\n\nIt does the same\n",
        {"module_ref": "MM-11111111@1.0.0", "rationale": "It does the same"},
    ),
    "APPROVE_OVERRIDE": ({"rationale": "..."}, "It is fine\n", {"rationale": "It is fine"}),
}


@pytest.mark.parametrize("action", TYPED)
def test_each_short_text_is_asked_for_with_what_is_known(
    action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-17.2-01: Enter keeps what is there, and is no answer where nothing is; the end of the input is none either."""
    draft, typed, payload = TYPED[action]
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    given = asked(draft, lambda fields: HumanResolution(action=Action(action), payload=fields))
    assert given.payload == payload
    assert sys.stdin.read() == ""
    with pytest.raises(NotAnsweredError):
        asked(draft, dict)


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
    """F-17.2-01: an answer of several parts is a draft; the error, then the same text; who leaves sees where it is kept."""
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
        *("resolve", escalation_of(halted_once), "AMEND_SPEC", halted_once),
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
    told = on_a_terminal("resolve", escalation_of(halted_once), "AMEND_SPEC", halted_once)
    assert "the editor '/no/such/editor' failed" in told.screen
    assert "set EDITOR" in told.screen
