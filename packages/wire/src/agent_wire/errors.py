"""The errors of this package. Each message says what failed, where, and what to do next.

AgentWireError
├── InputError                  exit 2   the caller passed an unusable value or file
├── RefusedError                exit 1   a rule forbids the operation
│   ├── WireRefusedError        exit 1   a Wire breaks a rule, which its `Rejection` names
│   └── BusyError               exit 1   another process holds the database
├── DatabaseUnavailableError    exit 1   a database server cannot be reached
├── NetworkUnavailableError     exit 1   the network of a topic, or its mirror node, cannot be reached
└── CorruptionError             exit 1   stored records contradict each other
"""

from typing import ClassVar, Literal, NamedTuple


class AgentWireError(Exception):
    """The base of this package's errors.

    Args:
        what: What failed, in one sentence.
        where: The file, field, stream or address; empty if the sentence names it.
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


class InputError(AgentWireError):
    """The caller passed an unusable value or file."""

    exit_code: ClassVar[int] = 2


class RefusedError(AgentWireError):
    """A rule forbids the operation."""


class BusyError(RefusedError):
    """Another process holds the database."""


class DatabaseUnavailableError(AgentWireError):
    """A database server cannot be reached, or a connection to it was lost."""


class NetworkUnavailableError(AgentWireError):
    """The network of a topic or its mirror node cannot be reached or does not answer."""


class CorruptionError(AgentWireError):
    """Stored records contradict each other."""


Layer = Literal["parse", "schema", "admission"]


class Rejection(NamedTuple):
    """The first rule that a Wire breaks.

    Args:
        code: An identifier for programs, such as `wire.too_large` or `task.transition`.
        message: One sentence for a person.
        pointer: The JSON pointer of the offending value; empty for the whole Wire.
        layer: What rejected the Wire: the parser, the schema, or admission.
        keyword: The JSON Schema keyword that failed, if a schema found it.
    """

    code: str
    message: str
    pointer: str = ""
    layer: Layer = "admission"
    keyword: str = ""


class WireRefusedError(RefusedError):
    """A Wire was rejected.

    Args:
        rejection: The rule that it breaks.
        wire_id: The id of the Wire, if it could be read.
    """

    def __init__(self, rejection: Rejection, wire_id: str = "") -> None:
        self.rejection = rejection
        self.wire_id = wire_id
        place = f"{wire_id or 'the Wire'}{f' at {rejection.pointer}' if rejection.pointer else ''}"
        super().__init__(f"{rejection.message} ({rejection.code})", where=place)
