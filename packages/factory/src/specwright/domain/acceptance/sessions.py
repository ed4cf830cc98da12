"""A session at a console: command lines, the files before and after, and what is printed (design: executable-spec, shell).

    $ cat > notes/a.md
    see https://example.org
    $ linkwatch scan notes --json < settings.json
    []
    [stderr] nothing is dead
    [exit 1]
    $ cat report.txt
    [no such file]
    $ hosts
    https://gone.example/ 404
    $ clock 2026-03-09T12:00:00+00:00
    $ linkwatch check
    checked: 1
    [asks] HEAD https://gone.example/

`cat > FILE` writes a file, `cat FILE` shows what it must hold. `hosts` says what hosts answer from here on
(`scripted_hosts`), and `clock` what time it is. Any other line after `$ ` calls the product's command. Below a call stands
what it prints; a line `...` stands for any lines. Without `[exit N]` the exit code is 0. The lines of stderr are how it
begins; those of `[asks]`, or `[asks nothing]`, all requests to hosts in their order. A backslash before `$ ` or `[` at the
start of a line is left out.
"""

import json
import re
import shlex
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from specwright.domain.acceptance.scripted_hosts import HostAnswer, host_answers

_PROMPT = "$ "
_EXIT = re.compile(r"\[exit ([0-9]{1,3})\]")
_STDERR = "[stderr] "
_ASKS = "[asks] "
_ASKS_NOTHING = "[asks nothing]"
_MISSING = "[no such file]"
_ESCAPED = re.compile(r"\\(?=\$ |\[|\\)")
_SHELL = re.compile(r"[|&;`$()*?~<>]")
RESERVED = ("cat", "clock", "hosts")
"""What a line of a session does without the product's command."""


class SessionFile(NamedTuple):
    """A file that is written before, or shown after, a call; None is one that is not there."""

    action: Literal["write", "show"]
    path: str
    text: str | None


class SessionHosts(NamedTuple):
    """What hosts answer from here on; what was said of them before is forgotten."""

    answers: tuple[HostAnswer, ...]


class SessionClock(NamedTuple):
    """What time it is when the next call begins, with its zone; the calls after it go on from there."""

    moment: str


class SessionCall(NamedTuple):
    """A call of the product's command.

    Args:
        line: As it is written.
        command: Its first word.
        arguments: Its other words.
        stdin: The file that is its input; empty if there is none.
        stdout: What it prints.
        stderr: How what it complains of begins; None if that is open.
        code: Its exit code.
        asks: The requests that it sends to hosts, `HEAD https://a.example/`; None if that is open.
    """

    line: str
    command: str
    arguments: tuple[str, ...]
    stdin: str
    stdout: str
    stderr: str | None
    code: int
    asks: tuple[str, ...] | None = None


SessionStep: TypeAlias = SessionFile | SessionHosts | SessionClock | SessionCall


def session_steps(text: str) -> list[SessionStep]:
    """Read a session.

    Raises:
        ValueError: it is none; the message says in which line and what to write.
    """
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    if not lines[0].startswith(_PROMPT):
        raise ValueError(f"the console begins with {lines[0]!r}; begin with a call such as `$ name --option`")
    starts = [place for place, line in enumerate(lines) if line.startswith(_PROMPT)]
    steps = [
        _step(lines[start].removeprefix(_PROMPT).strip(), _without_last_blanks(lines[start + 1 : end]))
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]
    if not any(isinstance(step, SessionCall) for step in steps):
        raise ValueError("the console calls no command; write a line such as `$ name --option`")
    for place, step in enumerate(steps):
        if isinstance(step, SessionCall) and step.stdin and not _is_written(step.stdin, steps[:place]):
            raise ValueError(f"`$ {step.line}`: write `$ cat > {step.stdin}` with its input before it")
    return steps


def _is_written(path: str, steps: Sequence[SessionStep]) -> bool:
    return any(isinstance(one, SessionFile) and (one.action, one.path) == ("write", path) for one in steps)


def session_calls(text: str) -> list[SessionCall]:
    """The calls of a session; none of a text that is no session."""
    if not text:
        return []
    try:
        return [step for step in session_steps(text) if isinstance(step, SessionCall)]
    except ValueError:
        return []


def _without_last_blanks(lines: Sequence[str]) -> list[str]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return list(lines[:end])


def _step(line: str, below: list[str]) -> SessionStep:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(f"`$ {line}` is no command line: {error}") from error
    if not words:
        raise ValueError("a `$` stands alone; write the call after it")
    if words[0] in RESERVED:
        return _surroundings(line, words, below)
    stdin = ""
    if len(words) > 2 and words[-2] == "<":
        stdin, words = _path(words[-1], line), words[:-2]
        line_of_words = line.rpartition("<")[0]
    else:
        line_of_words = line
    if outside := _SHELL.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", line_of_words)):
        raise ValueError(
            f"`$ {line}`: {outside[0]!r} is for a shell, and none runs; quote it, or leave it out"
        )
    return _call(line, words, stdin, below)


def _surroundings(line: str, words: Sequence[str], below: list[str]) -> SessionStep:
    """A step that calls nothing."""
    if words[0] == "cat":
        return _file(line, words, below)
    if words[0] == "hosts":
        if words[1:]:
            raise ValueError(f"`$ {line}`: write `$ hosts` alone, and below it a line for each answer")
        return SessionHosts(host_answers(below))
    if below:
        raise ValueError(f"`$ {line}` prints nothing; write the next call below it")
    return SessionClock(_moment(line, words[1:]))


def _moment(line: str, words: Sequence[str]) -> str:
    try:
        (text,) = words
        if datetime.fromisoformat(text).tzinfo is not None:
            return text
    except ValueError:
        pass
    raise ValueError(f"`$ {line}`: write a time with its zone, `$ clock 2026-03-09T12:00:00+00:00`")


def _file(line: str, words: Sequence[str], below: list[str]) -> SessionFile:
    match words[1:]:
        case [">", name]:
            return SessionFile("write", _path(name, line), _text(below))
        case [name] if name != ">":
            return SessionFile("show", _path(name, line), None if below == [_MISSING] else _text(below))
        case _:
            raise ValueError(f"`$ {line}`: write `$ cat > FILE` before a call, or `$ cat FILE` after it")


def _path(name: str, line: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts:
        raise ValueError(f"`$ {line}`: {name!r} is not a path below the folder of the session")
    return "/".join(parts)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{_ESCAPED.sub('', line, count=1)}\n" for line in lines)


def _call(line: str, words: Sequence[str], stdin: str, below: Sequence[str]) -> SessionCall:
    stdout: list[str] = []
    stderr: list[str] = []
    asks: list[str] | None = None
    code = 0
    for place, said in enumerate(below):
        if found := _EXIT.fullmatch(said.strip()):
            code = int(found[1])
            if place != len(below) - 1:
                raise ValueError(f"`$ {line}`: {said!r} is not the last line of its call; put it there")
        elif said.startswith(_STDERR):
            stderr.append(said.removeprefix(_STDERR))
        elif said.startswith(_ASKS) or said.strip() == _ASKS_NOTHING:
            asks = [*(asks or ()), *([said.removeprefix(_ASKS).strip()] if said.startswith(_ASKS) else ())]
        else:
            stdout.append(said)
    complaint = "\n".join(stderr) if stderr else None
    requests = None if asks is None else tuple(asks)
    return SessionCall(line, words[0], tuple(words[1:]), stdin, _text(stdout), complaint, code, requests)


def printed_as(expected: str, found: str) -> bool:
    """Whether a text is the expected one; white space at its end is no difference, nor is the layout of a JSON document, and
    a line `...` is any lines."""
    if (document := _json_document(expected)) is not None and document == _json_document(found):
        return True
    wanted, came = expected.rstrip().split("\n"), found.rstrip().split("\n")
    if "..." not in wanted:
        return wanted == came
    pattern = "".join("(?:.*\n)*?" if line == "..." else f"{re.escape(line)}\n" for line in wanted)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in came)) is not None


def _json_document(text: str) -> str | None:
    """An object or a list in one layout; None of any other text."""
    try:
        value: Any = json.loads(text) if text.lstrip()[:1] in {"{", "["} else None
    except (ValueError, RecursionError):
        return None
    return None if value is None else json.dumps(value, sort_keys=True)
