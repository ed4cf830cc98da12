"""When a project is released, and how it is released again (F§15.4, D8)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from specwright.domain.tasks.project_state import ProjectState, TaskStatus
from specwright.domain.tasks.task_board import Outcome
from testkit.checkpoints import invocations
from testkit.domain.product_specs import states
from testkit.domain.task_states import outcome
from testkit.loop.processes import Uninterrupted
from testkit.workshop import Workshop


def test_a_finished_project_releases_by_itself(uninterrupted: Uninterrupted):
    """Nobody asked for it: after the last task has shipped, and only then, the release is made (F-15-01)."""
    effects = uninterrupted.effects
    shipped = [number for number, effect in enumerate(effects) if effect == "wire task.complete"]
    released = [number for number, effect in enumerate(effects) if "releases/" in effect]
    assert shipped
    assert released
    assert shipped[-1] < released[0]
    (manifest,) = (uninterrupted.project / "state_store/releases").glob("*/manifest.json")
    sealed = (uninterrupted.project / "state_store/modules").glob("*/*/ship.json")
    listed = [module["module_ref"] for module in json.loads(manifest.read_text())["modules"]]
    assert listed == [f"{path.parts[-3]}@{path.parts[-2]}" for path in sealed]
    (outer, *_) = invocations(uninterrupted.project)
    assert [node for (node,) in outer.ran] == ["product_loop", "approval_gate", "project_loop", "release"]


@given(states())
def test_nothing_is_released_while_a_task_is_open(state: ProjectState):
    """PENDING, IN_PROGRESS, BLOCKED or HALTED: one such task, and the project is not complete (F-15-01)."""
    open_ones = {TaskStatus.PENDING, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED, TaskStatus.HALTED}
    statuses = {entry.status for entry in state.tasks.values()}
    assert (outcome(state) is Outcome.COMPLETE) is not bool(statuses & open_ones)


def manifests(project: Path) -> dict[str, Any]:
    """The releases by their ids."""
    return {
        path.parent.name: json.loads(path.read_text())
        for path in (project / "state_store/releases").glob("*/manifest.json")
    }


@pytest.mark.slow
def test_a_release_that_failed_is_made_again_after_the_fix(
    workshop: Workshop, uninterrupted: Uninterrupted, tmp_path: Path
):
    """Blocked by a gate with a report, corrected, and made anew under an id of its own; both stay (F-15-11, F-15-09)."""
    project = tmp_path / "project"
    shutil.copytree(uninterrupted.project, project)
    (first,) = manifests(project)
    index = project / "state_store/code_index"
    index.rename(tmp_path / "index")

    failed = workshop.command("release", project, "--json")
    assert failed.code == 1, failed.err
    assert ("✓" in failed.err, "✗" in failed.err) == (False, True)
    page = workshop.command("status", project).out
    assert page.index("specwright change") < page.index("specwright release")
    (blocked,) = manifests(project).keys() - {first}
    assert manifests(project)[blocked]["integration_gates"]["code_index_check"] == "FAIL"
    assert manifests(project)[blocked]["overall_result"] == "FAIL"
    assert "specwright release" in (project / f"state_store/releases/{blocked}/failure_report.md").read_text()

    shutil.rmtree(index)
    (tmp_path / "index").rename(index)
    corrected = workshop.command("release", project, "--json")
    assert corrected.code == 0, corrected.err
    (second,) = manifests(project).keys() - {first, blocked}
    assert manifests(project)[second]["overall_result"] == "PASS"
    assert not (project / f"state_store/releases/{second}/failure_report.md").exists()
    assert manifests(project)[second]["modules"] == manifests(project)[first]["modules"]
