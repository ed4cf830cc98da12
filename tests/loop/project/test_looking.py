"""Looking at a project while it may be large, or damaged (DESIGN §9, §11, D29)."""

import json
from pathlib import Path

import pytest

from agent_wire import canonical_json
from specwright.application.announce import review
from specwright.bootstrap.views import reading_project
from specwright.errors import CorruptionError
from specwright.storage import DiskStateStore
from testkit.loop.project_workbench import ProjectWorkbench, chain_spec


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A finished project of three tasks."""
    with ProjectWorkbench(tmp_path) as bench:
        bench.approve(chain_spec(3))
        assert bench.run() == "COMPLETE"
    return tmp_path


def test_a_damaged_definition_is_one_clear_error(project: Path):
    """D-29-02: whichever it is, the spec or a task, and although only the state is asked for."""
    for path in sorted((project / "state_store/definitions").iterdir()):
        whole = path.read_bytes()
        path.write_bytes(whole.replace(b"TSK-002", b"TSK-003", 1) if b"TSK-002" in whole else whole + b" ")
        with (
            pytest.raises(CorruptionError, match="a definition was altered") as caught,
            reading_project(project),
        ):
            pass
        assert path.name in caught.value.where
        path.unlink()
        with pytest.raises(CorruptionError, match="is missing"), reading_project(project):
            pass
        path.write_bytes(whole)
    with reading_project(project) as view:
        assert view.projection.state is not None


def test_a_definition_is_validated_when_somebody_asks_for_its_task(project: Path):
    """D-29-02: bytes that have their hash are those that were written, so that the state of ten thousand tasks is read
    without their texts; one that no version ever wrote is an error that names its task, the others stay readable."""
    with ProjectWorkbench(project) as bench:
        first, second, _ = bench.projection.definitions
        strange = {**bench.projection.definitions[second].to_json(), "acceptance_criteria": ["TBD"]}
        sha256 = bench.store.define(canonical_json.pretty(strange))
        bench.tell(review("task.amended", sha256, second))
    with reading_project(project) as view:
        assert view.projection.state is not None
        assert view.projection.definitions[first].name == "Task 1"
        with pytest.raises(CorruptionError, match=f"definition of {second}.*acceptance_criteria") as caught:
            view.projection.definitions[second]
        assert sha256 in caught.value.where


@pytest.mark.parametrize(
    ("subject", "stored"),
    [
        *(("task.amended", stored) for stored in (b"[]", b'{"task_id": 3}\n', b"{}", b"not JSON")),
        ("change.released", b"{}"),  # and none was asked for
    ],
)
def test_what_is_no_definition_at_all_is_told_at_once(project: Path, subject: str, stored: bytes):
    """D-29-02: the state cannot be made of it."""
    with ProjectWorkbench(project) as bench:
        event = review(subject, bench.store.define(stored), "x")
        with pytest.raises(CorruptionError, match="cannot be read as a project"):
            bench.tell(event)
    with pytest.raises(CorruptionError, match="cannot be read as a project"), reading_project(project):
        pass


def test_the_state_file_is_readable_whatever_is_read_beside_it(project: Path):
    """D-29-01, F-4.2-01: what a look shows is what the file says."""
    with reading_project(project) as view:
        state = view.projection.state
        assert state is not None
        stored = DiskStateStore(project / "state_store").read("project/state_machine.json")
        assert json.loads(stored) == state.to_json()
