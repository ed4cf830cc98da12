"""The records of a journal in a Postgres schema (design: store-layout)."""

from collections.abc import Iterator

from specwright.journal.journal import JournalRecord, line_of, parse_records
from specwright.postgres import PostgresDatabase


class PostgresJournal:
    """Records in the table `journal`, with the methods of `JournalFile`; a record is stored as its line in a file would be.

    Args:
        database: Of the project, whose connection another one closes.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.name = f"of {database.address}"

    def records(self, kind: str = "") -> Iterator[JournalRecord]:
        """The records, in order; of one kind if it is named."""
        if not self._database.exists:
            return
        with self._database.reading() as connection:
            lines = connection.execute(
                "SELECT line FROM journal WHERE kind = ? OR ? = '' ORDER BY number", (kind, kind)
            ).fetchall()
        yield from parse_records(b"".join(line for (line,) in lines), self._database.address, kind)

    def append(self, record: JournalRecord) -> None:
        """Add a record; it is committed when this returns."""
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO journal SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ? FROM journal",
                (*record.place, line_of(record)),
            )

    def restore(self, lines: bytes) -> None:
        """Write the lines of another journal, all or none.

        Raises:
            CorruptionError: one is no record.
        """
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO journal VALUES (?, ?, ?, ?, ?)",
                [
                    (number, *record.place, line + b"\n")
                    for number, (record, line) in enumerate(
                        zip(parse_records(lines, "the journal"), lines.split(b"\n"), strict=False), start=1
                    )
                ],
            )

    def close(self) -> None:
        """Leave the connection open."""
