"""The tools that read and edit files, for a client without files of its own (design: mcp-server)."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from specwright.atomic_write import write_atomically, write_temporary
from specwright.errors import InputError, RefusedError
from specwright.mcp_server.file_tools.records import (
    EditedFile,
    EditFilesArguments,
    EditFilesResult,
    FileEdit,
    ListedFolder,
    ReadFilesArguments,
    ReadFilesResult,
    TextFile,
)
from specwright.mcp_server.file_tools.scope import readable, require_editable
from specwright.mcp_server.work import Work

_MOST_READ = 262_144
_LARGEST = 1_048_576
_MOST_NAMES = 1000


def read_files(arguments: ReadFilesArguments, work: Work) -> ReadFilesResult:
    """Text files below a root, and the names of those in a folder.

    Raises:
        InputError: a path is outside, there is nothing, or it is no file that may be read.
    """
    files, folders, left_out, size = list[TextFile](), list[ListedFolder](), list[str](), 0
    for text in arguments.paths:
        path = work.roots.resolve(text)
        if path.is_dir():
            names = _names(path, work)
            folders.append(ListedFolder(path=text, files=names[:_MOST_NAMES]))
            continue
        data = _content(path, text, work)
        size += len(data)
        if size > _MOST_READ:
            left_out.append(text)
        else:
            files.append(TextFile(path=text, text=_decoded(data, path)))
    return ReadFilesResult(files=files, folders=folders, left_out=left_out)


def edit_files(arguments: EditFilesArguments, work: Work) -> EditFilesResult:
    """Change files, all of them or none.

    Raises:
        InputError: a path is outside, is none that may be written, or a replacement does not fit.
        RefusedError: Specwright alone writes there, or the system refuses.
    """
    places = [work.roots.resolve(edit.path) for edit in arguments.files]
    if len(set(places)) < len(places):
        raise InputError("a file is named twice", remedy="put all replacements of a file into one entry")
    contents = dict[Path, bytes]()
    for path, edit in zip(places, arguments.files, strict=True):
        require_editable(path, work, places)
        contents[path] = _edited(path, edit)
    existed = [path.exists() for path in places]
    _write_all(contents)
    return EditFilesResult(
        files=[EditedFile(file=str(path), existed=was) for path, was in zip(places, existed, strict=True)]
    )


def _content(path: Path, text: str, work: Work) -> bytes:
    if not path.is_file():
        raise InputError(
            "there is no such file or folder", where=text[:300], remedy="name a folder to see its files"
        )
    if not readable(path, work):
        raise InputError(
            "the file is none that this tool reads",
            where=text[:300],
            remedy="*.py and *.md files can be read, with `specwright mcp --write` *.toml and *.json ones too, and the "
            "files of module directories; no part of the path begins with a dot",
        )
    with path.open("rb") as stream:
        return stream.read(_LARGEST + 1)


def _decoded(data: bytes, path: Path) -> str:
    if len(data) > _LARGEST:
        raise InputError("the file has more than 1 MiB", where=str(path), remedy="work on smaller files")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError("the file is no UTF-8 text", where=str(path), remedy="name a text file") from error


def _edited(path: Path, edit: FileEdit) -> bytes:
    """The new content of a file."""
    if (edit.text is None) is not bool(edit.replace):
        raise InputError(
            "an entry has either `text` or `replace`",
            where=edit.path[:300],
            remedy="give `text` for a new or whole file, `replace` to change one",
        )
    text = edit.text if edit.text is not None else _replaced(path, edit)
    if path.exists() and not path.is_file():
        raise InputError("it is no file", where=edit.path[:300], remedy="name a file")
    data = text.encode()
    _decoded(data, path)
    return data


def _replaced(path: Path, edit: FileEdit) -> str:
    if not path.is_file():
        raise InputError(
            "there is no such file", where=edit.path[:300], remedy="give the `text` of a new file"
        )
    with path.open("rb") as stream:
        text = _decoded(stream.read(_LARGEST + 1), path)
    for number, one in enumerate(edit.replace, 1):
        times = text.count(one.old)
        if times != 1:
            raise InputError(
                f"`old` of replacement {number} occurs {times} times; nothing was written",
                where=edit.path[:300],
                remedy="give text that occurs exactly once, white space and ends of lines included; earlier replacements "
                "of the same file are new_folders first",
            )
        text = text.replace(one.old, one.new)
    return text


def _write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all files, or leave everything as it was."""
    before = {path: path.read_bytes() if path.exists() else None for path in contents}
    new_folders, temporary = list[Path](), dict[Path, Path]()
    try:
        for path, data in contents.items():
            new_folders += [folder for folder in path.parents if not folder.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary[path] = write_temporary(path, data)
            if before[path] is not None:
                temporary[path].chmod(path.stat().st_mode & 0o777)
        for path in contents:
            temporary[path].replace(path)
    except OSError as error:
        _restore(before, new_folders, temporary)
        raise RefusedError(
            f"the files cannot be written, and none is: {error.strerror}",
            where=str(error.filename or ""),
            remedy="see that the place can be written to",
        ) from error


def _restore(
    before: Mapping[Path, bytes | None], new_folders: list[Path], temporary: Mapping[Path, Path]
) -> None:
    for path, its_temporary in temporary.items():
        if its_temporary.exists():
            its_temporary.unlink()
            continue
        data = before[path]
        with suppress(OSError):  # the first error is the one to be told
            if data is None:
                path.unlink()
            else:
                write_atomically(path, data)
    for folder in sorted(new_folders, key=lambda one: -len(one.parts)):
        with suppress(OSError):
            folder.rmdir()


def _names(folder: Path, work: Work) -> list[str]:
    """The files below a folder that may be read, as a call names them; links are passed over."""
    found = list[Path]()
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        paths = [Path(place) / name for name in sorted(names)]
        found += [path for path in paths if path.is_file() and not path.is_symlink() and readable(path, work)]
        if len(found) >= _MOST_NAMES:
            break
    only = work.roots.places[0] if len(work.roots.places) == 1 else None
    return [str(path.relative_to(only) if only else path) for path in found]
