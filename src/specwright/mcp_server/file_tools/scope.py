"""Which files a caller may read and edit (design: mcp-server).

Files of module directories always; files of the source tree around them where the server was started with `--write`. Never
a setting of Specwright, a record of a project, a sealed version, or anything hidden.
"""

import re
from collections.abc import Collection
from pathlib import Path

from specwright.errors import InputError, RefusedError
from specwright.mcp_server.work import Work

CONTRACT = "contract.json"
_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_OF_A_MODULE = re.compile(
    rf"contract\.json|examples\.md|tests/obligations\.json|tests/test_{_NAME}\.py|implementation/({_NAME}/)*{_NAME}\.py"
)
_PLAIN = re.compile(rf"({_NAME}/)*{_NAME}")
_TEXT = (".py", ".md")
"""Read anywhere: `adopt` copies them into modules, which any caller may read."""
_SETTINGS = (".toml", ".json")
"""Read with `--write` alone: they may hold secrets."""
_RESERVED = {"specwright.toml", "ship.json"}
_STORE = "state_store"
_OF_A_PROJECT = {_STORE, "project"}
"""The folders of a project whose files `verify` holds against its records."""


def readable(path: Path, work: Work) -> bool:
    """Whether a file, with its links followed, may be read."""
    name = _below_a_root(path, work)
    if not _PLAIN.fullmatch(name) or path.name in _RESERVED or "__pycache__" in path.parts:
        return False
    endings = _TEXT + _SETTINGS * work.writes_tree
    return path.suffix in endings or _is_of_a_module(path, work, ())


def require_editable(path: Path, work: Work, new: Collection[Path]) -> None:
    """Refuse a file that may not be written.

    Args:
        path: The file, with its links followed.
        work: The call's surroundings.
        new: The files that the call writes.

    Raises:
        InputError: it is none that this server writes.
        RefusedError: Specwright alone writes there.
    """
    if not _is_of_a_module(path, work, new):
        _require_source(path, work)
    for folder in _folders(path, work):
        if (folder / "ship.json").exists():
            raise RefusedError("a sealed version never changes", where=str(folder), remedy="work on a copy")
        is_project = (folder / _STORE).is_dir()
        if is_project and path.relative_to(folder).parts[0] in _OF_A_PROJECT:
            raise RefusedError(
                "it is a file of a Specwright project, which `specwright` alone writes",
                where=str(path),
                remedy="work on a copy",
            )


def _require_source(path: Path, work: Work) -> None:
    if not work.writes_tree:
        raise InputError(
            "the file has no place in a module directory, and this server writes no others",
            where=str(path)[:300],
            remedy="write contract.json, examples.md, tests/obligations.json, tests/test_NAME.py or implementation/NAME.py "
            "of a module directory; started as `specwright mcp --write`, the server edits the source and its tests too",
        )
    if not readable(path, work):
        raise InputError(
            "the file is none that this tool writes",
            where=str(path)[:300],
            remedy="write a *.py, *.md, *.toml or *.json file, no part of whose path begins with a dot; settings of "
            "Specwright are written by hand",
        )


def _is_of_a_module(path: Path, work: Work, new: Collection[Path]) -> bool:
    """Whether a file has a place in a module directory, which holds a contract or is to hold one."""
    for folder in _folders(path, work):
        is_module = (folder / CONTRACT).is_file() or folder / CONTRACT in new
        if is_module and _OF_A_MODULE.fullmatch(path.relative_to(folder).as_posix()):
            return True
    return False


def _folders(path: Path, work: Work) -> list[Path]:
    """The folders that hold a file, up to the root."""
    return [folder for folder in path.parents if work.roots.holds(folder)]


def _below_a_root(path: Path, work: Work) -> str:
    names = [path.relative_to(place).as_posix() for place in work.roots.places if path.is_relative_to(place)]
    return max(names, key=len, default="")
