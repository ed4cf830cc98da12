"""The command `agent-wire`: validate, reduce and map Wires, and show or verify a log (design: command-line).

A SOURCE is a file with one Wire per line (`-` is standard input) or the SQLite file of a log. Rejections are results: they
are printed to stdout with their line numbers. Exit codes: 0 success, 1 something was rejected, 2 the input is unusable.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from agent_wire.a2a import LogPosition, map_wires
from agent_wire.documents import read_lines, reduce_lines, single_stream, validate_document, validate_lines
from agent_wire.entries import StoredEntry, consensus_timestamp, hcs_metadata
from agent_wire.errors import AgentWireError, InputError
from agent_wire.log import open_log_file
from agent_wire.verify import verify

_SHOWN = 20
"""How many rejections or findings are printed; `--json` prints all."""


def run() -> None:
    """Run the command line and exit with its code."""
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except AgentWireError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201  # the command line prints
        return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-wire", description="Check, reduce and show Agent Wire events."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[Any], int], argument: str, about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        added.add_argument(argument.lower(), metavar=argument, nargs="+" if argument == "FILES" else None)
        added.add_argument("--json", action="store_true", help="print the result as one JSON document")
        added.set_defaults(command=command)
        return added

    add("validate", _validate, "FILES", "Check documents: Wires, messages, parts, artifacts, agent cards.")
    reduce = add("reduce", _reduce, "SOURCE", "Reduce ordered Wires to the state of tasks and streams.")
    reduce.add_argument("--stream", default="", metavar="ID", help="only this one: task:TSK-001:attempt:1")
    add("a2a", _a2a, "SOURCE", "Show ordered Wires as A2A tasks and their updates.")
    add("log", _log, "LOG", "List the Wires of a log; --json adds their HCS metadata.")
    add("verify", _verify, "LOG", "Recompute the hash chain of a log and name each entry that was changed.")
    return parser


def _validate(options: Any) -> int:
    rows = [row for path in options.files for row in _verdicts(path)]
    bad = [row for row in rows if not row["valid"]]
    if options.json:
        _say_json({"valid": not bad, "wires": rows})
    else:
        _say_rejections([(f"{row['file']}:{row['line']}", row) for row in bad])
        _say(f"{len(rows) - len(bad)} of {len(rows)} are valid.")
    return 1 if bad else 0


def _verdicts(path: str) -> list[dict[str, Any]]:
    data = _read(path)
    by_line = path.endswith(".jsonl") or (path == "-" and not _is_json_object(data))
    return [
        {
            "file": path,
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


def _reduce(options: Any) -> int:
    data, _ = _lines(options.source)
    stream = options.stream or single_stream(data)  # references of a single stream to others are not checked
    reduction: Any = reduce_lines(data, stream_id=stream).to_json()
    tasks, streams, rejected = reduction["tasks"], reduction["streams"], reduction["rejected"]
    if options.stream and stream not in streams and not rejected:
        raise InputError(
            "the source has no such stream", where=stream, remedy="leave out --stream to list all streams"
        )
    if options.json:
        _say_json(reduction)
        return 1 if rejected else 0
    for name, length in streams.items():
        _say(f"{name}  {_state(tasks[name]) if name in tasks else _counted(length, 'Wire')}")
    if not streams and not rejected:
        _say("The source has no Wires.")
    _say_rejections([(f"rejected {row['position']}", row) for row in rejected])
    return 1 if rejected else 0


def _a2a(options: Any) -> int:
    data, positions = _lines(options.source)
    streams = map_wires(read_lines(data).wires, positions=positions)
    rejected = reduce_lines(data).rejected
    if options.json:
        _say_json({"tasks": streams})
    else:
        for task_id, responses in streams.items():
            _say(f"{task_id}  {' '.join(map(_update, responses))}")
    if rejected:
        skipped = f"{_counted(len(rejected), 'line')} skipped; run `agent-wire reduce` to see which and why"
        print(skipped, file=sys.stderr)  # noqa: T201  # the command line prints
    return 1 if rejected else 0


def _log(options: Any) -> int:
    topic, entries = _entries(options.log)
    rows = [{**hcs_metadata(topic, entry), "wire": json.loads(entry.body)} for entry in entries]
    if options.json:
        _say_json({"wires": rows})
        return 0
    for entry, row in zip(entries, rows, strict=True):
        wire: Any = row["wire"]
        _say(f"{entry.sequence_number:>5}  {wire['ts']}  {wire['type']:<16} {wire['stream']['stream_id']}")
    if not rows:
        _say("The log holds no Wires.")
    return 0


def _verify(options: Any) -> int:
    findings = [finding._asdict() for finding in verify(Path(options.log))]
    if options.json:
        _say_json({"intact": not findings, "findings": findings})
    else:
        _say_rejections([(f"{row['sequence_number'] or '-':>5}", row) for row in findings])
        _say(f"{_counted(len(findings), 'finding')}." if findings else "The log is intact.")
    return 1 if findings else 0


def _lines(source: str) -> tuple[bytes, list[LogPosition]]:
    """Return the Wires of a source, one per line, and their positions if the source is a log."""
    data = _read(source)
    if data.startswith(b"SQLite format 3\0"):
        _, entries = _entries(source)
        places = [
            LogPosition(e.sequence_number, consensus_timestamp(e.consensus_seconds, e.consensus_nanos))
            for e in entries
        ]
        return b"".join(entry.body + b"\n" for entry in entries), places
    if data.strip() and not any(map(_is_json_object, data.splitlines())):
        raise InputError("no line of this file is a JSON object", where=source, remedy=_GIVE)
    return data, []


_GIVE = "name a file with one Wire per line, or a log"


def _entries(path: str) -> tuple[str, list[StoredEntry]]:
    """Return the topic and the entries of a log file."""
    _read(path)
    with closing(open_log_file(Path(path))) as log:
        return log.topic_id, list(log.stored())


def _read(path: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        what = f"the file cannot be read: {error.strerror}"
        raise InputError(what, where=path, remedy=_GIVE) from error


def _is_json_object(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False


def _state(task: dict[str, Any]) -> str:
    blocked = f" ({task['blocked_by']['reason']})" if task["blocked"] else ""
    return f"{task['task_state']}{blocked}  {_counted(task['artifact_count'], 'artifact')}"


def _update(response: dict[str, Any]) -> str:
    (body,) = response.values()
    return body["status"]["state"].removeprefix("TASK_STATE_") if "status" in body else "artifact"


def _say_rejections(rows: list[tuple[str, dict[str, Any]]]) -> None:
    for where, row in rows[:_SHOWN]:
        pointer = f" at {row['pointer']}" if row.get("pointer") else ""
        _say(f"{where}  {row['code']}{pointer}  {row['message']}")
    if len(rows) > _SHOWN:
        _say(f"and {len(rows) - _SHOWN} more; `--json` prints all")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _say_json(value: Any) -> None:
    print(json.dumps(value, indent=2))  # noqa: T201  # the command line prints


def _say(text: str) -> None:
    """Print a line and escape control characters, which a hostile file may contain."""
    safe = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    print(safe)  # noqa: T201  # the command line prints
