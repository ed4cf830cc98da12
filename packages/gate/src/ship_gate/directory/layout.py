"""Which files a module directory holds (design: module-directory).

contract.json                 only as the locked contract, if it is there at all
implementation/__init__.py    with further files beside it
tests/test_*.py, tests/obligations.json
examples.md
"""

import re
from collections.abc import Iterator, Mapping

from ship_gate import canonical_json
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.findings import Finding, FindingCode
from ship_gate.source.files import TEST_FILE, ParsedFiles
from ship_gate.verdict import ENTRY_FILE, Candidate

_REQUIRED = (ENTRY_FILE, "tests/obligations.json", "examples.md")
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_COMPILED = (".pyc", ".pyo", ".pyd", ".so", ".dll", ".dylib", ".pth")
_MOST_FILES = 200
_MOST_BYTES = 1024 * 1024


def layout_findings(candidate: Candidate) -> list[Finding]:
    """What is missing, what does not belong, and which source files are no Python."""
    files = ParsedFiles.of(candidate.files)
    return [*_missing(files), *_unexpected(candidate), *_ambiguous(files), *files.unreadable()]


def _missing(files: Mapping[str, bytes]) -> Iterator[Finding]:
    for path in _REQUIRED:
        if path not in files:
            yield Finding(FindingCode.FILES_MISSING, path, f"{path} is missing; a module directory holds it")


def _unexpected(candidate: Candidate) -> Iterator[Finding]:
    files = candidate.files
    if len(files) > _MOST_FILES:
        yield Finding(
            FindingCode.FILES_SIZE,
            "",
            f"there are {len(files)} files; a micro module has at most {_MOST_FILES}",
        )
    for path, data in sorted(files.items()):
        folders = {path[:place] for place, character in enumerate(path) if character == "/"}
        if not all(_SEGMENT.fullmatch(part) for part in path.split("/")) or folders & files.keys():
            yield Finding(
                FindingCode.FILES_UNEXPECTED, path, "the path is not a plain relative one; rename the file"
            )
        elif path == "contract.json":
            if not _is_contract(data, candidate.contract):
                yield Finding(
                    FindingCode.FILES_CONTRACT, path, "it is not the locked contract; leave it to the factory"
                )
        elif path.startswith("implementation/"):
            if path.endswith(_COMPILED):
                yield Finding(
                    FindingCode.FILES_UNEXPECTED, path, "compiled code cannot be read; ship its source"
                )
        elif path not in _REQUIRED and not TEST_FILE.fullmatch(path):
            yield Finding(
                FindingCode.FILES_UNEXPECTED, path, "it has no place in a module directory; remove it"
            )
        if len(data) > _MOST_BYTES:
            yield Finding(FindingCode.FILES_SIZE, path, "the file is larger than 1 MiB; make it smaller")


def _ambiguous(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """A file and a folder of one import name: Python would take the folder and never read the file."""
    folders = {"/".join(path.split("/")[:place]) for path in files for place in range(1, path.count("/") + 1)}
    for path in sorted(
        path for path in files if path.endswith(".py") and path.removesuffix(".py") in folders
    ):
        folder = path.removesuffix(".py")
        message = f"{path} and {folder}/ have one import name; rename one"
        yield Finding(FindingCode.FILES_UNEXPECTED, path, message)


def _is_contract(data: bytes, contract: MicroModuleContract) -> bool:
    try:
        value = canonical_json.loads(data)
        return MicroModuleContract.model_validate(value).to_json() == contract.to_json()
    except ValueError:
        return False
