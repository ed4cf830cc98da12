"""A payload that a person fills in at a terminal: short texts question by question, all else as a draft in an editor
(design: escalation)."""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from ship_gate.terminal.output import note
from specwright.application.escalation.offers import FILL
from specwright.cli.output import ask
from specwright.errors import InputError, InputErrors
from specwright.secret_values import child_environment

T = TypeVar("T")

_WORDS = {
    "rationale": "Why",
    "module_ref": "Module that does it",
    "module": "Module",
    "description": "What it does",
    "directory": "Directory of the corrected files",
}
_EDITOR = "vi"


class NotAnsweredError(Exception):
    """The person ended the questions."""


def asked(draft: dict[str, str], read: Callable[[dict[str, Any]], T]) -> T:
    """The answer that a person gives to a question for each field; one that is refused is asked again, with what was typed.

    Args:
        draft: The payload, `...` where something is missing.
        read: Makes the answer.

    Raises:
        NotAnsweredError: the input ended.
    """
    while True:
        draft = {name: _text(_WORDS.get(name, name), value) for name, value in draft.items()}
        try:
            return read(draft)
        except InputErrors as error:
            note(f"specwright: {error}")


def edited(draft: dict[str, Any], read: Callable[[dict[str, Any]], T]) -> T:
    """The answer that a person writes into a draft in `$EDITOR`; one that is refused is opened again as it was written.

    Args:
        draft: The payload.
        read: Makes the answer.

    Raises:
        InputError: the editor cannot be started.
        NotAnsweredError: the person leaves it; what was written is kept, and where is said.
    """
    path = Path(tempfile.mkdtemp(prefix="specwright-")) / "answer.json"
    path.write_text(json.dumps(draft, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    while True:
        _open_editor(path)
        try:
            answer = read(_object_in(path))
        except InputErrors as error:
            note(f"specwright: {error}")
        else:
            path.unlink()
            path.parent.rmdir()
            return answer
        typed = ask("Enter opens it again, q leaves it: ")
        if typed is None or typed.lower() == "q":
            note(f"What you wrote is kept: --payload {path}")
            raise NotAnsweredError


def _open_editor(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _EDITOR
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True, env=child_environment())
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise InputError(
            f"the editor {editor!r} failed: {error}",
            where=str(path),
            remedy="set EDITOR; the draft is kept there",
        ) from error


def _object_in(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"it is no JSON: {error}", where=str(path)) from error
    if not isinstance(value, dict):
        raise InputError("it is no JSON object", where=str(path))
    return cast(dict[str, Any], value)


def _text(words: str, value: str) -> str:
    """A text; Enter keeps what is there."""
    shown = "" if value == FILL else f" [{value}]"
    while (typed := ask(f"{words}{shown}: ")) is not None:
        if typed or shown:
            return typed or value
    raise NotAnsweredError
