"""What is said of a project is so: before the first run, of split tasks, of modules that are not finished (DESIGN §9)."""

import json
import shutil
from pathlib import Path

import pytest

from specwright.bootstrap.spec_file import read_spec
from specwright.errors import InputError
from testkit.cli.commands import PLAYBOOK, specwright


def test_before_the_first_run_status_says_what_is_missing(tmp_path: Path) -> None:
    """D-S9-01: the template and the model; exit 0, nothing written."""
    project = tmp_path / "p"
    specwright("init", project)
    before = sorted(project.rglob("*"))
    told = specwright("status", project)
    assert told.code == 0
    assert "SPEC.md is still the template, no model is set" in told.out
    assert f"run {project} --model" in told.out
    document = specwright("status", project, "--json").document
    assert (document["where"], document["missing"]) == ("new", ["spec", "model"])
    (project / "SPEC.md").write_text("# Nameplate\n")
    (project / "specwright.toml").write_text(f'model = "{PLAYBOOK}"\n')
    assert specwright("status", project, "--json").document["missing"] == []
    assert "everything is there" in specwright("status", project).out
    assert sorted(project.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "SPEC.md is empty"),
        (b"caf\xe9", "SPEC.md is not UTF-8 text"),
        (b'{"pillars": [', "the product spec cannot be read"),
        (None, "SPEC.md cannot be read: it is a directory"),
    ],
    ids=["empty", "Latin-1", "half a structured spec", "a directory"],
)
def test_before_the_first_run_status_says_what_is_wrong_with_the_spec(
    content: bytes | None, fault: str, tmp_path: Path
) -> None:
    """D-S9-01: the same words with which `run` would refuse it; a program sees that the spec is missing."""
    if content is None:
        (tmp_path / "SPEC.md").mkdir()
    else:
        (tmp_path / "SPEC.md").write_bytes(content)
    told = specwright("status", tmp_path)
    assert told.code == 0
    assert f"No run has begun here: {fault}" in told.out
    assert specwright("status", tmp_path, "--json").document["missing"] == ["spec", "model"]
    specwright("run", tmp_path, "--model", PLAYBOOK).refuses(fault, "SPEC.md")


def test_a_spec_that_the_user_may_not_read_asks_for_the_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: it is there, so that writing one is no help."""

    def refused(path: Path, most: int) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("specwright.bootstrap.spec_file.read_bounded", refused)
    with pytest.raises(InputError, match=r"SPEC\.md cannot be read: Permission denied") as caught:
        read_spec(Path("SPEC.md"))
    assert caught.value.remedy == "give your user permission to read it"


@pytest.mark.parametrize("name", ["spec.md", "Spec.md", "SPEC.txt"])
def test_a_spec_under_a_similar_name_is_seen(name: str, tmp_path: Path) -> None:
    """D-S9-04: the file that is there is named, in place of advice to make one."""
    (tmp_path / name).write_text("# Nameplate\n")
    specwright("run", tmp_path, "--model", PLAYBOOK).refuses(
        f"there is no SPEC.md, only {name}", "--spec FILE"
    )


def test_a_module_that_is_not_sealed_leads_to_its_debate(halted_once: Path) -> None:
    """D-S9-01: its name alone is enough for a person; a program is told which command it needs."""
    told = specwright("module", "shout", halted_once)
    assert told.code == 0
    assert "no version of shout is sealed" in told.err.lower()
    assert told.out == specwright("module", "shout", halted_once, "--debate").out
    error = specwright("module", "shout", halted_once, "--json").document["error"]
    assert error["what"] == "no version of shout is sealed yet"
    assert f"module shout {halted_once} --debate" in error["do"]
    specwright("module", "nobody", halted_once).refuses("no sealed module 'nobody'")


def test_a_split_task_is_not_told_as_given_up(halted_once: Path, tmp_path: Path) -> None:
    """F-17.2-08, D-S9-01: SPLIT in the list and in the sum; a program gets the status of the log."""
    project = Path(shutil.copytree(halted_once, tmp_path / "split"))
    (escalation,) = (project / "state_store/escalations").iterdir()
    parts = [
        {"name": name, "description": f"{name} of a name, as the spec says.", "depends_on": []}
        | {"acceptance_criteria": ["Returns the letters", "Raises ValueError for an empty name"]}
        for name in ("Initials", "Capitals")
    ]
    (tmp_path / "split.json").write_text(json.dumps({"new_tasks": parts}))
    # the playbook has nothing for the parts: it is split, and stops there
    specwright("resolve", escalation.stem, "SPLIT_TASK", project, "--payload", tmp_path / "split.json")
    lines = specwright("tasks", project).out.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("TSK-001 ")] == ["SPLIT"]
    assert "1 split" in specwright("status", project).out
    assert "abandoned" not in specwright("status", project).out
    by_id = {row["spec_task_id"]: row for row in specwright("tasks", project, "--json").document["tasks"]}
    assert by_id["TSK-001"]["status"] == "ABANDONED"
