"""A payload that a person fills in at a terminal: question by question, or as a draft in an editor (design: escalation)."""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from ship_gate.terminal.output import note, say
from specwright.application.escalation.offers import FILL
from specwright.cli.terminal.output import ask
from specwright.errors import InputError, InputErrors
from specwright.secret_values import child_environment

T = TypeVar("T")

_WORDS = {
    "rationale": "Why",
    "amendment_rationale": "Why the criteria change",
    "amended_acceptance_criteria": "Acceptance criteria",
    "acceptance_criteria": "Acceptance criteria",
    "new_tasks": "Tasks in its place",
    "revised_micro_plan": "Modules",
    "module_id": "Name of the module",
    "module_ref": "Module that does it",
    "module": "Module",
    "reworded_criterion": "The criterion as it ought to be",
    "depends_on": "Depends on, by name, with commas between",
    "drop_depends_on": "No longer depends on, with commas between",
    "name": "Name",
    "description": "What it does",
    "directory": "Directory of the corrected files",
}
_EDITOR = "vi"


class NotAnsweredError(Exception):
    """The person ended the questions."""


def asked(
    draft: dict[str, Any], choices: Mapping[str, Sequence[str]], read: Callable[[dict[str, Any]], T]
) -> T:
    """The answer that a person gives to a question for each field; one that is refused is asked again, with what was typed.

    Args:
        draft: The payload, `...` where something is missing.
        choices: What a field can be, by its name.
        read: Makes the answer.

    Raises:
        NotAnsweredError: the input ended.
    """
    while True:
        draft = {name: _field(name, value, choices) for name, value in draft.items()}
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


def _field(name: str, value: Any, choices: Mapping[str, Sequence[str]]) -> Any:
    words = _WORDS.get(name, name)
    if isinstance(value, str):
        return _text(words, value, choices.get(name, ()))
    if name in ("depends_on", "drop_depends_on"):
        typed = _line(f"{words} [{', '.join(value) or 'none'}]: ")
        return [part.strip() for part in typed.split(",") if part.strip()] if typed else value
    say(f"{words}:")
    items = cast(list[Any], value)
    if items and isinstance(items[0], dict):
        return _objects(cast(list[dict[str, Any]], items), choices)
    kept = [_text(f"  {number}", item, ()) for number, item in enumerate(items, start=1)]
    while more := _line("  another, or Enter: "):
        kept.append(more)
    return kept


def _objects(items: list[dict[str, Any]], choices: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    filled = [{name: _field(name, value, choices) for name, value in item.items()} for item in items]
    first = next(iter(items[0]))
    while more := _line(f"{_WORDS.get(first, first)} of another one, or Enter: "):
        rest: dict[str, Any] = {
            name: FILL if isinstance(value, str) else [] for name, value in items[0].items() if name != first
        }
        filled.append({first: more, **{name: _field(name, value, choices) for name, value in rest.items()}})
    return filled


def _text(words: str, value: str, choices: Sequence[str]) -> str:
    """A text; Enter keeps what is there, a number takes a choice."""
    for number, choice in enumerate(choices, start=1):
        say(f"  {number}  {choice}")
    shown = "" if value == FILL else f" [{value}]"
    while True:
        typed = _line(f"{words}{shown}: ")
        if typed.isdecimal() and 0 < int(typed) <= len(choices):
            return choices[int(typed) - 1]
        if typed or shown:
            return typed or value


def _line(question: str) -> str:
    typed = ask(question)
    if typed is None:
        raise NotAnsweredError
    return typed
