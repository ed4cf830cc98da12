"""The status of a project: every one that scripts may read is one that a project can have."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specwright.application.factory import ProjectView
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.application.store import layout
from specwright.domain.modules.release import IntegrationGates, ProductResult, ReleaseManifest, Result
from specwright.domain.spec.draft_history import DraftHistory, GateAction, GateAnswer
from specwright.domain.tasks.task_board import Outcome
from testkit.memory_tree import MemoryTree

RELEASE = "REL-1a2b3c4d"


def view(**projected: Any) -> ProjectView:
    """A project of which the log says no more than is given."""
    said = {"board": None, "releases": [], "open_change": None, "change_number": 0, "awaits_approval": False}
    known: Any = SimpleNamespace(**{**said, **projected})
    return ProjectView(store=MemoryTree(), projection=known)


def ended(outcome: Outcome, **projected: Any) -> ProjectView:
    """A project whose tasks are laid out."""
    return view(board=SimpleNamespace(outcome=lambda: outcome), **projected)


def released(result: Result) -> ProjectView:
    """A project with one release."""
    project = ended(Outcome.COMPLETE, releases=[RELEASE])
    product = ProductResult.without_wheel("no wheel")
    if result is Result.PASS:
        product = ProductResult(wheel="a.whl", sha256="0" * 64, result=result, detail="")
    gates = IntegrationGates.model_validate(dict.fromkeys(IntegrationGates.model_fields, Result.PASS))
    manifest = ReleaseManifest.model_validate(
        {
            "release_id": RELEASE,
            "created_at": "2026-01-01T00:00:00Z",
            "spec_version": "1.0.0",
            "modules": [{"module_ref": "MM-1a2b3c4d@1.0.0", "ship_ref": "SHIP-1a2b3c4d"}],
            "integration_gates": gates,
            "overall_result": Result.PASS,
            "notes": "",
            "product": product,
        }
    )
    project.store.publish(layout.manifest(RELEASE), manifest.to_bytes())
    return project


def drafted() -> ProjectView:
    """A project whose spec waits."""
    project = view(awaits_approval=True)
    project.store.publish(layout.spec_files().spec, b"{}")
    project.store.publish(layout.spec_files().history, DraftHistory(drafted=0).to_bytes())
    return project


def sent_back() -> ProjectView:
    """The same, and an answer that its spec does not take into account yet."""
    project = drafted()
    answer = GateAnswer(action=GateAction.AMEND, text="Say more.")
    history = DraftHistory(drafted=0, answers=[answer])
    project.store.replace(layout.spec_files().history, history.to_bytes())
    return project


PROJECTS = {
    ProjectStatus.NEW: (view(awaits_approval=True), 1),
    ProjectStatus.APPROVAL: (drafted(), 3),
    ProjectStatus.RUNNING: (ended(Outcome.RUNNABLE), 1),
    ProjectStatus.HALTED: (ended(Outcome.HALTED), 3),
    ProjectStatus.STALLED: (ended(Outcome.STALLED), 3),
    ProjectStatus.RELEASE_DUE: (ended(Outcome.COMPLETE), 1),
    ProjectStatus.RELEASE_FAILED: (released(Result.FAIL), 1),
    ProjectStatus.RELEASED: (released(Result.PASS), 0),
}


@pytest.mark.parametrize("status", list(ProjectStatus))
def test_a_project_can_have_every_status(status: ProjectStatus):
    """What is documented to scripts occurs, with its exit code (D-S9-02, D-28-03, D-08-01)."""
    project, code = PROJECTS[status]
    assert project_status(project) is status
    assert status.exit_code == code


def test_a_spec_that_was_sent_back_does_not_wait():
    """Its amendment failed, or was interrupted: a run goes on with it (D-S9-02, F-3.2.4-05)."""
    assert project_status(sent_back()) is ProjectStatus.RUNNING


def test_an_approved_spec_without_tasks_is_running():
    """A crash may come between the approval and the tasks (D-S9-02)."""
    assert project_status(view()) is ProjectStatus.RUNNING


def test_the_documented_statuses_are_those_of_the_code():
    """`where` in the JSON of `run` and `status` (D-S9-03)."""
    page = (Path(__file__).parents[2] / "docs/command-line.md").read_text()
    (listed,) = re.findall(r"`where` is (.*?)\.", page, re.S)
    assert set(re.findall(r"`(\w+)`", listed)) == set(ProjectStatus)
