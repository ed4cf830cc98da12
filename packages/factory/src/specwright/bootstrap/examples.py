"""The examples that come with Specwright: each a SPEC.md and a playbook with the roles' answers."""

from pathlib import Path
from typing import NamedTuple

from ship_gate.base.text import did_you_mean
from specwright.errors import InputError
from specwright.files import write_atomically
from specwright.settings import EXAMPLES

DEMO = "tabkeeper"
_SETTINGS = b'# The answers of this example are scripted.\nmodel = "playbook:playbook"\n'


class Copied(NamedTuple):
    """Which files of an example were written, and which existed and were kept."""

    made: tuple[str, ...]
    kept: tuple[str, ...]


def example_names() -> list[str]:
    """Return the names of the examples in this installation."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/SPEC.md"))


def example_directory(name: str) -> Path:
    """Return the directory of an example.

    Raises:
        InputError: no example has that name.
    """
    if name in example_names():
        return EXAMPLES / name
    raise InputError(
        f"there is no example {name!r}",
        where="--example",
        remedy=f"{did_you_mean(name, example_names())}examples: {', '.join(example_names()) or 'none in this installation'}",
    )


def copy_example(name: str, directory: Path) -> Copied:
    """Copy an example into a directory, with settings for its playbook; existing files are kept.

    Args:
        name: The example's name.
        directory: The project; created if missing.

    Raises:
        InputError: no example has that name.
        OSError: a file cannot be written.
    """
    source = example_directory(name)
    files = {
        path.relative_to(source).as_posix(): path.read_bytes()
        for path in sorted(source.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    made: list[str] = []
    for file, content in {**files, "specwright.toml": _SETTINGS}.items():
        if not (directory / file).exists():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(directory / file, content)
            made.append(file)
    return Copied(tuple(made), tuple(file for file in (*files, "specwright.toml") if file not in made))
