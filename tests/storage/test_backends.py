"""The three backends behave alike where their policies allow it, and the import stops where one is incomplete (F§7)."""

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend
from deepagents.backends.protocol import BackendProtocol

from specwright.storage.guarded_backend import (
    ContextPackBackend,
    GuardedBackend,
    ImmutableArtifactBackend,
    OpaqueEnforcementBackend,
    uncovered,
)
from specwright.storage.policy import unrestricted
from specwright.storage.seals import sealed_in, shipped_in, state_store_backend
from storage.test_files import process


def _files(root: Path) -> FilesystemBackend:
    return FilesystemBackend(root_dir=root, virtual_mode=True)


IMPLEMENTATIONS: dict[str, Callable[[Path], tuple[BackendProtocol, str]]] = {
    "unrestricted": lambda root: (GuardedBackend(_files(root), unrestricted), ""),
    "immutable": lambda root: (ImmutableArtifactBackend(_files(root), shipped_in(root)), ""),
    "opaque": lambda root: (OpaqueEnforcementBackend(_files(root), sealed_in(root)), ""),
    "opaque over immutable": lambda root: (
        OpaqueEnforcementBackend(ImmutableArtifactBackend(_files(root), shipped_in(root)), sealed_in(root)),
        "",
    ),
    "context pack": lambda root: (ContextPackBackend(_files(root), ["/given.md"], ["/MM-1/"]), ""),
    **{
        f"the route {name}": lambda root, name=name: (state_store_backend(root), f"/{name}")
        for name in (
            "project",
            "artifacts",
            "modules",
            "debates",
            "context_packs",
            "exceptions",
            "escalations",
        )
    },
}
"""Each with the place where one may write in it."""


class Both:
    """A backend whose methods are called sync or async."""

    def __init__(self, backend: BackendProtocol, base: str, *, asynchronous: bool) -> None:
        self._backend, self._base, self._asynchronous = backend, base, asynchronous

    def __call__(self, method: str, path: str, *arguments: Any) -> Any:
        """A method on a path below the place where one may write."""
        path = f"{self._base}/MM-1/1.0.0{path}"
        given: Any = ([(path, *arguments)],) if method == "upload_files" else (path, *arguments)
        if method == "download_files":
            given = ([path],)
        if self._asynchronous:
            return asyncio.run(getattr(self._backend, f"a{method}")(*given))
        return getattr(self._backend, method)(*given)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def call(request: pytest.FixtureRequest, made: tuple[BackendProtocol, str]) -> Both:
    """The methods of one backend."""
    return Both(*made, asynchronous=request.param)


@pytest.fixture(params=IMPLEMENTATIONS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[BackendProtocol, str]:
    """One backend over an empty directory."""
    return IMPLEMENTATIONS[request.param](tmp_path)


def test_what_was_written_is_read_listed_and_found(call: Both):
    """Every backend is a file system where its policy says nothing (F-7-09, D-S7-01)."""
    assert call("write", "/src/notes.md", "one\ntwo\n").error is None
    read = call("read", "/src/notes.md")
    assert (read.error, read.file_data["content"]) == (None, "one\ntwo\n")
    assert call("read", "/src/notes.md", 1, 1).file_data["content"].strip() == "two"
    (entry,) = call("ls", "/src").entries
    assert entry["path"].endswith("/MM-1/1.0.0/src/notes.md")
    (child,) = call("ls", "").entries
    assert (child["path"].endswith("/src/"), child["is_dir"]) == (True, True)
    assert call("download_files", "/src/notes.md")[0].content == b"one\ntwo\n"


def test_a_file_is_edited_uploaded_and_deleted(call: Both, made: tuple[BackendProtocol, str]):
    """What may be changed can be, with the counts of the protocol; a pack is written once (F-7-09, F-5-05)."""
    call("write", "/notes.md", "one one\n")
    if made[1] == "/context_packs":
        assert call("edit", "/notes.md", "one", "two").error
        assert call("write", "/notes.md", "other").error
        assert call("delete", "/notes.md").error
        return
    assert call("edit", "/notes.md", "one", "two").error  # twice there
    assert call("edit", "/notes.md", "one", "two", True).occurrences == 2
    assert call("upload_files", "/raw.bin", b"\xff\x00")[0].error is None
    assert call("download_files", "/raw.bin")[0].content == b"\xff\x00"
    assert call("delete", "/notes.md").error is None
    assert call("read", "/notes.md").error


def test_faults_are_told_and_never_raised(call: Both, tmp_path: Path):
    """Missing files, directories, files in the way of directories: an error without the real root (D-S7-04)."""
    call("write", "/notes.md", "one\n")
    for method, path, *given in (
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
        error = call(method, path, *given).error
        assert error, (method, path)
        assert str(tmp_path) not in error
    assert call("upload_files", "/notes.md/below", b"x")[0].error
    assert call("download_files", "/missing.md")[0].error


def test_the_root_itself_is_never_deleted(made: tuple[BackendProtocol, str], tmp_path: Path):
    """Not even where everything in it may be, and also when it is empty (D-S7-04)."""
    backend, base = made
    for path in (f"{base}/", base or "/"):
        assert backend.delete(path).error
    assert tmp_path.is_dir()
    assert (tmp_path / base.strip("/")).is_dir()


def test_a_matching_cap_counts_what_may_be_seen(tmp_path: Path):
    """Sealed matches neither fill the cap nor show by it (F-12-08)."""
    for name, text in {
        "ship.json": "{}",
        "implementation/a.py": "word\n" * 50,
        "examples.md": "word\nword\n",
    }.items():
        (tmp_path / "MM-1/1.0.0" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "MM-1/1.0.0" / name).write_text(text)
    backend = OpaqueEnforcementBackend(_files(tmp_path), sealed_in(tmp_path))
    assert len(backend.grep("word", max_count=2).matches or []) == 2
    assert not backend.grep("word", max_count=2).truncated
    assert backend.grep("word", max_count=1).truncated


def test_real_paths_are_refused_as_a_root_for_a_guard(tmp_path: Path):
    """A guard over a backend without virtual paths would guard nothing (D-S7-04)."""
    with pytest.raises(ValueError, match="virtual"):
        GuardedBackend(FilesystemBackend(root_dir=tmp_path, virtual_mode=False), unrestricted)


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

    assert uncovered(BackendProtocol, GuardedBackend) == []
    assert uncovered(Later, GuardedBackend) == ["amove", "move"]
    assert uncovered(Latest, GuardedBackend) == ["amove", "awatch", "move"]

    class Covers(GuardedBackend):
        def move(self, source: str, target: str) -> None:
            """Covered, and its twin with it."""

    assert uncovered(Later, Covers) == []


_LATER = """
import sys
from deepagents.backends import protocol
class Later(protocol.BackendProtocol):
    {method}
protocol.BackendProtocol = Later
import specwright.storage.guarded_backend
"""


@pytest.mark.parametrize(
    ("method", "missing"),
    [
        ("def move(self, source, target): ...", "move"),
        ("async def awatch(self, path): ...", "awatch"),
        ("def chmod(self, path, mode): ...", "chmod"),
        ("def read(self, path): ...", ""),
        ("_limit = 7", ""),
    ],
)
def test_the_import_stops_where_the_protocol_has_grown(method: str, missing: str):
    """In a process of its own, with a deepagents whose protocol offers one method more (D-S7-05)."""
    importing = process(_LATER.format(method=method), stderr=subprocess.PIPE)
    _, told = importing.communicate()
    assert importing.returncode == bool(missing)
    if missing:
        last = told.strip().splitlines()[-1]
        assert last == (
            f"ImportError: the backend guard does not cover {missing}; this deepagents is too new for it"
        )
