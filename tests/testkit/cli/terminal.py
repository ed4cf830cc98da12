"""A command on a terminal of its own, and a person who types there."""

import os
import pty
import select
import subprocess
import time
from typing import NamedTuple

from testkit.cli.commands import command
from testkit.trusting import trusting

SECONDS = 60


class Painted(NamedTuple):
    """What a command painted on its terminal, and its exit code."""

    screen: str
    code: int


def on_a_terminal(
    *arguments: object, typed: tuple[tuple[str, str], ...] = (), stranger: bool = False
) -> Painted:
    """A command on a terminal of 100 columns.

    Args:
        arguments: Of the command.
        stranger: Whether its directories were sent by somebody.
        typed: Questions that are waited for, one after the other, and what is typed then; "\\x04" ends the input.
    """
    if not stranger:
        trusting(*arguments)
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40", "PYTHONUTF8": "1"}
    painted, seen, waiting = b"", 0, list(typed)
    with subprocess.Popen(
        command(*arguments), stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True
    ) as process:
        os.close(slave)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if waiting and (found := painted.find(waiting[0][0].encode(), seen)) >= 0:
                seen = found + 1
                os.write(master, waiting.pop(0)[1].encode())
            if select.select([master], [], [], 0.1)[0]:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # the other side is closed
                    break
                if not piece:
                    break
                painted += piece
        process.wait(10)
    os.close(master)
    assert not waiting, (waiting, painted.decode())
    return Painted(painted.decode(), process.returncode)
