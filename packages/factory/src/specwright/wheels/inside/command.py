"""Calls the command of an installed product as its script does, in a process of its own (design: release).

It compares nothing: it says how the command ended.
"""

import importlib.metadata
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
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
    code = _exit_code(job["command"], job["arguments"])
    printed = {name: _file_text(path) for name, path in streams.items()}
    send({"event": "outcome", "code": code, **printed})
    send({"event": "end"})


def _exit_code(name: str, arguments: Sequence[str]) -> int:
    """Call the program of a script to its end; its exit code."""
    found = importlib.metadata.entry_points(group="console_scripts", name=name)
    sys.argv = [name, *arguments]
    code: object = 1
    try:
        code = next(iter(found)).load()()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 1
    return code if isinstance(code, int) else int(code is not None)


def _file_text(path: Path) -> str | None:
    """The text of a file; None if it is too large to be compared."""
    return None if path.stat().st_size > _MOST_BYTES else path.read_bytes().decode("utf-8", "replace")
