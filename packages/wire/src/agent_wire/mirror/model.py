"""The read model in a database: reading its position, and writing batches (design: mirrors).

A batch and the position after it are one transaction, and the position is locked first. So whatever is killed, and
however many mirrors follow the same log, no entry is applied twice.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, cast, delete, func, select, text, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from agent_wire.errors import CorruptionError
from agent_wire.mirror import tables
from agent_wire.mirror.batch import ARTIFACT_KEY, Batch, Row
from agent_wire.mirror.database import (
    READS,
    database_errors,
    has_tables,
    is_missing_file,
    open_engine,
    read_url,
    shown_url,
    upgrade,
)


class Position(NamedTuple):
    """The last mirrored entry of a log: its sequence number, 0 if there is none, consensus time and running hash."""

    sequence_number: int = 0
    consensus_seconds: int = 0
    consensus_nanos: int = 0
    running_hash: str = ""


class ReadModel:
    """The tables in one database; its schema is brought up to date by the first use.

    Args:
        url: Of SQLite or Postgres.

    Raises:
        InputError: no such URL, or no driver for it.
    """

    def __init__(self, url: str) -> None:
        self._url = read_url(url)
        self._engine = open_engine(self._url)
        self._upgraded = False

    @property
    def where(self) -> str:
        """The database, without a password."""
        return shown_url(self._url)

    def position(self, log_id: str) -> Position:
        """How far a log is mirrored.

        Raises:
            DatabaseUnavailableError: the database cannot be reached.
            RefusedError: it refuses.
        """
        if is_missing_file(self._url):
            return Position()  # reading makes no file
        engine = self._engine.execution_options(**{READS: True})
        with database_errors(self._engine), engine.begin() as connection:
            return _position(connection, log_id) if has_tables(connection) else Position()

    def write(self, batch: Batch, context_id: str, topic_id: str) -> Position:
        """Write the rows that are not there yet, with the position after them.

        Returns:
            The position then. It is before the batch if somebody has removed what was mirrored: then nothing is written.

        Raises:
            CorruptionError: another continuation of the log is mirrored there.
            DatabaseUnavailableError: the database cannot be reached; the batch may be written again.
            RefusedError: it refuses.
        """
        with self._transaction() as connection:
            return _write(connection, batch, context_id, topic_id)

    def rebuild(self, batches: Iterable[Batch], log_id: str, context_id: str, topic_id: str) -> Position:
        """Remove what is mirrored of a log and write it anew, in one transaction.

        Raises:
            DatabaseUnavailableError: the database cannot be reached; nothing has changed.
            RefusedError: it refuses.
        """
        with self._transaction() as connection:
            for table in tables.METADATA.tables.values():
                connection.execute(delete(table).where(table.c.log_id == log_id))
            position = Position()
            for batch in batches:
                position = _write(connection, batch, context_id, topic_id)
            return position

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Generator[Connection]:
        if not self._upgraded:
            upgrade(self._engine)
            self._upgraded = True
        with database_errors(self._engine), self._engine.begin() as connection:
            yield connection


def _position(connection: Connection, log_id: str, *, lock: bool = False) -> Position:
    logs = tables.LOGS.c
    query = select(
        logs.sequence_number, logs.consensus_seconds, logs.consensus_nanos, logs.running_hash
    ).where(logs.log_id == log_id)
    row = connection.execute(query.with_for_update() if lock else query).one_or_none()
    return Position(*row) if row is not None else Position()


def _write(connection: Connection, batch: Batch, context_id: str, topic_id: str) -> Position:
    if batch.end is None:
        return _position(connection, batch.log_id)
    first = {"log_id": batch.log_id, "context_id": context_id, "topic_id": topic_id}
    begin = _insert(connection, tables.LOGS).on_conflict_do_nothing()
    connection.execute(begin, first | Position()._asdict())
    before = _position(connection, batch.log_id, lock=True)
    if before.sequence_number < batch.after or before.sequence_number > batch.end.sequence_number:
        return before
    skip = before.sequence_number - batch.after
    if skip and batch.events[skip - 1]["running_hash"] != before.running_hash:
        raise other_log(batch.log_id)
    if skip == len(batch.events):
        return before
    _write_rows(connection, batch, batch.events[skip:])
    position = Position(*batch.end[:3], batch.end.running_hash.hex())
    moved = update(tables.LOGS).where(tables.LOGS.c.log_id == batch.log_id)
    connection.execute(moved, position._asdict())
    if connection.dialect.name == "postgresql":
        channel, payload = channel_of(batch.log_id), str(position.sequence_number)
        connection.execute(select(func.pg_notify(channel, payload)))
    return position


def channel_of(log_id: str) -> str:
    """The channel on which Postgres tells those who LISTEN that a log was mirrored further; the payload says how far.

    It is a name that those who may not read the log cannot guess: anybody may listen, but only to names that he knows.
    """
    return log_id.lower()


def other_log(log_id: str) -> CorruptionError:
    """The error that what is mirrored is not the beginning of the log."""
    return CorruptionError(
        "what is mirrored is not the beginning of this log; the log was replaced or cut off, or is a copy that went on",
        where=log_id,
        remedy="`specwright wire verify` checks the log; `specwright mirror --rebuild` mirrors it anew",
    )


def _write_rows(connection: Connection, batch: Batch, events: Sequence[Row]) -> None:
    _put(connection, tables.EVENTS, events, is_new=True)
    again = batch.announced_again
    if again:
        lineage = tables.ARTIFACT_LINEAGE
        key = tuple_(*(lineage.c[name] for name in ARTIFACT_KEY))
        connection.execute(delete(lineage).where(lineage.c.log_id == batch.log_id, key.in_(sorted(again))))
    inputs = [row for rows in batch.artifact_lineage.values() for row in rows]
    for table, rows in (
        (tables.TASKS, [*batch.tasks.values()]),
        (tables.TASK_LINEAGE, batch.task_lineage),
        (tables.ARTIFACTS, [*batch.artifacts.values()]),
        (tables.ARTIFACT_LINEAGE, inputs),
        (tables.DECISIONS, [*batch.decisions.values()]),
    ):
        if rows:
            _put(connection, table, rows)


def _put(connection: Connection, table: Table, rows: Sequence[Row], *, is_new: bool = False) -> None:
    """Insert rows; unless all are new, they take the place of those with the same key."""
    statement: Any = _insert(connection, table)
    in_place: dict[str, Any] = {}
    if not is_new:
        keys = [column.name for column in table.primary_key]
        changed = {c.name: statement.excluded[c.name] for c in table.c if c.name not in keys}
        in_place = {"index_elements": keys, "set_": changed}
    if connection.dialect.name == "postgresql":
        # one parameter for all rows: a third of the time of one statement a row
        names = [column.name for column in table.c]
        given = cast(list(rows), postgresql.JSONB)
        source = func.jsonb_populate_recordset(text(f"NULL::{table.name}"), given).table_valued(*names)
        statement = statement.from_select(names, select(*(source.c[name] for name in names)))
        connection.execute(statement.on_conflict_do_update(**in_place) if in_place else statement)
    else:
        connection.execute(statement.on_conflict_do_update(**in_place) if in_place else statement, list(rows))


def _insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    return (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)
