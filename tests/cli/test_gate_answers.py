"""Answers at the approval gate: they hold for what was shown, whoever gives them and however (F§3.2.4)."""

import itertools
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, everything, specwright
from testkit.cli.terminal import on_a_terminal

SPEC = Path("state_store/product/spec.json")
PAGE = Path("state_store/product/spec.md")

BY_GRAPH = """
import json, sys
from langgraph.types import Command
from specwright.bootstrap.project import open_project
from specwright.bootstrap.run_options import options_for
from specwright.cli.options import settings_for
from pathlib import Path
directory, answer = Path(sys.argv[1]), json.loads(sys.argv[2])
with open_project(directory, settings_for(directory, options_for(directory))) as project:
    graph, config = project.driver.graph, project.driver.config
    asked = graph.get_state(config).interrupts[0].value
    graph.invoke(Command(resume={**answer, "sha256": answer.get("sha256") or asked["sha256"]}), config, durability="sync")
    waits = graph.get_state(config).interrupts
    print(json.dumps({**asked, "refused": waits[0].value.get("refused", "")} if waits else project.status.value))
"""


def test_an_approval_holds_for_what_was_shown(waiting: Path) -> None:
    """Exit 1 and nothing changed if the spec, or a page of it, is not the one of the gate (D-S9-15, F-3.2.4-01)."""
    for file in (SPEC, PAGE, PAGE.with_name("spec_in_full.md")):
        shown = (waiting / file).read_text()
        (waiting / file).write_text(shown.replace("initials", "nitials"))
        state = everything(waiting / "state_store")
        told = specwright("approve", waiting)
        told.refuses("not approved", "not the one that was shown", code=1)
        assert everything(waiting / "state_store") == state
        assert specwright("run", waiting, "--approve").code == 3
        assert specwright("status", waiting, "--json").document["where"] == "approval"
        (waiting / file).write_text(shown)


def test_criteria_that_no_example_shows_are_named(waiting: Path) -> None:
    """A person sees before the approval what models alone will judge (D-40-06)."""
    page = [line.strip() for line in specwright("status", waiting).out.splitlines()]
    spec = json.loads((waiting / SPEC).read_text())
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    assert task.get("acceptance") is None
    said = [line for line in page if "(no example shows it) " in line]
    assert [line[:2] for line in said] == [f"{n}." for n in range(1, 1 + len(task["acceptance_criteria"]))]


def by_graph(directory: Path, answer: dict[str, str]) -> Any:
    """What the gate asked, with what it says to an answer that another process gives through LangGraph; or where the
    project is then."""
    import subprocess

    ended = subprocess.run(
        [sys.executable, "-c", BY_GRAPH, str(directory), json.dumps(answer)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.slow
def test_an_approval_through_the_graph_names_what_it_approves(waiting: Path) -> None:
    """In a process of its own: another hash is refused, whoever approves and also where that is not said; the gate waits on
    (D-S9-15, F-3.2.4-02)."""
    for by in ({"by": "human:program"}, {}):
        asked = by_graph(waiting, {"action": "APPROVE", **by, "sha256": "0" * 64})
        assert "not the one that was shown" in asked["refused"]
    assert asked["spec"] == (waiting / PAGE).read_text()
    assert (asked["warnings"], asked["sources"]) == ([], [])
    assert specwright("status", waiting, "--json").document["where"] == "approval"


@pytest.mark.slow
def test_an_answer_through_the_graph_that_is_none_is_refused(waiting: Path) -> None:
    """The gate waits on, and says what an answer is (F-3.2.4-02, D-S9-04)."""
    state = everything(waiting / "state_store")
    for action, said in (("AMEND", {"feedback": " "}), ("REJECT", {}), ("Yes", {})):
        assert "an answer is APPROVE" in by_graph(waiting, {"action": action, **said})["refused"]
        assert everything(waiting / "state_store") == state


@pytest.mark.slow
def test_a_rejection_through_the_graph_is_recorded(waiting: Path) -> None:
    """As one by command is, and the gate asks about the next draft (F-3.2.4-03)."""
    by_graph(waiting, {"action": "REJECT", "reasons": "It says too little."})
    (answer,) = json.loads((waiting / "state_store/product/history.json").read_text())["answers"]
    assert (answer["action"], answer["text"]) == ("REJECT", "It says too little.")
    assert specwright("status", waiting, "--json").document["where"] == "approval"


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_an_approval_through_the_graph_goes_on(waiting: Path) -> None:
    """As one by command does, without any payload (F-3.2.4-02)."""
    assert by_graph(waiting, {"action": "APPROVE"}) == "released"


def test_an_approval_by_command_may_name_the_spec_that_it_means(waiting: Path) -> None:
    """Another hash is refused with both, one that is none is bad input, and nothing changes (D-S9-15)."""
    state = everything(waiting / "state_store")
    shown = specwright("status", waiting, "--json").document["sha256"]
    told = specwright("approve", waiting, "--sha256", "0" * 64)
    told.refuses("not approved", "names 000", shown, code=1)
    specwright("approve", waiting, "--sha256", shown[:12]).refuses("is not a SHA-256", "--sha256")
    assert everything(waiting / "state_store") == state


def test_a_draft_that_is_lost_is_written_again_from_the_journal(waiting: Path) -> None:
    """Nothing is asked again, and the gate waits as before; each answer works (D-S9-04, F-3.2.4-03)."""
    sound = everything(waiting / "state_store")
    for file, damage in itertools.product(
        ("spec.json", "spec.md", "spec_in_full.md", "validation.json"), ("", "{", '{"title": 1}')
    ):
        path = waiting / "state_store/product" / file
        kept = path.read_bytes()
        if damage:
            path.write_text(damage)
        else:
            path.unlink()
        told = specwright("run", waiting)
        if file.endswith(".md") and damage:
            specwright("approve", waiting).refuses("not the one that was shown", code=1)
            path.write_bytes(kept)
        else:
            assert told.code == 3, (file, damage, told)
        assert everything(waiting / "state_store") == sound, (file, damage)


def test_a_lost_draft_can_be_sent_back(waiting: Path) -> None:
    """As any other: the gate shows the next draft (D-S9-04)."""
    for file in ("spec.json", "spec.md"):
        (waiting / "state_store/product" / file).unlink()
        told = specwright("reject", waiting, "--reasons", "It says too little.")
        assert told.code == 3, told
        assert (waiting / "state_store/product/spec.md").read_text().startswith("# Nameplate")


ASKED = "approve, amend, reject, or later? "


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_person_at_a_terminal_is_asked_at_the_gate(tmp_path: Path) -> None:
    """What is sent back comes to the gate again, an approval goes on to the release (F-3.2.4-02, F-3.2.4-04)."""
    given = ("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)
    typed = (
        (ASKED, "perhaps\n"),
        (ASKED, "reject\n"),
        ("Why: ", "It says too little.\n"),
        (ASKED, "approve\n"),
    )
    painted = on_a_terminal(*given, typed=typed)
    assert painted.code == 0, painted.screen
    assert "Nothing was sent" in painted.screen
    assert "Shipped" in painted.screen


def test_who_decides_later_finds_the_gate_as_it_was(waiting: Path) -> None:
    """Exit 3; the command for each answer was shown. Without a terminal nobody is asked (F-3.2.4-01, D-S9-02)."""
    state = everything(waiting / "state_store")
    for typed in ("reject\n\n\x04", "later\n"):
        painted = on_a_terminal("run", waiting, typed=((ASKED, typed),))
        assert painted.code == 3
        assert "specwright approve" in painted.screen
        assert everything(waiting / "state_store") == state, typed
    told = specwright("run", waiting)
    assert told.code == 3
    assert ASKED not in told.out + told.err


@pytest.mark.parametrize("name", ["spec.json", "spec.yaml"])
def test_a_structured_spec_enters_at_the_gate(tmp_path: Path, waiting_once: Path, name: str) -> None:
    """By --spec; an incomplete one is refused with exit 2 and nothing written (F-3.2.4-01, D-S9-04)."""
    import yaml

    spec = json.loads((waiting_once / SPEC).read_text())
    dump = json.dumps if name.endswith("json") else yaml.safe_dump
    (tmp_path / name).write_text(dump(spec))
    playbook = shutil.copytree(SMALL / "playbook", tmp_path / "playbook")
    shutil.rmtree(playbook / "researcher")
    project = tmp_path / "project"
    told = specwright("run", project, "--spec", tmp_path / name, "--model", f"playbook:{playbook}", "--json")
    assert (told.code, told.document["where"]) == (3, "approval")
    assert len(told.document["sha256"]) == 64
    del spec["pillars"][0]["epics"][0]["stories"]
    (tmp_path / name).write_text(dump(spec))
    told = specwright("run", tmp_path / "other", "--spec", tmp_path / name, "--model", PLAYBOOK)
    told.refuses("the product spec is not complete", "stories")
    assert not (tmp_path / "other").exists()
