"""What a command leaves with a project for the workers: settings, and an approval in advance (design: workers, approval).

The settings are those of the directory where the last command was typed, with its options. What belongs to a machine
stays out: keys, which are in the environment of the worker; the sandbox, which the owner of a machine chooses; the store.
Whoever can write to the store does not choose where keys go: decisive settings count if the environment of the worker says
the same, or if a command of the same user on the same machine queued the project with them.
"""

import json
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from agent_wire import canonical_json
from ship_gate.trust import described, trust_typed, untrusted
from specwright.bootstrap.costs import SCRIPTED
from specwright.bootstrap.storage.stores import RUNTIME, ProjectStore
from specwright.errors import CorruptionError, InputError, UntrustedError
from specwright.ports.store import FileTree
from specwright.settings import ENVIRONMENT_PREFIX, Settings, decisive, load_settings

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
    trust_typed(store.folder.address, decisive(chosen, Path()))
    store.folder.replace(STORED_SETTINGS, (json.dumps(chosen, sort_keys=True) + "\n").encode())


def worker_settings(store: ProjectStore, url: str, directory: Path) -> Settings:
    """The settings that a worker drives a project with.

    Args:
        store: Of the project.
        url: Its address.
        directory: Without settings: what the worker itself sets is in its environment.

    Raises:
        UntrustedError: a decisive setting is neither this environment's nor trusted here.
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
        chosen = cast(object, canonical_json.loads(store.folder.read(STORED_SETTINGS)))
    except (ValueError, RecursionError) as error:
        raise CorruptionError(
            f"the settings of the project are no JSON: {error}", where=where, remedy="queue it again"
        ) from error
    named: dict[str, Any] = cast(dict[str, Any], chosen) if isinstance(chosen, dict) else {}
    of_project = {name: value for name, value in named.items() if name not in _OF_A_MACHINE}
    own = load_settings(directory, {"drive": "here"})
    set_here = decisive(own.model_dump(mode="json", include=own.model_fields_set), directory)
    asked = untrusted(store.folder.address, decisive(of_project, directory))
    if foreign := {name: value for name, value in asked.items() if value != set_here.get(name)}:
        first = next(iter(foreign)).partition(".")[0]
        raise UntrustedError(
            f"the project has settings that count only from the environment of a worker: {described(foreign)}",
            where=where,
            remedy=f"if you want them, set {ENVIRONMENT_PREFIX}{first.upper()} for the worker; otherwise queue the project "
            "without",
        )
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
