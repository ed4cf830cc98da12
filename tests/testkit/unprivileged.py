"""Runs Python as an unprivileged user, on a copy of the sources that this user may read."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from testkit.paths import GATE_TESTS, ROOT, SOURCES

__all__ = ["another_user"]

NOBODY = 65534


@contextmanager
def another_user(**variables: str) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """A function that runs Python with arguments as nobody; the test is skipped where that is not possible.

    Args:
        variables: Of the environment, besides those that Python needs.
    """
    if os.getuid() != 0:
        pytest.skip("the suite runs as an unprivileged user already")
    python = _python_for(NOBODY)
    if python is None:
        pytest.skip("no Python here may be executed by another user")
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))  # another user may reach it
    try:
        folder.chmod(0o755)
        # beside the copy: a scratch folder has no pyproject.toml above it
        home, copy = folder / "home", folder / "copy"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
        # with bytecode, which nobody cannot write here
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "build"))
        packages = [path for path in sys.path if path.endswith("site-packages")]
        sources = [copy / path.relative_to(ROOT) for path in SOURCES]
        places = [
            *map(str, sources),
            str(copy / "tests"),
            str(copy / GATE_TESTS.relative_to(ROOT)),
            *packages,
        ]
        environment = {
            "PATH": os.defpath,
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join(places),
            **variables,
        }

        def run(*arguments: str, timeout: float) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [python, "-B", *arguments],
                cwd=copy,
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                env=environment,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )

        yield run
    finally:
        shutil.rmtree(folder)


def _python_for(user: int) -> str | None:
    """An interpreter of this version that another user may execute."""
    minor = sys.version_info.minor
    for path in (sys.executable, f"/usr/bin/python3.{minor}", f"/usr/local/bin/python3.{minor}"):
        code = "import sys; print(sys.version_info[:2])"
        try:
            done = subprocess.run(
                [path, "-c", code], user=user, capture_output=True, text=True, cwd="/", check=False
            )
        except OSError:
            continue
        if done.stdout.strip() == str(sys.version_info[:2]):
            return path
    return None
