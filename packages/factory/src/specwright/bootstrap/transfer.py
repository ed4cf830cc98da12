"""Moves a project between stores, byte for byte, by a file (design: store-layout).

The file is a tar archive: `files/` with task files, `state_store/` and the options of the last run, `journal.jsonl`, and
the rows of log and Code Index as JSON lines. Two exports of a project have the same bytes, whatever the store. Leaves out
SPEC.md and specwright.toml, which are the user's; the checkpoints, since journal and log suffice to continue; and work in
progress, such as the workspaces of roles.
"""

import base64
import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, cast

from agent_wire.database import Dump
from specwright.bootstrap.stores import (
    MOVED_FILES,
    MOVED_TREES,
    DirectoryStore,
    ProjectContent,
    ProjectStore,
    begun_store,
    opened_store,
)
from specwright.domain.base.document import Document
from specwright.errors import InputError, RefusedError, SpecwrightErrors
from specwright.files import write_atomically
from specwright.storage.files import check_path

_FORMAT = {"format": 1, "program": "specwright"}
_HEADER, _JOURNAL, _ROWS = _OTHERS = "specwright.json", "journal.jsonl", "rows.jsonl"
_FILES = "files/"
_REMEDY = "use a file that `specwright export` wrote: `specwright import PLACE FILE`"

_SPEC = "/spec.md"
"""In every draft beside the user's `SPEC.md`: the only file name that differs from another one only in case."""

MOST_MEMBERS = 500_000
LARGEST_MEMBER = 1 << 30
"""In bytes; the journal is the largest."""
LARGEST_PROJECT = 4 << 30
"""In bytes, for all members."""


class Moved(Document, schema="moved"):
    """How much was moved: files, journal records, Wires."""

    files: int
    records: int
    wires: int
    exit_code: int = 0


def export_project(place: str, file: Path) -> Moved:
    """Write a project to a file.

    Args:
        place: The project's directory, or the URL of its store.
        file: A new file.

    Raises:
        InputError: there is no project, or the file exists.
        BusyError: a run is in progress in the directory.
        RefusedError: the file cannot be written.
    """
    if os.path.lexists(file):
        raise InputError(
            "the file exists already and is not overwritten",
            where=str(file),
            remedy="name another one, or remove it",
        )
    with _store_at(place, begun=True) as store:
        content = store.content()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, archive_of(content), 0o600)
    except OSError as error:
        raise RefusedError(
            f"the file cannot be written: {error.strerror}", where=str(file), remedy="name another place"
        ) from error
    return _moved(content)


def import_project(place: str, file: Path) -> Moved:
    """Write the project of a file into an empty store: all of it or nothing.

    Args:
        place: A directory, or the URL of a store.
        file: A file that `export_project` wrote.

    Raises:
        InputError: it is not such a file.
        RefusedError: the store has a project already.
    """
    content = content_of(file)
    with (
        TemporaryDirectory() as copy
    ):  # content that cannot be restored fails here, before anything is written to the store
        try:
            DirectoryStore(Path(copy)).restore(content)
        except (*SpecwrightErrors, sqlite3.Error, OverflowError) as error:
            what = "the file is not an exported project: its content cannot be restored"
            raise InputError(what, where=str(file), remedy=_REMEDY) from error
    with _store_at(place, begun=False) as store, store.driving():
        if store.has_log() or store.has_answers() or store.files.names(""):
            raise RefusedError(
                "there is a project already", where=store.log_address, remedy="import into another place"
            )
        store.restore(content)
    return _moved(content)


@contextmanager
def as_directory(directory: Path) -> Generator[Path]:
    """Yield a directory with the files of a project: its own, or a temporary copy of its store.

    Raises:
        InputError: there is no project.
    """
    with begun_store(directory) as store:
        if isinstance(store, DirectoryStore):
            yield directory
            return
        content = store.content()
    with TemporaryDirectory() as copy:
        DirectoryStore(Path(copy)).restore(content)
        yield Path(copy)


@contextmanager
def _store_at(place: str, *, begun: bool) -> Generator[ProjectStore]:
    local = begun_store if begun else opened_store
    with opened_store(Path(), place) if "://" in place else local(Path(place)) as store:
        if begun and not store.has_log():
            raise InputError("no run has begun here", where=store.log_address)
        yield store


def _moved(content: ProjectContent) -> Moved:
    return Moved(
        files=len(content.files),
        records=content.journal.count(b"\n"),
        wires=len(content.rows.get("entry", ())),
    )


def archive_of(content: ProjectContent) -> bytes:
    """Return the bytes of a project's export file."""

    def as_base64(value: bytes) -> dict[str, str]:
        return {"base64": base64.b64encode(value).decode()}

    rows = "".join(
        json.dumps({"table": table, "row": row}, default=as_base64, ensure_ascii=False) + "\n"
        for table, found in sorted(content.rows.items())
        for row in found
    )
    members = {
        _HEADER: json.dumps(_FORMAT).encode(),
        _JOURNAL: content.journal,
        _ROWS: rows.encode(),
        **{f"{_FILES}{path}": data for path, data in sorted(content.files.items())},
    }
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return written.getvalue()


def content_of(file: Path) -> ProjectContent:
    """Return the project in an export file.

    Raises:
        InputError: it cannot be read, or is not an export file.
    """
    try:
        with tarfile.open(file, "r:") as archive:
            members = _members(archive)
        if json.loads(members[_HEADER]) != _FORMAT:
            raise InputError("the file has another format", where=str(file), remedy=_REMEDY)
        files = {_path(name): data for name, data in members.items() if name not in _OTHERS}
        return ProjectContent(files, members[_JOURNAL], _rows(members[_ROWS]))
    except RefusedError as error:
        what = "the file is not an exported project"
        raise InputError(what, where=f"{file}: {error.where}", remedy=_REMEDY) from error
    except OSError as error:
        what = f"the file cannot be read: {error.strerror or error}"
        raise InputError(what, where=str(file), remedy=_REMEDY) from error
    except (tarfile.TarError, KeyError, TypeError, ValueError, RecursionError) as error:
        what = "the file is not an exported project"
        raise InputError(what, where=f"{file}: {error}", remedy=_REMEDY) from error


def _members(archive: tarfile.TarFile) -> dict[str, bytes]:
    """Return the bytes of every member by its name.

    Raises:
        ValueError: a member is not a regular file, two names collide, or a limit is exceeded.
    """
    found: dict[str, bytes] = {}
    spellings: dict[str, str] = {}
    total = 0
    for member in archive:
        total += member.size
        if len(found) >= MOST_MEMBERS or member.size > LARGEST_MEMBER or total > LARGEST_PROJECT:
            raise ValueError("it exceeds the size limits")
        content = archive.extractfile(member) if member.isreg() and member.sparse is None else None
        if content is None or member.name in found:
            raise ValueError(f"{member.name} is not a regular file, or occurs twice")
        # some file systems ignore case in names
        for name in (member.name, *map(str, PurePosixPath(member.name).parents)):
            if not name.endswith(_SPEC) and spellings.setdefault(name.casefold(), name) != name:
                raise ValueError(f"{member.name} and another member differ only in case")
        found[member.name] = content.read()
    return found


def _path(name: str) -> str:
    path = name.removeprefix(_FILES)
    check_path(path)
    tree, *rest = path.split("/")
    is_moved = path in MOVED_FILES or (tree in MOVED_TREES and not any(part.startswith(".") for part in rest))
    if path == name or not is_moved:
        raise ValueError(f"{name} is not a file of a project")
    return path


def _rows(lines: bytes) -> Dump:
    found: dict[str, list[list[Any]]] = {}
    for line in lines.decode().split("\n")[:-1]:
        entry = cast(Mapping[str, Any], json.loads(line))
        found.setdefault(str(entry["table"]), []).append([_from_json(value) for value in entry["row"]])
    return found


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return base64.b64decode(cast(Mapping[str, str], value)["base64"], validate=True)
    return value
