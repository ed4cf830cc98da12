"""Commands that the studio starts: each is a process of its own, as if a person had typed it (design: studio).

A process does not end with the studio: what it prints goes to a file, and it has a session of its own. So a studio that is
killed loses nothing, and what the process did stands in the project's log. The studio remembers only what the last command
of each project said.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple, cast

from specwright.errors import InputError, SpecwrightError
from specwright.secret_values import child_environment

_WAITS = 3
"""The exit code of a command that reached a stop where a person is asked."""


class Command(NamedTuple):
    """A command line.

    Args:
        words: What follows `specwright`.
        given: What it reads on standard input.
        shown: What stands in its place where `given` would be a file; empty if nothing is given.
    """

    words: tuple[str, ...]
    given: str = ""
    shown: str = ""

    def __str__(self) -> str:
        text = shlex.join(("specwright", *self.words))
        return f"{text} < {self.shown}" if self.shown else text


class Job:
    """A command that was started; a thread waits for its end.

    Args:
        command: What was started.
        process: It.
        output: What it prints.
    """

    def __init__(self, command: Command, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        self.command = command
        self._process = process
        self.failure: SpecwrightError | None = None
        """Why it failed; None if it goes on, is done, or reached a stop."""
        self._ended = threading.Event()
        threading.Thread(target=self._await, args=(process, output), daemon=True).start()

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return not self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end.

        Returns:
            Whether it came.
        """
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Interrupt it, as Ctrl-C does in a terminal."""
        if self.is_running:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGINT)

    def _await(self, process: subprocess.Popen[bytes], output: IO[bytes]) -> None:
        with output:
            if code := process.wait():
                self.failure = _failure_of(output, code, self.command.shown)
        self._ended.set()


class Jobs:
    """The last command of each project.

    Args:
        program: The program that carries out a command; it imports nothing from the working directory.
    """

    def __init__(self, program: Sequence[str] = (sys.executable, "-P", "-m", "specwright")) -> None:
        self._program = tuple(program)
        self._last: dict[str, Job] = {}

    def last(self, key: str) -> Job | None:
        """The last command of a project; None if this studio started none."""
        return self._last.get(key)

    def stop(self, key: str) -> None:
        """Interrupt the last command of a project, if this studio started one."""
        if job := self.last(key):
            job.stop()

    def wait(self) -> None:
        """Wait for the end of the last command of every project."""
        for job in list(self._last.values()):
            job.wait()

    def start(self, key: str, command: Command) -> Job:
        """Start a command for a project, with `--json`."""
        output = tempfile.TemporaryFile()  # noqa: SIM115 - the job reads it later
        with tempfile.TemporaryFile() as given:
            given.write(command.given.encode())
            given.seek(0)
            process = subprocess.Popen(
                [*self._program, *command.words, "--json"],
                stdin=given,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env=child_environment(command=True),
                start_new_session=True,
            )
        job = Job(command, process, output)
        self._last[key] = job
        return job


def _failure_of(output: IO[bytes], code: int, shown: str) -> SpecwrightError | None:
    """What a command that ended with a code says went wrong; None if it only reached a stop. What was written in the browser
    goes by the name that the page gives it."""
    kind = InputError if code == InputError.exit_code else SpecwrightError
    output.seek(0)
    data = output.read()
    try:
        document = cast("dict[str, Any]", json.loads(data))
    except ValueError:
        return kind(f"the command ended with exit code {code} and said nothing")
    if (error := document.get("error")) is not None:
        where = str(error["where"]).replace("/dev/stdin", shown or "/dev/stdin")
        return kind(str(error["what"]), where=where, remedy=str(error["do"]))
    return None if code == _WAITS else kind("the command ended before the product was released")
