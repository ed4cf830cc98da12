"""What a command leaves with a project for the workers: settings, and an approval in advance (design: workers, approval).

The settings are those of the directory where the last command was typed, with its options. What belongs to a machine
stays out: keys, which are in the environment of the worker; the sandbox, which the owner of a machine chooses; the store.
"""

import json
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from specwright.bootstrap.costs import SCRIPTED
from specwright.bootstrap.storage.stores import RUNTIME, ProjectStore
from specwright.errors import CorruptionError, InputError
from specwright.ports.store import FileTree
from specwright.settings import Settings, load_settings

STORED_SETTINGS = f"{RUNTIME}/settings.json"
_APPROVED = f"{RUNTIME}/approved_in_advance"
"""Every other answer is in the log, or beside the draft, when the command that took it returns. This one is for a draft that
nobody has written yet; it holds for one change, and until the next command."""
_OF_A_MACHINE = {"store", "drive", "mirror", "hedera", "sandbox"}


def store_settings(store: ProjectStore, settings: Settings) -> None:
    """Keep the settings of a command with the project."""
    chosen = settings.model_dump(mode="json", include=settings.model_fields_set - _OF_A_MACHINE)
    if "model" in chosen:
        chosen["model"] = _absolute(chosen["model"])
    if "role_models" in chosen:
        chosen["role_models"] = {role: _absolute(name) for role, name in chosen["role_models"].items()}
    store.folder.replace(STORED_SETTINGS, (json.dumps(chosen, sort_keys=True) + "\n").encode())


def worker_settings(store: ProjectStore, url: str, directory: Path) -> Settings:
    """The settings that a worker drives a project with.

    Args:
        store: Of the project.
        url: Its address.
        directory: Without settings: what the worker itself sets is in its environment.

    Raises:
        InputError: no command has queued the project, or this version does not know what it sets.
        CorruptionError: they are no JSON.
    """
    where = f"{store.folder.address}/{STORED_SETTINGS}"
    if not store.folder.exists(STORED_SETTINGS):
        raise InputError(
            "the project has no settings for workers",
            where=where,
            remedy="queue it with `specwright run`, with `drive` set to workers",
        )
    try:
        chosen = cast(object, json.loads(store.folder.read(STORED_SETTINGS)))
    except (ValueError, RecursionError) as error:
        raise CorruptionError(
            f"the settings of the project are no JSON: {error}", where=where, remedy="queue it again"
        ) from error
    named: dict[str, Any] = cast(dict[str, Any], chosen) if isinstance(chosen, dict) else {}
    of_project = {name: value for name, value in named.items() if name not in _OF_A_MACHINE}
    own = load_settings(directory, {"drive": "here"})
    try:
        return Settings.model_validate({**of_project, "store": url, "sandbox": own.sandbox})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"this version cannot use a setting of the project: {'.'.join(map(str, fault['loc']))}: {fault['msg']}",
            where=where,
            remedy="run the workers with the version of Specwright that queued it",
        ) from error


def leave_approval(folder: FileTree, change: int | None) -> None:
    """Approve the next draft of a change in advance, or none."""
    folder.replace(_APPROVED, b"" if change is None else str(change).encode())


def approved_in_advance(folder: FileTree, change: int) -> bool:
    """Whether the next draft of a change is approved in advance."""
    return folder.exists(_APPROVED) and folder.read(_APPROVED) == str(change).encode()


def _absolute(model: str) -> str:
    """A scripted model by a path that holds from any directory."""
    kind, _, rest = model.partition(":")
    return f"{kind}:{Path(rest).expanduser().resolve()}" if f"{kind}:" in SCRIPTED and rest else model
