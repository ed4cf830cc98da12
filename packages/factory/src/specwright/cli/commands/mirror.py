"""The commands that mirror a project's log: to a database for reading, and on a Hedera topic (design: command-line,
read-model, hedera)."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.terminal.output import counted, note, say, show
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory
from specwright.cli.terminal.output import next_command
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.bootstrap.mirrors import Mirror, MirrorStatus


Topic = Annotated[
    str, typer.Option("--topic", metavar="0.0.N", help="The topic; else the setting topic below [hedera].")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(mirror)
    group = typer.Typer(help="Mirror a project's log on a Hedera topic.", no_args_is_help=True)
    group.command()(submit)
    group.command()(read)
    app.add_typer(group, name="hedera")


def mirror(
    directory: Directory = Path(),
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="sqlite:///... or postgresql://...; else the setting mirror."
        ),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow/--once", help="Go on as the log grows, or end when all is mirrored.")
    ] = True,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="First mirror the whole log anew, in one transaction.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Only show how far it is mirrored.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mirror the log to a database that others read.

    Runs until it is interrupted, unless --once is given. The log stays the truth: the tables can be dropped.
    """
    from specwright.bootstrap.mirrors import open_mirror
    from specwright.cli.session.interruption import interruptible

    if status and rebuild:
        raise InputError("--status only looks, --rebuild writes", remedy="choose one of them")
    follows = follow and not status and not as_json
    go_on = next_command("mirror", directory, "--to URL" if to else "")  # not the URL: it may hold a password
    with interruptible(go_on, as_json=as_json), open_mirror(directory, to) as (opened, where):
        if follows:
            _follow(opened, where, rebuild=rebuild)
        found = opened.status() if status else opened.rebuild() if rebuild else opened.catch_up()
    if as_json:
        show(_document(found, where), "mirror")
    else:
        say(_line(found, where))


def _follow(opened: "Mirror", where: str, *, rebuild: bool) -> None:
    if rebuild:
        note(_line(opened.rebuild(), where))
    for found in opened.follow(time.sleep):
        note(_line(found, where))


def _line(found: "MirrorStatus", where: str) -> str:
    if not found.log_id:
        return f"The log holds no Wires yet; nothing is mirrored to {where}."
    mirrored = f"{found.position.sequence_number:,} of {counted(found.log_end, 'Wire')} mirrored to {where}"
    if found.problem:
        return f"{mirrored}; {found.problem}"
    return f"{mirrored}, {found.behind:,.1f} s behind" if found.lag else mirrored


def _document(found: "MirrorStatus", where: str) -> dict[str, Any]:
    return {
        "to": where,
        "log_id": found.log_id,
        "position": found.position.sequence_number,
        "running_hash": found.position.running_hash,
        "log_end": found.log_end,
        "lag": found.lag,
        "lag_seconds": found.behind,
    }


def submit(directory: Directory = Path(), topic: Topic = "", as_json: AsJson = False) -> None:
    """Submit what the log has and the topic has not, each Wire once and in order.

    May be interrupted at any moment; the next call goes on.
    """
    from specwright.bootstrap.mirrors import submit_log
    from specwright.cli.session.interruption import interruptible

    with interruptible(next_command("hedera submit", directory), as_json=as_json):
        status = submit_log(directory, topic)
    if as_json:
        show(status._asdict(), "hedera-submitted")
    else:
        say(
            f"{counted(status.submitted, 'Wire')} submitted; {status.placed:,} of {status.log_end:,} are on the topic."
        )


def read(directory: Directory = Path(), topic: Topic = "", as_json: AsJson = False) -> None:
    """Read the topic back from a mirror node: is it what was submitted, and what does it say?

    Of two claims for one task the one that came first holds; what is not admissible is listed.
    """
    from specwright.bootstrap.mirrors import message_row, read_topic

    state = read_topic(directory, topic)
    reduction = state.reduction.to_json()
    rejected: list[dict[str, str]] = reduction["rejected"]  # pyright: ignore[reportAssignmentType]
    if as_json:
        rows = [message_row(state.topic, message) for message in state.messages]
        show({"placed": state.placed, "messages": rows, "reduction": reduction}, "hedera-read")
    else:
        say(
            f"{counted(len(state.messages), 'message')}, chain intact; {state.placed:,} are Wires of this log."
        )
        for row in rejected:
            say(f"rejected {row['position']}  {row['code']}  {row['message']}")
    raise typer.Exit(1 if rejected else 0)
