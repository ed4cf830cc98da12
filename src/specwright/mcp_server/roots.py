"""The directories in which a server may work; a caller's path is below one, its links followed (design: mcp-server)."""

import os
from collections.abc import Sequence
from pathlib import Path

from specwright.errors import InputError

_LONGEST = 4096
_REMEDY = "name a path below {}; whoever started the server says which, as in `specwright mcp DIR`"


class Roots:
    """The directories that the server was given.

    Args:
        places: At least one, each a directory.

    Raises:
        InputError: one is no directory.
    """

    def __init__(self, places: Sequence[Path]) -> None:
        for place in places:
            if not place.is_dir():
                raise InputError(
                    "there is no such directory", where=str(place), remedy="name directories to work in"
                )
        self.places = tuple(dict.fromkeys(Path(os.path.realpath(place)) for place in places))

    def resolve(self, text: str) -> Path:
        """The path that a caller means, with every link followed; it need not exist.

        A relative path is looked for below each root, in their order; one that is nowhere belongs to the first.

        Raises:
            InputError: it leads out of the roots, or is no path.
        """
        if not text or "\0" in text or len(text) > _LONGEST:
            raise InputError("a path is 1 to 4096 characters, none of them NUL", remedy="correct the path")
        below = [Path(os.path.realpath(place / text)) for place in self.places]
        inside = [path for path in below if self.holds(path)]
        if not inside:
            raise InputError(
                "the path is not below a directory that this server works in",
                where=text[:200],
                remedy=_REMEDY.format(", ".join(map(str, self.places))),
            )
        return next((path for path in inside if path.exists()), inside[0])

    def holds(self, path: Path) -> bool:
        """Whether a path whose links are followed is a root or below one."""
        return any(path.is_relative_to(place) for place in self.places)
