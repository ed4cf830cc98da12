"""Where the records of a project are kept, and the adapters for each place (design: store-layout).

The setting `store` decides: empty is the project's directory, `postgresql://...` a schema of a Postgres database.
"""

import shlex
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from agent_wire.database import Dump, dump_file, restore_file
from agent_wire.log import SCHEMA as LOG_SCHEMA
from agent_wire.log import TABLES as LOG_TABLES
from agent_wire.log import VERSION as LOG_VERSION
from agent_wire.log import DatabaseWireLog, SqliteWireLog
from specwright.application.store.layout import DEFINITIONS
from specwright.errors import CorruptionError, InputError, InputErrors, UntrustedError
from specwright.files import read_bounded
from specwright.index.database import STATEMENTS as INDEX_SCHEMA
from specwright.index.database import TABLES as INDEX_TABLES
from specwright.index.database import VERSION as INDEX_VERSION
from specwright.installation import needing_extra
from specwright.journal import FileJournal, JournalRecord, read_records
from specwright.journal.journal import StoredJournal
from specwright.ports import FileTree
from specwright.settings import ProviderLimits, load_settings
from specwright.storage import STAGING, DiskStateStore, DiskTree, driver_lock, driver_of
from specwright.storage.files import check_links

if TYPE_CHECKING:  # what only drivers need is imported where they ask for it
    from specwright.bootstrap.postgres_store import PostgresStore
    from specwright.graphs.checkpoints import Saver, SaverClass
    from specwright.index.embedder import Embedder
    from specwright.index.sqlite_index import AppendOnlyCodeIndex
    from specwright.queue.jobs import QueuedJob
    from specwright.roles.models.rate_limits import RateLimiter

RUNTIME = ".specwright"
TOPIC = "0.0.1001"
JOURNAL = "journal.jsonl"
LOG = "wire.db"


MOVED_TREES = ("state_store", "project")
LAST_RUN = f"{RUNTIME}/run.json"
"""Where the options of the last run are stored."""
LAST_STOP = f"{RUNTIME}/last_stop.json"
"""Where it is noted what stopped it."""

_POSTGRES = ("postgres", "a store on Postgres needs", "store")
WORKERS = ("workers", "workers need", "drive")
"""Extras of this distribution, who needs them, and the setting that asks for them."""

MOVED_FILES = (LAST_RUN,)
"""What is moved from store to store; SPEC.md and specwright.toml are the person's."""


class ProjectContent(NamedTuple):
    """Everything of a project that is moved from store to store.

    Args:
        files: Their bytes by their paths.
        journal: Its lines.
        rows: Of the log and of the Code Index.
    """

    files: Mapping[str, bytes]
    journal: bytes
    rows: Dump


class DirectoryStore:
    """A project in its directory. What is opened is closed by the one who opens it.

    `folder` has the project's files: task files, options of the last run, and `state_store/`, which is `files`. Beside the
    log is `workspace`, a directory for what roles have on the way.
    """

    def __init__(self, directory: Path) -> None:
        self._runtime = directory / RUNTIME
        self._index = directory / "state_store" / "code_index" / "index.db"
        self.folder = DiskTree(directory, self._runtime / STAGING)
        self.files = DiskStateStore(directory / "state_store", self._runtime / STAGING)
        self.log_address, self.journal_address = (str(self._runtime / name) for name in (LOG, JOURNAL))
        self.workspace = self._runtime / "work"

    def driving(self) -> AbstractContextManager[None]:
        """Hold the project against other drivers; it is made if there is none.

        Raises:
            BusyError: another process drives it.
            RefusedError: a link leads out of it.
        """
        check_links(self.folder.root, (RUNTIME, *MOVED_TREES, "SPEC.md"))
        return driver_lock(self._runtime)

    def driver(self) -> str:
        """The process that drives it, in words; empty if none does."""
        return driver_of(self._runtime)

    def has_log(self) -> bool:
        """Whether a run has begun: SQLite takes an empty file for a new database."""
        path = self._runtime / LOG
        check_links(self.folder.root, (RUNTIME, "state_store/code_index"))  # SQLite opens files itself
        return path.is_file() and path.stat().st_size > 0

    def log(self, *, reading: bool = False) -> DatabaseWireLog:
        """The log's file."""
        return SqliteWireLog(self._runtime / LOG, TOPIC, time.time_ns, reading=reading)

    def journal(self) -> StoredJournal:
        """The journal, for a driver."""
        return FileJournal(self._runtime / JOURNAL)

    def has_answers(self) -> bool | None:
        """Whether anything is in the journal; None if there is no journal."""
        try:
            return (self._runtime / JOURNAL).stat().st_size > 0
        except FileNotFoundError:
            return None

    def records(self, kind: str = "") -> Iterator[JournalRecord]:
        """The journal's records of a kind; none if there is no journal."""
        path = self._runtime / JOURNAL
        return read_records(path, kind) if path.exists() else iter(())

    def index(self, embedder: "Embedder") -> "AppendOnlyCodeIndex":
        """The index's file."""
        from specwright.index.sqlite_index import SqliteCodeIndex

        return SqliteCodeIndex(self._index.parent, embedder)

    def checkpoints(self, saver: "SaverClass") -> "AbstractContextManager[Saver]":
        """The checkpoints' file."""
        from specwright.graphs.checkpoints import checkpoint_file

        return checkpoint_file(self._runtime / "checkpoints.db", saver)

    def unlike_schema(self) -> list[str]:
        """Nothing: `verify` looks at the triggers of the files themselves."""
        return []

    def limiter(self, limits: Mapping[str, ProviderLimits]) -> "RateLimiter":
        """Holds the limits of providers, for this process."""
        from specwright.roles.models.rate_limits import RateLimiter

        return RateLimiter(limits)

    def content(self) -> ProjectContent:
        """Everything that is moved to another store, in one state.

        Raises:
            BusyError: a run changes it meanwhile.
        """
        with self.driving():
            journal = self._runtime / JOURNAL
            lines = read_bounded(journal) if journal.is_file() else b""
            return ProjectContent(
                moved_files(self.folder),
                lines[: lines.rfind(b"\n") + 1],  # a line that a crash cut short is no record
                {**dump_file(self._runtime / LOG, LOG_TABLES), **dump_file(self._index, INDEX_TABLES)},
            )

    def restore(self, content: ProjectContent) -> None:
        """Write what another store had; this one is driven and empty. The log is last, since with it a project is there."""
        for path, data in content.files.items():
            self.folder.publish(path, data)
        self.folder.publish(f"{RUNTIME}/{JOURNAL}", content.journal)
        (self._runtime / JOURNAL).chmod(0o600)  # all prompts and answers
        if any(content.rows.get(table.name) for table in INDEX_TABLES):
            restore_file(self._index, INDEX_SCHEMA, INDEX_VERSION, INDEX_TABLES, content.rows)
        restore_file(self._runtime / LOG, LOG_SCHEMA, LOG_VERSION, LOG_TABLES, content.rows)

    @contextmanager
    def queueing(self) -> Generator[Callable[[], None]]:
        """Refuse: workers reach no directory."""
        raise InputError(
            "a project in a directory has no workers",
            where=self.folder.address,
            remedy='set `store` to a Postgres database, or `drive` to "here"',
        )
        yield lambda: None

    def jobs(self) -> "list[QueuedJob]":
        """None."""
        return []

    def workers(self) -> int:
        """None."""
        return 0


ProjectStore: TypeAlias = "DirectoryStore | PostgresStore"


def moved_files(folder: FileTree) -> dict[str, bytes]:
    """The files of a project that are moved; those of the Code Index are moved as rows."""
    found = {f"{tree}/{path}": data for tree in MOVED_TREES for path, data in folder.tree(tree).items()}
    found |= {path: folder.read(path) for path in MOVED_FILES if folder.exists(path)}
    return {path: data for path, data in found.items() if not path.startswith("state_store/code_index/")}


@contextmanager
def opened_store(directory: Path, url: str | None = None) -> Generator[ProjectStore]:
    """The store of a project, open for as long as the block.

    Args:
        directory: The project's directory, which has at least its settings.
        url: The setting `store`; by default it is read.

    Raises:
        InputError: the setting names no store that can be used.
    """
    url = store_setting(directory) if url is None else url
    if not url:
        yield DirectoryStore(directory)
        return
    with needing_extra(*_POSTGRES):
        from specwright.bootstrap.postgres_store import opened_postgres_store
    with opened_postgres_store(url) as store:
        yield store


def directories_of_store(url: str) -> list[Path]:
    """A directory for each project of a database, with the setting that says where it is kept.

    Raises:
        InputError: it is no address, holds a password, or cannot be used.
        RefusedError: the server cannot be reached.
    """
    with needing_extra(*_POSTGRES):
        from specwright.bootstrap.postgres_store import project_directories
    return project_directories(url)


def store_setting(directory: Path) -> str:
    """The setting `store` of a project.

    Other settings may be damaged where a run has begun in the directory: what is there can be looked at all the same.

    Raises:
        UntrustedError: it came with the project and is not trusted.
        InputError: the settings cannot be read.
    """
    try:
        return load_settings(directory, looking=True).store
    except UntrustedError:  # what is in the directory is not what the setting names
        raise
    except InputErrors:
        if (directory / RUNTIME / LOG).is_file():
            return ""
        raise


@contextmanager
def begun_store(directory: Path) -> Generator[ProjectStore]:
    """The store of a project in which a run has begun.

    Raises:
        InputError: none has.
        CorruptionError: one had, and its log is gone.
    """
    with opened_store(directory) as store:
        require_log(store)
        if not store.has_log():
            if not directory.exists():
                raise InputError(
                    "there is no such directory",
                    where=str(directory),
                    remedy="name the directory of a project; `specwright init DIR` begins one",
                )
            raise InputError(
                "no run has begun here",
                where=str(directory),
                remedy=f"`specwright run {shlex.quote(str(directory))}` begins one, once there is a SPEC.md",
            )
        yield store


def require_log(store: ProjectStore) -> None:
    """Refuse a project that was copied without its log, or whose log was emptied.

    Raises:
        CorruptionError: a spec was approved here, but there is no log.
    """
    if not store.has_log() and store.files.names(DEFINITIONS):
        raise CorruptionError(
            "the project's log is gone; without it nobody can say what was done",
            where=store.log_address,
            remedy="bring `.specwright/` back from a copy: it belongs to the project as `state_store/` does",
        )
