"""What stands for an iterable, an iterator or a function where it crosses the boundary (design: module-directory).

Loads nothing else of the factory.
"""

import copy
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from ship_gate.base.boundary_values import full_repr


class Items(NamedTuple):
    """The items of an iterable, in their order.

    Args:
        values: One more than its bound at most.
        error: What it raised instead of a further item: the names of the class and its bases, the message, and the
            arguments; None if it came to its end.
    """

    values: list[Any]
    error: Any = None


class Function(NamedTuple):
    """A function that the module is given.

    Args:
        name: Of the parameter.
        results: What it gives, chosen by its arguments; none if it is called where it is.
    """

    name: str
    results: list[Any]


class DrawnFunction:
    """A pure function that was drawn: the same arguments give the same result.

    Args:
        results: What it gives, one at least.
    """

    def __init__(self, results: Sequence[Any]) -> None:
        self.results = list(results)

    def __call__(self, *arguments: object) -> object:
        """One of the results."""
        return chosen(self.results, full_repr(arguments).encode())

    def __eq__(self, other: object) -> bool:
        """Whether it gives the same."""
        return isinstance(other, DrawnFunction) and self.results == other.results

    __hash__ = object.__hash__


def chosen(results: Sequence[Any], arguments: bytes) -> Any:
    """The result for arguments, as they cross: always the same one, and a copy of its own."""
    return copy.deepcopy(results[zlib.crc32(arguments) % len(results)])
