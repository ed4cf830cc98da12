"""Where a project lies and who looks at it: what cannot be written, what did not come along, what is narrow."""

import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from specwright.cli.interruption import interruptible
from specwright.documents.commands import pasteable
from specwright.errors import InterruptedRunError
from testkit.cli.commands import PLAYBOOK, SMALL, in_own_process, specwright
from testkit.sampling import spread

LOOKING = ("status", "tasks", "modules", "verify", "escalations", "wire log", "wire verify")


@pytest.fixture
def unwritable() -> Iterator[Callable[[Path], None]]:
    """Takes away the right to write a directory: by its rights, or, as root has all of them, by a mount."""
    mounted: list[Path] = []

    def take(directory: Path) -> None:
        if os.getuid() != 0:
            for path in (directory, *directory.rglob("*")):
                path.chmod(path.stat().st_mode & ~0o222)
            return
        for options in (["--bind", str(directory)], ["-o", "remount,ro,bind"]):
            done = subprocess.run(["mount", *options, str(directory)], capture_output=True, check=False)
            if done.returncode != 0:
                pytest.skip("this environment mounts no file systems")
            mounted.append(directory)

    yield take
    for directory in set(mounted):
        subprocess.run(["umount", "-l", str(directory)], check=True)


def test_a_project_that_cannot_be_written_can_be_looked_at(
    released: Path, unwritable: Callable[[Path], None]
) -> None:
    """An archive, a mounted image, somebody else's project: every command that looks works (D-S9-01)."""
    unwritable(released)
    for command in LOOKING:
        told = specwright(*command.split(), released)
        assert told.code == 0, (command, told)
    specwright("run", released).refuses("driver.json", "what was done is kept")


@pytest.mark.slow
def test_so_can_one_whose_run_was_killed_in_the_middle_of_writing(
    waiting: Path, tmp_path: Path, unwritable: Callable[[Path], None]
) -> None:
    """What a kill leaves in the write-ahead log is read with the log (D-S9-01)."""
    with closing(sqlite3.connect(waiting / ".specwright/wire.db")) as other:
        other.execute(
            "SELECT count(*) FROM entry"
        ).fetchone()  # while it is open nothing is moved into the log's file
        assert specwright("approve", waiting).code == 0
        copy = Path(shutil.copytree(waiting, tmp_path / "copy"))
    assert (copy / ".specwright/wire.db-wal").stat().st_size > 0
    unwritable(copy)
    assert (
        specwright("tasks", copy, "--json").document["tasks"]
        == specwright("tasks", waiting, "--json").document["tasks"]
    )
    assert specwright("verify", copy).code == 0


def test_a_project_that_was_copied_without_its_log_is_told_so(released: Path) -> None:
    """Nothing is begun anew over what is there (D-S9-04)."""
    shutil.rmtree(released / ".specwright")
    for command, *options in (("status",), ("verify",), ("run", "--model", PLAYBOOK)):
        told = specwright(command, released, *options)
        told.refuses("the project's log is gone", "wire.db", "from a copy", code=1)
        assert not (released / ".specwright").exists(), command


@pytest.mark.slow
def test_a_project_that_was_moved_goes_on(waiting: Path, tmp_path: Path) -> None:
    """Under a name with blanks, brackets and quotes; the commands it prints can be pasted (D-S9-02)."""
    place = tmp_path / "a b" / "[x] é'z"
    place.parent.mkdir()
    waiting.rename(place)
    told = specwright("status", place)
    assert told.code == 0
    assert "specwright approve '" in told.out
    assert specwright("reject", place, "--reasons", "It says too little.").code == 3
    assert specwright("verify", place).code == 0


@pytest.mark.parametrize("as_json", spread([[], ["--json"]], fast=2))
def test_a_full_standard_output_is_one_message(as_json: list[str], released: Path) -> None:
    """No traceback, and it is not the project's disk that is full (D-S9-04)."""
    with Path("/dev/full").open("w") as full:
        told = in_own_process("status", released, *as_json, stdout=full)
    assert told.code == 2
    assert told.err.count("specwright: ") == 1
    assert "where: standard output" in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("umask", "rights"), spread([(0o077, 0o600), (0o027, 0o640), (0o022, 0o644)], fast=3, slow=2)
)
def test_files_have_the_rights_that_their_owner_wants(umask: int, rights: int, tmp_path: Path) -> None:
    """The umask decides who may read SPEC.md and the kept options (D-S9-05)."""
    in_own_process("init", tmp_path / "p", umask=umask)
    for name in ("SPEC.md", "specwright.toml"):
        assert (tmp_path / "p" / name).stat().st_mode & 0o777 == rights


def test_every_polite_end_says_how_to_go_on() -> None:
    """Ctrl-C, `kill`, a closed terminal: 130 and the command that goes on; a run that was started with nohup survives its
    terminal (D-S9-02)."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before = signal.getsignal(number)
        with pytest.raises(InterruptedRunError) as caught, interruptible("specwright run p", as_json=False):
            signal.raise_signal(number)
        assert caught.value.exit_code == 130
        assert "specwright run p" in caught.value.remedy
        assert signal.getsignal(number) is before
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible("specwright run p", as_json=False):
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_pages_are_as_wide_as_the_terminal(halted_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is copied whole is longer: commands, paths, hashes."""
    monkeypatch.chdir(halted_once)
    (escalation,) = Path("state_store/escalations").iterdir()
    pages = (("module", "initials"), ("module", "shout", "--debate"), ("escalations", escalation.stem))
    for columns, words in itertools.product((60, 80), pages):
        monkeypatch.setenv("COLUMNS", str(columns))
        for line in specwright(*words).out.splitlines():
            whole = any(mark in line for mark in ("specwright ", "/", "Interface", "(debate "))
            assert whole or len(line) <= columns, line


def test_commands_in_messages_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With this program's path, where it does not stand on PATH (D-S9-04)."""
    monkeypatch.setattr("sys.argv", [str(tmp_path / "my venv/bin/specwright")])
    monkeypatch.setenv("PATH", "")
    assert (
        pasteable("`specwright run p` begins one")
        == f"`'{tmp_path}/my venv/bin/specwright' run p` begins one"
    )
    assert f"`'{tmp_path}/my venv/bin/specwright' run" in specwright("status", tmp_path).err


def test_commands_in_messages_name_the_project(halted_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the command that failed, found from below it too; none where that is the working directory (D-S9-04)."""
    told = specwright("resolve", "ESC-00000000", "RETRY", halted_once)
    assert f"specwright escalations {halted_once}` lists" in told.err
    assert f"specwright status {halted_once}` says" in specwright("release", halted_once).err
    document = specwright("release", halted_once, "--json").document
    assert f"specwright status {halted_once}` says" in document["error"]["do"]
    monkeypatch.chdir(halted_once / "state_store")
    assert "specwright status ..` says" in specwright("release").err
    monkeypatch.chdir(halted_once)
    assert "specwright status` says" in specwright("release").err
    assert pasteable("`specwright change --abandon`", Path("my trips")).endswith(
        "change 'my trips' --abandon`"
    )


@pytest.mark.slow
def test_a_spec_from_a_playbook_runs_without_a_home(tmp_path: Path) -> None:
    """In a container without HOME, with an ASCII locale and a dumb terminal (D-S9-01)."""
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PYTHONPATH"], "LC_ALL": "C", "TERM": "dumb"}
    bare |= {"PYTHONIOENCODING": "ascii", "TZ": "Nowhere/Nothing"}
    told = in_own_process("run", tmp_path / "p", "--spec", SMALL / "SPEC.md", "--model", PLAYBOOK, env=bare)
    assert told.code == 3, told
    assert told.err.isascii()


def test_exported_pages_name_no_place_of_this_machine(released: Path, tmp_path: Path) -> None:
    """D-48-09: whoever reads them has the project elsewhere, so commands and files are named from its directory."""
    assert specwright("export-html", released, tmp_path / "pages").code == 0
    pages = {one.name: one.read_text() for one in (tmp_path / "pages").rglob("*.html")}
    assert [name for name, text in pages.items() if str(released.resolve()) in text] == []
    assert "specwright tasks ." in pages["tasks.html"]
    assert "pip install state_store/releases/REL-" in pages["run.html"]
    assert "<dt>Source</dt><dd><code>release/" in pages["run.html"]
