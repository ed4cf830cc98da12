"""Loads the scripts of `docs/` and `tools/`, which are no package."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from testkit.paths import ROOT


def generator_of(name: str) -> ModuleType:
    """A script of `docs/` as a module."""
    return script_of(ROOT / "docs" / f"{name}.py")


def script_of(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
