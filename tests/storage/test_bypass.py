"""No prompt talks a store round: what an agent may try, through the real agent loop and against the backends
themselves, sync and async (F§6.3, F§12.5, F§19.7, DESIGN §7)."""

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends.protocol import BackendProtocol, SandboxBackendProtocol
from langchain_core.tools import tool

from specwright.domain.artifacts import Permission
from specwright.storage.context_pack import SEALED
from testkit.sampling import spread
from testkit.storage.agents import AnsweredAttempt, Attempt, attempted
from testkit.storage.leaks import direct, leaks
from testkit.storage.trees import NAME, PRIVATE, Hidden, attempts, pack, tree_of

TRAPS = "/implementation"
"""The directory of the links, which the role may write."""


@pytest.fixture(params=spread(Permission, fast=3, slow=6))
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Hidden, str]:
    """A role's directory with something to hide, at each permission."""
    return pack(tmp_path, request.param), TRAPS


@pytest.mark.parametrize(
    "every",
    [pytest.param(False, id="some calls"), pytest.param(True, id="every call", marks=pytest.mark.slow)],
)
def test_no_call_of_an_agent_shows_changes_or_names_what_is_hidden(
    tree: tuple[Hidden, str], asynchronous: bool, every: bool
):
    """Links, `..`, encodings, ancestors, patterns, offsets, `execute`: 0 leaks, 0 crashes, no real path
    (F-5-07, F-12-01, F-12-08, F-19-03, D-S7-01, D-S7-02, D-S7-04)."""
    hidden, traps = tree
    tried = list(attempts(hidden, traps))
    tried = tried if every else [*tried[asynchronous::7], *tried[-2:]]
    before = {path: data for path, data in hidden.protected.items() if not path.startswith(traps.strip("/"))}
    answers = attempted(hidden.backend, tried, asynchronous=asynchronous)
    assert list(leaks(hidden, answers)) == []
    after = tree_of(hidden.root)
    assert {path: after.get(path) for path in before} == before
    assert {path.read_text() for path in hidden.root.parents[1].glob("**/outside/*")} <= {PRIVATE}


def test_what_a_permission_shows_can_be_read(tree: tuple[Hidden, str], asynchronous: bool):
    """The suite above would pass on a backend that shows nothing; this one shows its surface (D-S7-02, F-12-01)."""
    hidden, _ = tree
    reads = [Attempt("read_file", {"file_path": f"{hidden.base}/{name}"}) for name in hidden.readable]
    listing = Attempt("ls", {"path": hidden.base})
    *read, listed = attempted(hidden.backend, [*reads, listing], asynchronous=asynchronous)
    for (attempt, answer), name in zip(read, hidden.readable, strict=True):
        assert (hidden.root / attempt.arguments["file_path"].strip("/")).read_text().splitlines()[
            0
        ] in answer, name
    shown = {part.strip("'[]/ ") for part in listed.answer.split(",")}
    assert shown == {f"{hidden.base}/{name.partition('/')[0]}".strip("/") for name in hidden.readable}


def calls_of(tree: Hidden, traps: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The same attempts as calls of the protocol, with those that no tool offers."""
    for called, arguments in attempts(tree, traps):
        match called:
            case "read_file":
                yield "read", tuple(arguments.values())
            case "write_file":
                yield "write", tuple(arguments.values())
                yield "upload_files", ([(arguments["file_path"], b"overwritten")],)
                yield "download_files", ([arguments["file_path"]],)
            case "edit_file":
                yield "edit", tuple(arguments.values())
            case "grep":
                yield "grep", (arguments["pattern"], arguments["path"], arguments.get("glob"))
            case "execute":
                continue
            case _:
                yield called, tuple(arguments.values())


def test_no_call_of_the_protocol_shows_changes_or_raises(tree: tuple[Hidden, str], asynchronous: bool):
    """Without the checks of the tools in front: also upload and download (F-12-08, D-S7-04)."""
    hidden, traps = tree
    before = {path: data for path, data in hidden.protected.items() if not path.startswith(traps.strip("/"))}
    found: list[str] = []
    for method, arguments in calls_of(hidden, traps):
        answer = str(direct(hidden.guarded, method, *arguments, asynchronous=asynchronous))
        answers = AnsweredAttempt(
            Attempt(method, {str(n): value for n, value in enumerate(arguments)}), answer
        )
        found += leaks(hidden, [answers])
    assert found == []
    after = tree_of(hidden.root)
    assert {path: after.get(path) for path in before} == before


def test_a_refused_read_says_the_literal_words_with_the_path_as_it_was_named(
    tmp_path: Path, asynchronous: bool
):
    """A role that reads the implementation of a sealed module of its pack gets the message, and an EditResult with it
    if it edits; the path is as it was named (F-12-07, F-12-08)."""
    backend = pack(tmp_path, Permission.CONTRACT_ONLY).backend
    for path in (
        f"/dependencies/{NAME}/implementation/__init__.py",
        f"/dependencies/{NAME}/tests",
        f"/dependencies/{NAME}/implementation/not-there.py",
    ):
        message = SEALED.format(path=path)
        assert direct(backend, "read", path, asynchronous=asynchronous).error == message
        assert direct(backend, "edit", path, "a", "b", asynchronous=asynchronous).error == message
        assert direct(backend, "write", path, "a", asynchronous=asynchronous).error == message
        answers = attempted(backend, [Attempt("read_file", {"file_path": path})], asynchronous=asynchronous)
        assert message in answers[0].answer
    assert SEALED == (
        "ACCESS DENIED: '{path}' is a sealed implementation directory. This module is a closed-source service — integrate "
        "via contract.json, examples.md, and ship.json only. See §12 (Opaque Implementation Rule) and §6.8 (Black-Box "
        "Integration) for rationale. If the contract is insufficient, raise an Interface Change Exception (§13)."
    )


def test_discovery_omits_sealed_paths_without_an_error(tmp_path: Path, asynchronous: bool):
    """grep, glob and ls are silent, also when a sealed directory itself is named (F-12-08)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    shutil.rmtree(tree.root / "implementation")  # the links; the role's own directory is searched elsewhere
    backend, base = tree.guarded, f"/dependencies/{NAME}"
    for path in (base, f"{base}/implementation", "/dependencies", "/"):
        grepped = direct(backend, "grep", "canary", path, asynchronous=asynchronous)
        globbed = direct(backend, "glob", "**/*", path, asynchronous=asynchronous)
        listed = direct(backend, "ls", path, asynchronous=asynchronous)
        assert (grepped.error, globbed.error, listed.error) == (None, None, None)
        assert grepped.matches == []
        names = [info["path"] for info in (*globbed.matches, *listed.entries)]
        assert not [name for name in names if "implementation" in name or "tests" in name]
    seen = [info["path"] for info in direct(backend, "ls", base, asynchronous=asynchronous).entries]
    assert seen == [f"{base}/contract.json", f"{base}/examples.md", f"{base}/ship.json"]


@pytest.mark.parametrize("level", ["", "/contract.json", "/implementation", "/ship.json"])
def test_nothing_of_a_sealed_module_changes_from_any_ancestor(tmp_path: Path, level: str, asynchronous: bool):
    """Write, edit, delete and upload are refused on a module, on what is in it and above it (F-6-04, F-12-01)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    before = tree.protected
    for path_ in (f"/dependencies/{NAME}{level}", "/dependencies", "/dependencies/"):
        assert direct(tree.backend, "delete", path_, asynchronous=asynchronous).error
        assert direct(tree.backend, "write", path_, "x", asynchronous=asynchronous).error
        assert direct(tree.backend, "edit", path_, "canary", "x", asynchronous=asynchronous).error
        (uploaded,) = direct(tree.backend, "upload_files", [(path_, b"x")], asynchronous=asynchronous)
        assert uploaded.error
    assert tree.protected == before


def test_the_protocol_has_no_way_to_rename_or_to_change_rights(tmp_path: Path):
    """A rename of an ancestor, chmod and execute are no operations at all (F-12-01, D-S7-04)."""
    offered = {name for name, _ in inspect.getmembers(BackendProtocol, callable) if not name.startswith("_")}
    sync = {"ls", "read", "grep", "glob", "write", "edit", "delete", "upload_files", "download_files"}
    assert offered == sync | {f"a{name}" for name in sync}
    backend = pack(tmp_path, Permission.CONTRACT_ONLY).backend
    for guarded in (backend.default, *backend.routes.values()):
        assert not isinstance(guarded, SandboxBackendProtocol)
        assert not hasattr(guarded, "execute")


def test_a_large_result_is_offloaded_into_the_agents_own_state(tmp_path: Path, asynchronous: bool):
    """It lies in no directory that others share, and shows no more than was read (D-S7-04)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    before = tree.protected

    @tool
    def search_code_index() -> str:
        """Answer at great length."""
        return "\n".join(f"line {number}" for number in range(4000))

    calls = [
        Attempt("search_code_index", {}),
        Attempt("read_file", {"file_path": "/.offloaded/large_tool_results/call-0-0"}),
        Attempt("ls", {"path": "/.offloaded/large_tool_results"}),
        Attempt("write_file", {"file_path": "/.offloaded/../task.md", "content": "x"}),
        Attempt("glob", {"pattern": "**/*"}),
    ]
    answers = attempted(tree.backend, calls, asynchronous=asynchronous, evict=1000, tools=[search_code_index])
    assert "/.offloaded/large_tool_results/call-0-0" in answers[0].answer
    assert "line 7" in answers[1].answer
    assert tree.protected == before
    assert list(leaks(tree, answers)) == []


def test_text_that_cannot_be_written_does_not_destroy_the_file(tmp_path: Path, asynchronous: bool):
    """Half a surrogate pair is refused before the file is truncated (D-S7-04)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    direct(tree.backend, "write", "/examples.md", "as it was", asynchronous=asynchronous)
    assert direct(tree.backend, "write", "/examples.md", "\ud800", asynchronous=asynchronous).error
    assert direct(tree.backend, "edit", "/examples.md", "was", "\ud800", asynchronous=asynchronous).error
    assert (tree.root / "examples.md").read_text() == "as it was"
