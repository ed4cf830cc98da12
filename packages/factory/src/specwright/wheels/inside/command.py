"""Calls the command of an installed product as its script does, in a process of its own (design: release, shell).

It compares nothing: it says how the command ended.
"""

import _thread
import hashlib
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from ship_gate.inside.frames import Link

_MOST_BYTES = 100_000
_DATABASE = b"SQLite format 3\0"


def run(link: Link, plan: dict[str, Any]) -> None:
    """Call the command once."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    scratch = Path(plan["scratch"])
    streams = redirect(scratch)
    folder = scratch / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    interruption = _Interruption(plan["product"])
    prepare = interruption.prepare if job["interrupted"] else lambda: None
    code = _exit_code(job["command"], job["arguments"], prepare)
    printed = {name: _file_text(path) for name, path in streams.items()}
    send({"event": "outcome", "code": code, "interrupted": interruption.came, **printed})
    send({"event": "end"})


def redirect(scratch: Path) -> dict[str, Path]:
    """Let the standard streams be files, of which the input is empty."""
    given = scratch / "stdin"
    given.touch()
    os.dup2(os.open(given, os.O_RDONLY), 0)
    streams = {"stdout": scratch / "stdout", "stderr": scratch / "stderr"}
    for descriptor, path in enumerate(streams.values(), 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    return streams


def _exit_code(name: str, arguments: Sequence[str], prepare: Callable[[], None]) -> int:
    """Call a program to its end; its exit code.

    Args:
        name: Of its script.
        arguments: Of the call.
        prepare: Called when the program is loaded and has not begun.
    """
    found = importlib.metadata.entry_points(group="console_scripts", name=name)
    sys.argv = [name, *arguments]
    code: object = 1
    try:
        function = next(iter(found)).load()
        prepare()
        code = function()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.setprofile(None)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 1
    return code if isinstance(code, int) else int(code is not None)


def _file_text(path: Path) -> str | None:
    """The text of a file; None if it is too large to be compared."""
    return None if path.stat().st_size > _MOST_BYTES else path.read_bytes().decode("utf-8", "replace")


def files_of(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file below a folder; not of databases, whose journal is for a process that was killed."""
    contents = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    return {
        name: hashlib.sha256(data).hexdigest()
        for name, data in contents.items()
        if not data.startswith(_DATABASE)
    }


class _Interruption:
    """Lets Ctrl-C come as the shell starts.

    Args:
        package: The folder of the package.
    """

    def __init__(self, package: str) -> None:
        self.came = False
        self._shell = str(Path(package) / "_shell") + os.sep

    def prepare(self) -> None:
        """Look for the moment from now on."""
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._shell) and code.co_name not in _BEFORE:
            sys.setprofile(None)
            self.came = True
            _thread.interrupt_main()


_BEFORE = ("main", "<module>")
"""Functions of the shell in which it has not started."""
