"""What a module and its tests may import (design: contracts).

Tests see the public surface of their module and of its siblings, and nothing behind it. An implementation imports
the standard library, its own files, and siblings relatively, by their public names: `from ..<name> import <name>`.
Modules that import by a name made at run time are refused, because that name cannot be seen here.

Left out, for the static stage: what a test asserts, effects, skips and patches.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ship_gate.contract.docstring import public_names
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.files import TEST_FILE, ParsedFiles
from ship_gate.verdict import Candidate

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
        packages: Third-party packages that the project's settings allow (design: contracts).
    """
    siblings = {d.contract.name: set(public_names(d.contract)) for d in candidate.dependencies}
    public = {
        **siblings,
        candidate.contract.name: set(public_names(candidate.contract)),
        "testing": {"clock", "web"},
    }
    files = ParsedFiles.of(candidate.files)
    findings: list[Finding] = []
    for path in sorted(path for path in files if path.endswith(".py")):
        imported = _imported(files.tree(path))
        if TEST_FILE.fullmatch(path):
            code, what = FindingCode.TESTS_IMPORT, "a test"
            wrong = _wrong_in_test(imported, public, packages)
            advice = f"tests see the public surface only: `from modules.{candidate.contract.name} import ...`"
        else:
            code, what = FindingCode.SOURCE_IMPORT, "a module"
            wrong = _wrong_in_source(imported, path, siblings, packages)
            advice = (
                "a module imports the standard library, its own files, declared siblings by public names, and "
                "packages that the setting `packages` allows"
            )
        findings += [
            Finding(code, f"{path}:{name.line}", f"{_shown(name)} is nothing that {what} imports; {advice}")
            for name in wrong
        ]
    return findings


def _wrong_in_test(
    imported: Iterable[_Imported], public: Mapping[str, set[str]], packages: frozenset[str]
) -> Iterator[_Imported]:
    for name in imported:
        module = name.module.removeprefix("modules.")
        is_tool = name.level == 0 and name.root in _TEST_TOOLS | packages
        is_public = name.level == 0 and name.root == "modules" and name.name in public.get(module, set())
        if not (is_tool or is_public):
            yield name


def _wrong_in_source(
    imported: Iterable[_Imported], path: str, siblings: Mapping[str, set[str]], packages: frozenset[str]
) -> Iterator[_Imported]:
    # `implementation/a.py` and `implementation/__init__.py` stand in the module's package, whose dots are two up
    to_siblings = path.count("/") + 1
    for name in imported:
        is_allowed = name.level == 0 and name.root in _STANDARD | packages
        is_own = 0 < name.level < to_siblings
        is_sibling = name.level == to_siblings and name.name in siblings.get(name.module, set())
        if not (is_allowed or is_own or is_sibling):
            yield name


def _shown(imported: _Imported) -> str:
    source = "." * imported.level + imported.module
    return f"`from {source} import {imported.name}`" if imported.name else f"`{source}`"


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
