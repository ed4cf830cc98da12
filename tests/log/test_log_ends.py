"""A log that was cut off or rewritten as a whole is found by the ends that were noted outside it (D36)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agent_wire.entries import LogEnd
from agent_wire.log import SqliteWireLog
from specwright.application.store.log_ends import check_log_ends, log_ends, note_log_end, note_release_end
from specwright.bootstrap.verify import verify_project
from specwright.bootstrap.views import log_findings
from specwright.errors import CorruptionErrors
from specwright.storage import DiskStateStore
from wire_testkit.damage import START, TOPIC, open_log, stored, tamper
from wire_testkit.story import Story

EVENTS = ("spec.approved", "plan.locked", "release.made", "plan.locked")


class Project(NamedTuple):
    """A project's folder with a log of four Wires; the third is a release."""

    folder: Path
    store: DiskStateStore

    @property
    def log(self) -> Path:
        """The log's file."""
        return self.folder / ".specwright" / "wire.db"

    def note(self, name: str) -> Path:
        """A note's file."""
        return self.folder / "state_store" / name / "log_end.json"


def wires() -> list[dict[str, Any]]:
    """What is in the log: nothing of it moves a task, so no state file tells of it."""
    story = Story()
    hashes = {"definition_sha256": "a" * 64}
    return [story.wire("review.recorded", "project:notes-1f0c9a2e", {"subject": e, **hashes}) for e in EVENTS]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """It noted its end after the third Wire beside the release, and after the last one at the stop."""
    made = Project(tmp_path, DiskStateStore(tmp_path / "state_store"))
    log = open_log(made.log)
    log.append(wires()[:3])
    note_release_end(made.store, log, "REL-1a2b3c4d")
    log.append(wires()[3:])
    note_log_end(made.store, log)
    log.close()
    return made


def cut(path: Path, after: int) -> None:
    """Cut the log off so well that it agrees with itself."""
    last = stored(path)[after - 1]
    tamper(path, "DELETE FROM head", f"DELETE FROM entry WHERE sequence_number > {after}")
    tamper(path, "INSERT INTO head VALUES (?, ?, ?)", parameters=(last[0], last[1], last[5]))


def rewrite(path: Path) -> None:
    """Write the same Wires anew, at other times: every hash follows."""
    path.unlink()
    log = SqliteWireLog(path, TOPIC, lambda: START + 7)
    log.append(wires())
    log.close()


def found(project: Project) -> set[tuple[int, str]]:
    """What `wire verify` names."""
    return {(row["sequence_number"], row["code"]) for row in log_findings(project.folder)}


def told_by_verify(project: Project) -> set[str]:
    """The codes of `specwright verify` that concern the log."""
    faults = verify_project(project.folder, at_rest=True).findings
    return {fault.code for fault in faults if fault.code.startswith("log.")}


def test_ends_that_were_noted_are_held_by_the_log_that_goes_on(project: Project):
    """A note that is behind, as a kill leaves it, is no finding (D-36-02, D-S4-03)."""
    log = open_log(project.log)
    log.append([Story(50).wire("task.created")])

    check_log_ends(project.store, log)
    assert [end.sequence_number for end in log_ends(project.store).ends.values()] == [4, 3]
    assert found(project) == set()
    assert told_by_verify(project) == set()


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda path: cut(path, 3), {(4, "log.cut_off")}),
        (lambda path: cut(path, 1), {(3, "log.cut_off"), (4, "log.cut_off")}),
        (rewrite, {(3, "log.changed"), (4, "log.changed")}),
    ],
    ids=["cut off at its end", "cut off before the release", "rewritten as a whole"],
)
def test_a_log_that_agrees_with_itself_is_found_by_the_notes(
    project: Project, damage: Callable[[Path], None], named: set[tuple[int, str]]
):
    """`wire verify` and `verify` name what is gone, and no run goes on from such a log (D-36-02, D-S9-11)."""
    damage(project.log)

    assert found(project) == named
    assert told_by_verify(project) == {code for _, code in named}
    with pytest.raises(CorruptionErrors, match="is missing, or not as it was noted"):
        check_log_ends(project.store, open_log(project.log))


def test_without_the_notes_such_a_log_would_go_unnoticed(project: Project):
    """The chain alone shows nothing here: the notes are what finds it (D-36-02)."""
    cut(project.log, 3)
    project.note("project").unlink()

    assert found(project) == set()
    check_log_ends(project.store, open_log(project.log))


def test_a_release_notes_its_end_once(project: Project):
    """The note of a release is not moved by what comes later (D-36-02)."""
    before = project.note("releases/REL-1a2b3c4d").read_bytes()

    note_release_end(project.store, open_log(project.log), "REL-1a2b3c4d")

    assert project.note("releases/REL-1a2b3c4d").read_bytes() == before
    assert LogEnd.from_bytes(before, "").sequence_number == 3


def test_a_stop_without_news_writes_nothing(project: Project):
    """A command that only looks leaves the project as it is (D-36-02)."""
    before = project.note("project").stat().st_mtime_ns, project.note("project").stat().st_ino

    note_log_end(project.store, open_log(project.log))

    assert (project.note("project").stat().st_mtime_ns, project.note("project").stat().st_ino) == before


def test_an_empty_log_has_no_end_to_note(tmp_path: Path):
    """Nothing happened, nothing is noted (D-36-02)."""
    store = DiskStateStore(tmp_path / "state_store")
    log = open_log(tmp_path / "log.sqlite")

    note_log_end(store, log)
    note_release_end(store, log, "REL-1a2b3c4d")

    assert log_ends(store) == ({}, [])


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'{"topic_id": "0.0.1001"}'])
def test_a_note_that_cannot_be_read_is_told_and_hides_nothing_else(project: Project, data: bytes):
    """A damaged note is a finding of its own; the others are asked all the same (D-36-02, DESIGN §9)."""
    project.note("project").write_bytes(data)
    cut(project.log, 2)

    assert found(project) == {(0, "log.note"), (3, "log.cut_off")}
    assert told_by_verify(project) == {"log.note", "log.cut_off"}
    with pytest.raises(CorruptionErrors, match="cannot be read"):
        check_log_ends(project.store, open_log(project.log))
