"""Files that are whole or absent, written once or replaced atomically (F§7, F§4.1, DESIGN §4, §7)."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from specwright.domain.project_state import ProjectState
from specwright.errors import CorruptionError, RefusedError
from specwright.storage import DiskStateStore
from support.memory_tree import MemoryTree

TESTS = Path(__file__).parents[1]


@pytest.fixture(params=["disk", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path):
    """Both implementations of the port."""
    return DiskStateStore(tmp_path / "store") if request.param == "disk" else MemoryTree()


def test_a_published_file_never_changes(store):
    """F-6-04, F-4.1-15: the same bytes again are passed over, others refused."""
    store.publish("a/b.txt", b"one")
    store.publish("a/b.txt", b"one")
    with pytest.raises(RefusedError, match="never changes"):
        store.publish("a/b.txt", b"two")
    assert store.read("a/b.txt") == b"one"


def test_a_replaced_file_holds_the_last_bytes(store):
    """F-4.1-15: an older file gives way."""
    store.replace("state.json", b"one")
    store.replace("state.json", b"two")
    assert store.read("state.json") == b"two"


def test_what_is_there_can_be_listed_and_read(store):
    """F-7-01: names of a directory, all files below it; nothing of what is not there."""
    store.publish_tree("modules/MM-1", {"contract.json": b"{}", "tests/test_a.py": b""})
    assert store.exists("modules/MM-1/contract.json")
    assert not store.exists("modules/MM-1")
    assert store.names("modules/MM-1") == ["contract.json", "tests"]
    assert store.names("nowhere") == []
    assert store.tree("modules") == {"MM-1/contract.json": b"{}", "MM-1/tests/test_a.py": b""}
    assert store.tree("nowhere") == {}


def test_a_missing_record_is_a_corruption_that_names_it(store):
    """D-29-02: every hash in a Wire resolves, or the message says which does not."""
    with pytest.raises(CorruptionError, match="missing") as caught:
        store.definition("0" * 64)
    assert "0" * 64 in caught.value.where


def test_a_definition_is_found_by_its_hash_and_checked(store):
    """D-29-02: content-addressed by SHA-256."""
    name = store.define(b"what was approved")
    assert name == hashlib.sha256(b"what was approved").hexdigest()
    assert store.definition(name) == b"what was approved"
    store.replace(f"definitions/{name}", b"what was never approved")
    with pytest.raises(CorruptionError, match="altered"):
        store.definition(name)


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/etc/passwd"])
def test_a_path_stays_inside(store, path):
    """F-4.1-14: whatever a name says."""
    with pytest.raises(RefusedError, match="inside"):
        store.replace(path, b"x")


def test_a_file_left_by_a_killed_process_of_the_same_number_is_in_nobodys_way(tmp_path: Path):
    """F-4.1-15: process numbers come again, in containers soon; and no listing shows such a file."""
    store = DiskStateStore(tmp_path)
    (tmp_path / f".tmp-{os.getpid()}-{threading.get_ident()}-state.json").write_bytes(b"half")
    assert store.names("") == []
    store.replace("state.json", b"whole")
    assert store.read("state.json") == b"whole"
    assert store.names("") == ["state.json"]


def test_a_folder_that_cannot_be_written_is_told_in_one_message(tmp_path: Path):
    """DESIGN §9: what, where, what to do; the old file stays (F-4.1-15)."""
    (tmp_path / "taken").write_text("a file where a folder should be")
    for write in (DiskStateStore(tmp_path).publish, DiskStateStore(tmp_path).replace):
        with pytest.raises(RefusedError, match="cannot be written") as caught:
            write("taken/state.json", b"x")
        assert caught.value.where.endswith("taken/state.json")
        assert caught.value.remedy
    assert (tmp_path / "taken").read_text() == "a file where a folder should be"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"no small file system can be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


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
from domain.product_specs import state_of
from specwright.storage import DiskStateStore
states = [state_of(**{f"t{n}": "PENDING" for n in range(size)}).to_bytes() for size in (1, 40, 7, 90)]
store = DiskStateStore(Path(sys.argv[1]))
for turn in range(int(sys.argv[2])):
    store.replace("project/state_machine.json", states[turn % 4])
    if not turn:
        print("begun", flush=True)
"""


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process of its own that finds what this one finds."""
    search = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )


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
