"""Answers at the approval gate: they hold for what was shown, whoever gives them and however (F§3.2.4)."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, everything, specwright

SPEC = Path("state_store/product/spec.json")
PAGE = Path("state_store/product/spec.md")

BY_GRAPH = """
import json, sys
from langgraph.types import Command
from specwright.bootstrap.project import open_project
from specwright.cli.session.options import last_options, settings_for
from pathlib import Path
directory, answer = Path(sys.argv[1]), json.loads(sys.argv[2])
with open_project(directory, settings_for(directory, last_options(directory))) as project:
    graph, config = project.driver.graph, project.driver.config
    asked = graph.get_state(config).interrupts[0].value
    graph.invoke(Command(resume={**answer, "sha256": answer.get("sha256") or asked["sha256"]}), config, durability="sync")
    waits = graph.get_state(config).interrupts
    print(json.dumps(waits[0].value.get("refused", "") if waits else project.status.value))
"""


@pytest.mark.parametrize("file", [SPEC, PAGE], ids=str)
def test_an_approval_holds_for_what_was_shown(waiting: Path, file: Path) -> None:
    """Exit 1 and nothing changed if the spec is not the one of the gate (D-S9-15)."""
    shown = (waiting / file).read_text()
    (waiting / file).write_text(shown.replace("initials", "nitials"))
    state = everything(waiting / "state_store")
    told = specwright("approve", waiting)
    told.refuses("not approved", "not the one that was shown", code=1)
    assert everything(waiting / "state_store") == state
    assert specwright("run", waiting, "--approve").code == 3
    assert specwright("status", waiting, "--json").document["where"] == "approval"


def by_graph(directory: Path, answer: dict[str, str]) -> str:
    """What the gate says to an answer that another process gives through LangGraph."""
    import subprocess

    ended = subprocess.run(
        [sys.executable, "-c", BY_GRAPH, str(directory), json.dumps(answer)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.slow
def test_an_approval_through_the_graph_names_what_it_approves(waiting: Path) -> None:
    """In a process of its own: another hash is refused, and the gate waits on (D-S9-15, F-3.2.4-02)."""
    answer = {"action": "APPROVE", "by": "human:program"}
    assert "not the one that was shown" in by_graph(waiting, {**answer, "sha256": "0" * 64})
    assert specwright("status", waiting, "--json").document["where"] == "approval"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_an_approval_through_the_graph_goes_on(waiting: Path) -> None:
    """As one by command does (F-3.2.4-02)."""
    assert by_graph(waiting, {"action": "APPROVE", "by": "human:program"}) == "released"


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
