"""The width and the colours of what is printed.

A terminal has a width; a pipe has none, unless COLUMNS sets one, so that a line there is a line of the text. Colours are
for terminals: NO_COLOR takes them away, FORCE_COLOR gives them to a pipe.
"""

import os
import shutil
from typing import Protocol

UNLIMITED = 100_000
"""Columns where lines are not wrapped."""
_NARROWEST = 20


class Stream(Protocol):
    """What is printed to."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        ...


def width_of(stream: Stream) -> int:
    """The columns of a stream, `UNLIMITED` where lines are not wrapped."""
    if not stream.isatty() and not os.environ.get("COLUMNS", "").isdecimal():
        return UNLIMITED
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def shows_colours(stream: Stream) -> bool:
    """Whether colours are wanted on a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
