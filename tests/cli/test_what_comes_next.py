"""What commands say where there is nothing for them to do names what there is, and what to type (DESIGN §9)."""

import shutil
from pathlib import Path

import pytest

from specwright.cli.commands import nearest_project
from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.cli.projects import sent_back


def test_a_directory_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    """A misspelt name is no project that waits for its first run (D-S9-01)."""
    specwright("status", tmp_path / "nosuch").refuses("there is no such directory", str(tmp_path / "nosuch"))
    specwright("status", tmp_path).refuses("no run has begun here", "once there is a SPEC.md")


def test_doctor_asks_the_models_that_are_named_as_in_run(tmp_path: Path) -> None:
    """Without a setting; what was named is not kept (D-S9-12)."""
    named = specwright(
        "doctor", tmp_path, "--model", "openai:m", "--base-url", "http://127.0.0.1:9/v1", "--json"
    )
    said = [one for one in named.document["checks"] if one["name"].startswith("model")]
    assert any("openai:m" in one["detail"] or "127.0.0.1:9" in one["detail"] for one in said), said
    assert not (tmp_path / ".specwright/run.json").exists()
    specwright("doctor", tmp_path, "--role-model", "challenger").refuses("ROLE=MODEL")


def test_a_reason_for_scripted_answers_is_said_to_change_nothing(tmp_path: Path) -> None:
    """So that the same draft is not taken for one that follows the reason (D-S9-14)."""
    (tmp_path / "SPEC.md").write_text((SMALL / "SPEC.md").read_text())
    assert specwright("run", tmp_path, "--model", PLAYBOOK).code == 3
    told = specwright("reject", tmp_path, "--reasons", "It should be blue.")
    assert told.code == 3
    assert "scripted: they cannot take a reason into account" in told.err
    words = "Say more of it, " + "and of what is in it, " * 40
    sent_back(tmp_path, words)
    asked = specwright("run", tmp_path)
    assert "DIR" not in asked.err
    assert f"run {tmp_path} --model PROVIDER:NAME" in asked.err
    assert " ..." in asked.err
    assert "Build" not in asked.err.partition("what was asked last")[2]


def test_where_nothing_waits_the_next_command_is_said(released_once: Path, waiting: Path) -> None:
    """Each stop has its own verb, in words and with the project's directory (D-S9-01)."""
    told = specwright("escalations", released_once)
    assert (told.code, told.out) == (0, "")
    assert (
        f"Nothing waits for you here. The product is released; `specwright change {released_once} --request"
        in told.err
    )
    assert f"`specwright approve {waiting}` accepts it" in specwright("escalations", waiting).err


def test_what_a_report_may_point_at_is_shown_without_an_example(released_once: Path) -> None:
    """Statements and criteria with their texts, and the command; a report itself needs its example (D-39-02)."""
    told = specwright("report", "initials", released_once, "--pointer", "?")
    assert told.code == 0, told
    for shown in ("/outputs/0/invariants/0", "criterion 1", "--example bug.md --pointer POINTER"):
        assert shown in told.out
    specwright("report", "initials", released_once).refuses("needs its example", '--pointer "?"')
    specwright("report", "nobody", released_once, "--pointer", "?").refuses("no module 'nobody'")


def test_an_amendment_of_a_released_product_is_a_change(released_once: Path) -> None:
    """The refusal has the words that were typed, in the command that takes them."""
    told = specwright("amend", released_once, "--feedback", "Names in\nblue too")
    told.refuses(
        "no spec waits for approval",
        f"specwright change {released_once} --request 'Names in blue too'",
        code=1,
    )
    bare = specwright("amend", released_once)
    bare.refuses("no spec waits for approval", f"`specwright change {released_once}`", code=1)


def test_a_laid_out_module_is_no_project(
    halted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From within a directory of `--checkout` the project is the one above it."""
    project = Path(shutil.copytree(halted_once, tmp_path / "project"))
    (project / "specwright.toml").write_text("")
    (path,) = (project / "state_store/escalations").iterdir()
    assert specwright("escalations", path.stem, project, "--checkout", project / "fix").code == 0
    assert (project / "fix/specwright.toml").exists()
    monkeypatch.chdir(project / "fix")
    assert nearest_project().resolve() == project
