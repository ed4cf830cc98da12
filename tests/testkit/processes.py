"""Python processes of their own."""

import os
import subprocess
import sys
from collections.abc import Sequence

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
