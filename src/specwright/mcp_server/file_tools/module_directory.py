"""The tool that reads a module directory, for a client without files of its own (design: mcp-server)."""

import os
import re
from pathlib import Path

from specwright.errors import InputError
from specwright.mcp_server.file_tools.records import ReadModuleArguments, ReadModuleResult, TextFile
from specwright.mcp_server.file_tools.scope import CONTRACT
from specwright.mcp_server.work import Work

_NAME = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_READ = re.compile(rf"({_NAME}/)*{_NAME}")
_MOST_READ = 262_144
_MOST_FILES = 200


def read_module(arguments: ReadModuleArguments, work: Work) -> ReadModuleResult:
    """The text files of a module directory.

    Raises:
        InputError: the path is outside, or is no module directory.
    """
    directory = _module(arguments.directory, work)
    files, left_out, characters = list[TextFile](), list[str](), 0
    for name in _names(directory):
        try:
            text = (directory / name).read_bytes()[: _MOST_READ + 1].decode()
        except (OSError, UnicodeDecodeError):
            left_out.append(name)
            continue
        characters += len(text)
        if characters > _MOST_READ or len(files) == _MOST_FILES:
            left_out.append(name)
        else:
            files.append(TextFile(path=name, text=text))
    return ReadModuleResult(directory=str(directory), files=files, left_out=left_out)


def _module(text: str, work: Work) -> Path:
    directory = work.roots.resolve(text)
    if not (directory / CONTRACT).is_file():
        raise InputError(
            "it is no module directory: it has no contract.json",
            where=str(directory),
            remedy="name a directory with contract.json, or write that file first",
        )
    return directory


def _names(directory: Path) -> list[str]:
    """Plain files of the directory; links are passed over, for what they lead to is none of the module's."""
    found = list[str]()
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(("__", "."))]
        paths = [Path(folder) / name for name in names]
        found += [
            path.relative_to(directory).as_posix()
            for path in paths
            if path.is_file() and not path.is_symlink()
        ]
    return sorted(name for name in found if _READ.fullmatch(name) and name != "specwright.toml")
