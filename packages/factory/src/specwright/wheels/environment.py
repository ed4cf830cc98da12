"""A fresh virtual environment with one wheel in it (design: release).

The environment is made without pip, which takes 50 ms, and filled by this interpreter's pip; without one, the
environment gets a pip of its own, which takes seconds.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ship_gate.base.text import one_line
from specwright.bounded_process import TooMuchOutputError, run_bounded
from specwright.errors import RefusedError
from specwright.secret_values import child_environment

_MESSAGE_LENGTH = 800


class NotInstallableError(Exception):
    """pip refused the wheel or one of its requirements; the message ends with pip's last output."""


def own_pip() -> bool:
    """Whether this interpreter has pip."""
    return importlib.util.find_spec("pip") is not None


def closed_environment(home: Path) -> dict[str, str]:
    """Environment variables that reveal nothing of this process to another.

    The hash seed is that of the gate's sandbox, so that an example that shows a set shows the same one.
    """
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "TMPDIR": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class CleanEnvironment(NamedTuple):
    """A virtual environment below `root`; `pip` is the command that installs into `site`."""

    root: Path
    python: Path
    site: Path
    pip: tuple[str, ...]
    timeout: float

    @classmethod
    def create(cls, root: Path, *, with_own_pip: bool, timeout: float) -> "CleanEnvironment":
        """Make an environment.

        Args:
            root: A directory that does not exist yet.
            with_own_pip: Whether this interpreter's pip installs; otherwise the environment gets one.
            timeout: Seconds for each installation.

        Raises:
            RefusedError: this Python cannot make one.
        """
        try:
            venv.EnvBuilder(symlinks=True, with_pip=not with_own_pip).create(root)
        except (OSError, subprocess.CalledProcessError) as error:
            raise RefusedError(
                f"no clean environment could be made to try the wheel in: {error}",
                where=str(root),
                remedy="give this Python its pip, or its venv with ensurepip (on Debian: python3-venv)",
            ) from error
        python = root / "bin/python"
        pip = (
            (sys.executable, "-P", "-m", "pip", "--python", str(python))
            if with_own_pip
            else (str(python), "-P", "-m", "pip")
        )
        site = Path(sysconfig.get_path("purelib", "venv", {"base": str(root), "platbase": str(root)}))
        return cls(root, python, site, pip, timeout)

    def install(self, wheel: Path, requires: Sequence[str]) -> None:
        """Install a wheel from its file alone, then its requirements with the person's own pip settings.

        Raises:
            NotInstallableError: pip refused.
        """
        home = self.root.parent
        alone = ("--isolated", "install", "--no-index", "--no-deps", str(wheel))
        self._pip(alone, closed_environment(home), f"{wheel.name} cannot be installed")
        if requires:
            # pip's own settings, proxies and certificates come from the person's environment
            inherited = {n: value for n, value in child_environment().items() if not n.startswith("PYTHON")}
            failure = "what the product requires cannot be installed"
            self._pip(("install", "--", *requires), inherited, failure)

    def _pip(self, arguments: Sequence[str], env: Mapping[str, str], failure: str) -> None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir")
        command = [*self.pip, *quiet, *arguments]
        try:
            done = run_bounded(command, cwd=self.root, env=env, seconds=self.timeout)
        except (TimeoutError, TooMuchOutputError) as error:
            raise NotInstallableError(f"{failure}: pip {error}") from error
        if done.returncode != 0:
            output = one_line((done.stderr or done.stdout).decode("utf-8", "replace"))
            raise NotInstallableError(
                f"{failure}: {output[-_MESSAGE_LENGTH:] or f'pip ended with {done.returncode}'}"
            )
