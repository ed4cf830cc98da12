"""The layers of docs/design.md are what import-linter finds them to be, and would not be passed over if they broke."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from testkit.paths import FACTORY, ROOT, SOURCES
from testkit.sampling import spread

ADAPTERS = ("graphs", "roles", "storage", "index", "journal", "wheels", "search")


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of `pyproject.toml`, held against a checkout."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=checkout,
        env={"PYTHONPATH": ":".join(str(checkout / p.relative_to(ROOT)) for p in SOURCES), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("broken", "line"),
    spread(
        [
            ("domain/base/slugs.py", "import os\n"),
            ("application/escalation/offers.py", "import langgraph\n"),
            ("ports.py", "from specwright.application import factory\n"),
            ("../../../wire/src/agent_wire/entries.py", "import specwright\n"),
            ("../../../gate/src/ship_gate/stages.py", "import agent_wire\n"),
            ("index/sqlite_index.py", "from specwright.storage import files\n"),
            ("cli/commands/inspect.py", "def look():\n    from specwright.storage import files\n"),
        ],
        slow=4,
    ),
)
def test_an_import_against_the_layers_is_found(tmp_path: Path, broken: str, line: str):
    """D-S2-01, D-S2-02, D-S2-03, D-S2-04: the checkout is clean, and each kind of breach is not."""
    for source in SOURCES:
        shutil.copytree(
            source,
            tmp_path / source.relative_to(ROOT),
            ignore=shutil.ignore_patterns("__pycache__", "data", "examples", "schemas"),
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint(tmp_path).returncode == 0, lint(tmp_path).stdout
    with (tmp_path / "packages/factory/src/specwright" / broken).open("a") as file:
        file.write(line)
    found = lint(tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "BROKEN" in found.stdout


def test_adapters_are_chosen_in_the_composition_root_alone():
    """Only `bootstrap` imports modules of adapters; only it and the package itself import by name (D-S2-04)."""
    graph = grimp.build_graph("specwright", cache_dir=None)
    chosen = {
        (importer, room)
        for room in ADAPTERS
        for module in {f"specwright.{room}", *graph.find_descendants(f"specwright.{room}")}
        for importer in graph.find_modules_that_directly_import(module)
        if not importer.startswith(f"specwright.{room}")
    }

    assert {room for _, room in chosen} == set(ADAPTERS)
    assert {importer.split(".")[1] for importer, _ in chosen} == {"bootstrap"}
    package = FACTORY / "specwright"
    by_name = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if re.search(r"\bimport_module\(|__import__\(", path.read_text(encoding="utf-8"))
    }
    assert by_name <= {"__init__.py", "bootstrap", *ADAPTERS}
