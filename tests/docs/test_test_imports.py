"""How the tests are organised: they share code through `testkit` alone, and hide no installed package."""

import ast
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from testkit.paths import TESTS

JUDGED_BY_THE_GATE = "loop/product/products"
"""Sources that are inputs of tests."""


def python_files() -> list[Path]:
    """Every Python file of the tests and of the kit."""
    files = (path for path in TESTS.rglob("*.py") if "__pycache__" not in path.parts)
    return [p for p in files if not p.relative_to(TESTS).as_posix().startswith(JUDGED_BY_THE_GATE)]


def imported_roots(source: str) -> set[str]:
    """The top-level packages that a source imports."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add("." if node.level else str(node.module).partition(".")[0])
    return roots


def test_no_test_imports_from_a_test():
    """Only the kits, the packages, third-party packages and the standard library are imported."""
    allowed = {
        "testkit",
        "gate_testkit",
        "wire_testkit",
        "agent_wire",
        "ship_gate",
        "specwright",
        *sys.stdlib_module_names,
        *packages_distributions(),
    }
    wrong = {
        path.relative_to(TESTS).as_posix(): sorted(foreign)
        for path in python_files()
        if (foreign := imported_roots(path.read_text(encoding="utf-8")) - allowed)
    }
    assert wrong == {}


def test_a_folder_of_tests_hides_no_installed_package():
    """The folders lie on the import path; without an `__init__.py` a regular package of the same name comes first."""
    assert "testkit" not in {*packages_distributions(), *sys.stdlib_module_names}
    assert [path.name for path in TESTS.glob("*.py")] == ["conftest.py"]
    assert [path.parent.name for path in TESTS.glob("*/__init__.py")] == []
