"""Python processes of their own."""

import os
import subprocess
import sys

from testkit.paths import TESTS


def process(code: str, *arguments: object, stderr: int | None = None) -> subprocess.Popen[str]:
    """A Python process of its own that finds what this one finds."""
    search = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )
