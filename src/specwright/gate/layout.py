"""Which files a module directory holds, and what its tests may import (DESIGN §8.1, D21, D-S8-06 in part).

    contract.json                 only as the locked contract, if it is there at all
    implementation/__init__.py    with further files beside it
    tests/test_*.py, tests/obligations.json
    examples.md

Left out, for the static stage: what a test asserts, effects, skips and patches.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping

from specwright import canonical_json
from specwright.domain.contract import MicroModuleContract
from specwright.domain.docstring import public_names
from specwright.gate.top_level import SurfaceFault, parse_source
from specwright.ports.gate import Candidate, Finding

__all__ = ["import_findings", "layout_findings"]

_REQUIRED = ("implementation/__init__.py", "tests/obligations.json", "examples.md")
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_TEST_FILE = re.compile(r"tests/test_[A-Za-z0-9_]+\.py")
_COMPILED = (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".pth")
_MOST_FILES = 200
_MOST_BYTES = 1024 * 1024
_BY_NAME = {"importlib", "runpy", "pkgutil", "imp", "zipimport", "code", "codeop"}
_TEST_TOOLS = {"pytest", "hypothesis", *sys.stdlib_module_names} - _BY_NAME


def layout_findings(candidate: Candidate) -> list[Finding]:
    """What is missing, what does not belong, and which source files are no Python."""
    return [*_missing(candidate.files), *_unexpected(candidate), *_unreadable(candidate.files)]


def _missing(files: Mapping[str, bytes]) -> Iterator[Finding]:
    for path in _REQUIRED:
        if path not in files:
            yield Finding("files.missing", path, f"{path} is missing; a module directory holds it")


def _unexpected(candidate: Candidate) -> Iterator[Finding]:
    files = candidate.files
    if len(files) > _MOST_FILES:
        yield Finding(
            "files.size", "", f"there are {len(files)} files; a micro module has at most {_MOST_FILES}"
        )
    for path, data in sorted(files.items()):
        folders = {path[:place] for place, character in enumerate(path) if character == "/"}
        if not all(_SEGMENT.fullmatch(part) for part in path.split("/")) or folders & files.keys():
            yield Finding("files.unexpected", path, "the path is not a plain relative one; rename the file")
        elif path == "contract.json":
            if not _is_contract(data, candidate.contract):
                yield Finding(
                    "files.contract", path, "it is not the locked contract; leave it to the factory"
                )
        elif path.startswith("implementation/"):
            if path.endswith(_COMPILED):
                yield Finding("files.unexpected", path, "compiled code cannot be read; ship its source")
        elif path not in _REQUIRED and not _TEST_FILE.fullmatch(path):
            yield Finding("files.unexpected", path, "it has no place in a module directory; remove it")
        if len(data) > _MOST_BYTES:
            yield Finding("files.size", path, "the file is larger than 1 MiB; make it smaller")


def _is_contract(data: bytes, contract: MicroModuleContract) -> bool:
    try:
        value = canonical_json.loads(data)
        return MicroModuleContract.model_validate(value).to_json() == contract.to_json()
    except ValueError:
        return False


def _unreadable(files: Mapping[str, bytes]) -> Iterator[Finding]:
    for path, data in sorted(files.items()):
        if path.endswith(".py"):
            try:
                parse_source(data, path)
            except SurfaceFault as fault:
                yield Finding(fault.code, fault.where, fault.message)


def import_findings(candidate: Candidate) -> list[Finding]:
    """Imports by which a test reaches behind the public surface of its module or of a sibling (F§5.4)."""
    contracts = [candidate.contract, *(dependency.contract for dependency in candidate.dependencies)]
    public = {f"modules.{contract.name}": set(public_names(contract)) for contract in contracts}
    return [
        Finding("tests.import", f"{path}:{line}", message)
        for path, data in sorted(candidate.files.items())
        if _TEST_FILE.fullmatch(path)
        for line, message in _imports(parse_source(data, path), public, candidate.contract.name)
    ]


def _imports(tree: ast.Module, public: Mapping[str, set[str]], name: str) -> Iterator[tuple[int, str]]:
    advice = f"tests see the public surface only: `from modules.{name} import {name}`"
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=level, module=module, names=names):
                source = "." * level + (module or "")
                hidden = [alias.name for alias in names if alias.name not in public.get(source, set())]
            case ast.Import(names=names):
                source, hidden = "", [alias.name for alias in names]
            case ast.Name(id="__import__" as builtin):
                source, hidden = "", [builtin]
            case _:
                continue
        for found in hidden:
            if (source or found).partition(".")[0] not in _TEST_TOOLS:
                yield (
                    node.lineno,
                    f"{found}{source and ' of '}{source} is nothing that a test imports; {advice}",
                )
