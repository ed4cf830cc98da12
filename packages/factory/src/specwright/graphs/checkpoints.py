"""Where the graphs' checkpoints are stored, and in which form: JSON, which names no code (design: engineering).

They save time: what was answered is in the journal and what happened is in the log. LangGraph's own serializer imports
what a checkpoint names and calls it; a project, and with it its checkpoints, may come from somebody else.
"""

import json
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Interrupt

from agent_wire import canonical_json
from agent_wire.database import sqlite_errors
from ship_gate.base.record import Record

_JSON, _INTERRUPTS = "json", "interrupts"


class JsonSerializer:
    """A serializer for LangGraph's savers: JSON values, records as such, and the interrupts of a stopped graph."""

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
    return json.dumps(value, default=_as_json, allow_nan=False, separators=(",", ":")).encode()


def _as_json(value: Any) -> Any:
    """A record as the JSON that its reader validates; a program may put in `HumanResolution` itself (F§17.3)."""
    if isinstance(value, Record):
        return value.to_json()
    raise TypeError(f"a {type(value).__name__} is no JSON")


Saver: TypeAlias = BaseCheckpointSaver[Any]

SaverClass: TypeAlias = Callable[[type[Saver]], type[Saver]]
"""What is used in place of a class of savers; tests put in one that can be killed."""


@contextmanager
def checkpoint_file(path: Path, saver: SaverClass) -> Generator[Saver]:
    """The checkpoints in an SQLite file, which is closed afterwards.

    Raises:
        RefusedError: the disk is full, or the file cannot be written.
        CorruptionError: the file is not what was written.
    """
    remedy = "move this file aside and run again: what was answered is in the journal and the log"
    chosen: Any = saver(SqliteSaver)
    with (
        sqlite_errors("the checkpoint file", path, remedy),
        closing(sqlite3.connect(path, check_same_thread=False)) as connection,
    ):
        yield chosen(connection, serde=JsonSerializer())
