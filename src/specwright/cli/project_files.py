"""A project's own files as the commands find them: SPEC.md, settings, the options of the last run."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from specwright.errors import InputError
from specwright.settings import Settings, load_settings

__all__ = [
    "NO_MODEL",
    "Options",
    "kept_spec",
    "last_options",
    "read_spec",
    "remember",
    "settings_for",
    "settle",
]

MAX_SPEC_BYTES = 256 * 1024
RUNTIME = ".specwright"

NO_MODEL = """\
    OpenAI      export OPENAI_API_KEY=...       specwright run --model openai:gpt-5
    Anthropic   export ANTHROPIC_API_KEY=...    specwright run --model anthropic:claude-sonnet-4-5
    local       specwright run --model openai:NAME --base-url http://127.0.0.1:11434/v1
  or set `model` (and `base_url`) in specwright.toml, or SPECWRIGHT_MODEL (and SPECWRIGHT_BASE_URL)"""


class Options(NamedTuple):
    """What `run` was told; `approve` and its like go on with the same."""

    model: str = ""
    role_models: tuple[tuple[str, str], ...] = ()
    base_url: str = ""


def read_spec(path: Path) -> str:
    """A SPEC.md.

    Raises:
        InputError: missing, empty, too large, or no text.
    """
    try:
        size = path.stat().st_size
        if size > MAX_SPEC_BYTES:
            raise InputError(
                f"SPEC.md has {size:,} bytes; the limit is {MAX_SPEC_BYTES:,}",
                where=str(path),
                remedy="write about one page; put reference material into files of its own",
            )
        text = path.read_bytes().decode()
    except FileNotFoundError as error:
        raise InputError(
            "there is no SPEC.md",
            where=str(path),
            remedy="`specwright init DIR` makes one to fill in, or name it with --spec",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("SPEC.md is no UTF-8 text", where=str(path), remedy="save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"SPEC.md cannot be read: {error.strerror}", where=str(path)) from error
    if "\0" in text:
        raise InputError("SPEC.md is a binary file", where=str(path), remedy="write it as Markdown")
    if not text.strip():
        raise InputError(
            "SPEC.md is empty", where=str(path), remedy="say in it what the product does, and for whom"
        )
    return text


def kept_spec(directory: Path) -> Path:
    """Where the SPEC.md that a run began with is kept."""
    return directory / "state_store" / "product" / "SPEC.md"


def settle(directory: Path, spec: Path | None, task: str | None) -> str:
    """The text that a run works on, and SPEC.md in its place.

    A run that has begun goes on with the text that it began with.

    Raises:
        InputError: unreadable, contradictory, or the directory cannot be written.
    """
    kept = kept_spec(directory)
    if kept.is_file():
        return _unchanged(directory, kept, spec, task)
    if spec is not None and task is not None:
        raise InputError("--spec and --task are two ways to say the same", remedy="give one of them")
    target = directory / "SPEC.md"
    if task is not None:
        text = task.strip() + "\n"
        if not text.strip():
            raise InputError("--task is empty", remedy="say in a sentence what the product does")
    else:
        text = read_spec(spec or target)
    if (spec is not None or task is not None) and target.is_file() and read_spec(target) != text:
        raise InputError(
            "the directory has another SPEC.md",
            where=str(target),
            remedy="remove it, or run in a new directory",
        )
    _require_writable(directory)
    return text


def _unchanged(directory: Path, kept: Path, spec: Path | None, task: str | None) -> str:
    text = kept.read_text(encoding="utf-8")
    given = task.strip() + "\n" if task is not None else read_spec(spec) if spec is not None else text
    if given != text:
        raise InputError(
            "this project was begun with another SPEC.md",
            where=str(directory),
            remedy="run a new SPEC.md in a new directory; or leave out --spec and --task to go on",
        )
    return text


def keep(directory: Path, text: str) -> None:
    """Write SPEC.md if it is not there, and the copy that the run works on."""
    target, kept = directory / "SPEC.md", kept_spec(directory)
    if not target.is_file():
        target.write_text(text, encoding="utf-8")
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, encoding="utf-8")


def settings_for(directory: Path, options: Options) -> Settings:
    """The settings with what the command line said on top.

    Raises:
        InputError: wrong settings, or no model at all.
    """
    settings = load_settings(directory)
    changes: dict[str, object] = {}
    if options.model:
        changes["model"] = options.model
    if options.base_url:
        changes["base_url"] = options.base_url
    if options.role_models:
        changes["role_models"] = {**settings.role_models, **dict(options.role_models)}
    settings = settings.model_copy(update=changes)
    if not settings.model:
        raise InputError("no model is configured; name one:\n" + NO_MODEL)
    return settings


def remember(directory: Path, options: Options) -> None:
    """Keep the options of this run for the commands that go on with it."""
    path = directory / RUNTIME / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(options._asdict()))
    temporary.replace(path)


def last_options(directory: Path) -> Options:
    """The options of the last run; none if there was none."""
    try:
        data = json.loads((directory / RUNTIME / "run.json").read_text())
        return Options(data["model"], tuple((r, m) for r, m in data["role_models"]), data["base_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return Options()


def _require_writable(directory: Path) -> None:
    existing = directory
    while not existing.exists() and existing != existing.parent:
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
