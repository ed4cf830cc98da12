"""`specwright wire`: Agent Wire in files and in a project's log (design: command-line).

Wires are read from a file with one Wire a line, from standard input (`-`), or from the log of a project. Rejections
are the result and go to stdout, with their lines.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.commands import AsJson, Directory
from specwright.domain.base.text import did_you_mean
from specwright.errors import InputError
from specwright.gate.terminal.output import counted, note, say, show

if TYPE_CHECKING:
    from specwright.wire.a2a import LogPosition

Source = Annotated[
    Path,
    typer.Argument(
        metavar="FILE.jsonl", help="One Wire a line; - for standard input; or a project's directory."
    ),
]
_SHOWN = 20
"""How many rejections or findings are printed; `--json` has them all."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="Look at a project's log of events, and check it.", no_args_is_help=True)
    group.command()(validate)
    group.command()(reduce)
    group.command()(a2a)
    group.command(name="log")(show_log)
    group.command()(verify)
    app.add_typer(group, name="wire")


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A Wire, message, part, artifact, agent card or HCS metadata each; .jsonl: one a line; - for "
            "standard input.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Check Wires one by one, whatever their order.

    Bytes, schema and content boundary; `reduce` says whether they may follow each other.
    """
    rows = [row for path in files for row in _verdicts(path)]
    bad = [row for row in rows if not row["valid"]]
    if as_json:
        show({"valid": not bad, "wires": rows}, "wires-validated")
    else:
        _say_rejections([(f"{row['file']}:{row['line']}", row) for row in bad])
        say(f"{len(rows) - len(bad)} of {len(rows)} are valid.")
    raise typer.Exit(1 if bad else 0)


def reduce(
    file: Source,
    stream: Annotated[
        str, typer.Option("--stream", metavar="ID", help="This stream alone, as task:TSK-001:attempt:1.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Reduce ordered Wires to a state: tasks, artifacts, projects.

    A single stream takes what it refers to in other streams as given.
    """
    from specwright.wire.documents import reduce_lines, single_stream

    data = _lines(file)
    alone = stream or ("" if file.is_dir() else single_stream(data))
    reduction: Any = reduce_lines(data, stream_id=alone).to_json()
    if stream and stream not in reduction["streams"] and not reduction["rejected"]:
        raise InputError(
            "there is no such stream in it",
            where=stream,
            remedy=f"{did_you_mean(stream, reduction['streams'])}without --stream all of them are listed",
        )
    tasks, streams, rejected = reduction["tasks"], reduction["streams"], reduction["rejected"]
    if as_json:
        show(reduction, "reduction")
    else:
        for name, seq in streams.items():
            say(f"{name}  {_state(tasks[name]) if name in tasks else counted(seq, 'Wire')}")
        if not streams and not rejected:
            say("There are no Wires in it.")
        _say_rejections([(f"rejected {row['position']}", row) for row in rejected])
    raise typer.Exit(1 if rejected else 0)


def a2a(file: Source, as_json: AsJson = False) -> None:
    """The same Wires as A2A tasks and their update streams.

    Those of a project carry their sequence numbers and consensus times.
    """
    from specwright.wire.a2a import map_wires
    from specwright.wire.documents import read_lines, reduce_lines

    data = _lines(file)
    streams = map_wires(read_lines(data).wires, positions=_positions(file))
    rejected = reduce_lines(data).rejected
    if as_json:
        show({"tasks": streams}, "a2a-streams")
    else:
        for task_id, responses in streams.items():
            say(f"{task_id}  {' '.join(map(_update, responses))}")
    if rejected:
        note(f"{counted(len(rejected), 'line')} passed over; `specwright wire reduce` says which and why.")
    raise typer.Exit(1 if rejected else 0)


def show_log(
    directory: Directory = Path(),
    lines: Annotated[
        bool, typer.Option("--lines", help="The Wires alone, one a line, as `reduce` and `a2a` read them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Every Wire of a project with its proof."""
    from specwright.bootstrap.views.reading import stored_wires

    if lines and as_json:
        raise InputError("--lines and --json are two forms of one result", remedy="choose one of them")
    if lines:
        typer.echo(_project_lines(directory).decode(), nl=False)
        return
    rows = stored_wires(directory)
    if as_json:
        show({"wires": rows}, "wire-log")
        return
    if not rows:
        say("The log holds no Wires.")
    for row in rows:
        wire = row["wire"]
        say(
            f"{row['hcs']['sequence_number']:>5}  {wire['ts']}  {wire['type']:<16} {wire['stream']['stream_id']}"
        )


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is the log what was written?

    The chain of hashes is recomputed: entries that were altered, dropped, swapped, inserted or cut off are named.
    """
    from specwright.bootstrap.views.reading import log_findings

    findings = log_findings(directory)
    if as_json:
        show({"intact": not findings, "findings": findings}, "log-verified")
    else:
        _say_rejections([(f"{row['sequence_number'] or '-':>5}", row) for row in findings])
        say(f"{counted(len(findings), 'finding')}." if findings else "The log is intact.")
    raise typer.Exit(1 if findings else 0)


def _verdicts(path: Path) -> list[dict[str, Any]]:
    """The verdicts on one file, a row for each document."""
    from specwright.wire.documents import validate_document, validate_lines

    data = _read(path)
    by_line = path.suffix == ".jsonl" or (str(path) == "-" and not _is_one_document(data))
    return [
        {
            "file": str(path),
            "line": verdict.line,
            "kind": verdict.kind,
            "wire_id": verdict.wire_id,
            "valid": verdict.rejection is None,
            "code": verdict.rejection.code if verdict.rejection else None,
            "pointer": verdict.rejection.pointer if verdict.rejection else None,
            "message": verdict.rejection.message if verdict.rejection else None,
        }
        for verdict in (validate_lines(data) if by_line else [validate_document(data)])
    ]


def _lines(source: Path) -> bytes:
    """The Wires of a source, one a line."""
    if source.is_dir():
        return _project_lines(source)
    data = _read(source)
    if data.strip() and not any(map(_is_one_document, data.splitlines())):
        raise InputError(
            "no line of it is a JSON object",
            where=str(source),
            remedy="`specwright wire log DIR --lines` writes one Wire a line",
        )
    return data


def _project_lines(directory: Path) -> bytes:
    from specwright import canonical_json
    from specwright.bootstrap.views.reading import stored_wires

    return b"".join(canonical_json.canonical(row["wire"]) + b"\n" for row in stored_wires(directory))


def _positions(source: Path) -> "list[LogPosition]":
    """The place of each Wire in the log of a project; none for a file."""
    from specwright.bootstrap.views.reading import stored_wires
    from specwright.wire.a2a import LogPosition

    if not source.is_dir():
        return []
    proofs = [row["hcs"] for row in stored_wires(source)]
    return [LogPosition(hcs["sequence_number"], hcs["consensus_timestamp"]) for hcs in proofs]


def _is_one_document(data: bytes) -> bool:
    import orjson

    try:
        return isinstance(orjson.loads(data), dict)
    except ValueError:
        return False


def _state(task: dict[str, Any]) -> str:
    blocked = f" ({task['blocked_by']['reason']})" if task["blocked"] else ""
    return f"{task['task_state']}{blocked}  {counted(task['artifact_count'], 'artifact')}"


def _update(response: dict[str, Any]) -> str:
    (body,) = response.values()
    return body["status"]["state"].removeprefix("TASK_STATE_") if "status" in body else "artifact"


def _say_rejections(rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Where, which rule, and the message; of many, the first ones."""
    for where, row in rows[:_SHOWN]:
        pointer = f" at {row['pointer']}" if row.get("pointer") else ""
        say(f"{where}  {row['code']}{pointer}  {row['message']}")
    if len(rows) > _SHOWN:
        say(f"and {len(rows) - _SHOWN} more; `--json` has them all")


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", where=str(path)) from error
