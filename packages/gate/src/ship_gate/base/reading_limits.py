"""How much one reader can judge: the size of a contract and of a module, in one table (design: contracts).

A module is read as a whole by whoever challenges and rules on it, and by the person who uses it. What is larger is two
modules. Prompts and docs are rendered from this.
"""

from collections.abc import Iterator
from enum import Enum


class ReadingLimit(Enum):
    """A limit, with its size and what it is about."""

    CONTRACT = 60, "statements of a contract: inputs, outputs, what is said of each, errors and effects"
    MODULE = 500, "statements of a module's implementation, as Python counts them"

    @property
    def most(self) -> int:
        """The largest size."""
        return self.value[0]

    @property
    def about(self) -> str:
        """What is counted."""
        return self.value[1]


def contract_size_problems(statements: int) -> Iterator[str]:
    """What is said of a contract of so many statements."""
    if statements > ReadingLimit.CONTRACT.most:
        yield (
            f"inputs: the contract makes {statements} statements, and one reader judges {ReadingLimit.CONTRACT.most} at "
            "most; split it: by its outputs, by what it reads and what it does with it, or into one module for each kind "
            "of input and one that calls these"
        )
