"""The limits of size that CONTRIBUTING promises: folders, Python modules and functions that a reader can take in."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from testkit.paths import ROOT

SOURCE = ROOT / "src" / "specwright"

MOST_MODULES = 12
MOST_LINES_OF_A_MODULE = 600
MOST_LINES_OF_A_FUNCTION = 50


def modules() -> list[Path]:
    """The Python modules of the product; generated data beside them is none."""
    return sorted(path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts)


def test_a_folder_holds_few_modules():
    """At most twelve besides `__init__`."""
    counts = Counter(
        path.parent.relative_to(SOURCE).as_posix() for path in modules() if path.stem != "__init__"
    )
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def test_a_module_is_no_longer_than_its_concept_needs():
    """No Python module has more than six hundred lines."""
    lengths = {path.relative_to(SOURCE).as_posix(): _lines(path) for path in modules()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_MODULE} == {}


def test_a_function_fits_on_a_screen():
    """No function has more than fifty lines, decorators and docstring included."""
    long = {
        f"{path.relative_to(SOURCE).as_posix()}:{node.name}": length
        for path in modules()
        for node, length in _functions(path)
        if length > MOST_LINES_OF_A_FUNCTION
    }
    assert long == {}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _functions(path: Path) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node, (node.end_lineno or first) - first + 1
