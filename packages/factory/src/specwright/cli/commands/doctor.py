"""`specwright doctor`: is everything there that a run needs? (design: command-line)"""

from pathlib import Path

import typer

from ship_gate.terminal.output import show
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory
from specwright.cli.commands.drive import BaseUrl, FallbackModels, ModelName, RoleModels
from specwright.cli.session.options import last_options, options_for, settings_for
from specwright.cli.terminal.output import pasteable
from specwright.errors import InputError, UntrustedError

_LABELS = 13
"""Columns that a check's verdict and name take."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    directory: Directory = Path(),
    model: ModelName = "",
    role_model: RoleModels = None,
    fallback_model: FallbackModels = None,
    base_url: BaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Check that everything that a run needs is there.

    Model, schema, context, price, sandbox, index, search, disk. Each model is asked three short questions, which is the
    only thing that it costs. Options name models as in `run`, and are not kept.
    """
    from ship_gate.terminal.page import Page
    from specwright.bootstrap.doctor import diagnosis
    from specwright.settings import load_settings

    load_settings(directory, looking=True)  # damaged settings are an error, a missing model is a finding
    named = (
        options_for(directory, model, role_model or [], base_url, fallback_models=fallback_model or [])
        if model or role_model or fallback_model or base_url
        else None
    )
    try:
        settings = settings_for(directory, named or last_options(directory))
    except UntrustedError:
        raise
    except InputError as error:
        settings = error
    found = diagnosis(directory, settings)
    ok = all(check.ok for check in found.checks)
    if as_json:
        checks = [check._asdict() for check in found.checks]
        show({"ok": ok, "checks": checks, "not_checked": found.not_checked}, "doctor")
    else:
        page = Page()
        for check in found.checks:
            page.labelled(f"{'ok' if check.ok else 'MISS':<4} {check.name}", check.detail, labels=_LABELS)
            first, *commands = pasteable(check.do).splitlines() or [""]
            if first:
                page.labelled("     do:", first, labels=_LABELS)
            for command in commands:
                page.line(f"     {command}")
        page.prose(f"not looked at: {'; '.join(found.not_checked)}", hanging=4)
        page.print()
    raise typer.Exit(0 if ok else 1)
