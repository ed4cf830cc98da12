"""Which settings of a directory its user trusts.

A directory that somebody sent can name where secrets and code go: the address that gets the API key, the database that
gets the password, whether code is confined. Such settings are decisive. They count from the environment and the command
line; those that travel with the directory count once the user has trusted them. The record is outside the directory, so
that nothing that was sent can be trusted by what was sent with it.

Values are recorded as hashes: a value that has changed is not trusted. Which settings are decisive is said where
they are read (`ship_gate.settings`, `specwright.settings`).
"""

import json
import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from ship_gate.canonical_json import sha256
from ship_gate.errors import UntrustedError
from ship_gate.terminal.output import note, without_logins

_LONGEST_VALUE_SHOWN = 2_000


def untrusted(place: Path | str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the decisive settings of a place that the user of this machine has not trusted.

    Args:
        place: Where the settings come from: a directory, or a project in a database by its address.
        values: The decisive settings by name, as JSON values.
    """
    if not values:
        return {}
    trusted = _read().get(_key(place), ())
    return {name: value for name, value in values.items() if _hash(name, value) not in trusted}


def record_trust(place: Path | str, values: Mapping[str, Any], *, alone: bool = False) -> None:
    """Trust decisive settings of a place.

    Args:
        place: Where the settings come from.
        values: The decisive settings by name.
        alone: Whether nothing else is trusted there any more.

    Raises:
        OSError: the record cannot be written.
    """
    record, key = _read(), _key(place)
    before = [] if alone else record.get(key, [])
    hashes = sorted({*before, *(_hash(name, value) for name, value in values.items())})
    if hashes != record.get(key, []):
        _write({**record, key: hashes})


def trust_typed(place: Path | str, values: Mapping[str, Any]) -> None:
    """Trust decisive settings that the user has given to a command; if they cannot be recorded, a later one asks."""
    with suppress(OSError):
        record_trust(place, values)


def refusal(directory: Path, values: Mapping[str, Any], where: str) -> UntrustedError:
    """The error about settings that are not trusted.

    Args:
        directory: Where the settings come from.
        values: Those settings.
        where: The file that has them.
    """
    error = UntrustedError(
        f"a setting came with the directory and is not trusted: {described(values)}",
        where=where,
        remedy=f"if you want it, `{trust_command(directory)}`; otherwise remove it, or set another by option or variable",
    )
    error.asked = str(directory), values
    return error


def note_ignored(directory: Path, values: Mapping[str, Any], why: str) -> None:
    """Say once in this process that settings of a directory are ignored."""
    if values:
        _note_once(f"Ignored in {shown(str(directory))}: {described(values)}; {why}")


def trust_command(directory: Path) -> str:
    """The command that trusts the settings of a directory."""
    return f"specwright trust {shlex.quote(str(directory))}"


def described(values: Mapping[str, Any]) -> str:
    """Settings for a person, without control characters."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def shown(value: object) -> str:
    """A value for a person: without logins, and with control characters and marks that reorder text escaped."""
    text = without_logins(repr(value))
    return text if len(text) <= _LONGEST_VALUE_SHOWN else text[:_LONGEST_VALUE_SHOWN] + "..."


@cache
def _note_once(text: str) -> None:
    note(text)


def _hash(name: str, value: object) -> str:
    return sha256(json.dumps({name: value}, sort_keys=True).encode())


def _key(place: Path | str) -> str:
    return place if isinstance(place, str) else os.path.realpath(place)


def _file() -> Path:
    """The record.

    Raises:
        OSError: there is no home directory.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():  # a relative one could lie in the directory that was sent
        try:
            state = Path.home() / ".local" / "state"
        except RuntimeError as error:
            raise FileNotFoundError(2, "there is no home directory") from error
    return state / "specwright" / "trusted.json"


def _read() -> dict[str, list[str]]:
    """The record; one that cannot be read trusts nothing."""
    try:
        found = cast(object, json.loads(_file().read_bytes()))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    named = cast(dict[str, object], found)
    return {
        key: [one for one in cast(list[object], hashes) if isinstance(one, str)]
        for key, hashes in named.items()
        if isinstance(hashes, list)
    }


def _write(record: Mapping[str, list[str]]) -> None:
    file = _file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(record, stream, indent=1, sort_keys=True)
    temporary.replace(file)
