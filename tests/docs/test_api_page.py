"""docs/api.md: its Python blocks are executed, in their order, and do what they say."""

import ast
import inspect
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import agent_wire
import specwright
from testkit.paths import ROOT

PAGE = (ROOT / "docs/api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.nightly
@pytest.mark.slow
def test_the_blocks_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty directory beside a copy of the examples; what they assert holds (D-S6-02)."""
    shutil.copytree(ROOT / "examples/tabkeeper", tmp_path / "examples/tabkeeper")
    monkeypatch.chdir(tmp_path)
    assert len(BLOCKS) >= 6
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(BLOCKS, start=1):
        exec(compile(block, f"docs/api.md, block {number}", "exec"), names)


@pytest.mark.parametrize("package", [specwright, agent_wire], ids=lambda package: package.__name__)
def test_each_function_is_shown(package: ModuleType) -> None:
    """Every function that is exported is used on the page."""
    functions = {name for name in package.__all__ if inspect.isfunction(getattr(package, name))}
    used = {
        node.func.id
        for block in BLOCKS
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert functions - used == set()
