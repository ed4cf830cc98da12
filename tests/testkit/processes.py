"""Python processes of their own, and waiting for what they do."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from testkit.paths import TESTS


def process(
    code: str,
    *arguments: object,
    stdin: int | None = None,
    stderr: int | None = None,
    before: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """A Python process of its own that finds what this one finds.

    Args:
        code: That it runs.
        arguments: In its `sys.argv`.
        stdin: As `subprocess` takes it.
        stderr: The same.
        before: Words of the command before Python.
    """
    search = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return subprocess.Popen(
        [*before, sys.executable, "-c", code, *map(str, arguments)],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )


def until(holds: Callable[[], Any], seconds: float = 240.0) -> Any:
    """Wait until something holds that another process does; what it is then."""
    ends = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.02)
    return found
