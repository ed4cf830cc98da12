"""What a caller may not do: reach out of the roots, write what is no module's, turn the sandbox off."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from specwright.errors import InputError, SpecwrightError
from specwright.mcp_server.call import FUNCTIONS
from specwright.mcp_server.roots import Roots
from specwright.mcp_server.tools import tool_named
from specwright.mcp_server.work import Work
from testkit.paths import ROOT

MODULES = ROOT / "tests/gate/modules"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with a module, and a module and a file beside the root."""
    for directory in ("root/tally", "outside"):
        shutil.copytree(MODULES / "tally_words", tmp_path / directory)
    (tmp_path / "secret").write_text("s3cret")
    return tmp_path / "root"


def called(root: Path, name: str, writes_tree: bool = False, **arguments: Any) -> Any:
    """What the function of a tool gives."""
    tool = tool_named(name)
    assert tool is not None
    work = Work(Roots([root]), root, 60, lambda *_: None, writes_tree)
    return FUNCTIONS[name](tool.arguments.model_validate(arguments), work)


def refused(root: Path, name: str, writes_tree: bool = False, **arguments: Any) -> str:
    """The one error that says what, where and what to do."""
    with pytest.raises(SpecwrightError) as caught:
        called(root, name, writes_tree, **arguments)
    assert caught.value.remedy
    return str(caught.value)


@pytest.mark.parametrize(
    "path",
    ["..", "../outside", "/", "/etc/passwd", "tally/../../outside", "{root}/../outside", "link", "link/x"],
)
@pytest.mark.parametrize(
    "tool", ["gate", "read_module", "fix_docstring", "read_files", "edit_files", "search_index"]
)
def test_no_path_leads_out_of_the_roots(place: Path, tool: str, path: str):
    """Dots, absolute paths and links: the same refusal, whether there is something or not (D-50-03)."""
    (place / "link").symlink_to(place.parent / "outside")
    path = path.format(root=place)
    more = {
        "gate": {"directories": [path]},
        "read_files": {"paths": [path]},
        "edit_files": {"files": [{"path": f"{path}/contract.json", "text": "{}"}]},
        "search_index": {"directory": path, "query": "words"},
        "adopt": {"source": path, "out": "new"},
    }
    told = refused(place, tool, **more.get(tool, {"directory": path}))
    assert "not below a directory that this server works in" in told
    assert str(place) in told


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
def test_what_is_no_path_is_refused(place: Path, path: str):
    """Empty, with NUL, or too long (D-50-03)."""
    with pytest.raises(InputError, match="1 to 4096 characters"):
        Roots([place]).resolve(path)


def test_a_relative_path_is_looked_for_below_each_root(place: Path):
    """In their order; and a root that is a link is where it leads (D-50-03)."""
    (place.parent / "alias").symlink_to(place)
    roots = Roots([place.parent / "outside", place.parent / "alias"])
    assert roots.resolve("tally") == place / "tally"
    assert roots.resolve("new") == place.parent / "outside/new"
    with pytest.raises(InputError, match="no such directory"):
        Roots([place / "missing"])


@pytest.mark.parametrize(
    "path",
    [
        "specwright.toml", "ship.json", "implementation/x.so", "tests/conftest.py", "../x.py", "implementation/../x.py",
        "implementation/x.py\n", ".git/hooks/pre-commit", "implementation/.hidden.py", "../src/shop.py", "notes.md",
    ],
)  # fmt: skip
def test_without_write_only_files_of_a_module_can_be_edited(place: Path, path: str):
    """Neither settings nor what runs elsewhere (D-50-03)."""
    before = sorted(place.parent.rglob("*"))
    told = refused(place, "edit_files", files=[{"path": f"tally/{path}", "text": "x"}])
    assert "no place in a module directory" in told
    assert "`specwright mcp --write`" in told
    assert sorted(place.parent.rglob("*")) == before


@pytest.mark.parametrize(
    "path",
    [
        "specwright.toml", "tally/specwright.toml", "ship.json", "shop/ship.json", ".git/config.toml", "shop/.hidden.py",
        ".github/x.md", "shop/x.so", "shop/x.sh", "shop/Makefile", "shop/x.py\n", "shop/x.pth", "shop/.venv/x.py",
        ".mcp.json", "shop/__pycache__/x.py",
    ],
)  # fmt: skip
def test_with_write_settings_and_hidden_files_stay_closed(place: Path, path: str):
    """Nor anything but source, pages and settings of a package (D-50-03)."""
    (place / path).parent.mkdir(parents=True, exist_ok=True)
    before = sorted(place.parent.rglob("*"))
    told = refused(place, "edit_files", writes_tree=True, files=[{"path": path, "text": "x"}])
    assert "none that this tool writes" in told
    assert sorted(place.parent.rglob("*")) == before


@pytest.mark.parametrize("writes_tree", [False, True])
def test_no_link_leads_out_when_a_file_is_read_or_edited(place: Path, writes_tree: bool):
    """A file or folder that is a link is what it leads to, and outside is outside (D-50-03)."""
    (place / "tally/implementation/more.py").symlink_to(place.parent / "secret")
    (place / "tally/implementation/folder").symlink_to(place.parent)
    (place / "tally/implementation/git.py").symlink_to(place / ".git")
    (place / ".git").write_text("s3cret")
    for name in ("more.py", "folder/x.py", "git.py"):
        path = f"tally/implementation/{name}"
        told = refused(place, "edit_files", writes_tree, files=[{"path": path, "text": "x"}])
        assert any(
            one in told for one in ("not below a directory", "no place in", "none that this tool writes")
        )
        told = refused(place, "read_files", writes_tree, paths=[path])
        assert any(
            one in told for one in ("not below a directory", "none that this tool reads", "no such file")
        )
    assert (place.parent / "secret").read_text() == "s3cret" == (place / ".git").read_text()
    assert not (place.parent / "x.py").exists()
    assert "s3cret" not in str(called(place, "read_module", directory="tally"))
    assert "more.py" not in str(called(place, "read_files", paths=["."]))


def test_what_may_hold_secrets_is_read_with_write_alone(place: Path):
    """Source and pages always; *.toml and *.json of the tree only then; hidden files never (D-50-03)."""
    for name in ("shop.py", "README.md", "keys.json", "pyproject.toml", ".env", ".keys.py"):
        (place / name).write_text("x = 1\n")
    (names,) = called(place, "read_files", paths=["."]).folders
    assert {"shop.py", "README.md", "tally/contract.json"} <= set(names.files)
    assert not {"keys.json", "pyproject.toml", ".env", ".keys.py"} & set(names.files)
    assert "none that this tool reads" in refused(place, "read_files", paths=["keys.json"])
    assert called(place, "read_files", True, paths=["keys.json", "shop.py"]).files[0].text == "x = 1\n"
    assert "none that this tool reads" in refused(place, "read_files", True, paths=[".env"])


def test_records_of_a_project_are_not_edited(place: Path):
    """What `verify` holds against its records (D-50-03)."""
    for name in ("state_store", "project"):
        (place / name).mkdir()
        told = refused(place, "edit_files", True, files=[{"path": f"{name}/x.py", "text": "x"}])
        assert "`specwright` alone writes" in told


@pytest.mark.slow
def test_a_sealed_version_is_not_written(place: Path):
    """`ship.json` says that it is one (D-50-03)."""
    (place / "tally/ship.json").write_text("{}")
    edits = {"files": [{"path": "tally/examples.md", "text": ""}]}
    for tool, arguments in (("edit_files", edits), ("fix_docstring", {"directory": "tally"})):
        entry = place / "tally/implementation/__init__.py"
        entry.write_text(entry.read_text().replace('"""Count', '"""Tell', 1))
        with pytest.raises(SpecwrightError, match="a sealed version never changes"):
            called(place, tool, **arguments)


def test_a_module_cannot_turn_the_sandbox_off(place: Path, monkeypatch: pytest.MonkeyPatch):
    """Files come from anywhere; whoever starts the server decides (D-50-03)."""
    monkeypatch.delenv("SPECWRIGHT_SANDBOX", raising=False)
    (place / "tally/specwright.toml").write_text('sandbox = "none"\n')
    assert "turn the sandbox off" in refused(place, "gate", directories=["."])
    assert "turn the sandbox off" in refused(place, "fix_docstring", directory="tally")


def test_a_module_that_is_called_must_be_below_a_root(place: Path):
    """The gate finds dependencies beside a module; over MCP only where the server may read (D-50-03)."""
    contract = place / "tally/contract.json"
    calls = '"dependencies": [{"ref": "MM-00000009@1.0.0", "why": "it counts"}]'
    contract.write_text(contract.read_text().replace('"dependencies": []', calls))
    other = place.parent / "outside/contract.json"
    other.write_text(other.read_text().replace("MM-00000001", "MM-00000009"))
    shutil.copytree(place.parent / "outside", place / "other")
    told = refused(place / "tally", "gate", directories=["."])
    assert "the module calls one that is not below" in told


def test_arguments_are_checked_before_anything_is_done(place: Path):
    """Unknown ones, wrong types and sizes are named (D-50-03)."""
    for name, arguments in (
        ("gate", {"directories": []}),
        ("gate", {"directories": ["x"], "fix": True}),
        ("gate", {"directories": ["x"] * 201}),
        ("gate", {"directories": ["tally"], "seconds": -1}),
        ("explain", {"code": 7}),
        ("search_index", {"directory": ".", "query": "x", "top": 10_000}),
        ("edit_files", {"files": [{"path": "tally/examples.md", "text": "x" * 1_048_577}]}),
        ("edit_files", {"files": []}),
        ("read_files", {"paths": ["x"] * 51}),
    ):
        with pytest.raises(ValidationError):
            called(place, name, **arguments)


def test_a_new_module_begins_with_its_contract(place: Path):
    """Its directory is made; another file of no module is refused (D-50-03)."""
    entry = {"path": "new/deep/examples.md", "text": ""}
    assert "no place in a module directory" in refused(place, "edit_files", files=[entry])
    contract = {"path": "new/deep/contract.json", "text": "{}"}
    written = called(place, "edit_files", files=[entry, contract]).files
    assert [(one.file, one.existed) for one in written] == [
        (str(place / "new/deep/examples.md"), False),
        (str(place / "new/deep/contract.json"), False),
    ]
    assert len(list((place / "new/deep").iterdir())) == 2


def test_adopting_reads_and_writes_below_the_roots_alone(place: Path):
    """Neither an installed package, nor a package that begins above, nor what links lead to; and it writes nowhere else
    (D-50-03)."""
    package = place / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "prices.py").write_text("def half(n: int) -> int:\n    return n // 2\n")
    assert "no such file or folder" in refused(place, "adopt", source="json.decoder", out="new")
    assert "not below a directory" in refused(place, "adopt", source="shop/prices.py", out="../new")
    inner = Path(shutil.copytree(package, package / "inner"))
    assert "would read what is not below" in refused(inner, "adopt", source="prices.py:half", out="new")
    (place.parent / "outside/more.py").write_text("LIMIT = 3\n")
    for link, target in (
        ("shop/more.py", "outside/more.py"),
        ("shop/deep", "outside"),
        ("README.md", "secret"),
    ):
        (place / link).symlink_to(place.parent / target)
        assert "would read what is not below" in refused(place, "adopt", source="shop/prices.py", out="new")
        (place / link).unlink()
    assert not (place / "new").exists()
    assert not (place.parent / "new").exists()
