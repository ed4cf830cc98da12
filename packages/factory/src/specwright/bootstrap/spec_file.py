"""SPEC.md, or a structured spec in its place: read in full or refused, and copied when a run begins.

A run works on the copy, `state_store/product/SPEC.md`; the user's own file is never changed (design: approval). Until
the journal has a model's answer, the copy follows the original; until the approval an edited SPEC.md is an amendment. Heavy
imports are inside the functions, since every command imports this module.
"""

import codecs
import json
import os
import re
import shlex
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agent_wire.canonical_json import sha256
from ship_gate.base.text import one_line
from specwright.application.store import layout
from specwright.errors import InputError, InputErrors
from specwright.files import read_bounded, write_atomically

if TYPE_CHECKING:
    from specwright.bootstrap.stores import ProjectStore
    from specwright.ports import FileTree

MAX_SPEC_BYTES = 256 * 1024
"""The limit for prose; a structured spec may be 64 times as large, for some 10,000 tasks."""

_ERRORS_SHOWN = 10
_STAMPS = ("created_at", "updated_at")
_MEANT = re.compile(r'\A\s*\{\s*"|^title:.*^pillars:|^pillars:.*^title:', re.MULTILINE | re.DOTALL)
"""Matches a text that is meant to be a structured spec."""

SPEC_TEMPLATE = """\
# Name of the product

One paragraph: what it is, and for whom.

## What it does

- One behaviour per line, with an example of what goes in and what comes out.

## Constraints

- What it must never do; limits; formats.

## Out of scope

- What it does not do.
"""


def read_spec(path: Path) -> str:
    """Read a SPEC.md.

    Raises:
        InputError: the file is missing, empty, too large, not a regular file, or not text.
    """
    remedy = "write about one page of Markdown, or name another file with --spec FILE"
    try:
        text = _read(path, "SPEC.md", 64 * MAX_SPEC_BYTES, remedy)
    except InputError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise _no_spec(path) from error
        raise
    if (size := len(text.encode())) > MAX_SPEC_BYTES and not _MEANT.search(text):
        what = f"it has {size:,} bytes; the limit is {MAX_SPEC_BYTES:,}"
        raise InputError(f"SPEC.md cannot be read: {what}", where=str(path), remedy=remedy)
    return text


MAX_EXAMPLE_BYTES = 8_000
"""The largest file of a bug report; it fits into a change request."""

MAX_ACCEPTANCE_BYTES = 1_000_000
"""The largest file of a spec's examples and properties."""


def read_example_file(path: Path) -> str:
    """Read the file of a bug report; raises the errors of `read_spec`."""
    remedy = "name a file with one example, in the form of a module's examples.md"
    return _read(path, "the example", MAX_EXAMPLE_BYTES, remedy)


def read_acceptance_file(path: Path) -> str:
    """Read the examples and properties of a spec, edited by a person; raises the errors of `read_spec`."""
    remedy = "name the `acceptance.md` that `specwright status` shows, or an edited copy"
    return _read(path, "the file of examples", MAX_ACCEPTANCE_BYTES, remedy)


def spec_fault(directory: Path) -> str:
    """Return why no run can begin with SPEC.md; empty if one can."""
    try:
        text = read_spec(directory / "SPEC.md")
        structured_spec(text)
    except InputErrors as error:
        return error.what
    return "SPEC.md is still the template" if text == SPEC_TEMPLATE else ""


def _read(path: Path, what: str, most: int, remedy: str) -> str:
    """Read a text file that a person wrote.

    Args:
        path: The file.
        what: What the file is, for messages.
        most: The largest allowed size in bytes.
        remedy: What to do about a wrong file.
    """
    try:
        return _text(str(path), read_bounded(path, most), what, remedy)
    except OSError as error:
        raise InputError(
            f"{what} cannot be read: {error.strerror}",
            where=str(path),
            remedy="give your user permission to read it" if isinstance(error, PermissionError) else remedy,
        ) from error


def structured_spec(text: str) -> dict[str, Any] | None:
    """Return the product spec that a text holds as JSON or YAML; None for prose.

    Raises:
        InputError: it has pillars but is not a complete product spec.
    """
    data = _structured(text)
    if data is None:
        return None
    from specwright.application.tasks import spec_errors
    from specwright.domain.spec.completeness import in_words, validate

    if errors := [in_words(data, error) for error in validate(data).errors] or spec_errors(data):
        shown = "\n    ".join(errors[:_ERRORS_SHOWN])
        more = f"\n    and {len(errors) - _ERRORS_SHOWN} more" if len(errors) > _ERRORS_SHOWN else ""
        raise InputError(
            "the product spec is not complete",
            where=f"{shown}{more}",
            remedy="correct these fields in the file, or write prose instead",
        )
    return data


def _structured(text: str) -> dict[str, Any] | None:
    """Return a mapping with a list of pillars, without the timestamps of a stored spec; None for prose.

    Raises:
        InputError: it is meant as a structured spec and cannot be read.
    """
    if "pillars" not in text:
        return None
    import yaml

    try:
        data = _read_structure(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        if not _MEANT.search(text):
            return None
        raise InputError(
            "the product spec cannot be read",
            where=f"SPEC.md: {one_line(str(error))[:300]}",
            remedy="correct it, or write prose instead",
        ) from error
    spec = cast(dict[str, Any], data) if isinstance(data, dict) else {}
    if not isinstance(spec.get("pillars"), list):
        return None
    return {name: value for name, value in spec.items() if name not in _STAMPS}


def _read_structure(text: str) -> Any:
    """Parse JSON, or YAML with every scalar read as text: a spec has only texts."""
    if text.lstrip().startswith("{"):
        return json.loads(text)
    import yaml

    events: Iterator[Any] = cast(Any, yaml).parse(text)
    if any(isinstance(event, yaml.AliasEvent) for event in events):
        raise ValueError("it has a YAML alias (*); write the value out")  # a few can expand to gigabytes
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 - BaseLoader makes only strings, lists and mappings


class SpecCopy(NamedTuple):
    """The SPEC.md with which the run began, or the last change that was not abandoned.

    Args:
        where: Its address, for messages.
        path: Its path in `state_store/`.
        data: Its bytes; None if no run has begun.
        passed_over: The SHA-256 of an edited SPEC.md that an approval left out.
    """

    where: str
    path: str
    data: bytes | None
    passed_over: str = ""

    @property
    def exists(self) -> bool:
        """Whether a run has begun."""
        return self.data is not None

    def text(self) -> str:
        """Return its text.

        Raises:
            InputError: it is missing, empty, or not text.
        """
        if self.data is None:
            raise _no_spec(Path(self.where))
        return _text(self.where, self.data, "SPEC.md", "write about one page of Markdown")


def spec_copy(directory: Path, store: "ProjectStore | None" = None) -> SpecCopy:
    """Return the copy that the run works on.

    Args:
        directory: The project.
        store: Its store, if it is open.
    """
    from specwright.application.stages.product import read_history

    with _reading(directory), _opened(directory, store) as opened:
        files = opened.files
        names = _files_of_copy(files)
        path, where = names.source, f"{files.address}/{names.source}"
        if not files.exists(path):
            return SpecCopy(where, path, None)
        passed_over = read_history(files, names).passed_over if files.exists(names.history) else ""
        return SpecCopy(where, path, files.read(path), passed_over)


def restore_spec(directory: Path) -> None:
    """Write a missing SPEC.md from the run's copy; do nothing if the project is damaged."""
    path = directory / "SPEC.md"
    with suppress(*InputErrors):
        if (data := spec_copy(directory).data) is not None and not os.path.lexists(path):
            write_atomically(path, data)


def _files_of_copy(files: "FileTree") -> layout.SpecFiles:
    numbers = sorted(map(int, filter(str.isdecimal, files.names(layout.CHANGES))), reverse=True)
    for names in map(layout.spec_files, numbers):
        if files.exists(names.source) and not files.exists(names.abandoned):
            return names
    return layout.spec_files()


def _opened(directory: Path, store: "ProjectStore | None") -> "AbstractContextManager[ProjectStore]":
    from specwright.bootstrap.stores import opened_store

    return opened_store(directory) if store is None else nullcontext(store)


def spec_for_run(
    directory: Path, spec: Path | None = None, task: str | None = None, store: "ProjectStore | None" = None
) -> str:
    """Return the text that a run works on. Writes nothing.

    Args:
        directory: The project.
        spec: A file to read instead of the project's SPEC.md.
        task: One sentence that describes the product, instead of a file.
        store: The store of the project, if it is open.

    Raises:
        InputError: there is no readable text, or two different ones, the structured spec is incomplete, or the directory is
            not writable.
    """
    if spec is not None and task is not None:
        raise InputError("--spec and --task exclude each other", remedy="use one of them")
    if task is not None and not task.strip():
        raise InputError("--task is empty", remedy="describe in a sentence what the product does")
    with _opened(directory, store) as opened:
        copy = spec_copy(directory, opened)
        if _was_answered(directory, opened, copy):
            return _text_of_begun_run(directory, opened, copy, spec, task)
    _require_writable(directory)
    return checked_spec(directory, task.strip() + "\n" if task else read_spec(spec or directory / "SPEC.md"))


def checked_spec(directory: Path, text: str) -> str:
    """Return a text that becomes the SPEC.md of a new project, after checks. Writes nothing.

    Raises:
        InputError: the structured spec is incomplete, or the directory has a different SPEC.md.
    """
    structured_spec(text)
    original = directory / "SPEC.md"
    if os.path.lexists(original) and read_spec(original) != text:
        raise InputError(
            "the directory has another SPEC.md, which is not overwritten",
            where=str(original),
            remedy="remove it, leave out --spec and --task, or name a new directory",
        )
    return text


def spec_changed(directory: Path, copy: SpecCopy) -> bool:
    """Return whether the user's SPEC.md differs from the run's copy, and the approval did not leave it out."""
    try:
        return bool(edited_spec(directory, copy))
    except InputErrors:
        return True


def edited_spec(directory: Path, copy: SpecCopy) -> str:
    """Return the user's SPEC.md if it differs from the run's copy; empty if it is equal or missing, or if the approval left
    it out.

    Raises:
        InputError: it cannot be read.
    """
    original = directory / "SPEC.md"
    if not os.path.lexists(original):
        return ""
    text = read_spec(original)
    return "" if text == copy.text() or sha256(text.encode()) == copy.passed_over else text


def readable_edit(directory: Path, copy: SpecCopy) -> str:
    """Return the same as `edited_spec`; empty also if SPEC.md cannot be read."""
    try:
        return edited_spec(directory, copy)
    except InputErrors:
        return ""


def store_spec(directory: Path, text: str, store: "ProjectStore") -> None:
    """Write the copy that the run works on, and SPEC.md if it is missing."""
    original, copy = directory / "SPEC.md", spec_copy(directory, store)
    if not os.path.lexists(original):
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(original, text.encode())
    if not _was_answered(directory, store, copy) and (not copy.exists or copy.text() != text):
        store.files.replace(copy.path, text.encode())


_NEARLY = ("spec.md", "spec.markdown", "spec.txt", "spec")
"""File names that are probably meant as SPEC.md."""


def _no_spec(path: Path) -> InputError:
    if path.name != "SPEC.md":
        return InputError(
            "there is no such file",
            where=str(path),
            remedy="name an existing file with --spec FILE",
        )
    similar = (
        [one for one in path.parent.glob("*") if one.name.lower() in _NEARLY] if path.parent.is_dir() else []
    )
    if similar:
        return InputError(
            f"there is no SPEC.md, only {similar[0].name}",
            where=str(path),
            remedy="rename it to SPEC.md, or name it with --spec FILE",
        )
    return InputError(
        "there is no SPEC.md",
        where=str(path),
        remedy=f"`specwright init {shlex.quote(str(path.parent))}` makes one to fill in; or name yours with --spec FILE",
    )


def _text(path: str, data: bytes, what: str, remedy: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{what} is UTF-16", where=path, remedy="save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"{path}, byte {error.start:,}"
        raise InputError(f"{what} is not UTF-8 text", where=place, remedy="save it as UTF-8") from error
    if "\0" in text:
        place = f"{path}, line {text[: text.index(chr(0))].count(chr(10)) + 1}"
        raise InputError(
            f"{what} holds a NUL character, so it is not text", where=place, remedy="save it as UTF-8"
        )
    if not text.strip():
        raise InputError(f"{what} is empty", where=path, remedy=remedy)
    return text


def _was_answered(directory: Path, store: "ProjectStore", copy: SpecCopy) -> bool:
    """Return whether a model has answered about the copy."""
    if not copy.exists:
        return False
    with _reading(directory):
        answered = store.has_answers()
        return store.files.exists(layout.spec_files().spec) if answered is None else answered


@contextmanager
def _reading(directory: Path) -> Generator[None]:
    """Report errors of the operating system."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the project cannot be read: {error.strerror}",
            where=str(error.filename or directory),
            remedy="correct its permissions, or run as its owner",
        ) from error


def _text_of_begun_run(
    directory: Path, store: "ProjectStore", copy: SpecCopy, spec: Path | None, task: str | None
) -> str:
    text = copy.text()
    named = task.strip() + "\n" if task is not None else read_spec(spec) if spec is not None else None
    if named is not None and named != text:
        raise InputError(
            "this project was begun with another SPEC.md",
            where=copy.where,
            remedy="run the new one in a new directory; or omit --spec and --task to continue with the old one",
        )
    if named is None and spec_changed(directory, copy) and not awaiting_approval(directory, store):
        raise InputError(
            "SPEC.md is not the one that this run began with",
            where=str(directory / "SPEC.md"),
            remedy=f"copy {copy.where} back to continue; once the product is released, `specwright change` builds "
            "a new version from the edited one",
        )
    return text


def awaiting_approval(directory: Path, store: "ProjectStore | None" = None) -> bool:
    """Return whether the spec of the project, or of the change in progress, is not approved yet, so that an edited SPEC.md
    can be used.

    Args:
        directory: The project.
        store: Its store, if it is open.
    """
    from specwright.application.projection import Projection

    with _opened(directory, store) as opened:
        if not opened.has_log():
            return True
        with closing(opened.log(reading=True)) as log:
            projection = Projection(log, opened.files, time.monotonic)
            projection.catch_up()
            return projection.awaits_approval


def _require_writable(directory: Path) -> None:
    existing = directory
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(
            "the project's path is not a directory", where=str(existing), remedy="name another one"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(
            "the project's directory is not writable",
            where=str(existing),
            remedy="name another one, or correct its permissions",
        )
