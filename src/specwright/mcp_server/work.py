"""What a tool is given beside its arguments (design: mcp-server)."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from specwright.mcp_server.roots import Roots


class Work(NamedTuple):
    """The surroundings of a call.

    Args:
        roots: Where it may read and write.
        scratch: A directory of the server, where calls leave what later ones may use; gone with the server.
        seconds: After which the server ends the call.
        report: Tells how far it is: done, of how many, and what was done.
        writes_tree: Whether files of the source tree may be edited, beside those of module directories.
    """

    roots: Roots
    scratch: Path
    seconds: float
    report: Callable[[int, int, str], None]
    writes_tree: bool = False
