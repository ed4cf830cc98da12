"""Commands that a person can paste (design: command-line)."""

import re
import shlex
import shutil
import sys
from contextvars import ContextVar
from pathlib import Path

PROJECT: ContextVar[Path] = ContextVar("project", default=Path())
"""The directory of the project that the command line names."""

OTHER_SPEC = '--request "what is to change"'
"""The option of a change in the commands that are shown."""

_OF_A_PROJECT = re.compile(
    r"`specwright (run|status|tasks|modules|escalations(?: ESC-\w+)?|verify|release|approve|reject|amend|change|costs|doctor"
    r"|trust|trace|diff|exceptions list|wire verify)((?: --[a-z-]+(?: [^\s`-][^\s`]*)?)*)`"
)
"""A command that works on a project and names none."""


def pasteable(text: str, directory: Path | None = None) -> str:
    """A text whose commands can be pasted: `specwright ...` as this program is called here, with the project it is about.

    Args:
        text: As the application says it, which knows no directory.
        directory: Of the project; by default the one that the command line names.
    """
    directory = PROJECT.get() if directory is None else directory
    if directory != Path():
        place = shlex.quote(str(directory))
        text = _OF_A_PROJECT.sub(lambda found: f"`specwright {found[1]} {place}{found[2]}`", text)
    return text.replace("`specwright ", f"`{_program()} ")


def next_command(command: str, directory: Path | None = None, rest: str = "") -> str:
    """A command as it can be pasted: with this program's path if it is not on PATH, and without DIR if that is here.

    Args:
        command: Without its directory.
        directory: Of the project; by default the one that the command line names.
        rest: What follows the directory.
    """
    directory = PROJECT.get() if directory is None else directory
    words = [_program(), *command.split()]
    if directory != Path():
        words.append(shlex.quote(str(directory)))
    return " ".join([*words, rest]).rstrip()


def _program() -> str:
    called = Path(sys.argv[0])
    on_path = shutil.which("specwright")
    if called.name != "specwright" or (on_path and called.exists() and Path(on_path).samefile(called)):
        return "specwright"
    return shlex.quote(str(called))
