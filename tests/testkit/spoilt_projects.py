"""Runs commands on spoilt copies of a project, each in a process with bounds on time and memory.

A process of its own, since a test's process has threads and handles the alarm. It reads a project, a scratch folder, files,
kinds and commands as JSON and writes what went wrong as JSON: file, command, exit code or signal, and what was printed.
"""

import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["KINDS", "broken_commands", "ended", "sound"]

KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "nested lists": lambda path: path.write_text("[" * 100_000 + "]" * 100_000),
    "nested objects": lambda path: path.write_text('{"a":' * 50_000 + "1" + "}" * 50_000),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "six gigabytes": lambda path: (path.touch(), os.truncate(path, 6 << 30)),
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "no text": lambda path: path.write_bytes(b'\0\0\0{"a":"\\u0000\\ud800"}'),
    "as it is": lambda path: None,
}
_MEMORY = 3 << 30
_SECONDS = 10

Broken = tuple[str, str, int, str]
"""A file, a command, its exit code or its signal as a negative number, and what it printed."""


def broken_commands(
    project: Path, scratch: Path, kind: str, files: Sequence[str], commands: Sequence[Sequence[str]]
) -> list[Broken]:
    """Put something of a kind in the place of each file in turn, and run each command.

    Args:
        project: A finished one, which is copied.
        scratch: For the copies.
        kind: Of `KINDS`.
        files: Patterns below the project.
        commands: Their words; `{}` is the copy.

    Returns:
        The commands that did not end by themselves, with an exit code of their own and no traceback.
    """
    job = json.dumps([str(project), str(scratch), kind, files, commands])
    ended = subprocess.run(
        [sys.executable, "-m", "testkit.spoilt_projects"],
        input=job,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 0, ended.stderr
    return [(name, command, code, text) for name, command, code, text in json.loads(ended.stdout)]


def sound(code: int, text: str) -> bool:
    """Whether a command ended by itself with an exit code of its own and no traceback."""
    return code in range(4) and "itself broke" not in text and "Traceback" not in text


def ended(
    arguments: list[str],
    output: Path,
    *,
    call: Callable[[], int] | None = None,
    directory: Path = Path(),
    seconds: int = _SECONDS,
) -> tuple[int, str]:
    """Run a command in a forked process.

    Args:
        arguments: Of the command.
        output: The file for what it prints.
        call: What is called instead.
        directory: Where it works.
        seconds: After which it is killed.

    Returns:
        Its exit code, or its signal as a negative number, and what it printed.
    """
    from specwright.cli.main import main

    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(descriptor, stream)
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            signal.alarm(seconds)
            os.chdir(directory)
            code = call() if call else main(arguments)
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), output.read_text(errors="replace")


def _main() -> None:
    project, scratch, kind, files, commands = json.load(sys.stdin)
    for module in ("verify", "views"):  # what each command would load again
        importlib.import_module(f"specwright.bootstrap.{module}")

    copy, broken = Path(scratch) / "project", list[Broken]()
    for pattern in files:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(project, copy, symlinks=True)
        path = next(iter(copy.glob(pattern)), copy / pattern)
        if kind != "as it is":
            path.unlink(missing_ok=True)
        KINDS[kind](path)
        for command in commands:
            Path(f"{copy}.tar").unlink(missing_ok=True)
            code, text = ended([word.format(copy) for word in command], Path(scratch) / "output")
            if not sound(code, text):
                broken.append((path.name, command[0], code, text[:500]))
    json.dump(broken, sys.stdout)


if __name__ == "__main__":
    _main()
