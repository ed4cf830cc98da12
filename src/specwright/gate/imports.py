"""What a module and its tests may import (F§5.4, F§6.8, D21, D23; D-S8-06 in part).

Tests see the public surface of their module and of its siblings, and nothing behind it. An implementation imports
the standard library, its own files, and siblings relatively, by their public names: `from ..<name> import <name>`.
Modules that import by a name made at run time are refused, because that name cannot be seen here.

Left out, for the static stage: what a test asserts, effects, skips and patches.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from specwright.domain.docstring import public_names
from specwright.gate.layout import TEST_FILE
from specwright.gate.top_level import parse_source
from specwright.ports.gate import Candidate, Finding

__all__ = ["import_findings"]

_BY_NAME = {"importlib", "runpy", "pkgutil", "imp", "zipimport", "code", "codeop"}
_STANDARD = set(sys.stdlib_module_names) - _BY_NAME
_TEST_TOOLS = _STANDARD | {"pytest", "hypothesis"}


class _Imported(NamedTuple):
    """One imported name: `from <dots><module> import <name>`; `import a.b` has the module alone."""

    line: int
    level: int
    module: str
    name: str

    @property
    def root(self) -> str:
        return self.module.partition(".")[0]


def import_findings(candidate: Candidate, packages: frozenset[str] = frozenset()) -> list[Finding]:
    """Imports that reach behind a public surface, or outside the scope of a module.

    Args:
        candidate: Its Python files are readable.
        packages: Third-party packages that the project's settings allow (D23).
    """
    siblings = {d.contract.name: set(public_names(d.contract)) for d in candidate.dependencies}
    own = {candidate.contract.name: set(public_names(candidate.contract))}
    findings: list[Finding] = []
    for path, data in sorted(candidate.files.items()):
        if TEST_FILE.fullmatch(path):
            wrong = _wrong_in_test(data, path, {**siblings, **own}, packages)
            advice = f"tests see the public surface only: `from modules.{candidate.contract.name} import ...`"
            findings += [
                Finding("tests.import", f"{path}:{line}", f"{what}; {advice}") for line, what in wrong
            ]
        elif path.endswith(".py"):
            wrong = _wrong_in_source(data, path, siblings, packages)
            advice = (
                "a module imports the standard library, its own files, declared siblings by public names, and "
                "packages that the setting `packages` allows"
            )
            findings += [
                Finding("source.import", f"{path}:{line}", f"{what}; {advice}") for line, what in wrong
            ]
    return findings


def _wrong_in_test(
    data: bytes, path: str, public: Mapping[str, set[str]], packages: frozenset[str]
) -> Iterator[tuple[int, str]]:
    for found in _imported(parse_source(data, path)):
        if found.level == 0 and found.root in _TEST_TOOLS | packages:
            continue
        name = found.module.removeprefix("modules.")
        if found.level == 0 and found.root == "modules" and found.name in public.get(name, set()):
            continue
        yield found.line, f"{_shown(found)} is nothing that a test imports"


def _wrong_in_source(
    data: bytes, path: str, siblings: Mapping[str, set[str]], packages: frozenset[str]
) -> Iterator[tuple[int, str]]:
    # `implementation/a.py` and `implementation/__init__.py` stand in the module's package, whose dots are two up
    to_siblings = path.count("/") + 1
    for found in _imported(parse_source(data, path)):
        if found.level == 0 and found.root in _STANDARD | packages:
            continue
        if 0 < found.level < to_siblings:
            continue
        if found.level == to_siblings and found.name in siblings.get(found.module, set()):
            continue
        yield found.line, f"{_shown(found)} is nothing that a module imports"


def _shown(found: _Imported) -> str:
    source = "." * found.level + found.module
    return f"`from {source} import {found.name}`" if found.name else f"`{source}`"


def _imported(tree: ast.Module) -> Iterator[_Imported]:
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=level, module=module, names=names):
                yield from (_Imported(node.lineno, level, module or "", alias.name) for alias in names)
            case ast.Import(names=names):
                yield from (_Imported(node.lineno, 0, alias.name, "") for alias in names)
            case ast.Name(id="__import__" as name):
                yield _Imported(node.lineno, 0, name, "")
            case _:
                pass
