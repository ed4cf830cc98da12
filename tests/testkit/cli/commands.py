"""The command line as tests use it: in this process where the words matter, in one of its own where the process does."""

import contextlib
import functools
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import typer

from specwright.cli.main import app, main
from testkit.paths import ROOT
from testkit.recorded_gate import recorded_gate
from testkit.trusting import trusting

__all__ = [
    "PLAYBOOK",
    "ROOT",
    "SMALL",
    "SPEC",
    "Told",
    "command",
    "each_in_one_process",
    "everything",
    "filled_in",
    "in_own_process",
    "refusal",
    "specwright",
]

SMALL = ROOT / "examples/nameplate"
"""A product of one task and one module, with its playbook."""

PLAYBOOK = f"playbook:{SMALL / 'playbook'}"
SPEC = "# Nameplate\n\nA library that makes the initials of a name.\n"


class Told(NamedTuple):
    """What a command printed and returned."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    def refuses(self, *words: str, code: int = 2) -> None:
        """One message with these words: what, where or what to do; no traceback, nothing on stdout."""
        assert self.code == code, self
        assert self.out == ""
        assert self.err.count("specwright: ") >= 1
        assert "Traceback" not in self.err
        assert "itself broke" not in self.err
        for word in words:
            assert word in self.err, self.err


def specwright(*arguments: object, stranger: bool = False) -> Told:
    """A command, in this process; what stands in the directories that it names is the user's own, or a stranger's."""
    if not stranger:
        trusting(*arguments)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), recorded_gate():
        code = main([str(argument) for argument in arguments])
    return Told(code, out.getvalue(), err.getvalue())


def command(*arguments: object) -> list[str]:
    """A command for a process of its own."""
    program = "from specwright.cli.main import run; run()"
    return [sys.executable, "-c", program, *map(str, arguments)]


def in_own_process(*arguments: object, **options: Any) -> Told:
    """A command, in a process of its own; what stands in the directories that it names is the user's own."""
    trusting(*arguments)
    pipe = subprocess.PIPE
    # a user's Python buffers what it prints
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"env": environment, "stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, **options}
    options = {"timeout": 60, **options}
    ended = subprocess.run(command(*arguments), text=True, check=False, **options)
    return Told(ended.returncode, ended.stdout or "", ended.stderr)


_EACH = """
import json, os, sys
from specwright.cli.main import main
for arguments in json.loads(sys.argv[1]):
    code = main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    for stream in (1, 2):
        os.write(stream, f"\\0{code}\\0".encode())
"""


def each_in_one_process(*commands: Sequence[object], before: str = "", **options: Any) -> list[Told]:
    """Commands, one after the other in a single process of their own.

    Args:
        commands: The arguments of each.
        before: Python that the process runs first.
        options: Of `subprocess.run`.
    """
    trusting(*(argument for arguments in commands for argument in arguments))
    given = json.dumps([[str(argument) for argument in arguments] for arguments in commands])
    options = {"stdin": subprocess.DEVNULL, "timeout": 60, **options}
    ended = subprocess.run(
        [sys.executable, "-c", before + _EACH, given], capture_output=True, text=True, **options
    )
    assert ended.returncode == 0, ended.stderr
    out, err = (stream.split("\0")[:-1] for stream in (ended.stdout, ended.stderr))
    return [Told(int(code), *texts) for code, *texts in zip(out[1::2], out[::2], err[::2], strict=True)]


def everything(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def filled_in(value: Any) -> Any:
    """A payload with words for its dots."""
    if isinstance(value, dict):
        return {key: filled_in(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item) for item in value]
    return "as a person would say it" if value == "..." else value


@functools.cache
def _whole_command() -> Any:
    return cast(Any, typer.main.get_command(app))


def refusal(words: list[str]) -> str:
    """What the command line says of a command that it does not take."""
    command, name, given = _whole_command(), "specwright", words
    try:
        while hasattr(command, "commands"):
            name, *given = given
            command = command.commands[name]
        # a span in prose may name a command without what it needs
        command.make_context(name, given, resilient_parsing=not given).close()
    except Exception as error:
        return str(error) or repr(error)
    return ""
