"""Calls the command of an installed product as its script does, in a process of its own (design: release, shell).

It compares nothing: it says how the command ended.
"""

import _thread
import base64
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

from ship_gate.inside.frames import Link
from ship_gate.inside.observation.clock import ModuleClock, install, offer
from ship_gate.inside.web.direct import lead_to
from ship_gate.inside.web.script import Web
from specwright.wheels.inside.program import exit_code, file_text, redirect

_WRITES = {"write", "writelines"}
_CHANGES = {*_WRITES, "execute", "executemany", "executescript", "commit"}
_MAGIC = b"SQLite format 3\0"


def run(link: Link, plan: dict[str, Any]) -> None:
    """Call the command once."""
    job, _ = link.receive()
    send = link.marked(job.pop("nonce"))
    clock = ModuleClock()
    install(clock)
    offer(clock=clock)
    scratch = Path(plan["scratch"])
    folder = scratch / "work"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    for name, data in job["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
    hosts, web = job["hosts"], Web(clock.stand)
    web.describe(hosts["answers"], hosts["given"])
    if hosts["clock"]:
        clock.set(hosts["clock"])
        clock.advance(hosts["passed"])
    if job["web"]:
        lead_to(web, clock)
    streams_of = scratch / f"lane{job['lane']}"
    streams_of.mkdir(exist_ok=True)
    streams = redirect(streams_of, base64.b64decode(job["stdin"]))
    interruption = _Interruption(job["interrupt"], plan["product"])
    end = _End(job["kill_at"], plan["product"], lambda: send({"event": "killed"}))
    code = exit_code(
        job["command"], job["arguments"], end.prepare if job["kill_at"] else interruption.prepare
    )
    os.chdir(folder)
    send(
        {
            "event": "outcome",
            "code": code,
            "interrupted": interruption.came,
            **{name: file_text(path) for name, path in streams.items()},
            "files": {name: file_text(folder / name) for name in job["shown"]},
            "damaged": sorted(_damaged(folder)),
            "asked": [f"{one.method} {one.url}" for one in web.requests],
            "given": web.answered,
            "passed": clock.seconds,
        }
    )
    send({"event": "end"})


class _Interruption:
    """Lets Ctrl-C come at a moment of the program.

    Args:
        moment: `start`, `function` or `write`; empty for none.
        package: The folder of the package.
    """

    def __init__(self, moment: str, package: str) -> None:
        self.came = False
        self._moment = moment
        self._package = package + os.sep
        self._shell = str(Path(package) / "_shell") + os.sep

    def prepare(self) -> None:
        """Look for the moment from now on."""
        if self._moment:
            sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        is_shell = file.startswith(self._shell)
        is_product = file.startswith(self._package) and not is_shell
        match self._moment:
            case "start":
                comes = event == "call" and is_shell and name not in ("main", "<module>")
            case "function":
                comes = event == "call" and is_product and name != "<module>"
            case _:
                comes = event == "c_return" and is_product and getattr(argument, "__name__", "") in _WRITES
        if comes:
            sys.setprofile(None)
            self.came = True
            _thread.interrupt_main()


class _End:
    """Kills the process in the midst of what the product writes: nothing of Python runs after it, and no buffer is written.

    Args:
        count: The write or the change of a database after which it comes.
        package: The folder of the package.
        tell: Says that it comes.
    """

    def __init__(self, count: int, package: str, tell: Callable[[], None]) -> None:
        self._left, self._package, self._tell = count, package + os.sep, tell
        self._shell = str(Path(package) / "_shell") + os.sep

    def prepare(self) -> None:
        """Look for the moment from now on."""
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if (
            event != "c_return"
            or getattr(argument, "__name__", "") not in _CHANGES
            or not self._within(frame)
        ):
            return
        self._left -= 1
        if self._left == 0:
            sys.setprofile(None)
            self._tell()
            os.kill(os.getpid(), signal.SIGKILL)

    def _within(self, frame: FrameType | None) -> bool:
        """Whether the product does it, by itself or by a function of the library."""
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self._shell):
                return False
            if file.startswith(self._package):
                return True
            frame = frame.f_back
        return False


def _damaged(folder: Path) -> Iterator[str]:
    """The databases below a folder that SQLite cannot use; opening one takes back what was not finished."""
    for path in folder.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                continue
        try:
            with closing(sqlite3.connect(path)) as database:
                if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                    yield str(path.relative_to(folder))
        except sqlite3.Error:
            yield str(path.relative_to(folder))
