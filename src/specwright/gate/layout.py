"""Which files a module directory holds (DESIGN §8.1).

contract.json                 only as the locked contract, if it is there at all
implementation/__init__.py    with further files beside it
tests/test_*.py, tests/obligations.json
examples.md
"""

import re
from collections.abc import Iterator, Mapping

from specwright import canonical_json
from specwright.domain.contract import MicroModuleContract
from specwright.gate.top_level import SurfaceFault, parse_source
from specwright.ports.gate import Candidate, Finding

__all__ = ["TEST_FILE", "layout_findings"]

_REQUIRED = ("implementation/__init__.py", "tests/obligations.json", "examples.md")
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
TEST_FILE = re.compile(r"tests/test_[A-Za-z0-9_]+\.py")
"""The path of a file of tests."""

_COMPILED = (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".pth")
_MOST_FILES = 200
_MOST_BYTES = 1024 * 1024


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
        elif path not in _REQUIRED and not TEST_FILE.fullmatch(path):
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
