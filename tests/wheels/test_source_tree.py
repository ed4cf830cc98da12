"""The source tree of a release, worked on where nothing of Specwright can be imported (design: release)."""

import ast
import io
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ship_gate.contract.contract import Dependency
from ship_gate.sandbox.packages import link_packages
from specwright.files import write_files
from specwright.ports import ProductPackage
from specwright.wheels.source_tree import source_tree
from specwright.wheels.wheel import SERVER_PACKAGES
from testkit.cli.commands import specwright
from testkit.examples.built import HALTED, NAMES, build, built
from testkit.interfaces.market import market

__all__ = ["built"]

TOOLS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy",),
    ("pytest", "-q"),
    ("hatchling", "build", "-d", "../dist"),
)


@pytest.mark.timeout(300)
def test_the_source_tree_of_an_example_stands_alone(tmp_path: Path) -> None:
    """It is linted, type-checked, tested and built; its wheel has the released code, and `verify` names a changed file
    (D-58-01)."""
    project = tmp_path / "project"
    build("nameplate", tmp_path / "playbook", project, license="MIT")
    tree = stands_alone(project, tmp_path / "site")
    ignored = (tree / ".gitignore").read_text().split()
    assert {".venv/", "dist/"} <= {*ignored}
    assert "\nLicence: MIT.\n" in (tree / "README.md").read_text()
    (tree / "README.md").write_text("")
    checked = specwright("verify", project)
    assert (checked.code, f"is yours: release/{tree.name}/README.md" in checked.err) == (0, True), checked
    tree.rename(tmp_path / "moved")
    said = " ".join(specwright("status", project).out.split())
    assert f"is gone; `specwright release {project}` writes it again" in said


LARGEST = {"leftout", "linkwatch"}
"""One of modules that call each other; and one with packages, a database and a command."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=pytest.mark.slow if one in LARGEST else pytest.mark.nightly)
        for one in NAMES
        if one not in {"nameplate", HALTED}
    ],
)
def test_the_source_tree_of_a_larger_example_stands_alone(
    name: str, built: Callable[[str], Path], tmp_path: Path
) -> None:
    """With classes, packages, commands and servers, too (D-58-01)."""
    stands_alone(built(name), tmp_path / "site")


def stands_alone(project: Path, site: Path) -> Path:
    """The source tree of a release, once all tools have passed it and its wheel is the released one."""
    (tree,) = (project / "release").iterdir()
    assert failures(tree, site, *TOOLS) == {}
    (released,) = project.glob("state_store/releases/*/*.whl")
    (again,) = (project / "release/dist").glob("*.whl")
    assert trees(again.read_bytes()) == trees(released.read_bytes())
    return tree


@pytest.mark.slow
def test_mypy_is_strict_where_a_module_is_annotated(make_module: Any, tmp_path: Path) -> None:
    """So is the shell of a command and of servers; `pyproject.toml` says what else passes (D-58-01)."""
    untyped = make_module("untyped", "def untyped(text):\n    return text + 1\n")
    loose = make_module(
        "loose", "def loose(text: str) -> dict:\n    return {text: sorted([], key=lambda x: x)}\n"
    )
    product = market()
    files = source_tree(product._replace(modules=(*product.modules, untyped, loose)))
    write_files(tmp_path / "tree", files)
    assert failures(tmp_path / "tree", tmp_path / "site", ("mypy",)) == {}
    stated = tomllib.loads(files["pyproject.toml"].decode())
    assert stated["tool"]["mypy"]["overrides"] == [
        {"module": "market.untyped.*", "ignore_errors": True},
        {"module": "market.loose.*", "disallow_any_generics": False},
    ]
    assert b'--editable ".[interfaces]" --group dev' in files["CONTRIBUTING.md"]


def failures(tree: Path, site: Path, *tools: tuple[str, ...]) -> dict[str, str]:
    """What tools say that fail in a tree; of this installation they find what a person installs for the tree."""
    link_packages(frozenset({"hatchling", "hypothesis", "mypy", "pytest", *SERVER_PACKAGES}), site)
    environment = {
        "PATH": os.defpath,
        "HOME": str(site.parent),
        "PYTHONPATH": str(site),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    failed: dict[str, str] = {}
    for tool, *words in tools:
        started = (
            [str(Path(sys.executable).with_name("ruff"))]
            if tool == "ruff"
            else [sys.executable, "-S", "-P", "-m", tool]
        )
        done = subprocess.run(
            [*started, *words], cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            failed[tool] = (done.stdout + done.stderr)[-3000:]
    return failed


def test_tests_of_the_same_name_are_all_kept(product: ProductPackage) -> None:
    """Two modules may name a file alike, and one may name it like the file of the approved examples (D-58-01)."""
    names = [{"test_it.py", "test_clean.py"}, {"test_it.py"}, {"test_approved.py"}]
    modules = [
        one._replace(tests={name: f"OF = {one.contract.name!r}\n".encode() for name in found})
        for one, found in zip(product.modules, names, strict=True)
    ]
    files = source_tree(product._replace(modules=tuple(modules)))
    assert b"Licence: none is stated." in files["README.md"]
    kept = {path: text for path, text in files.items() if text.startswith(b"OF = ")}
    assert kept == {
        "tests/test_clean__it.py": b'OF = "clean"\n',
        "tests/test_clean.py": b'OF = "clean"\n',
        "tests/test_slugify__it.py": b'OF = "slugify"\n',
        "tests/test_save__approved.py": b'OF = "save"\n',
    }


def trees(wheel: bytes) -> dict[str, str]:
    """What the modules of a wheel say, however they are laid out."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return {
            one: ast.dump(ast.parse(archive.read(one))) for one in archive.namelist() if one.endswith(".py")
        }


def test_a_page_names_other_modules_as_a_caller_does(product: ProductPackage) -> None:
    """By their name and page, not by an id that the tree has nowhere else."""
    first, second = product.modules[:2]
    calls = Dependency(ref=first.contract.ref, why="It cleans the text.")
    second = second._replace(contract=second.contract.model_copy(update={"dependencies": [calls]}))
    files = source_tree(product._replace(modules=(first, second, *product.modules[2:])))
    name = first.contract.name
    assert f"[{name}]({name}.md)" in files[f"docs/{second.contract.name}.md"].decode()
    assert not any(b"MM-" in data for path, data in files.items() if path.startswith("docs/"))
