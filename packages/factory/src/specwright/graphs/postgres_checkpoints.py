"""The graphs' checkpoints in the schema of a project (design: store-layout); needs the extra `postgres`."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import DataError

from specwright.graphs.checkpoints import JsonSerializer, Saver, SaverClass
from specwright.postgres import PostgresDatabase, postgres_errors


@contextmanager
def checkpoint_tables(database: PostgresDatabase, saver: SaverClass) -> Generator[Saver]:
    """The checkpoints in the schema of a project, on its connection.

    Raises:
        RefusedError: the store breaks off or refuses.
    """
    chosen_class: Any = saver(PostgresSaver)
    chosen = chosen_class(database.connection, serde=JsonSerializer())
    read: Any = chosen.get_tuple

    def get_tuple(config: Any) -> Any:
        try:
            return read(config)
        except DataError as error:  # its query takes the JSON apart
            raise ValueError(str(error)) from error

    chosen.get_tuple = get_tuple
    chosen.lock = database.lock  # the threads of the graph take turns with those that write the rest
    with postgres_errors(database.address):
        chosen.setup()
        yield chosen
