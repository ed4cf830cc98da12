"""Calls the command of an installed product as its script does, in a process of its own (design: release, shell).

It compares nothing: it says how the command ended.
"""

import _thread
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from ship_gate.inside.frames import Link
from specwright.wheels.inside.surroundings import redirect

_MOST_BYTES = 100_000


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
