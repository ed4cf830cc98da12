"""New processes at little cost: a server that has imported the factory and forks one for each piece of work.

A child is a process of its own: it can be killed, it shares no state with any other, and it ends with its own exit
code. What it does not pay for is the import of the factory. The server is single-threaded, so that forking is safe.

    python workshop.py          reads requests as JSON lines on stdin, answers them on stdout
"""

import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from testkit.paths import FACTORY, ROOT

__all__ = ["KILLED", "Finished", "Running", "Workshop"]

KILLED = -signal.SIGKILL
"""How a killed process ends."""

_SETTINGS = {f"{name}_{kind}" for name in ("OPENAI", "ANTHROPIC") for kind in ("API_KEY", "BASE_URL")} | {
    "SPECWRIGHT_MODEL",
    "SPECWRIGHT_BASE_URL",
}
"""Of whoever runs the tests."""

PATIENCE = 100.0
"""Seconds after which a child is killed."""


class Finished(NamedTuple):
    """A process that ended: its exit code, or the negative number of the signal that ended it."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on its stdout."""
        return json.loads(self.out)


class Running(NamedTuple):
    """A process that works."""

    pid: int
    files: Path

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)


class Workshop:
    """The server, from the outside.

    Args:
        scratch: Takes what the children print.
        path: Directories that come before this checkout's on the import path.
    """

    def __init__(self, scratch: Path, path: Sequence[Path] = ()) -> None:
        self._scratch = scratch
        self._count = 0
        places = [*map(str, path), str(FACTORY), str(ROOT / "tests")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYTHONDONTWRITEBYTECODE": "1"}
        for name in environment.keys() & _SETTINGS:
            del environment[name]
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=scratch,
        )

    def command(self, *arguments: object) -> Finished:
        """`specwright` with arguments; what stands in the directories that it names is the user's own."""
        from testkit.trusting import trusting  # not in the server, which forks before anything is set up

        trusting(*arguments)
        return self.wait(self.begin("command", list(map(str, arguments))))

    def drive(self, job: Any) -> Finished:
        """A run with the deadly composition (`testkit.killing`)."""
        return self.wait(self.begin("drive", job._asdict()))

    def begin(self, what: str, inputs: Any) -> Running:
        """Start a child."""
        self._count += 1
        files = self._scratch / f"process-{self._count}"
        files.mkdir()
        return Running(self._ask({"do": "begin", "what": what, "inputs": inputs, "files": str(files)}), files)

    def wait(self, running: Running) -> Finished:
        """Wait until a child ends; one that takes too long is killed."""
        overdue = threading.Timer(PATIENCE, running.kill)
        overdue.start()
        try:
            code = self._ask({"do": "wait", "pid": running.pid})
        finally:
            overdue.cancel()
        out, err = ((running.files / name).read_text(errors="replace") for name in ("out", "err"))
        return Finished(code, out, err)

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def _ask(self, request: dict[str, Any]) -> int:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


def _serve() -> None:
    """The server, from the inside."""
    import deepagents  # noqa: F401  # what the commands import lazily
    import langchain_openai  # noqa: F401

    from specwright.cli.main import run
    from testkit.killing import Job, Kill, drive

    def command(arguments: list[str]) -> int:
        sys.argv = ["specwright", *arguments]
        run()
        return 0

    def driven(job: dict[str, Any]) -> int:
        return drive(Job(**{**job, "kill": Kill(*job["kill"])}))

    works: dict[str, Callable[[Any], int]] = {"command": command, "drive": driven}
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "begin":
            pid = os.fork()
            if not pid:
                _child(works[request["what"]], request["inputs"], Path(request["files"]))
            _reply(pid)
        else:
            _, status = os.waitpid(request["pid"], 0)
            _reply(os.waitstatus_to_exitcode(status))


def _reply(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _child(work: Callable[[Any], int], inputs: Any, files: Path) -> None:
    """Do the work with stdout and stderr in files, and end; never returns."""
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(files / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    code = 1
    try:
        code = work(inputs)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException as error:  # reported as the command line does
        expected = hasattr(error, "what")
        sys.stderr.write(f"specwright: {error}\n" if expected else traceback.format_exc())
        code = getattr(error, "exit_code", 70)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve()
