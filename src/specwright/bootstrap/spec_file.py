"""SPEC.md, or a structured spec in its place: read in full or refused, and copied when a run begins.

A run works on the copy, `state_store/product/SPEC.md`; a person's own file is never changed (design: approval). Until
the first model answer is journalled nothing depends on the copy, and it follows the original.
"""

import codecs
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml

from specwright.application.tasks import spec_errors
from specwright.atomic_write import write_atomically
from specwright.domain.base.text import one_line
from specwright.errors import InputError

MAX_SPEC_BYTES = 256 * 1024
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
    try:
        status = path.stat()
        _require_regular(path, status)
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(
            "there is no SPEC.md",
            where=str(path),
            remedy="`specwright init DIR` makes one to fill in; or name yours with --spec FILE",
        ) from error
    except OSError as error:
        raise InputError(
            f"SPEC.md cannot be read: {error.strerror}",
            where=str(path),
            remedy="mend the path or its rights, or name another file with --spec FILE",
        ) from error
    return _text(path, data)


MAX_EXAMPLE_BYTES = 8_000
"""Of the file of a bug report: it fits into a change request."""


def read_example_file(path: Path) -> str:
    """The file of a bug report.

    Raises:
        InputError: missing, empty, too large, no regular file, or no text.
    """
    remedy = "name a file with one example, as examples.md of a module has them"
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError("the example is no regular file", where=str(path), remedy=remedy)
        if status.st_size > MAX_EXAMPLE_BYTES:
            what = f"the example has {status.st_size:,} bytes; the limit is {MAX_EXAMPLE_BYTES:,}"
            raise InputError(what, where=str(path), remedy=remedy)
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        what = f"the example cannot be read: {error.strerror}"
        raise InputError(what, where=str(path), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise InputError("the example is not UTF-8", where=str(path), remedy="save it as UTF-8") from error
    if not text.strip():
        raise InputError("the file of the example is empty", where=str(path), remedy=remedy)
    return text


def structured_spec(text: str) -> dict[str, Any] | None:
    """The product spec that a text is, in JSON or YAML; None of a text in prose.

    Raises:
        InputError: it has pillars, and is no complete product spec.
    """
    data = _structured(text)
    if data is None:
        return None
    if errors := spec_errors(data):
        shown = "\n    ".join(errors[:_ERRORS_SHOWN])
        more = f"\n    and {len(errors) - _ERRORS_SHOWN} more" if len(errors) > _ERRORS_SHOWN else ""
        raise InputError(
            "the product spec is not complete",
            where=f"{shown}{more}",
            remedy="correct it, or write prose instead",
        )
    return data


def _structured(text: str) -> dict[str, Any] | None:
    """A mapping with a list of pillars, without the times that a stored spec has.

    Raises:
        InputError: it is meant as one, and cannot be read.
    """
    if "pillars" not in text:
        return None
    try:
        data = _read_structure(text)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        if not _MEANT.search(text):
            return None
        raise InputError(
            "the product spec cannot be read",
            where=one_line(str(error))[:300],
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
    events: Iterator[Any] = cast(Any, yaml).parse(text)
    if any(isinstance(event, yaml.AliasEvent) for event in events):
        raise ValueError("it has a YAML alias (*); write the value out")  # a few may stand for gigabytes
    return yaml.load(text, yaml.BaseLoader)  # noqa: S506 - BaseLoader makes texts, lists and mappings only


def spec_copy(directory: Path) -> Path:
    """Where the SPEC.md is that the run, or the last change that was not abandoned, began with."""
    store = directory / "state_store"
    for folder in sorted((store / "changes").glob("[0-9]*"), key=lambda path: int(path.name), reverse=True):
        if (folder / "SPEC.md").is_file() and not (folder / "abandoned").exists():
            return folder / "SPEC.md"
    return store / "product" / "SPEC.md"


def spec_for_run(directory: Path, spec: Path | None = None, task: str | None = None) -> str:
    """The text that a run works on. Writes nothing.

    Args:
        directory: The project.
        spec: A file to read instead of the project's SPEC.md.
        task: The product in one sentence, instead of a file.

    Raises:
        InputError: no readable text, two different ones, an incomplete structured spec, or a directory that cannot be
            written.
    """
    if spec is not None and task is not None:
        raise InputError("--spec and --task are two ways to say the same", remedy="give one of them")
    if task is not None and not task.strip():
        raise InputError("--task is empty", remedy="say in a sentence what the product does")
    if _was_answered(directory):
        return _text_of_begun_run(directory, spec, task)
    _require_writable(directory)
    original = directory / "SPEC.md"
    text = task.strip() + "\n" if task is not None else read_spec(spec or original)
    structured_spec(text)
    named = spec is not None or task is not None
    if named and os.path.lexists(original) and read_spec(original) != text:
        raise InputError(
            "the directory has another SPEC.md",
            where=str(original),
            remedy="remove it, leave out --spec and --task, or run in a new directory",
        )
    return text


def spec_changed(directory: Path) -> bool:
    """Whether the person's SPEC.md differs from the one that the run began with."""
    original = directory / "SPEC.md"
    try:
        return read_spec(original) != read_spec(spec_copy(directory))
    except InputError:
        return os.path.lexists(original)


def store_spec(directory: Path, text: str) -> None:
    """Write the copy that the run works on, and SPEC.md if there is none."""
    original, copy = directory / "SPEC.md", spec_copy(directory)
    if not os.path.lexists(original):
        write_atomically(original, text.encode())
    if not _was_answered(directory) and (not copy.is_file() or read_spec(copy) != text):
        copy.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(copy, text.encode())


def _require_regular(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for, a device read without end
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a pipe, socket or device"
        raise InputError(
            f"SPEC.md is {kind}, not a file", where=str(path), remedy="name a Markdown file with --spec FILE"
        )
    if status.st_size > MAX_SPEC_BYTES:
        raise InputError(
            f"SPEC.md has {status.st_size:,} bytes; the limit is {MAX_SPEC_BYTES:,}",
            where=str(path),
            remedy="write about one page; put reference material into files of its own",
        )


def _text(path: Path, data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError("SPEC.md is UTF-16", where=str(path), remedy="save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"SPEC.md is no UTF-8 text (byte {error.start:,})", where=str(path), remedy="save it as UTF-8"
        ) from error
    if "\0" in text:
        place = f"{path}, line {text[: text.index(chr(0))].count(chr(10)) + 1}"
        raise InputError(
            "SPEC.md holds a NUL character, so it is no text", where=place, remedy="write Markdown, as UTF-8"
        )
    if not text.strip():
        raise InputError(
            "SPEC.md is empty", where=str(path), remedy="say in it what the product does, and for whom"
        )
    return text


def _was_answered(directory: Path) -> bool:
    """Whether a model has answered about the copy."""
    journal = directory / ".specwright" / "journal.jsonl"
    try:
        return spec_copy(directory).is_file() and journal.stat().st_size > 0
    except FileNotFoundError:
        return (directory / "state_store" / "product" / "spec.json").is_file()
    except OSError as error:
        raise InputError(
            f"the project cannot be read: {error.strerror}",
            where=str(error.filename or directory),
            remedy="mend its rights, or run as its owner",
        ) from error


def _text_of_begun_run(directory: Path, spec: Path | None, task: str | None) -> str:
    text = read_spec(spec_copy(directory))
    named = task.strip() + "\n" if task is not None else read_spec(spec) if spec is not None else None
    if named is not None and named != text:
        raise InputError(
            "this project was begun with another SPEC.md",
            where=str(spec_copy(directory)),
            remedy="run the new one in a new directory; or leave out --spec and --task to go on with the old one",
        )
    if named is None and spec_changed(directory):
        raise InputError(
            "SPEC.md is not the one that this run began with",
            where=str(directory / "SPEC.md"),
            remedy=f"put back {spec_copy(directory)} to go on; once the product is released, `specwright change` builds the "
            "new one from it",
        )
    return text


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
