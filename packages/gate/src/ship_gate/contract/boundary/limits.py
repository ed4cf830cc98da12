"""How much may cross a module's boundary in one call, in one table (design: module-directory).

The processes of the gate enforce it, and prompts and docs are rendered from it. It imports nothing of the project, because
the sandboxed processes read this file as well.
"""

from enum import Enum


class BoundaryLimit(Enum):
    """A limit, with its size, its unit and what it is about."""

    DEPTH = 5_000, "levels", "containers within containers, of one value"
    VALUES = 2_000_000, "values", "leaves and containers in one call's arguments, or in its result"
    ITEMS = 100_000, "items", "what a contract may state of an iterable or iterator"
    BYTES = 16 * 1024 * 1024, "bytes", "one call's arguments, or its result, as JSON text"
    PRINTED = 200_000, "characters", "what one call prints, where that is a declared effect"
    MESSAGE = 200_000, "characters", "the message of an exception; the rest is cut off"

    @property
    def most(self) -> int:
        """The largest size that crosses."""
        return self.value[0]

    @property
    def text(self) -> str:
        """The size with its unit."""
        return f"{self.most:,} {self.value[1]}"

    @property
    def about(self) -> str:
        """What is measured."""
        return self.value[2]


def limit_sentence() -> str:
    """Values beyond the limits that a contract's author has to know, for prompts."""
    return f"values of over {BoundaryLimit.DEPTH.most:,} levels or {BoundaryLimit.VALUES.most:,} items"
