"""Loads a candidate's module with one file in place of its own (design: ship-gate).

Used in a process of its own, before anything of the candidate is imported; `variants.runner` has one for each variant.
The files on disk stay as they are.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType


def replace_file(lib: str, name: str, path: str, source: str) -> None:
    """From now on a file of the module is this text.

    Args:
        lib: Holds `modules`.
        name: The module's.
        path: `implementation/__init__.py`, or another file below `implementation/`.
        source: The whole file.
    """
    below = Path(path).relative_to("implementation")
    parts = [part for part in below.with_suffix("").parts if part != "__init__"]
    file = Path(lib, "modules", name, below)
    sys.meta_path.insert(0, _Finder(".".join(["modules", name, *parts]), file, source))


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the candidate's files, one of them from the variant's text."""

    def __init__(self, fullname: str, path: str, source: str) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the varied file before the one on disk."""

    def __init__(self, fullname: str, path: Path, source: str) -> None:
        self._fullname, self._path, self._source = fullname, path, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._fullname:
            return None
        places = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        loader = _Loader(fullname, str(self._path), self._source)
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=loader, submodule_search_locations=places
        )
