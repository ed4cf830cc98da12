"""The form of stored checkpoints: JSON, which names no code (design: graphs).

LangGraph's own serializer imports what a checkpoint names and calls it. A project, and with it its checkpoints, may come
from somebody else.
"""

import json
from typing import Any, cast

from langgraph.types import Interrupt

from agent_wire import canonical_json

_JSON, _INTERRUPTS = "json", "interrupts"


class JsonSerializer:
    """A serializer for LangGraph's savers: JSON values, and the interrupts of a stopped graph."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The form of a value and its bytes.

        Raises:
            TypeError: it holds something else than JSON.
        """
        values = list(cast("tuple[Any, ...]", obj)) if isinstance(obj, (list, tuple)) else []
        if values and all(isinstance(one, Interrupt) for one in values):
            return _INTERRUPTS, _dumps([[one.id, one.value] for one in values])
        return _JSON, _dumps(repr(obj) if isinstance(obj, BaseException) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of some bytes.

        Raises:
            ValueError: they have another form.
        """
        form, text = data
        if form not in (_JSON, _INTERRUPTS):
            raise ValueError(f"its form is {form[:40]!r}, not {_JSON!r}")
        try:
            value = canonical_json.loads(text)
            return (
                value
                if form == _JSON
                else tuple(Interrupt(value=shown, id=str(name)) for name, shown in value)
            )
        except (TypeError, RecursionError) as error:
            raise ValueError(f"it cannot be read: {str(error)[:80]}") from error


def _dumps(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
