"""SPEC.md, or a structured spec in its place: read in full or refused, and copied when a run begins.

A run works on the copy, `state_store/product/SPEC.md`; a person's own file is never changed (design: approval). Until
the first model answer is journalled nothing depends on the copy, and it follows the original; until the approval an
edited SPEC.md is an amendment. Heavy imports happen inside the functions, since every command imports this module.
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
"""Of prose; a structured spec may have 64 times as many, for some 10,000 tasks."""

_ERRORS_SHOWN = 10
_STAMPS = ("created_at", "updated_at")
_MEANT = re.compile(r'\A\s*\{\s*"|^title:.*^pillars:|^pillars:.*^title:', re.MULTILINE | re.DOTALL)
"""How a text begins that is meant as a structured spec."""

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
    """A SPEC.md.

    Raises:
        InputError: missing, empty, too large, no regular file, or no text.
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
"""Of the file of a bug report: it fits into a change request."""

MAX_ACCEPTANCE_BYTES = 1_000_000
"""Of the examples and properties of a spec."""


def read_example_file(path: Path) -> str:
    """The file of a bug report; fails as `read_spec`."""
    remedy = "name a file with one example, as examples.md of a module has them"
    return _read(path, "the example", MAX_EXAMPLE_BYTES, remedy)


def read_acceptance_file(path: Path) -> str:
    """The examples and properties of a spec as a person edited them; fails as `read_spec`."""
    remedy = "edit the `acceptance.md` that `specwright status` names, or a copy of it, and name that"
    return _read(path, "the file of the examples", MAX_ACCEPTANCE_BYTES, remedy)


def spec_fault(directory: Path) -> str:
    """Why no run can begin with SPEC.md; empty if one can."""
    try:
        text = read_spec(directory / "SPEC.md")
        structured_spec(text)
    except InputErrors as error:
        return error.what
    return "SPEC.md is still the template" if text == SPEC_TEMPLATE else ""


def _read(path: Path, what: str, most: int, remedy: str) -> str:
    """A text file that a person wrote.

    Args:
        path: Of the file.
        what: It is, for messages.
        most: The most bytes that it may have.
        remedy: What to do if it is none of that kind.
    """
    try:
        return _text(str(path), read_bounded(path, most), what, remedy)
    except OSError as error:
        raise InputError(
            f"{what} cannot be read: {error.strerror}",
            where=str(path),
            remedy="give your user the right to read it" if isinstance(error, PermissionError) else remedy,
        ) from error


def structured_spec(text: str) -> dict[str, Any] | None:
    """The product spec that a text is, in JSON or YAML; None of a text in prose.

    Raises:
        InputError: it has pillars, and is no complete product spec.
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
    """A mapping with a list of pillars, without the times that a stored spec has.

    Raises:
        InputError: it is meant as one, and cannot be read.
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
    """JSON, or YAML whose scalars are read as texts: the spec has no other ones."""
    if text.lstrip().startswith("{"):
        return json.loads(text)
    import yaml

    events: Iterator[Any] = cast(Any, yaml).parse(text)
    if any(isinstance(event, yaml.AliasEvent) for event in events):
        raise ValueError("it has a YAML alias (*); write the value out")  # a few may stand for gigabytes
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 - BaseLoader makes texts, lists and mappings only


class SpecCopy(NamedTuple):
    """The SPEC.md that the run, or the last change that was not abandoned, began with.

    Args:
        where: It is, for messages.
        path: In `state_store/`.
        data: Its bytes, None if no run has begun.
        passed_over: The SHA-256 of an edited SPEC.md that was left out of the approval.
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
        """Its text.

        Raises:
            InputError: missing, empty, or no text.
        """
        if self.data is None:
            raise _no_spec(Path(self.where))
        return _text(self.where, self.data, "SPEC.md", "write about one page of Markdown")


def spec_copy(directory: Path, store: "ProjectStore | None" = None) -> SpecCopy:
    """The copy that the run works on.

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
    """Write SPEC.md as the run has it, where there is none; of a damaged project nothing."""
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
    """The text that a run works on. Writes nothing.

    Args:
        directory: The project.
        spec: A file to read instead of the project's SPEC.md.
        task: The product in one sentence, instead of a file.
        store: The store of the project, if it is open.

    Raises:
        InputError: no readable text, two different ones, an incomplete structured spec, or a directory that cannot be
            written.
    """
    if spec is not None and task is not None:
        raise InputError("--spec and --task are two ways to say the same", remedy="give one of them")
    if task is not None and not task.strip():
        raise InputError("--task is empty", remedy="say in a sentence what the product does")
    with _opened(directory, store) as opened:
        copy = spec_copy(directory, opened)
        if _was_answered(directory, opened, copy):
            return _text_of_begun_run(directory, opened, copy, spec, task)
    _require_writable(directory)
    return checked_spec(directory, task.strip() + "\n" if task else read_spec(spec or directory / "SPEC.md"))


def checked_spec(directory: Path, text: str) -> str:
    """A text that becomes the SPEC.md of a new project. Writes nothing.

    Raises:
        InputError: an incomplete structured spec, or another SPEC.md is there.
    """
    structured_spec(text)
    original = directory / "SPEC.md"
    if os.path.lexists(original) and read_spec(original) != text:
        raise InputError(
            "the directory has another SPEC.md, and nothing is overwritten",
            where=str(original),
            remedy="remove it, leave out --spec and --task, or name a new directory",
        )
    return text


def spec_changed(directory: Path, copy: SpecCopy) -> bool:
    """Whether the person's SPEC.md differs from the one that the run works on, and was not left out of its approval."""
    try:
        return bool(edited_spec(directory, copy))
    except InputErrors:
        return True


def edited_spec(directory: Path, copy: SpecCopy) -> str:
    """The person's SPEC.md if it differs from the one that the run works on; empty if it does not, is missing, or was left
    out of the approval.

    Raises:
        InputError: it cannot be read.
    """
    original = directory / "SPEC.md"
    if not os.path.lexists(original):
        return ""
    text = read_spec(original)
    return "" if text == copy.text() or sha256(text.encode()) == copy.passed_over else text


def readable_edit(directory: Path, copy: SpecCopy) -> str:
    """The same; empty also if it cannot be read."""
    try:
        return edited_spec(directory, copy)
    except InputErrors:
        return ""


def store_spec(directory: Path, text: str, store: "ProjectStore") -> None:
    """Write the copy that the run works on, and SPEC.md if there is none."""
    original, copy = directory / "SPEC.md", spec_copy(directory, store)
    if not os.path.lexists(original):
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(original, text.encode())
    if not _was_answered(directory, store, copy) and (not copy.exists or copy.text() != text):
        store.files.replace(copy.path, text.encode())


_NEARLY = ("spec.md", "spec.markdown", "spec.txt", "spec")
"""Names that are meant for it."""


def _no_spec(path: Path) -> InputError:
    if path.name != "SPEC.md":
        return InputError(
            "there is no such file",
            where=str(path),
            remedy="name a SPEC.md, or a file with another name, by --spec FILE",
        )
    similar = (
        [one for one in path.parent.glob("*") if one.name.lower() in _NEARLY] if path.parent.is_dir() else []
    )
    if similar:
        return InputError(
            f"there is no SPEC.md, but {similar[0].name}",
            where=str(path),
            remedy="call it SPEC.md, or name it with --spec FILE",
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
    """Whether a model has answered about the copy."""
    if not copy.exists:
        return False
    with _reading(directory):
        answered = store.has_answers()
        return store.files.exists(layout.spec_files().spec) if answered is None else answered


@contextmanager
def _reading(directory: Path) -> Generator[None]:
    """Report what the system refuses."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the project cannot be read: {error.strerror}",
            where=str(error.filename or directory),
            remedy="mend its rights, or run as its owner",
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
            remedy="run the new one in a new directory; or leave out --spec and --task to go on with the old one",
        )
    if named is None and spec_changed(directory, copy) and not awaiting_approval(directory, store):
        raise InputError(
            "SPEC.md is not the one that this run began with",
            where=str(directory / "SPEC.md"),
            remedy=f"put back {copy.where} to go on; once the product is released, `specwright change` builds the "
            "new one from it",
        )
    return text


def awaiting_approval(directory: Path, store: "ProjectStore | None" = None) -> bool:
    """Whether no spec is approved yet, or none of the change that is under way: until then an edited SPEC.md can be taken
    in.

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
            "the project's place is no directory", where=str(existing), remedy="name another one"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(
            "the project's directory cannot be written",
            where=str(existing),
            remedy="name another one, or mend its rights",
        )
