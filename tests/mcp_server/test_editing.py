"""Edits of files: exact, several at once, all or none."""

import os
from pathlib import Path
from typing import Any

import pytest

from specwright.errors import SpecwrightError
from specwright.mcp_server.file_tools import editing
from specwright.mcp_server.file_tools.records import EditFilesArguments, EditFilesResult
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.work import Work


def edit(root: Path, *entries: dict[str, Any]) -> EditFilesResult:
    """What `edit_files` gives where the tree may be written."""
    work = Work(Roots([root]), root, 60, lambda *_: None, writes_tree=True)
    return editing.edit_files(EditFilesArguments.model_validate({"files": list(entries)}), work)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A root with two files."""
    (tmp_path / "shop.py").write_bytes(b"a = 1\r\nb = 1\r\n")
    (tmp_path / "test_shop.py").write_text("assert True\n")
    (tmp_path / "shop.py").chmod(0o755)
    (tmp_path / "folder.py").mkdir()
    return tmp_path


def content(root: Path) -> dict[str, bytes]:
    """All files below a root."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_several_files_are_changed_in_one_call(shop: Path):
    """Replacements one after the other, a new file in a new folder; ends of lines and rights stay (D-50-03)."""
    told = edit(
        shop,
        {
            "path": "shop.py",
            "replace": [{"old": "a = 1", "new": "a = 2"}, {"old": "a = 2\r\nb", "new": "a = 2\r\nc"}],
        },
        {"path": "tests/new/test_more.py", "text": "é\n"},
    )
    assert [one.existed for one in told.files] == [True, False]
    assert content(shop) == {
        "shop.py": b"a = 2\r\nc = 1\r\n",
        "test_shop.py": b"assert True\n",
        "tests/new/test_more.py": "é\n".encode(),
    }
    assert (shop / "shop.py").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"path": "test_shop.py", "replace": [{"old": "False", "new": ""}]}, "occurs 0 times"),
        ({"path": "shop.py", "replace": [{"old": " = 1", "new": ""}]}, "occurs 2 times"),
        ({"path": "more.py", "replace": [{"old": "a", "new": ""}]}, "no such file"),
        ({"path": "test_shop.py"}, "either `text` or `replace`"),
        ({"path": "test_shop.py", "text": "", "replace": [{"old": "a", "new": ""}]}, "either `text` or"),
        ({"path": "./new.py", "text": "x"}, "named twice"),
        ({"path": "folder.py", "text": ""}, "it is no file"),
        ({"path": "a.md", "text": "é" * 600_000}, "more than 1 MiB"),
        ({"path": "a.sh", "text": ""}, "none that this tool writes"),
    ],
)
def test_one_edit_that_does_not_fit_writes_nothing(shop: Path, entry: dict[str, Any], message: str):
    """The error names the place and what to do (D-50-03)."""
    before = content(shop)
    with pytest.raises(SpecwrightError, match=message) as caught:
        edit(shop, {"path": "new.py", "text": "x"}, entry)
    assert caught.value.remedy
    assert content(shop) == before


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_system_that_refuses_midway_leaves_everything_as_it_was(
    shop: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
):
    """Neither a half of the edits, nor a folder, nor a temporary file (D-50-03)."""
    before, replace, calls = content(shop), Path.replace, 0

    def refuse(self: Path, target: str | os.PathLike[str]) -> Path:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(SpecwrightError, match="No space left"):
        edit(
            shop,
            {"path": "shop.py", "text": "x"},
            {"path": "deep/er/new.py", "text": "x"},
            {"path": "test_shop.py", "text": "x"},
        )
    assert content(shop) == before
    assert not (shop / "deep").exists()
