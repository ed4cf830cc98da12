"""The reason why a Wire is refused, the same value for producer, log and reducer (design: wire)."""

from typing import Literal, NamedTuple

from agent_wire.errors import RefusedError

Layer = Literal["parse", "schema", "admission"]


class Rejection(NamedTuple):
    """The first rule that a Wire breaks.

    Args:
        code: For programs: `wire.too_large`, `task.transition`.
        message: One sentence for a person.
        pointer: The JSON pointer of the value concerned, empty for the whole Wire.
        layer: What refused it: the parser, the schema, or admission.
        keyword: The JSON Schema keyword that failed, if a schema found it.
    """

    code: str
    message: str
    pointer: str = ""
    layer: Layer = "admission"
    keyword: str = ""


class WireRefusedError(RefusedError):
    """A Wire is refused.

    Args:
        rejection: The rule that it breaks.
        wire_id: The Wire, if it has a readable id.
    """

    def __init__(self, rejection: Rejection, wire_id: str = "") -> None:
        self.rejection = rejection
        self.wire_id = wire_id
        place = f"{wire_id or 'the Wire'}{f' at {rejection.pointer}' if rejection.pointer else ''}"
        super().__init__(f"{rejection.message} ({rejection.code})", where=place)
