"""`specwright deprecate`: retire a sealed module version (design: deprecation, command-line)."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ship_gate.base.text import closest
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory
from specwright.cli.terminal.output import next_command
from specwright.errors import InputError, SpecwrightErrors

if TYPE_CHECKING:
    from specwright.domain.modules.code_index import DeprecationRequest


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(deprecate)


def deprecate(
    module: Annotated[str, typer.Argument(metavar="MM-ID@VERSION", help="As `specwright modules` lists it.")],
    directory: Directory = Path(),
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is not to be used any more.")] = "",
    migration_note: Annotated[
        str, typer.Option(metavar="TEXT", help="What those that use it do instead.")
    ] = "",
    replacement: Annotated[
        str, typer.Option(metavar="MM-ID@VERSION", help="The version that takes its place.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Retire a module version: it stays, but is no longer offered.

    Searches leave it out from then on, and a release refuses what still depends on it.
    """
    asked = _request(module, reason, migration_note, replacement, directory)
    from specwright.cli.session import runner
    from specwright.settings import load_settings

    runner.deprecate(directory, load_settings(directory), asked, as_json=as_json)


def _request(
    module: str, reason: str, migration_note: str, replacement: str, directory: Path
) -> "DeprecationRequest":
    for option, text in (("--reason", reason), ("--migration-note", migration_note)):
        if not text.strip():
            raise InputError(
                f"a deprecation needs {option}",
                where=module,
                remedy='specwright deprecate MM-ID@VERSION DIR --reason "..." --migration-note "..."',
            )
    from pydantic import ValidationError

    from ship_gate.base.ids import ModuleRef
    from ship_gate.base.record import validation_messages
    from specwright.domain.modules.code_index import DeprecationRequest

    try:
        for ref in filter(None, (module, replacement)):
            ModuleRef.parse(ref)
        return DeprecationRequest(
            module_ref=module,
            reason=reason,
            migration_note=migration_note,
            replacement=replacement or None,
        )
    except ValueError as error:
        said = validation_messages(error) if isinstance(error, ValidationError) else [str(error)]
        raise InputError(
            "; ".join(said),
            remedy=f"{_version_meant(module, directory)}`{next_command('modules', directory)}` lists the versions",
        ) from error


def _version_meant(wanted: str, directory: Path) -> str:
    """A sentence with the version of the module that is named without one."""
    from specwright.bootstrap.views.reading import reading_project

    with suppress(*SpecwrightErrors), reading_project(directory) as view:
        named = {name: ref for ref in view.modules.refs() for name in (view.modules.contract(ref).name, ref)}
        named |= {ref.partition("@")[0]: ref for ref in view.modules.refs()}
        like = closest(wanted, named)
        return f"did you mean `{named[like]}`? " if like else ""
    return ""
