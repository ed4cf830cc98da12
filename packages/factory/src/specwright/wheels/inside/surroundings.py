"""What the processes in which a product is tried have in common (design: release)."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ship_gate.inside.observation.clock import ModuleClock, install, offer
from ship_gate.inside.web.client import lead_to
from ship_gate.inside.web.script import Web

_DATABASE = b"SQLite format 3\0"


def install_clock_and_hosts(job: Mapping[str, Any]) -> tuple[ModuleClock, Web]:
    """Install the clock that examples can set, and the hosts that they can script if the product asks any."""
    clock = ModuleClock()
    web = Web(clock.stand)
    install(clock)
    offer(clock=clock)
    if job["web"]:
        lead_to(web, clock)
    return clock, web


def redirect(scratch: Path) -> dict[str, Path]:
    """Let the standard streams be files, of which the input is empty."""
    given = scratch / "stdin"
    given.touch()
    os.dup2(os.open(given, os.O_RDONLY), 0)
    streams = {"stdout": scratch / "stdout", "stderr": scratch / "stderr"}
    for descriptor, path in enumerate(streams.values(), 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    return streams


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
