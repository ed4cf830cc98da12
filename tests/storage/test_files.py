"""Files that are whole or absent, written once or replaced atomically (F§7, F§4.1, DESIGN §4, §7)."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from specwright.domain.tasks.project_state import ProjectState
from specwright.errors import CorruptionError, RefusedError
from specwright.ports import StateStore
from specwright.storage import DiskStateStore
from specwright.storage.files import ImmutableArtifactBackend, check_links
from specwright.storage.postgres_files import PostgresStateStore
from testkit.memory_tree import MemoryStore
from testkit.postgres_projects import prepared
from testkit.processes import process
from testkit.small_disk import mounted


@pytest.fixture(params=["disk", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StateStore]:
    """Each implementation of the port."""
    if request.param == "postgres":
        with prepared(request.getfixturevalue("postgres_url")) as database:
            yield PostgresStateStore(database, "state_store", tmp_path)
    else:
        yield DiskStateStore(tmp_path / "store") if request.param == "disk" else MemoryStore()


def test_a_published_file_never_changes(store):
    """F-6-04, F-4.1-15, F-5-05, F-7-11: the same bytes again change nothing, others are refused."""
    record = "artifacts/p/ADJ-00000001/1.0.0/body/adjudication.json"
    for path in ("a/b.txt", "context_packs/CP-00000001.json", record):
        store.publish(path, b"one")
        store.publish(path, b"one")
        with pytest.raises(RefusedError, match="never changes"):
            store.publish(path, b"two")
        assert store.read(path) == b"one"


def test_what_is_there_can_be_listed_and_read(store):
    """F-7-01: names of a directory, all files below it; nothing of what is not there."""
    store.publish_tree("modules/MM-1", {"contract.json": b"{}", "tests/test_a.py": b""})
    assert store.exists("modules/MM-1/contract.json")
    assert not store.exists("modules/MM-1")
    assert store.names("modules/MM-1") == ["contract.json", "tests"]
    assert store.names("nowhere") == []
    assert store.tree("modules") == {"MM-1/contract.json": b"{}", "MM-1/tests/test_a.py": b""}
    assert store.tree("nowhere") == {}


PUBLISHED = (
    "modules/MM-1a2b3c4d/1.0.0/ship.json",
    "modules/MM-1a2b3c4d/1.0.0/implementation/__init__.py",
    "artifacts/initials/ADJ-1a2b3c4d/1.0.0/body/adjudication.json",
    "artifacts/initials/IMPL-1a2b3c4d/1.0.0/body/contract.json",
    *(f"debates/PROP-1a2b3c4d/round-1/{kind}.json" for kind in ("proposal", "challenge", "adjudication")),
    "escalations/ESC-1a2b3c4d.json",
    "context_packs/CP-1a2b3c4d.json",
    "contributions/CONTR-1a2b3c4d.json",
    "exceptions/ICE-1a2b3c4d.json",
    "resolutions/ESC-1a2b3c4d.json",
    "releases/REL-1a2b3c4d/manifest.json",
    "definitions/" + "0" * 64,
)
REPLACEABLE = (
    "project/state_machine.json",
    "product/spec.json",
    "changes/1/spec.json",
    "artifacts/initials/IMPL-1a2b3c4d/1.0.0/envelope.json",
    "debates/PROP-1a2b3c4d/adjudication.json",
)


def test_what_is_sealed_or_ruled_on_cannot_be_replaced(store):
    """F-7-09, F-12-07, F-7-11, D-15-01: not even by the factory itself, whether it is there or not."""
    for path in PUBLISHED:
        store.publish(path, b"sealed")
        with pytest.raises(RefusedError, match="a published file never changes") as caught:
            store.replace(path, b"forged")
        assert path in caught.value.where
        assert store.read(path) == b"sealed"
        with pytest.raises(RefusedError, match="never changes"):
            store.replace(f"{path}.new", b"forged")


def test_what_changes_while_it_is_worked_on_can_be_replaced(store):
    """F-7-09, F-4.1-15, as docs/adr/0015 words it: projections, specs, envelopes, and the copies of a debate's newest
    records; an older file gives way."""
    for path in REPLACEABLE:
        store.replace(path, b"one")
        store.replace(path, b"two")
        assert store.read(path) == b"two"


def alter(store: Any, path: str, data: bytes) -> None:
    """Change a published file as nobody in the factory can."""
    if isinstance(store, MemoryStore):
        store.files[path] = data
    else:
        super(ImmutableArtifactBackend, store).replace(path, data)


def test_a_definition_is_found_by_its_hash_and_checked(store):
    """D-29-02: content-addressed by SHA-256; every hash in a Wire resolves, or the message says which does not."""
    name = store.define(b"what was approved")
    assert name == hashlib.sha256(b"what was approved").hexdigest()
    assert store.definition(name) == b"what was approved"
    alter(store, f"definitions/{name}", b"what was never approved")
    with pytest.raises(CorruptionError, match="altered"):
        store.definition(name)
    with pytest.raises(CorruptionError, match="missing") as caught:
        store.definition("0" * 64)
    assert "0" * 64 in caught.value.where


def test_a_path_stays_inside(store):
    """F-4.1-14: whatever a name says."""
    refused = (
        "../outside",
        "a/../../outside",
        "/etc/passwd",
        "a//b",
        "./a",
        "a\\b",
        "a\nb",
        "\x1b[2J",
        "a\x7f",
    )
    for path in refused:
        with pytest.raises(RefusedError, match="inside"):
            store.replace(path, b"x")


def test_a_file_left_by_a_killed_process_of_the_same_number_is_in_nobodys_way(tmp_path: Path):
    """F-4.1-15: process numbers come again, in containers soon; and no listing shows such a file."""
    store = DiskStateStore(tmp_path)
    (tmp_path / "project").mkdir()
    left = tmp_path / f"project/.tmp-{os.getpid()}-{threading.get_ident()}-state.json"
    left.write_bytes(b"half")
    assert store.names("project") == []
    store.replace("project/state.json", b"whole")
    assert store.read("project/state.json") == b"whole"
    assert store.names("project") == ["state.json"]


def test_a_folder_that_cannot_be_written_is_told_in_one_message(tmp_path: Path):
    """DESIGN §9: what, where, what to do; the old file stays (F-4.1-15)."""
    (tmp_path / "project").write_text("a file where a folder should be")
    for write in (DiskStateStore(tmp_path).publish, DiskStateStore(tmp_path).replace):
        with pytest.raises(RefusedError, match="cannot be written") as caught:
            write("project/state.json", b"x")
        assert caught.value.where.endswith("project/state.json")
        assert caught.value.remedy
    assert (tmp_path / "project").read_text() == "a file where a folder should be"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    with mounted(tmp_path / "small", "64k") as place:
        yield place


@pytest.mark.skipif(sys.platform != "linux", reason="a small tmpfs is mounted by Linux means")
def test_a_disk_that_fills_up_leaves_the_old_state(small_disk: Path):
    """F-4.2-07, F-4.1-15: the old bytes to the last, no half file beside them, and room for the next try."""
    store = DiskStateStore(small_disk)
    old = b"o" * 30_000
    store.replace("project/state_machine.json", old)
    for _ in range(3):
        with pytest.raises(RefusedError, match="No space left") as caught:
            store.replace("project/state_machine.json", b"n" * 60_000)
        assert "free the disk" in caught.value.remedy
        assert store.read("project/state_machine.json") == old
        assert [path.name for path in (small_disk / "project").iterdir()] == ["state_machine.json"]
    with pytest.raises(RefusedError, match="No space left"):
        store.publish("definitions/big", b"n" * 60_000)
    assert not store.exists("definitions/big")
    store.replace("project/state_machine.json", b"n" * 20_000)
    assert store.read("project/state_machine.json") == b"n" * 20_000


_WRITER = """
import sys
from pathlib import Path
from testkit.domain.product_specs import state_of
from specwright.ports import StateStore
from specwright.storage import DiskStateStore
from specwright.storage.postgres_files import PostgresStateStore
states = [state_of(**{f"t{n}": "PENDING" for n in range(size)}).to_bytes() for size in (1, 40, 7, 90)]
store = DiskStateStore(Path(sys.argv[1]))
for turn in range(int(sys.argv[2])):
    store.replace("project/state_machine.json", states[turn % 4])
    if not turn:
        print("begun", flush=True)
"""


def read_while(writer: subprocess.Popen[str], read: Callable[[], bytes]) -> list[bytes]:
    """What a reader gets until the writer has ended."""
    assert writer.stdout is not None
    assert writer.stdout.readline() == "begun\n"
    found: list[bytes] = []
    while writer.poll() is None:
        found.append(read())
    writer.stdout.close()
    assert writer.returncode == 0
    return found


@pytest.mark.parametrize("times", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_reader_never_sees_half_a_file(tmp_path: Path, times):
    """F-4.2-07: another process writes a thousand times; every read is one of the four states, whole."""
    writer = process(_WRITER, tmp_path, times)
    file = tmp_path / "project" / "state_machine.json"
    found = set(read_while(writer, file.read_bytes))
    assert len(found) >= 2
    sizes = {len(ProjectState.from_bytes(data, "state_machine.json").tasks) for data in found}
    assert sizes <= {1, 40, 7, 90}


_PUBLISHER = """
import sys
from pathlib import Path
from specwright.errors import RefusedError
from specwright.ports import StateStore
from specwright.storage import DiskStateStore
from specwright.storage.postgres_files import PostgresStateStore
store = DiskStateStore(Path(sys.argv[1]))
print("begun", flush=True)
for number in range(int(sys.argv[3])):
    try:
        store.publish(f"records/{number}.json", sys.argv[2].encode() * 100_000)
    except RefusedError:
        pass
"""


def test_of_several_who_publish_one_path_one_is_first_and_its_file_is_whole(tmp_path: Path):
    """Four processes with other bytes each: every file is all of one of them, and stays what it was (D-S7-07)."""
    publishers = [process(_PUBLISHER, tmp_path, letter, 60) for letter in "abcd"]
    for publisher in publishers:
        publisher.communicate()
        assert publisher.returncode == 0
    found = {path.name: path.read_bytes() for path in (tmp_path / "records").iterdir()}
    assert len(found) == 60
    assert all(len(data) == 100_000 and len(set(data)) == 1 for data in found.values())


@pytest.mark.parametrize("times", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_a_publisher_that_is_killed_leaves_every_file_whole_or_absent(tmp_path: Path, times: int):
    """Killed at whatever point, again and again: no half file has a name, none is lost, and the next goes on (D-S7-07,
    D-S4-03)."""
    published = 0
    for turn in range(times):
        publisher = process(_PUBLISHER, tmp_path, "x", 100_000)
        assert publisher.stdout is not None
        assert publisher.stdout.readline() == "begun\n"
        time.sleep(0.003 + 0.007 * turn % 0.05)
        publisher.kill()
        publisher.communicate()
        store = DiskStateStore(tmp_path)
        there = store.names("records")
        assert all(store.read(f"records/{name}") == b"x" * 100_000 for name in there)
        assert len(there) >= published
        published = len(there)
    assert published


@pytest.mark.parametrize("step", ["fsync", "link", "unlink"])
def test_at_each_step_of_publishing_a_kill_leaves_all_or_nothing(tmp_path: Path, step: str):
    """Before the bytes are safe and before the name is made there is no file; after that it is whole (D-S7-07, D-S4-03)."""
    killed = process(_KILLED_AT, tmp_path, step)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    store = DiskStateStore(tmp_path)
    assert store.names("") == (["record.json"] if step == "unlink" else [])
    if step == "unlink":
        assert store.read("record.json") == b"whole"
    store.publish("record.json", b"whole")
    assert store.tree("") == {"record.json": b"whole"}


_KILLED_AT = """
import os, signal, sys
from pathlib import Path
from specwright.ports import StateStore
from specwright.storage import DiskStateStore
from specwright.storage.postgres_files import PostgresStateStore
def die(event, arguments):
    if event == {"link": "os.link", "unlink": "os.remove"}.get(sys.argv[2]) and "tmp" in str(arguments[0]):
        if event == "os.link" or Path(sys.argv[1], "record.json").exists():
            os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[2] == "fsync":
    os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(die)
DiskStateStore(Path(sys.argv[1])).publish("record.json", b"whole")
"""


def test_folders_that_are_nested_too_deep_are_refused(tmp_path: Path):
    """Whoever made them: nothing that looks at all files goes down without an end (D-62-03)."""
    deep = tmp_path / "state_store"
    for _ in range(200):
        deep = deep / "a"
    deep.mkdir(parents=True)
    for look in (
        lambda: DiskStateStore(tmp_path / "state_store").tree("a"),
        lambda: check_links(tmp_path, ["state_store"]),
    ):
        with pytest.raises(RefusedError, match="at most 32 folders deep"):
            look()
