"""Files of a received project: links, commands that are shown, rights, and a journal that somebody changes."""

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from specwright.errors import CorruptionError, InputError
from specwright.journal.journal import JournalFile, JournalRecord, Place, read_records
from specwright.postgres import StoreAddress
from testkit.cli.commands import specwright
from testkit.hostile_projects import deleting_journal

LINKED = (
    "state_store/product/spec.json",
    "state_store/project",
    "state_store/code_index/index.db",
    ".specwright",
    ".specwright/wire.db",
    ".specwright/journal.jsonl",
    ".specwright/run.json",
)


@pytest.fixture
def sent(released_once: Path, tmp_path: Path) -> Path:
    """A finished project that somebody sent."""
    return Path(shutil.copytree(released_once, tmp_path / "sent", symlinks=True))


def test_commands_that_look_follow_no_link_out_of_the_project(sent: Path, tmp_path: Path):
    """What is there may be anybody's; the message names the link (hostile-projects, export-links). One inside of the project
    is followed: a project may be laid out with links."""
    for name in LINKED:
        outside = shutil.move(sent / name, tmp_path / "outside")
        (sent / name).symlink_to(outside)
        read_by_all = name.startswith(".specwright") or name.endswith(".db")
        told = specwright("status" if read_by_all else "verify", sent)
        assert (told.code, "a link leads out of the project" in told.err) == (1, True), told
        assert str(sent / name) in told.err
        (sent / name).unlink()
        shutil.move(outside, sent / name)
    shutil.move(sent / "state_store/product", sent / "state_store/elsewhere")
    (sent / "state_store/product").symlink_to("elsewhere")
    assert specwright("status", sent).code == 0


def test_a_spec_that_is_a_link_out_of_the_project_reaches_no_model(tmp_path: Path):
    """It would be sent to the model, and stored."""
    (tmp_path / "id_rsa").write_text("# Key\n\nof the person\n")
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent/SPEC.md").symlink_to(tmp_path / "id_rsa")
    told = specwright("run", tmp_path / "sent", "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    assert (told.code, "a link leads out of the project" in told.err) == (1, True), told


def test_what_the_last_run_noted_is_quoted_where_a_command_is_shown(waiting_once: Path, tmp_path: Path):
    """A person pastes it."""
    project = Path(shutil.copytree(waiting_once, tmp_path / "sent"))
    stop: dict[str, object] = {
        "kind": "budget",
        "reason": "spent",
        "options": "--budget-usd 5; touch /tmp/x #",
        "exit_code": 3,
    }
    notes: list[dict[str, object]] = [stop, {**stop, "kind": []}, {**stop, "options": 5}]
    for noted in notes:
        (project / ".specwright/last_stop.json").write_text(json.dumps(noted))
        (project / "state_store/product/history.json").write_text('{"schema_version": 1}')
        for words in (("status", project), ("status", project, "--json")):
            told = specwright(*words)
            assert "itself broke" not in told.err
            assert " 5; touch" not in told.out


def test_an_export_and_what_is_imported_are_the_persons_alone(sent: Path, tmp_path: Path):
    """They hold every prompt and answer (hostile-projects, weaknesses)."""
    os.umask(before := os.umask(0o022))
    assert before is not None
    assert specwright("export", sent, tmp_path / "x.tar").code == 0
    assert specwright("import", tmp_path / "place", tmp_path / "x.tar").code == 0
    for file in (tmp_path / "x.tar", tmp_path / "place/.specwright/journal.jsonl"):
        assert file.stat().st_mode & 0o777 == 0o600, file


@pytest.mark.parametrize("change", ["emptied", "replaced", "removed", "written to"])
def test_a_journal_that_is_changed_under_a_run_ends_it(tmp_path: Path, change: str):
    """The run would go on, and `verify` pass over what is missing (case clock, log7)."""
    path = tmp_path / "journal.jsonl"
    journal = JournalFile(path)
    journal.append(JournalRecord(Place("a", "model", 0), "", 1))
    before = path.read_bytes()
    if change == "emptied":
        os.truncate(path, 0)
    elif change == "written to":
        path.write_bytes(before * 2)
    else:
        path.unlink()
        if change == "replaced":
            path.write_bytes(before)
    with pytest.raises(CorruptionError, match="changed or replaced"):
        journal.append(JournalRecord(Place("a", "model", 1), "", 2))
    journal.close()
    if change == "replaced":
        assert [record.answer for record in read_records(path)] == [1]


def test_a_store_whose_address_holds_a_secret_or_a_file_of_one_is_refused(tmp_path: Path):
    """It would be written into specwright.toml; a password in front of the host is refused there already."""
    (tmp_path / "SPEC.md").write_text("# P\n\nA library.\n")
    for name in ("password", "pass%77ord", "passfile", "sslpassword", "sslkey", "service", "options"):
        address = f"postgresql://u@127.0.0.1:1/d?{name}=x&project=p"
        with pytest.raises(InputError, match="must not contain"):
            StoreAddress.parse(address)
        specwright("run", tmp_path, "--store", address, "--model", "openai:x").refuses("must not contain")
        assert not (tmp_path / "specwright.toml").exists(), name


@pytest.mark.parametrize("database", ["wire.db", "checkpoints.db"])
def test_sqlite_deletes_no_file_that_a_journal_names(waiting_once: Path, tmp_path: Path, database: str):
    """It takes the file that a journal names for another journal, and deletes it, wherever it is."""
    project = Path(shutil.copytree(waiting_once, tmp_path / "sent"))
    victim, file = tmp_path / "victim", project / ".specwright" / database
    file.with_name(f"{database}-journal").write_bytes(deleting_journal(victim))
    victim.write_text("of the person")
    told = specwright("run", project)
    assert (told.code, "did not write a file beside" in told.err, victim.exists()) == (1, True, True), told
    with closing(sqlite3.connect(file)) as opened:  # SQLite itself does delete it
        opened.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    assert not victim.exists()


def test_a_mirror_adds_nothing_to_a_database_of_something_else(sent: Path, tmp_path: Path):
    """Nor does it change how that file is written (hostile-projects, weaknesses)."""
    with closing(sqlite3.connect(tmp_path / "other.db")) as other, other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    before = (tmp_path / "other.db").read_bytes()
    told = specwright("mirror", sent, "--once", "--to", f"sqlite:///{tmp_path}/other.db")
    assert (told.code, "another program" in told.err) == (1, True), told
    assert (tmp_path / "other.db").read_bytes() == before
    assert specwright("mirror", sent, "--once", "--to", f"sqlite:///{tmp_path}/mirror.db").code == 0
