"""The backend of a role as a file system, and the import that stops where it is incomplete (F§7)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import BackendProtocol

from specwright.errors import RefusedError
from specwright.index.sqlite_index import AppendOnlyCodeIndex, SqliteCodeIndex
from specwright.storage import DiskStateStore
from specwright.storage.context_pack import SEALED, ContextPackBackend, OpaqueEnforcementBackend, uncovered
from specwright.storage.files import ImmutableArtifactBackend
from specwright.storage.postgres_files import PostgresStateStore
from testkit.processes import process


class Caller:
    """Calls a backend's methods, sync or async."""

    def __init__(self, backend: BackendProtocol, *, asynchronous: bool) -> None:
        self._backend, self._asynchronous = backend, asynchronous

    def __call__(self, method: str, path: str, *arguments: Any) -> Any:
        """A method on a path below the writable directory."""
        path = f"/MM-1/1.0.0{path}"
        call_arguments: Any = ([(path, *arguments)],) if method == "upload_files" else (path, *arguments)
        if method == "download_files":
            call_arguments = ([path],)
        if self._asynchronous:
            return asyncio.run(getattr(self._backend, f"a{method}")(*call_arguments))
        return getattr(self._backend, method)(*call_arguments)


@pytest.fixture
def backend(tmp_path: Path) -> ContextPackBackend:
    """A backend over an empty directory, of which one subdirectory may be written."""
    files = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    return ContextPackBackend(files, ["/given.md"], ["/MM-1/"])


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def call(request: pytest.FixtureRequest, backend: ContextPackBackend) -> Caller:
    """Its methods."""
    return Caller(backend, asynchronous=request.param)


def test_what_was_written_is_read_listed_and_found(call: Caller):
    """The writable directory is a file system (D-S7-01)."""
    assert call("write", "/src/notes.md", "one\ntwo\n").error is None
    read = call("read", "/src/notes.md")
    assert (read.error, read.file_data["content"]) == (None, "one\ntwo\n")
    assert call("read", "/src/notes.md", 1, 1).file_data["content"].strip() == "two"
    (entry,) = call("ls", "/src").entries
    assert entry["path"].endswith("/MM-1/1.0.0/src/notes.md")
    (child,) = call("ls", "").entries
    assert (child["path"].endswith("/src/"), child["is_dir"]) == (True, True)
    assert call("download_files", "/src/notes.md")[0].content == b"one\ntwo\n"


def test_a_file_is_edited_uploaded_and_deleted(call: Caller):
    """What may be changed can be, with the counts of the protocol (D-S7-01)."""
    call("write", "/notes.md", "one one\n")
    assert call("edit", "/notes.md", "one", "two").error  # twice there
    assert call("edit", "/notes.md", "one", "two", True).occurrences == 2
    assert call("upload_files", "/raw.bin", b"\xff\x00")[0].error is None
    assert call("download_files", "/raw.bin")[0].content == b"\xff\x00"
    assert call("delete", "/notes.md").error is None
    assert call("read", "/notes.md").error


def test_faults_are_told_and_never_raised(call: Caller, tmp_path: Path):
    """Missing files, directories, files in the way of directories: an error without the real root (D-S7-04)."""
    call("write", "/notes.md", "one\n")
    for method, path, *arguments in (
        ("read", "/missing.md"),
        ("read", ""),
        ("read", "/notes.md/below"),
        ("read", "/notes.md", 10**9),
        ("write", "/notes.md/below", "x"),
        ("write", "", "x"),
        ("edit", "/missing.md", "a", "b"),
        ("edit", "/notes.md", "not there", "b"),
        ("delete", "/missing.md"),
        ("read", "/../../notes.md"),
        ("write", "/../../../../notes.md", "x"),
    ):
        error = call(method, path, *arguments).error
        assert error, (method, path)
        assert str(tmp_path) not in error
    assert call("upload_files", "/notes.md/below", b"x")[0].error
    assert call("download_files", "/missing.md")[0].error


def test_the_root_itself_is_never_deleted(tmp_path: Path):
    """Not even where everything in it may be, and also when it is empty (D-S7-04)."""
    for writable in (["/MM-1/"], ["/"]):
        files = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
        assert ContextPackBackend(files, [], writable).delete("/").error
    assert tmp_path.is_dir()


def test_the_limit_of_matches_counts_visible_matches(tmp_path: Path):
    """Hidden matches neither count for the limit nor show by it (F-12-08)."""
    for name, text in {"ship.json": "{}", "a.py": "word\n" * 50, "examples.md": "word\nword\n"}.items():
        (tmp_path / "m").mkdir(exist_ok=True)
        (tmp_path / "m" / name).write_text(text)
    files = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    backend = ContextPackBackend(files, ["/m/ship.json", "/m/examples.md"], [])
    assert len(backend.grep("word", max_count=2).matches or []) == 2
    assert not backend.grep("word", max_count=2).truncated
    assert backend.grep("word", max_count=1).truncated


def test_the_backends_of_the_document_do_what_it_says_of_them(tmp_path: Path):
    """F-18-02: the store on either medium replaces no sealed file, sealed source is refused by the literal message, and a
    pack only narrows that."""
    assert all(issubclass(store, ImmutableArtifactBackend) for store in (DiskStateStore, PostgresStateStore))
    store = DiskStateStore(tmp_path / "store")
    store.publish("modules/MM-1/1.0.0/ship.json", b"{}")
    with pytest.raises(RefusedError, match="a published file never changes"):
        store.replace("modules/MM-1/1.0.0/ship.json", b"[]")
    with pytest.raises(RefusedError, match="a published file never changes"):
        store.move("modules/MM-1/1.0.0", "drafts/gone")
    with pytest.raises(RefusedError, match="a published file never changes") as caught:
        store.publish("modules/MM-1/1.0.0/ship.json", b"[]")
    assert "the version and settings that began this run" in caught.value.remedy

    (tmp_path / "m/implementation").mkdir(parents=True)
    for name in ("ship.json", "implementation/m.py"):
        (tmp_path / "m" / name).write_text("{}")
    files, source = FilesystemBackend(root_dir=tmp_path, virtual_mode=True), "/m/implementation/m.py"
    denied = SEALED.replace("{path}", source)
    for backend in (
        OpaqueEnforcementBackend(files, ["/m/ship.json"]),
        ContextPackBackend(files, ["/m/ship.json"], ["/own/"]),
    ):
        assert backend.read("/m/ship.json").error is None
        assert (backend.read(source).error, backend.write(source, "x").error) == (denied, denied)
    assert issubclass(ContextPackBackend, OpaqueEnforcementBackend)
    assert issubclass(SqliteCodeIndex, AppendOnlyCodeIndex)


def test_real_paths_are_refused_as_a_root_for_a_guard(tmp_path: Path):
    """A guard over a backend without virtual paths would guard nothing (D-S7-04)."""
    with pytest.raises(ValueError, match="virtual"):
        ContextPackBackend(FilesystemBackend(root_dir=tmp_path, virtual_mode=False), [], [])


def test_a_method_that_a_later_deepagents_adds_is_found_out():
    """The guard of the import: one more method, also an async one alone, or in a base class (D-S7-05)."""

    class Later(BackendProtocol):
        def move(self, source: str, target: str) -> None:
            """A new operation."""

        async def amove(self, source: str, target: str) -> None:
            """Its twin."""

    class Latest(Later):
        async def awatch(self, path: str) -> None:
            """An operation that has no sync twin."""

    assert uncovered(BackendProtocol, ContextPackBackend) == []
    assert uncovered(Later, ContextPackBackend) == ["amove", "move"]
    assert uncovered(Latest, ContextPackBackend) == ["amove", "awatch", "move"]

    class Covers(ContextPackBackend):
        def move(self, source: str, target: str) -> None:
            """Covered, and its twin with it."""

    assert uncovered(Later, Covers) == []


_LATER = """
import json, sys
from deepagents.backends import protocol
GIVEN = protocol.BackendProtocol
for method in json.loads(sys.argv[1]):
    exec("class Later(GIVEN):\\n    " + method)
    protocol.BackendProtocol = Later
    for name in [name for name in sys.modules if name.startswith("specwright.storage")]:
        del sys.modules[name]
    try:
        import specwright.storage.context_pack
        print("imported")
    except ImportError as error:
        print(error)
"""


def test_the_import_stops_where_the_protocol_has_grown():
    """In a process of its own, with a deepagents whose protocol offers one method more (D-S7-05)."""
    grown = {
        "def move(self, source, target): ...": "move",
        "async def awatch(self, path): ...": "awatch",
        "def chmod(self, path, mode): ...": "chmod",
        "def read(self, path): ...": "",
        "_limit = 7": "",
    }
    told, _ = process(_LATER, json.dumps([*grown])).communicate()
    stopped = "the backend guard does not cover {}; this deepagents is too new for it"
    assert told.splitlines() == [stopped.format(name) if name else "imported" for name in grown.values()]
