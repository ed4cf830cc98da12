"""Why a Wire was not accepted: one value for the producer, the log and the reducer (D31)."""

from typing import Literal, NamedTuple

from specwright.errors import RefusedError

__all__ = ["Layer", "Rejection", "WireRefusedError"]

Layer = Literal["parse", "schema", "admission"]


class Rejection(NamedTuple):
    """The first rule that a Wire breaks.

    Args:
        code: What is wrong, for programs: `wire.too_large`, `task.transition`.
        message: What is wrong, one sentence for a person.
        pointer: The JSON pointer of the value concerned, empty for the whole Wire.
        layer: Where it was found: in the bytes, by the schema, or by what was admitted before.
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
