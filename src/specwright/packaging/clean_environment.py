"""A fresh virtual environment with one wheel in it (D28).

Made without pip, which takes 50 ms, and filled by this interpreter's pip; where that is missing, the
environment gets a pip of its own, which takes seconds.
"""

import importlib.util
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from specwright.errors import RefusedError
from specwright.packaging.processes import Finished, run_bounded

__all__ = ["CleanEnvironment", "NotInstallableError", "closed_environment", "own_pip"]

_OUTPUT_LIMIT = 100_000
_TOLD = 800


class NotInstallableError(Exception):
    """pip refused the wheel or what it requires; the message holds pip's last words."""


def own_pip() -> bool:
    """Whether the interpreter that runs this has pip."""
    return importlib.util.find_spec("pip") is not None


def closed_environment(home: Path) -> dict[str, str]:
    """Environment variables that tell a process nothing of this one.

    Hashes are fixed as in the gate's sandbox, so that an example that shows a set shows the same one.
    """
    inherited = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "TMPDIR": str(home),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **inherited,
    }


class CleanEnvironment(NamedTuple):
    """A virtual environment below `root`; `pip` is the command that installs into it."""

    root: Path
    python: Path
    pip: tuple[str, ...]
    timeout: float

    @classmethod
    def create(cls, root: Path, *, with_own_pip: bool, timeout: float) -> "CleanEnvironment":
        """Make an environment.

        Args:
            root: A directory that does not exist yet.
            with_own_pip: Whether this interpreter's pip installs, else one that the environment gets.
            timeout: Seconds for each installation.

        Raises:
            RefusedError: this Python cannot make one.
        """
        try:
            venv.EnvBuilder(symlinks=os.name != "nt", with_pip=not with_own_pip).create(root)
        except (OSError, subprocess.CalledProcessError) as error:
            raise RefusedError(
                f"no clean environment could be made to try the wheel in: {error}",
                where=str(root),
                remedy="give this Python its pip, or its venv with ensurepip (on Debian: python3-venv)",
            ) from error
        python = root / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        pip = (
            (sys.executable, "-m", "pip", "--python", str(python))
            if with_own_pip
            else (str(python), "-m", "pip")
        )
        return cls(root, python, pip, timeout)

    def install(self, wheel: Path, requires: Sequence[str]) -> None:
        """Install a wheel from its file alone, then what it requires, as the person's pip is set up.

        Raises:
            NotInstallableError: pip refused.
        """
        home = self.root.parent
        alone = ("--isolated", "install", "--no-index", "--no-deps", str(wheel))
        self._pip(alone, closed_environment(home), f"{wheel.name} cannot be installed")
        if requires:
            # pip's own settings, proxies and certificates come from the person's environment
            inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
            self._pip(
                ("install", "--", *requires), inherited, "what the product requires cannot be installed"
            )

    def _pip(self, arguments: Sequence[str], env: Mapping[str, str], failure: str) -> None:
        quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir")
        done = run_bounded(
            [*self.pip, *quiet, *arguments],
            cwd=self.root,
            env=env,
            timeout=self.timeout,
            output_limit=_OUTPUT_LIMIT,
        )
        if done.code != 0:
            raise NotInstallableError(f"{failure}: {_last_words(done, self.timeout)}")


def _last_words(done: Finished, timeout: float) -> str:
    if done.code is None:
        return f"pip was not done after {timeout:g} s"
    text = (done.stderr or done.stdout).decode("utf-8", "replace")
    return " ".join(text.split())[-_TOLD:] or f"pip ended with {done.code}"
