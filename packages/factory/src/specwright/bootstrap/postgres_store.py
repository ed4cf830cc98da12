"""A project in a schema of a Postgres database; needs the extra `postgres` (design: store-layout)."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_wire.database import dump, insert
from agent_wire.log import TABLES as LOG_TABLES
from agent_wire.log import DatabaseWireLog
from ship_gate.trust import trust_typed
from specwright.bootstrap.stores import TOPIC, WORKERS, ProjectContent, moved_files
from specwright.errors import InputError
from specwright.files import write_atomically
from specwright.index.database import TABLES as INDEX_TABLES
from specwright.installation import needing_extra
from specwright.journal import JournalRecord
from specwright.journal.journal import StoredJournal
from specwright.journal.postgres_journal import PostgresJournal
from specwright.postgres import PostgresDatabase, PostgresTables, StoreAddress, is_project_name
from specwright.settings import SETTINGS_FILE, ProviderLimits
from specwright.storage.postgres_files import PostgresStateStore, PostgresTree

if TYPE_CHECKING:  # only drivers need these, so they import them when needed
    from specwright.graphs.checkpoints import Saver, SaverClass
    from specwright.index.embedder import Embedder
    from specwright.index.sqlite_index import AppendOnlyCodeIndex
    from specwright.roles.models.shared_rate_limits import SharedRateLimiter
    from specwright.work_queue import JobQueue, QueuedJob


def user_cache() -> Path:
    """Return the directory for what the programs on this machine need."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specwright"


class PostgresStore:
    """A project in a schema of a database, with the methods of `DirectoryStore`.

    Writes nothing into the project's directory; what programs on this machine need is in the user's cache.

    Args:
        database: The project's database; its owner closes it.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        name = hashlib.sha256(database.address.encode()).hexdigest()[:16]
        cache = user_cache() / name
        copies = cache / "copies"
        self._database = database
        self._journal = PostgresJournal(database)
        self.folder = PostgresTree(database, "", copies)
        self.files = PostgresStateStore(database, "state_store", copies)
        self.log_address = self.journal_address = database.address
        self.workspace = cache / "work"

    def driving(self) -> AbstractContextManager[None]:
        """Hold the session's lock."""
        return self._database.driving()

    def driver(self) -> str:
        """Return the process whose session holds the lock."""
        return self._database.driver()

    def has_log(self) -> bool:
        """Return whether the log has a topic."""
        return self._has("topic")

    def log(self, *, reading: bool = False) -> DatabaseWireLog:
        """Return the log in its tables."""
        tables = PostgresTables(self._database, "entry")
        return DatabaseWireLog(tables, TOPIC, time.time_ns, reading=reading)

    def journal(self) -> StoredJournal:
        """Return the journal in its table."""
        return StoredJournal(self._journal)

    def has_answers(self) -> bool | None:
        """Return whether the journal's table has a row."""
        return self._has("journal") or None

    def records(self, kind: str = "") -> Iterator[JournalRecord]:
        """Iterate over the records in the journal's table."""
        return self._journal.records(kind)

    def index(self, embedder: "Embedder") -> "AppendOnlyCodeIndex":
        """Return the index in its tables."""
        from specwright.index.sqlite_index import AppendOnlyCodeIndex

        counter = "SELECT number FROM index_version"
        return AppendOnlyCodeIndex(PostgresTables(self._database, "entries", counter), embedder)

    def checkpoints(self, saver: "SaverClass") -> "AbstractContextManager[Saver]":
        """Return the checkpoints in their tables."""
        from specwright.graphs.postgres_checkpoints import checkpoint_tables

        return checkpoint_tables(self._database, saver)

    def unlike_schema(self) -> list[str]:
        """Return the triggers and functions that differ from this version's schema."""
        return self._database.unlike_schema() if self._database.exists else []

    def limiter(self, limits: Mapping[str, ProviderLimits]) -> "SharedRateLimiter":
        """Return a limiter shared by all processes that drive projects of the database."""
        from specwright.roles.models.shared_rate_limits import SharedRateLimiter

        return SharedRateLimiter(self._database, limits)

    def content(self) -> ProjectContent:
        """Return all content in one snapshot; a run may continue meanwhile."""
        with self._database.snapshot() as connection:
            lines = connection.execute("SELECT line FROM journal ORDER BY number").fetchall()
            return ProjectContent(
                moved_files(self.folder),
                b"".join(line for (line,) in lines),
                dump(connection, (*LOG_TABLES, *INDEX_TABLES)),
            )

    def restore(self, content: ProjectContent) -> None:
        """Write all content in one transaction, with the triggers of the tables off."""
        tables = (*LOG_TABLES, *INDEX_TABLES)
        with self._database.writing() as connection:
            for table in tables:
                connection.execute(f"ALTER TABLE {table.name} DISABLE TRIGGER USER")
            insert(connection, tables, content.rows)
            for table in tables:
                connection.execute(f"ALTER TABLE {table.name} ENABLE TRIGGER USER")
            for table, column in (("entries", "seq"), ("embedding_sets", "id")):
                connection.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column})) FROM {table}"  # noqa: S608  # constants
                )
            connection.execute("UPDATE index_version SET number = number + 1")
            connection.executemany("INSERT INTO file VALUES (?, ?)", content.files.items())
            self._journal.restore(content.journal)

    @contextmanager
    def queueing(self) -> Generator[Callable[[], None]]:
        """Commit the writes of the block together; the yielded function adds a job for workers."""
        queue = self._queue()
        self._database.prepare()
        queue.prepare()
        with self._database.writing():
            yield queue.add

    def jobs(self) -> "list[QueuedJob]":
        """Return the project's jobs for workers."""
        return self._queue().jobs()

    def workers(self) -> int:
        """Return how many workers are alive."""
        return self._queue().workers()

    def journal_length(self) -> int:
        """Return how many records the journal has."""
        if not self._database.exists:
            return 0
        with self._database.reading() as connection:
            row = connection.execute("SELECT count(*) FROM journal").fetchone()
        return int(row[0]) if row else 0

    def _queue(self) -> "JobQueue":
        with needing_extra(*WORKERS):
            from specwright.work_queue import JobQueue
        return JobQueue(self._database)

    def _has(self, table: str) -> bool:
        """Return whether a table has a row."""
        if not self._database.exists:
            return False
        with self._database.reading() as connection:
            return connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None  # noqa: S608  # a constant


@contextmanager
def opened_postgres_store(url: str) -> Generator[PostgresStore]:
    """Open the store of a project for the block.

    Raises:
        InputError: the URL is invalid or cannot be used.
        RefusedError: the server cannot be reached.
    """
    with closing(PostgresDatabase(StoreAddress.parse(url))) as database:
        yield PostgresStore(database)


def project_directories(url: str) -> list[Path]:
    """Return a directory for each project of a database, with only a settings file that names the store.

    They are in the user's cache; commands take a project as a directory.

    Args:
        url: The URL of the database; the name of a project in it is ignored.

    Raises:
        InputError: the URL is invalid, holds a password, or cannot be used.
        RefusedError: the server cannot be reached.
    """
    if urlsplit(url).password is not None:
        raise InputError(
            "the address holds a password, which would be written into a settings file",
            where="--store",
            remedy="put the password into PGPASSWORD or ~/.pgpass",
        )
    address = StoreAddress.parse(url)
    with closing(PostgresDatabase(address)) as database, database.snapshot() as connection:
        schemas = [str(name) for (name,) in connection.execute(_PROJECT_SCHEMAS).fetchall()]
    base = user_cache() / "studio" / hashlib.sha256(address.url.encode()).hexdigest()[:16]
    projects = [StoreAddress.project_of(schema) for schema in schemas]
    # whoever may create a schema chooses its name; a name that no project can have could lead out of `base`
    return [_stand_in(base, address.url, name) for name in projects if not name or is_project_name(name)]


_PROJECT_SCHEMAS = """
SELECT n.nspname FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
WHERE c.relname = 'topic' AND (n.nspname = 'specwright' OR starts_with(n.nspname, 'specwright_')) ORDER BY 1
"""


def _stand_in(base: Path, url: str, project: str) -> Path:
    """Return the directory of a project by its name; create it if missing."""
    directory, file = base / (project or "project"), base / (project or "project") / SETTINGS_FILE
    place = f"{url}{'&' if '?' in url else '?'}project={project}" if project else url
    text = f"store = {json.dumps(place)}\n"
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode())
    trust_typed(directory, {"store": place})  # the user named this database
    return directory
