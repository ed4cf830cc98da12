"""Where the graphs' checkpoints are stored (design: graphs).

They save time: what was answered is in the journal and what happened is in the log.
"""

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from agent_wire.sqlite_errors import sqlite_errors
from specwright.graphs.checkpoint_json import JsonSerializer

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
