"""`specwright wire`: Agent Wire in files and in a project's log (DESIGN §9, W)."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from specwright.cli.output import say, show
from specwright.errors import InputError

__all__ = ["register"]

Directory = Annotated[Path, typer.Argument(help="The project's directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Lines = Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="One Wire a line; - for standard input.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        help="Agent Wire: validate, reduce, map to A2A, look at a project's log.", no_args_is_help=True
    )
    group.command()(validate)
    group.command()(reduce)
    group.command()(a2a)
    group.command(name="log")(show_log)
    group.command()(verify)
    app.add_typer(group, name="wire")


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="A Wire each; or .jsonl, one Wire a line.")
    ],
    as_json: AsJson = False,
) -> None:
    """Check Wires by themselves: bytes, schema, content boundary."""
    from specwright.wire.documents import validate_document, validate_lines

    rows: list[dict[str, Any]] = []
    for path in files:
        data = _read(path)
        verdicts = validate_lines(data) if path.suffix == ".jsonl" else [validate_document(data)]
        for verdict in verdicts:
            found = verdict.rejection
            rows.append(
                {
                    "file": str(path),
                    "line": verdict.line,
                    "wire_id": verdict.wire_id,
                    "valid": found is None,
                    "code": found.code if found else None,
                    "pointer": found.pointer if found else None,
                    "message": found.message if found else None,
                }
            )
    bad = [row for row in rows if not row["valid"]]
    if as_json:
        show({"valid": not bad, "wires": rows})
    else:
        for row in bad:
            say(f"{row['file']}:{row['line']}  {row['code']}  {row['pointer'] or '/'}  {row['message']}")
        say(f"{len(rows) - len(bad)} of {len(rows)} Wires are valid.")
    raise typer.Exit(1 if bad else 0)


def reduce(file: Lines, as_json: AsJson = False) -> None:
    """Reduce ordered Wires to the state of every task."""
    from specwright.wire.documents import reduce_lines

    told = reduce_lines(_read(file)).to_json()
    rejected: Any = told["rejected"]
    if as_json:
        show(told)
    else:
        tasks: Any = told["tasks"]
        for name, task in tasks.items():
            blocked = f" ({task['blocked_by']['reason']})" if task["blocked"] else ""
            say(f"{name}  {task['task_state']}{blocked}  {task['artifact_count']} artifacts")
        for entry in rejected:
            say(f"rejected {entry['position']}  {entry['code']}  {entry['message']}")
    raise typer.Exit(1 if rejected else 0)


def a2a(file: Lines, as_json: AsJson = False) -> None:
    """The same Wires as A2A tasks and their update streams."""
    from specwright.wire.a2a import map_wires
    from specwright.wire.documents import read_lines

    lines = read_lines(_read(file))
    if lines.unreadable:
        first = lines.unreadable[0]
        raise InputError(
            first.rejection.message, where=f"{file}:{first.position}", remedy="`specwright wire validate`"
        )
    streams = map_wires(lines.wires)
    if as_json:
        show(streams)
        return
    for task_id, responses in streams.items():
        say(f"{task_id}: {len(responses)} updates")


def show_log(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every Wire of a project with its proof."""
    from specwright.bootstrap import stored_wires

    rows = stored_wires(directory)
    if as_json:
        show(rows)
        return
    for row in rows:
        wire = row["wire"]
        say(
            f"{row['hcs']['sequence_number']:>5}  {wire['ts']}  {wire['type']:<16} {wire['stream']['stream_id']}"
        )


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Check the log's chain: flipped, dropped, swapped, inserted and cut-off entries are named."""
    from specwright.bootstrap import log_findings

    found = log_findings(directory)
    if as_json:
        show({"intact": not found, "findings": found})
    else:
        for finding in found:
            say(f"{finding['sequence_number']:>5}  {finding['code']}  {finding['message']}")
        say("The log is intact." if not found else f"{len(found)} findings.")
    raise typer.Exit(1 if found else 0)


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=str(path)) from error
