"""`specwright playbook`: scripted answers as files, checked, recorded, judged (design: command-line)."""

import time
from pathlib import Path
from typing import Annotated

import typer

from specwright.cli.commands import AsJson
from specwright.gate.terminal.output import counted, note, say, show

Playbook = Annotated[Path, typer.Argument(metavar="PLAYBOOK", help="The directory with playbook.json.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Check, record and judge scripted answers.", no_args_is_help=True)
    group.command()(check)
    group.command()(record)
    group.command("gate")(judge)
    app.add_typer(group, name="playbook")


def check(playbook: Playbook, as_json: AsJson = False) -> None:
    """Everything that is wrong with a playbook, before a run."""
    from specwright.bootstrap.playbooks.check import check_playbook
    from specwright.gate.terminal.page import Page

    faults = check_playbook(playbook)
    if as_json:
        show({"valid": not faults, "faults": [fault._asdict() for fault in faults]}, "playbook-checked")
    else:
        page = Page()
        page.line(f"{'FAIL' if faults else 'PASS'}  {playbook}")
        for fault in faults:
            page.prose(f"{fault.where}  {fault.what}", 2, 2)
        page.line(counted(len(faults), "fault"))
        page.print()
    raise typer.Exit(1 if faults else 0)


def record(
    project: Annotated[Path, typer.Argument(metavar="PROJECT", help="A project past the approval.")],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The playbook, a new directory.")],
    as_json: AsJson = False,
) -> None:
    """Make a playbook of what was answered in a project.

    A run with it gives the same modules: `specwright run NEW --spec PROJECT/SPEC.md --model playbook:DIR`.
    """
    from specwright.bootstrap.playbooks.record import record_playbook

    recorded = record_playbook(project, directory)
    if as_json:
        show({"directory": str(directory), **recorded._asdict(), "exit_code": 0}, "playbook-recorded")
        return
    say(f"made  {directory} ({counted(recorded.files, 'file')})")
    for remark in recorded.remarks:
        note(f"Not repeated: {remark}.")


def judge(
    playbook: Playbook,
    module: Annotated[str, typer.Argument(metavar="MODULE", help="The name of a planned module.")],
    as_json: AsJson = False,
) -> None:
    """Judge one deliverable by itself, as a run would.

    Its contract is that of the plan; the modules that it calls are taken from the playbook too.
    """
    from specwright.bootstrap.playbooks.gate import judge_deliverable
    from specwright.cli.commands.verify import present_verdict

    began = time.monotonic()
    judged = judge_deliverable(playbook, module)
    present_verdict(judged, time.monotonic() - began, as_json=as_json)
    raise typer.Exit(1 if judged.findings else 0)
