"""Loads the scripts of `docs/`, which are no package."""

import importlib.util
import sys
from types import ModuleType

from testkit.paths import ROOT


def generator_of(name: str) -> ModuleType:
    """A script of `docs/` as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
