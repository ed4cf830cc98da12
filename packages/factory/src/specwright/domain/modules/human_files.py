"""The files of a person's fix: which paths are allowed, and the module's files with them (design: escalation, sealing)."""

import re
from collections.abc import Collection, Iterator, Mapping

from specwright.domain.modules.evidence import EXECUTION_LOG

WRITABLE = ("implementation/", "tests/", "examples.md")
"""What a Proposer, or a person, writes of a module (design: module-directory)."""

_PATH = re.compile(r"(implementation|tests)(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){1,8}|examples\.md")
"""No `..`, no absolute path, no backslash, no control character, nothing hidden: a few plain names."""


def is_module_file(path: str) -> bool:
    """Whether a module may have a file of this path."""
    return _PATH.fullmatch(path) is not None and not path.endswith(".") and path != EXECUTION_LOG


def file_problems(fix: Mapping[str, str]) -> Iterator[str]:
    """Why files are refused: a path that a module cannot have, a text that cannot be written."""
    for path, text in fix.items():
        if path == EXECUTION_LOG:
            yield f"{path!r} is written by the ship gate"
        elif not is_module_file(path):
            yield f"{path!r} is not a file of a module: those are below implementation/ or tests/, or examples.md"
        else:
            try:
                text.encode()
            except UnicodeEncodeError:
                yield f"{path!r}: its text cannot be written as UTF-8"


def overlaid(
    base: Mapping[str, bytes], fix: Mapping[str, str], removed: Collection[str] = ()
) -> tuple[dict[str, bytes], list[str]]:
    """The module's files, without the removed ones and with those of a fix replacing its own, and the paths that would be
    a file and a directory."""
    kept = {path: data for path, data in base.items() if path not in removed}
    files = {**kept, **{path: text.encode() for path, text in fix.items()}}
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    clashing = [f"{path!r} would be a file and a directory" for path in sorted(files.keys() & folders)]
    return files, clashing
