"""`specwright wire`: a project's log of events (design: command-line).

Files of Wires are for `agent-wire`, the command of the wire package.
"""

from pathlib import Path
from typing import Annotated

import typer

from ship_gate.terminal.output import counted, say, show
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory
from specwright.errors import InputError

_SHOWN = 20
"""How many findings are printed; `--json` has them all."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Show a project's log of events, and check it.", no_args_is_help=True)
    group.command(name="log")(show_log)
    group.command()(verify)
    app.add_typer(group, name="wire")


def show_log(
    directory: Directory = Path(),
    lines: Annotated[
        bool, typer.Option("--lines", help="The Wires alone, one a line, as `agent-wire` reads them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Every Wire of a project with its proof."""
    from agent_wire import canonical_json
    from specwright.bootstrap.views.reading import stored_wires

    if lines and as_json:
        raise InputError("--lines and --json are two forms of one result", remedy="choose one of them")
    rows = stored_wires(directory)
    if lines:
        for row in rows:
            typer.echo(canonical_json.canonical(row["wire"]).decode())
    elif as_json:
        show({"wires": rows}, "wire-log")
    elif not rows:
        say("The log holds no Wires.")
    else:
        for row in rows:
            number, wire = row["hcs"]["sequence_number"], row["wire"]
            say(f"{number:>5}  {wire['ts']}  {wire['type']:<16} {wire['stream']['stream_id']}")


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is the log what was written?

    The chain of hashes is recomputed: entries that were altered, dropped, swapped, inserted or cut off are named.
    """
    from specwright.bootstrap.views.reading import log_findings

    findings = log_findings(directory)
    if as_json:
        show({"intact": not findings, "findings": findings}, "log-verified")
    else:
        for row in findings[:_SHOWN]:
            say(f"{row['sequence_number'] or '-':>5}  {row['code']}  {row['message']}")
        if len(findings) > _SHOWN:
            say(f"and {len(findings) - _SHOWN} more; `--json` has them all")
        say(f"{counted(len(findings), 'finding')}." if findings else "The log is intact.")
    raise typer.Exit(1 if findings else 0)
