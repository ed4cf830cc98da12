"""The errors of this package. Each says what failed, where, and what to do next.

ShipGateError
├── InputError             exit 2    a value or a file that the caller gave is unusable
│   └── UntrustedError     exit 2    a setting came with a directory, and its user has not trusted it
├── RefusedError           exit 1    a rule refuses the operation
├── CorruptionError        exit 1    stored records contradict each other
└── InterruptedRunError    exit 130  somebody stopped it
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class ShipGateError(Exception):
    """A failure that one message explains.

    Args:
        what: What failed, one sentence.
        where: The file, field or address concerned; empty if the sentence says it.
        remedy: What the reader can do next; empty if there is nothing to do.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        super().__init__(what)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.remedy:
            lines.append(f"  do:    {self.remedy}")
        return "\n".join(lines)


class InputError(ShipGateError):
    """A value or a file that the caller gave is unusable."""

    exit_code: ClassVar[int] = 2


class UntrustedError(InputError):
    """A decisive setting came with a directory, and its user has not trusted it.

    `asked` is that directory and its settings, if the user can be asked about them.
    """

    asked: tuple[str, Mapping[str, Any]] | None = None


class RefusedError(ShipGateError):
    """A rule refuses the operation."""


class CorruptionError(ShipGateError):
    """Stored records contradict each other."""


class InterruptedRunError(ShipGateError):
    """A person stopped the command; it can be run again."""

    exit_code: ClassVar[int] = 130
