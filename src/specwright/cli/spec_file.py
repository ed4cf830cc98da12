"""SPEC.md: read whole or refused, and kept as the run began with it.

A run works on `state_store/product/SPEC.md`, a copy; the person's own file is never written once it exists
(F-3.2.4-04). Until a first model answer is journalled nothing rests on the copy, and it follows the original.
"""

import codecs
import os
import stat
from pathlib import Path

from specwright.errors import InputError

__all__ = ["SPEC_TEMPLATE", "keep", "kept_spec", "read_spec", "settle", "spec_changed", "write_whole"]

MAX_SPEC_BYTES = 256 * 1024

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


def kept_spec(directory: Path) -> Path:
    """Where the SPEC.md that a run began with is kept."""
    return directory / "state_store" / "product" / "SPEC.md"


def settle(directory: Path, spec: Path | None, task: str | None) -> str:
    """The text that a run works on. Writes nothing.

    Raises:
        InputError: unreadable, contradictory, or the directory cannot be written.
    """
    if spec is not None and task is not None:
        raise InputError("--spec and --task are two ways to say the same", remedy="give one of them")
    if task is not None and not task.strip():
        raise InputError("--task is empty", remedy="say in a sentence what the product does")
    if _begun(directory):
        return _unchanged(directory, spec, task)
    _require_writable(directory)
    target = directory / "SPEC.md"
    text = task.strip() + "\n" if task is not None else read_spec(spec or target)
    given = spec is not None or task is not None
    if given and os.path.lexists(target) and read_spec(target) != text:
        raise InputError(
            "the directory has another SPEC.md",
            where=str(target),
            remedy="remove it, leave out --spec and --task, or run in a new directory",
        )
    return text


def spec_changed(directory: Path) -> bool:
    """Whether the person's SPEC.md is another than the one that the run began with."""
    target = directory / "SPEC.md"
    try:
        return read_spec(target) != read_spec(kept_spec(directory))
    except InputError:
        return os.path.lexists(target)


def keep(directory: Path, text: str) -> None:
    """Write SPEC.md if it is not there, and the copy that the run works on."""
    target, kept = directory / "SPEC.md", kept_spec(directory)
    if not os.path.lexists(target):
        write_whole(target, text)
    if not kept.is_file() or read_spec(kept) != text:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, text)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is whole or absent, also when the disk is full."""
    temporary = path.with_name(
        f".tmp-{os.getpid()}-{path.name}"
    )  # not mkstemp: rights are the umask's business
    try:
        with temporary.open("wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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


def _begun(directory: Path) -> bool:
    """Whether a model has answered about the copy."""
    journal = directory / ".specwright" / "journal.jsonl"
    try:
        return kept_spec(directory).is_file() and journal.stat().st_size > 0
    except FileNotFoundError:
        return (directory / "state_store" / "product" / "spec.json").is_file()
    except OSError as error:
        raise InputError(
            f"the project cannot be read: {error.strerror}",
            where=str(error.filename or directory),
            remedy="mend its rights, or run as its owner",
        ) from error


def _unchanged(directory: Path, spec: Path | None, task: str | None) -> str:
    text = read_spec(kept_spec(directory))
    given = task.strip() + "\n" if task is not None else read_spec(spec) if spec is not None else None
    if given is not None and given != text:
        raise InputError(
            "this project was begun with another SPEC.md",
            where=str(kept_spec(directory)),
            remedy="run the new one in a new directory; or leave out --spec and --task to go on with the old one",
        )
    if given is None and spec_changed(directory):
        raise InputError(
            "SPEC.md is not the one that this run began with",
            where=str(directory / "SPEC.md"),
            remedy=f"put back {kept_spec(directory)} to go on, or run the new one in a new directory",
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
