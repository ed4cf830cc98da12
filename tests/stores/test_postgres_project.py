"""A project on Postgres as a person meets it: the setting, the demo's bytes, another machine, moving it (D46)."""

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.transfer import export_project, import_project
from testkit.cli.commands import PLAYBOOK, SMALL, Told, filled_in, specwright
from testkit.killing import Job
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import failing, rejecting
from testkit.postgres_projects import connected
from testkit.sampling import spread
from testkit.stores import differences
from testkit.workshop import Workshop

SOUND = SMALL / "playbook/TSK-001/initials/round-1"
RUN = ("--spec", SMALL / "SPEC.md", "--model", PLAYBOOK)


def settings_alone(directory: Path, url: str) -> Path:
    """A directory that has only the settings."""
    directory.mkdir()
    (directory / "specwright.toml").write_text(f"store = {json.dumps(url)}\n")
    return directory


def files_in(directory: Path) -> list[str]:
    """Every file below a directory."""
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def as_directory(url: str, directory: Path) -> Path:
    """A copy of a project in a store, in a directory."""
    file = directory.with_suffix(".tar")
    export_project(url, file)
    import_project(str(directory), file)
    return directory


@pytest.mark.slow
def test_the_same_draws_give_the_same_bytes_as_in_a_directory(
    workshop: Workshop, job: Job, uninterrupted: Uninterrupted, postgres_url: str, tmp_path: Path
):
    """State store, task files, wheel, Code Index: the bytes of the run in a directory; nothing of it is in the
    directory of the settings (D-46-01, D-46-02)."""
    finished = workshop.drive(job._replace(store=postgres_url))
    assert finished.code == 0, finished.err
    copy = as_directory(postgres_url, tmp_path / "copy")
    assert differences(copy, uninterrupted.project) == []
    assert [path.name for path in copy.rglob("*.whl")] == ["nameplate-1.0.0-py3-none-any.whl"]
    assert files_in(Path(job.directory)) == ["SPEC.md"]


@pytest.fixture
def waiting(postgres_url: str, tmp_path: Path) -> Path:
    """A project on Postgres whose spec waits for approval."""
    told = specwright("run", tmp_path / "waiting", *RUN, "--store", postgres_url, "--json")
    assert told.code == 3, told
    return tmp_path / "waiting"


def test_the_store_that_a_run_names_is_that_of_the_commands_that_follow(waiting: Path, postgres_url: str):
    """`--store` is written into the settings; the state of the project is in the store alone (D-46-01)."""
    assert (waiting / "specwright.toml").read_text() == f'store = "{postgres_url}"\n'
    assert files_in(waiting) == ["SPEC.md", "specwright.toml"]
    status = specwright("status", waiting, "--json").document
    assert status["where"] == "approval"
    assert Path(status["spec"]).read_text().startswith("# ")
    assert specwright("costs", waiting, "--json").code == 0
    assert specwright("mirror", waiting, "--once").code == 0
    assert files_in(waiting) == ["SPEC.md", "specwright.toml"]
    specwright("run", waiting, "--store", f"{postgres_url}_other").refuses("another store", "export")


@pytest.mark.nightly
def test_a_halted_project_is_resolved_and_finished_on_another_machine(postgres_url: str, tmp_path: Path):
    """A second directory has the settings alone; the answer is given there and the product is released (D-46-05)."""
    debate = Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook")) / "TSK-001/initials"
    failing(debate, 3)
    rejecting(debate / "round-3")
    shutil.copytree(SOUND, debate / "round-4")
    first = settings_alone(tmp_path / "first", postgres_url)
    options = ("--spec", SMALL / "SPEC.md", "--model", f"playbook:{tmp_path / 'playbook'}", "--approve")
    halted = specwright("run", first, *options, "--json")
    assert halted.code == 3, halted
    shutil.rmtree(first)

    second = settings_alone(tmp_path / "second", postgres_url)
    assert specwright("trust", second).code == 0  # the playbook is outside of the project
    (waits,) = specwright("escalations", second, "--json").document["escalations"]
    page = specwright("escalations", waits["escalation_id"], second, "--json").document
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps(filled_in(page["actions"]["APPROVE_OVERRIDE"])))
    resolved = specwright(
        "resolve", waits["escalation_id"], "APPROVE_OVERRIDE", second, "--payload", answer, "--json"
    )
    assert resolved.code == 0, resolved
    assert specwright("verify", second).code == 0


@pytest.mark.slow
def test_a_project_is_moved_byte_for_byte_and_goes_on_where_it_is_moved(
    waiting: Path, postgres_url: str, tmp_path: Path
):
    """From Postgres to a directory, approved and released there, and back; each export of it is the same bytes
    (D-46-02)."""
    files = [tmp_path / f"{number}.tar" for number in range(4)]
    assert specwright("export", postgres_url, files[0]).code == 0
    assert specwright("import", tmp_path / "moved", files[0]).code == 0
    assert (tmp_path / "moved/SPEC.md").read_bytes() == (SMALL / "SPEC.md").read_bytes()
    assert specwright("export", tmp_path / "moved", files[1]).code == 0
    assert files[1].read_bytes() == files[0].read_bytes()
    released = specwright("approve", tmp_path / "moved", "--json")
    assert released.code == 0, released
    assert specwright("export", tmp_path / "moved", files[2]).code == 0
    assert specwright("import", f"{postgres_url}_back", files[2]).code == 0
    assert specwright("export", f"{postgres_url}_back", files[3]).code == 0
    assert files[3].read_bytes() == files[2].read_bytes()
    back = settings_alone(tmp_path / "back", f"{postgres_url}_back")
    verified = specwright("verify", back, "--json").document
    assert verified == specwright("verify", tmp_path / "moved", "--json").document
    assert verified["verdict"] == "PASS"
    wheel = specwright("status", back, "--json").document["release"]["wheel"]
    (original,) = (tmp_path / "moved").rglob("*.whl")
    assert Path(wheel).read_bytes() == original.read_bytes()


DAMAGE = {
    "the log": ("UPDATE entry SET body = body || '\\x20' WHERE sequence_number = 2", "log."),
    "the end of the log": (
        "DELETE FROM entry WHERE sequence_number = (SELECT max(sequence_number) FROM entry)",
        "log.",
    ),
    "a definition": (
        "UPDATE file SET content = content || '\\x20' WHERE path ~ 'definitions/'",
        "definition.changed",
    ),
    "a record": ("DELETE FROM file WHERE path ~ 'context_packs/'", "record.missing"),
}


@pytest.fixture
def released(uninterrupted: Uninterrupted, postgres_url: str, tmp_path: Path) -> Path:
    """The directory of a released project that was moved to Postgres."""
    export_project(str(uninterrupted.project), tmp_path / "released.tar")
    import_project(postgres_url, tmp_path / "released.tar")
    return settings_alone(tmp_path / "released", postgres_url)


@pytest.mark.parametrize("what", spread(DAMAGE, fast=4))
def test_damage_in_the_store_is_found(released: Path, postgres_url: str, what: str):
    """`verify` reads a copy of the store as it would a directory (D-46-02)."""
    assert specwright("verify", released).code == 0
    statement, code = DAMAGE[what]
    with connected(postgres_url) as connection:
        connection.execute("ALTER TABLE entry DISABLE TRIGGER USER")
        connection.execute(statement)
        # a trigger that is off is damage of its own
        connection.execute("ALTER TABLE entry ENABLE TRIGGER USER")
    found = specwright("verify", released, "--json")
    assert found.code == 1
    assert any(finding["code"].startswith(code) for finding in found.document["findings"])
    assert (specwright("wire", "verify", released).code == 1) == (code == "log.")


def test_an_import_is_whole_or_nothing_and_never_over_a_project(
    waiting: Path, postgres_url: str, tmp_path: Path
):
    """A store that has a project is refused, and so is a file that is none (D-46-02)."""
    file = tmp_path / "project.tar"
    specwright("export", postgres_url, file)
    specwright("import", postgres_url, file).refuses("already", code=1)
    broken = tmp_path / "broken.tar"
    broken.write_bytes(file.read_bytes()[:5000])
    nothing_there = {
        tmp_path / "other": "there is no such directory",
        f"{postgres_url}_other": "no run has begun",
    }
    for place, why in nothing_there.items():
        specwright("import", place, broken).refuses("not an exported project")
        specwright("export", place, tmp_path / "none.tar").refuses(why)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "path", ["files/state_store/../../x", "files/SPEC.md", "files//etc/x", "files/.specwright/wire.db"]
)
def test_a_file_of_no_project_is_refused(tmp_path: Path, path: str):
    """An archive cannot write outside of a project (D-46-02)."""
    members = {
        "specwright.json": b'{"format": 1, "program": "specwright"}',
        "journal.jsonl": b"",
        "rows.jsonl": b"",
        path: b"x",
    }
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    specwright("import", tmp_path / "project", tmp_path / "x.tar").refuses("not an exported project")
    assert not (tmp_path / "project").exists()


def refused(directory: Path, store: str) -> Told:
    """A run with a store."""
    return specwright("run", directory, *RUN, "--store", store)


def test_an_address_that_cannot_be_used_is_refused_with_what_to_do(tmp_path: Path, postgres_url: str):
    """One message; no password in it; nothing is made (D-46-01, DESIGN §9)."""
    cases: dict[str, Any] = {
        "mysql://host/db": (2, "Postgres address"),
        postgres_url.replace("5432", "5433"): (1, "cannot be reached"),
        postgres_url.replace("/specwright_test", "/no_such_database"): (1, "does not exist"),
        f"{postgres_url}-UPPER": (2, "valid project name"),
        f"{postgres_url}&colour=blue": (2, "cannot be used"),
    }
    for store, (code, words) in cases.items():
        refused(tmp_path / "project", store).refuses(words, code=code)
    with_password = postgres_url.replace("postgres@", "postgres:hunter2@")
    told = refused(tmp_path / "project", with_password)
    told.refuses("PGPASSWORD")
    assert "hunter2" not in told.err
    assert not (tmp_path / "project").exists()
