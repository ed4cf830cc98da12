"""What a model may try that is no path: patterns without end, files without end, many calls at once, other names of
tools, arguments of other types (F§6.3, F§12.5, DESIGN §1 rule 4, §7)."""

import asyncio
import itertools
import shutil
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from deepagents.backends import FilesystemBackend

from ship_gate.base.text import MAX_CHARACTERS, edited_length
from specwright.domain.artifacts import Permission
from specwright.storage.context_pack import ContextPackBackend
from testkit.sampling import spread
from testkit.storage.agents import Attempt, attempted
from testkit.storage.leaks import direct, leaks
from testkit.storage.trees import NAME, pack

DEEP = "/".join(["a"] * 120)
BOMBS = ["**/a/" * 10 + "b", "{*,}{*,}/a/" * 3 + "b", "*a" * 60 + "b", "{a,b}" * 30, "x" * 2000]


@pytest.mark.timeout(100)
@pytest.mark.parametrize("where", ["/implementation", "/.offloaded"])
def test_no_pattern_holds_an_agent_up(tmp_path: Path, where: str, asynchronous: bool):
    """A model makes a deep directory, in its own or in its state, and then the pattern that goes back and forth in it;
    the searches end, and the next call is answered (D-S7-04)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    calls = [Attempt("write_file", {"file_path": f"{where}/{DEEP}/c.md", "content": "canaries\n"})]
    calls += [Attempt("glob", {"pattern": bomb, "path": where}) for bomb in BOMBS]
    calls += [Attempt("grep", {"pattern": "canaries", "path": where, "glob": bomb}) for bomb in BOMBS]
    calls += [
        Attempt("glob", {"pattern": "c.md", "path": where}),
        Attempt("grep", {"pattern": "canaries", "path": where, "glob": "**/c.md"}),
    ]
    answers = attempted(tree.backend, calls, asynchronous=asynchronous)
    assert [one.answer for one in answers[1:-2] if "c.md" in one.answer.replace(str(one.attempt), "")] == []
    assert all(f"{DEEP}/c.md" in one.answer for one in answers[-2:])


@pytest.mark.parametrize("where", ["/implementation/notes.md", "/.offloaded/notes.md"])
def test_no_file_grows_without_end(tmp_path: Path, where: str, asynchronous: bool):
    """Ten times as long with each edit would fill memory and disk within ten calls (D-S7-04)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    grow = {"file_path": where, "old_string": "a", "new_string": "a" * 10, "replace_all": True}
    calls = [
        Attempt("write_file", {"file_path": where, "content": "a" * 10}),
        *[Attempt("edit_file", grow)] * 9,
    ]
    *grown, last = attempted(tree.backend, calls, asynchronous=asynchronous)
    assert "would be too long" in last.answer
    assert sum("too long" in one.answer for one in grown) == 3
    whole = tree.root / where.strip("/")
    assert not whole.exists() or len(whole.read_text()) == 1_000_000
    (written,) = attempted(
        tree.backend,
        [Attempt("write_file", {"file_path": where, "content": "b" * (MAX_CHARACTERS + 1)})],
        asynchronous=asynchronous,
    )
    assert "too long" in written.answer


def test_the_length_after_an_edit_is_known_before_it():
    """At most that: what an edit takes away is not counted (D-S7-04)."""
    for text, old, new, every, length in (
        ("aaa", "a", "bb", True, 6),
        ("aaa", "a", "bb", False, 4),
        ("aaa", "aaa", "", True, 3),
        ("aaa", "", "b", True, 3),
        ("", "a", "bb", True, 0),
    ):
        assert edited_length(text, old, new, replace_all=every) == length


def test_edits_of_one_answer_do_not_undo_each_other(tmp_path: Path, asynchronous: bool):
    """Calls of one answer run side by side; each edit is there afterwards (D-S7-01)."""
    backend = ContextPackBackend(FilesystemBackend(root_dir=tmp_path, virtual_mode=True), [], ["/w/"])
    backend.write("/w/a.md", "".join(f"<{n}>\n" for n in range(60)))
    edits = [("/w/a.md", f"<{n}>", f"[{n}]") for n in range(60)]
    if asynchronous:

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*(backend.aedit(*edit) for edit in edits))

        answers = asyncio.run(all_at_once())
    else:
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda edit: backend.edit(*edit), edits))
    assert [answer.error for answer in answers if answer.error] == []
    assert (tmp_path / "w/a.md").read_text() == "".join(f"[{n}]\n" for n in range(60))


def test_a_search_neither_opens_nor_mentions_what_is_sealed(tmp_path: Path, asynchronous: bool):
    """A sealed file that is no text, or that nobody may read, is no reason to call a search incomplete (F-12-08)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    shutil.rmtree(tree.root / "implementation")  # the links
    sealed = tree.root / "dependencies" / NAME / "implementation"
    (sealed / "data.bin").write_bytes(b"\xff\xfe\x00canary")
    (sealed / "locked").mkdir(mode=0)
    try:
        for path in ("/", "/dependencies", f"/dependencies/{NAME}", f"/dependencies/{NAME}/implementation"):
            found = direct(tree.guarded, "grep", "canary", path, asynchronous=asynchronous)
            assert (found.error, found.matches, found.truncated) == (None, [], False)
            listed = direct(tree.guarded, "glob", "**/*", path, asynchronous=asynchronous)
            assert (listed.error, listed.truncated) == (None, False)
    finally:
        (sealed / "locked").chmod(0o755)


def test_what_is_found_comes_in_one_order_on_every_disk(tmp_path: Path):
    """Not in that of the directory's entries, nor in that of parallel threads: a run that is repeated asks the same
    (D-S7-04, D-S4-03)."""
    names = [f"{letter}/{number}.md" for letter in "bca" for number in (2, 10, 1)]
    found: list[Any] = []
    for order in (names, sorted(names), names[::-1]):
        root = tmp_path / str(len(found))
        for name in order:
            (root / "w" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "w" / name).write_text("word\n")
        backend = ContextPackBackend(FilesystemBackend(root_dir=root, virtual_mode=True), [], ["/w/"])
        found.append([backend.ls("/w"), backend.glob("*.md"), backend.grep("word")])
    assert found[0] == found[1] == found[2]
    listed, globbed, grepped = found[0]
    assert [info["path"] for info in listed.entries] == ["/w/a/", "/w/b/", "/w/c/"]
    assert [info["path"] for info in globbed.matches] == [f"/w/{name}" for name in sorted(names)]
    assert [match["path"] for match in grepped.matches] == [f"/w/{name}" for name in sorted(names)]


TOOLS = [
    "Read_File",
    "READ_FILE",
    "read_file ",
    "readFile",
    "read",
    "cat",
    "Execute",
    "bash",
    "task",
    "upload_files",
]


def test_a_tool_by_another_name_is_no_tool(tmp_path: Path, asynchronous: bool):
    """Neither case nor a space makes one; what is not offered is not there (D-S7-04, D-17-01)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    source = f"/dependencies/{NAME}/implementation/__init__.py"
    calls = [Attempt(name, {"file_path": source, "command": f"cat {tree.root}{source}"}) for name in TOOLS]
    answers = attempted(tree.backend, calls, asynchronous=asynchronous)
    assert list(leaks(tree, answers)) == []
    assert all("is not a valid tool" in one.answer for one in answers)


STRANGE: list[Any] = [None, 7, True, ["/"], {"path": "/"}, 1.5, "", " ", "\x1b[2J", "/" + "x" * 100_000]


def strange_calls(source: str) -> Iterator[Attempt]:
    """Arguments that are no paths, no texts and no numbers, and some that no tool has."""
    for value in STRANGE:
        yield Attempt("read_file", {"file_path": value})
        yield Attempt("read_file", {"file_path": source, "offset": value, "limit": value})
        yield Attempt("ls", {"path": value})
        yield Attempt("glob", {"pattern": value, "path": value})
        yield Attempt("grep", {"pattern": value, "path": value, "glob": value, "output_mode": value})
        yield Attempt("write_file", {"file_path": value, "content": value})
        yield Attempt("edit_file", {"file_path": source, "old_string": value, "new_string": value})
        yield Attempt("delete", {"file_path": value})
    yield Attempt("read_file", {"file_path": source, "backend": "filesystem", "virtual_mode": False})
    yield Attempt("read_file", {"file_path": source, "runtime": {"state": {"files": {}}}, "state": {}})
    yield Attempt("ls", {"path": "/", "files": {source: {"content": ["x"]}}, "tool_call_id": "x"})


@pytest.mark.parametrize("permission", spread([Permission.CONTRACT_ONLY, Permission.SUMMARY_ONLY], fast=2))
def test_arguments_of_other_types_are_answered_and_nothing_more(
    tmp_path: Path, permission: Permission, asynchronous: bool
):
    """No crash, no leak, no change; and no argument reaches past the tool (D-S7-04, F-19-03)."""
    tree = pack(tmp_path, permission)
    before = {path: data for path, data in tree.protected.items() if not path.startswith("implementation/")}
    answers = attempted(
        tree.backend,
        list(strange_calls(f"{tree.base}/implementation/__init__.py")),
        asynchronous=asynchronous,
    )
    assert list(leaks(tree, answers)) == []
    after = tree.protected
    assert {path: after.get(path) for path in before} == before


def test_a_name_is_what_it_is_written_as(tmp_path: Path):
    """A disk that takes two spellings for one has one file; a policy knows names, and refuses the other (D-S7-04)."""
    (tmp_path / "caf\u00e9.md").write_text("canary")
    (tmp_path / "\ufb01le.md").write_text("canary")
    files = FilesystemBackend(root_dir=tmp_path, virtual_mode=True)
    backend = ContextPackBackend(files, ["/caf\u00e9.md"], ["/file.md"])
    for form, name in itertools.product(("NFC", "NFD", "NFKC", "NFKD"), ("caf\u00e9.md", "\ufb01le.md")):
        spelt = unicodedata.normalize(form, name)
        assert (backend.read(f"/{spelt}").error is None) is (spelt == "caf\u00e9.md")


def test_no_file_of_the_state_store_is_reachable(tmp_path: Path, asynchronous: bool):
    """A role's file system is its own directory; the store and the index are outside it (F-7-10, D-S7-01)."""
    tree = pack(tmp_path, Permission.CONTRACT_ONLY)
    for path in (
        *("code_index/index.db", "modules/MM-0a1b2c3d/1.0.0/contract.json", "artifacts/x", "definitions/0"),
        *("debates/PROP-00000001/proposal.json", "context_packs/CP-00000000.json"),
        "project/state_machine.json",
    ):
        stored = tmp_path / "state_store" / path
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text("canary")
        for name in (f"/{path}", path, f"/state_store/{path}", str(stored), f"/../../state_store/{path}"):
            assert direct(tree.guarded, "read", name, asynchronous=asynchronous).error
            assert direct(tree.guarded, "write", name, "x", asynchronous=asynchronous).error
            assert direct(tree.guarded, "edit", name, "canary", "x", asynchronous=asynchronous).error
            assert direct(tree.guarded, "delete", name, asynchronous=asynchronous).error
            assert not direct(tree.guarded, "ls", name, asynchronous=asynchronous).entries
        assert stored.read_text() == "canary"
