"""Each night ten requirements of the map, drawn by the date: the code that the map names for one is broken, and a test that
cites it must fail.

The map names modules: those that cite the requirement's part of the design. Of their functions a test runs many, and most
belong to other requirements as well. Coverage tells which it runs, and the other rows of the night which of them are its
own: those that the fewest of the ten tests run. One of the first twelve gives nothing back, in a copy of the tree, until the
test notices. A row passes if it notices one; a test that runs no code of these modules in its own process is passed over.
`ROWS=2026-11-30 pytest -m nightly tests/docs/test_rows_are_noticed.py` repeats a night.
"""

import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from testkit.documents import generator_of
from testkit.paths import ROOT

ROWS, TRIES, MOST_SECONDS = 10, 12, 120
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", ".*_cache", "__pycache__", "images")
_EMPTY = {
    "str": "''",
    "bytes": "b''",
    "int": "0",
    "bool": "False",
    "dict": "{}",
    "Mapping": "{}",
    "tuple": "()",
}


class Function(NamedTuple):
    """A function of a package: its file, and its name in it."""

    file: str
    name: str


class Row(NamedTuple):
    """A requirement, a test that cites it, and the functions of its modules that the test runs."""

    name: str
    test: str
    runs: list[Function]


def neutral(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What gives nothing back, in one line."""
    own = [*_own_nodes(function)]
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in own):
        return "yield from ()"
    returned = ast.unparse(function.returns) if function.returns else "None"
    kind = returned.partition("[")[0]
    return (
        f"return {'None' if '| None' in returned else _EMPTY.get(kind, '[]' if '[' in returned else 'None')}"
    )


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _own_nodes(child)


def broken(text: str, name: str) -> str:
    """A module whose function does nothing."""
    tree: ast.AST = ast.parse(text)
    for part in name.split("."):
        tree = next(
            one
            for one in ast.walk(tree)
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and one.name == part
        )
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    lines, first = text.splitlines(), tree.body[0]
    lines[first.lineno - 1 : tree.end_lineno] = [f"{' ' * first.col_offset}{neutral(tree)}"]
    return "\n".join(lines) + "\n"


class Copy:
    """A copy of the repository, in which tests run and code is broken."""

    def __init__(self, directory: Path) -> None:
        self.root = directory
        for part in (
            "packages",
            "tests",
            "docs",
            "contracts",
            "schemas",
            "fixtures",
            "examples",
            "benchmarks",
        ):
            shutil.copytree(ROOT / part, self.root / part, ignore=_LEFT_OUT)
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy(path, self.root)

    def passes(self, test: str, *measuring: str) -> bool:
        """Whether a test passes; one that takes too long does not."""
        sources = [str(path) for path in self.root.glob("packages/*/src")]
        given = [sys.executable, *measuring, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
        try:
            told = subprocess.run(
                given, cwd=self.root, env=environment, capture_output=True, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return told.returncode == 0

    def functions(self, test: str, modules: list[str]) -> list[Function]:
        """The functions of some modules that a test runs; none if it does not pass within the time."""
        data, report = self.root / "coverage.db", self.root / "coverage.json"
        chosen = ",".join(f"*/{module}" for module in modules)
        measuring = (
            "-m",
            "coverage",
            "run",
            "--rcfile=/dev/null",
            f"--data-file={data}",
            f"--include={chosen}",
        )
        if not self.passes(test, *measuring):
            return []
        written = [sys.executable, "-m", "coverage", "json", "-q", f"--data-file={data}", "-o", str(report)]
        if subprocess.run(written, cwd=self.root, capture_output=True, check=False).returncode:
            return []
        return [
            Function(str(self.root / file), name)
            for file, found in json.loads(report.read_text())["files"].items()
            for name, part in found["functions"].items()
            if name and part["executed_lines"]
        ]

    def notices(self, test: str, function: Function) -> bool:
        """Whether a test fails where a function does nothing."""
        path = Path(function.file)
        text = path.read_text()
        path.write_text(broken(text, function.name))
        try:
            return not self.passes(test)
        finally:
            path.write_text(text)


def drawn(draw: random.Random, copy: Copy) -> Iterator[Row]:
    """Rows of the map, in the order of the draw, with one test each; its slow tests count where it has no other."""
    generator = generator_of("make_spec_map")
    sections = generator.read_sections((ROOT / "docs/requirements.tsv").read_text(encoding="utf-8"))
    tests, modules = generator.tests_by_id(ROOT), generator.modules_by_anchor(ROOT)
    rows = [(row.name, section.anchors) for section in sections for row in section.rows if row.name in tests]
    draw.shuffle(rows)
    for name, anchors in rows:
        named = sorted({module for anchor in anchors for module in modules.get(anchor, ())})
        test = draw.choice(tests[name])
        if runs := copy.functions(test, named):
            yield Row(name, test, runs)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_ten_rows_of_the_map_are_noticed(tmp_path: Path):
    """Where the code that the map names does nothing, the cited test fails; the rows that pass unnoticed are listed."""
    seed = os.environ.get("ROWS", datetime.now(UTC).date().isoformat())
    draw, copy = random.Random(seed), Copy(tmp_path / "copy")
    found = drawn(draw, copy)
    rows = [next(found) for _ in range(ROWS)]
    often = Counter(function for row in rows for function in row.runs)
    unnoticed = {}
    for row in rows:
        own = sorted(row.runs, key=lambda one: (often[one], draw.random()))[:TRIES]
        if not any(copy.notices(row.test, one) for one in own):
            unnoticed[row.name] = (row.test, [f"{Path(one.file).name}: {one.name}" for one in own])
    assert unnoticed == {}, f"ROWS={seed}"
