"""The files of a person's fix: where they may lie, and what becomes of the module with them (F§17.2, D20)."""

import re
from collections.abc import Iterator, Mapping

from specwright.domain.ship import EXECUTION_LOG

__all__ = ["WRITABLE", "file_problems", "is_module_file", "overlaid"]

WRITABLE = ("implementation/", "tests/", "examples.md")
"""What a module is made of, for its Proposer as for a person (DESIGN §8.1)."""

_PATH = re.compile(r"(implementation|tests)(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){1,8}|examples\.md")
"""No `..`, no absolute path, no backslash, no control character, nothing hidden: a few plain names."""


def is_module_file(path: str) -> bool:
    """Whether a file of a module may be called so."""
    return _PATH.fullmatch(path) is not None and not path.endswith(".") and path != EXECUTION_LOG


def file_problems(given: Mapping[str, str]) -> Iterator[str]:
    """Why files cannot be taken: a path that is none of the module's, a text that cannot be written."""
    for path, text in given.items():
        if path == EXECUTION_LOG:
            yield f"{path!r} is written by the ship gate"
        elif not is_module_file(path):
            yield f"{path!r} is no file of a module: it is below implementation/ or tests/, or examples.md"
        else:
            try:
                text.encode()
            except UnicodeEncodeError:
                yield f"{path!r}: its text cannot be written as UTF-8"


def overlaid(base: Mapping[str, bytes], given: Mapping[str, str]) -> tuple[dict[str, bytes], list[str]]:
    """The module's files with those of a fix in place of its own, and which of them stand in each other's way."""
    files = {**base, **{path: text.encode() for path, text in given.items()}}
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    clashing = [f"{path!r} would be a file and a directory" for path in sorted(files.keys() & folders)]
    return files, clashing
