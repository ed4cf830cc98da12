"""The floors of DESIGN §2 are what import-linter finds them to be, and would not be passed over if they broke."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of `pyproject.toml`, held against a checkout."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout / "src"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("domain/slugs.py", "import os\n"),
        ("application/resolving.py", "import langgraph\n"),
        ("ports/gate.py", "from specwright.application import factory\n"),
        ("index/sqlite_index.py", "from specwright.storage import files\n"),
    ],
)
def test_an_import_against_the_floors_is_found(tmp_path: Path, broken: str, line: str):
    """D-S2-01, D-S2-02, D-S2-03: the checkout is clean, and each kind of breach is not."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert lint(tmp_path).returncode == 0, lint(tmp_path).stdout
    with (tmp_path / "src/specwright" / broken).open("a") as file:
        file.write(line)
    found = lint(tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "BROKEN" in found.stdout
