"""A program of an installed product, called in this process as its script does (design: release, shell)."""

import base64
import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

_MOST_BYTES = 100_000


def redirect(scratch: Path, stdin: bytes) -> dict[str, Path]:
    """Let the standard streams be files."""
    given = scratch / "stdin"
    given.write_bytes(stdin)
    os.dup2(os.open(given, os.O_RDONLY), 0)
    streams = {"stdout": scratch / "stdout", "stderr": scratch / "stderr"}
    for descriptor, path in enumerate(streams.values(), 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    return streams


def exit_code(name: str, arguments: Sequence[str], prepare: Callable[[], None]) -> int:
    """Call a program to its end; its exit code.

    Args:
        name: Of its script.
        arguments: Of the call.
        prepare: Called when the program is loaded and has not begun.
    """
    found = importlib.metadata.entry_points(group="console_scripts", name=name)
    sys.argv = [name, *arguments]
    code: object = 1
    try:
        function = next(iter(found)).load()
        prepare()
        code = function()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.setprofile(None)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 1
    return code if isinstance(code, int) else int(code is not None)


def file_text(path: Path) -> str | None:
    """The bytes of a regular file as base64; None if it is none, or too large to be compared."""
    if not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return None
    return base64.b64encode(path.read_bytes()).decode()
