"""`specwright trust`: have the settings of a project count that somebody sent (design: command-line)."""

from pathlib import Path
from typing import Any

import typer

from ship_gate.terminal.output import note, say, show
from ship_gate.terminal.program import AsJson
from ship_gate.trust import record_trust, shown, untrusted
from specwright.cli.commands import Directory
from specwright.errors import InputError, SpecwrightErrors


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(trust)


def trust(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Trust settings of a project that somebody sent.

    They are shown: those that say where keys, passwords and code go. They count from then on, in this place and for this
    user, until one of them changes.
    """
    from specwright.cli.session.options import decisive_options
    from specwright.settings import SETTINGS_FILE, decisive_in_file

    if not directory.is_dir():
        raise InputError("there is no such directory", where=str(directory), remedy="name a project")
    in_file = decisive_in_file(directory)
    new_store = "store" in untrusted(directory, in_file)
    _record(directory, in_file, alone=True)
    options: dict[str, Any] = {}
    if new_store:
        note(
            "The store has not been looked into; what the last run recorded there is asked about by the next command."
        )
    else:
        try:
            options = decisive_options(directory)
        except SpecwrightErrors as error:
            note(f"The options of the last run cannot be read, so none of them is trusted: {error.what}")
    _record(directory, options)
    if as_json:
        show(
            {"directory": str(directory), "settings": in_file, "options": options, "exit_code": 0}, "trusted"
        )
        return
    for place, values in ((SETTINGS_FILE, in_file), ("the last run", options)):
        for name, value in values.items():
            say(f"trusted  {name} = {shown(value)} ({place})")
    if not in_file and not options:
        say("Nothing has to be trusted here: no setting says where keys, passwords or code go.")


def _record(directory: Path, values: dict[str, Any], *, alone: bool = False) -> None:
    try:
        record_trust(directory, values, alone=alone)
    except OSError as error:
        raise InputError(
            f"what is trusted cannot be recorded: {error.strerror}",
            where=str(error.filename or "the home directory"),
            remedy="set XDG_STATE_HOME to a directory of yours",
        ) from error
