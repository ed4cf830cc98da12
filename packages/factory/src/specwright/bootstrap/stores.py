"""Where a project's records are stored, and the adapters for each place (design: store-layout).

The setting `store` decides: empty for the project's directory, `postgresql://...` for a schema of a Postgres database.
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

if TYPE_CHECKING:  # only drivers need these, so they import them when needed
    from specwright.bootstrap.postgres_store import PostgresStore
    from specwright.graphs.checkpoints import Saver, SaverClass
    from specwright.index.embedder import Embedder
    from specwright.index.sqlite_index import AppendOnlyCodeIndex
    from specwright.roles.models.rate_limits import RateLimiter
    from specwright.work_queue import QueuedJob

RUNTIME = ".specwright"
TOPIC = "0.0.1001"
JOURNAL = "journal.jsonl"
LOG = "wire.db"


MOVED_TREES = ("state_store", "project")
LAST_RUN = f"{RUNTIME}/run.json"
"""The file with the options of the last run."""
LAST_STOP = f"{RUNTIME}/last_stop.json"
"""The file that says why the last run stopped."""

_POSTGRES = ("postgres", "a store on Postgres needs", "store")
WORKERS = ("workers", "workers need", "drive")
"""Extras of this distribution: the extra, who needs it, and the setting that requires it."""

MOVED_FILES = (LAST_RUN,)
"""The single files that move between stores; SPEC.md and specwright.toml are the user's."""


class ProjectContent(NamedTuple):
    """The content of a project that moves between stores.

    Args:
        files: The files' bytes by path.
        journal: The journal's lines.
        rows: The rows of the log and the Code Index.
    """

    files: Mapping[str, bytes]
    journal: bytes
    rows: Dump


class DirectoryStore:
    """A project in its directory. Whoever opens a part closes it.

    `folder` has the project's files: task files, options of the last run, and `state_store/`, which is `files`. `workspace`,
    beside the log, is a directory for the unfinished work of roles.
    """

    def __init__(self, directory: Path) -> None:
        self._runtime = directory / RUNTIME
        self._index = directory / "state_store" / "code_index" / "index.db"
        self.folder = DiskTree(directory, self._runtime / STAGING)
        self.files = DiskStateStore(directory / "state_store", self._runtime / STAGING)
        self.log_address, self.journal_address = (str(self._runtime / name) for name in (LOG, JOURNAL))
        self.workspace = self._runtime / "work"

    def driving(self) -> AbstractContextManager[None]:
        """Lock the project against other drivers; it is created if missing.

        Raises:
            BusyError: another process drives it.
            RefusedError: a link leads out of the directory.
        """
        check_links(self.folder.root, (RUNTIME, *MOVED_TREES, "SPEC.md"))
        return driver_lock(self._runtime)

    def driver(self) -> str:
        """Return a description of the process that drives the project; empty if none does."""
        return driver_of(self._runtime)

    def has_log(self) -> bool:
        """Return whether a run has begun; an empty file does not count, because SQLite takes it for a new database."""
        path = self._runtime / LOG
        check_links(self.folder.root, (RUNTIME, "state_store/code_index"))  # SQLite opens files itself
        return path.is_file() and path.stat().st_size > 0

    def log(self, *, reading: bool = False) -> DatabaseWireLog:
        """Return the log in its file."""
        return SqliteWireLog(self._runtime / LOG, TOPIC, time.time_ns, reading=reading)

    def journal(self) -> StoredJournal:
        """Return the journal for a driver."""
        return FileJournal(self._runtime / JOURNAL)

    def has_answers(self) -> bool | None:
        """Return whether the journal has a record; None if there is no journal."""
        try:
            return (self._runtime / JOURNAL).stat().st_size > 0
        except FileNotFoundError:
            return None

    def records(self, kind: str = "") -> Iterator[JournalRecord]:
        """Iterate over the journal's records of a kind; none if there is no journal."""
        path = self._runtime / JOURNAL
        return read_records(path, kind) if path.exists() else iter(())

    def index(self, embedder: "Embedder") -> "AppendOnlyCodeIndex":
        """Return the index in its file."""
        from specwright.index.sqlite_index import SqliteCodeIndex

        return SqliteCodeIndex(self._index.parent, embedder)

    def checkpoints(self, saver: "SaverClass") -> "AbstractContextManager[Saver]":
        """Return the checkpoints in their file."""
        from specwright.graphs.checkpoints import checkpoint_file

        return checkpoint_file(self._runtime / "checkpoints.db", saver)

    def unlike_schema(self) -> list[str]:
        """Return nothing: `verify` checks the triggers of the files itself."""
        return []

    def limiter(self, limits: Mapping[str, ProviderLimits]) -> "RateLimiter":
        """Return a limiter for this process."""
        from specwright.roles.models.rate_limits import RateLimiter

        return RateLimiter(limits)

    def content(self) -> ProjectContent:
        """Return all content that moves to another store, in one state.

        Raises:
            BusyError: a run is changing it.
        """
        with self.driving():
            journal = self._runtime / JOURNAL
            lines = read_bounded(journal) if journal.is_file() else b""
            return ProjectContent(
                moved_files(self.folder),
                lines[: lines.rfind(b"\n") + 1],  # a line that a crash cut short is not a record
                {**dump_file(self._runtime / LOG, LOG_TABLES), **dump_file(self._index, INDEX_TABLES)},
            )

    def restore(self, content: ProjectContent) -> None:
        """Write another store's content into this one, which is locked and empty; the log last, since it makes a project."""
        for path, data in content.files.items():
            self.folder.publish(path, data)
        self.folder.publish(f"{RUNTIME}/{JOURNAL}", content.journal)
        (self._runtime / JOURNAL).chmod(0o600)  # it contains all prompts and answers
        if any(content.rows.get(table.name) for table in INDEX_TABLES):
            restore_file(self._index, INDEX_SCHEMA, INDEX_VERSION, INDEX_TABLES, content.rows)
        restore_file(self._runtime / LOG, LOG_SCHEMA, LOG_VERSION, LOG_TABLES, content.rows)

    @contextmanager
    def queueing(self) -> Generator[Callable[[], None]]:
        """Refuse: workers cannot reach a directory."""
        raise InputError(
            "workers cannot drive a project in a directory",
            where=self.folder.address,
            remedy='set `store` to a Postgres database, or `drive` to "here"',
        )
        yield lambda: None

    def jobs(self) -> "list[QueuedJob]":
        """Return no jobs."""
        return []

    def workers(self) -> int:
        """Return 0."""
        return 0


ProjectStore: TypeAlias = "DirectoryStore | PostgresStore"


def moved_files(folder: FileTree) -> dict[str, bytes]:
    """Return the project's files that move between stores; the Code Index moves as rows instead."""
    found = {f"{tree}/{path}": data for tree in MOVED_TREES for path, data in folder.tree(tree).items()}
    found |= {path: folder.read(path) for path in MOVED_FILES if folder.exists(path)}
    return {path: data for path, data in found.items() if not path.startswith("state_store/code_index/")}


@contextmanager
def opened_store(directory: Path, url: str | None = None) -> Generator[ProjectStore]:
    """Open the store of a project for the block.

    Args:
        directory: The project's directory, which has at least its settings.
        url: The setting `store`; by default it is read from the settings.

    Raises:
        InputError: the setting names no usable store.
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
    """Return a directory for each project of a database, with only a settings file that names the store.

    Raises:
        InputError: the URL is invalid, holds a password, or cannot be used.
        RefusedError: the server cannot be reached.
    """
    with needing_extra(*_POSTGRES):
        from specwright.bootstrap.postgres_store import project_directories
    return project_directories(url)


def store_setting(directory: Path) -> str:
    """Return the setting `store` of a project.

    If a run has begun in the directory, other settings may be damaged: the project can still be read.

    Raises:
        UntrustedError: the setting came with the project and is not trusted.
        InputError: the settings cannot be read.
    """
    try:
        return load_settings(directory, looking=True).store
    except UntrustedError:  # the directory's content is not the project that the setting names
        raise
    except InputErrors:
        if (directory / RUNTIME / LOG).is_file():
            return ""
        raise


@contextmanager
def begun_store(directory: Path) -> Generator[ProjectStore]:
    """Open the store of a project in which a run has begun.

    Raises:
        InputError: no run has begun.
        CorruptionError: a run had begun, and its log is gone.
    """
    with opened_store(directory) as store:
        require_log(store)
        if not store.has_log():
            if not directory.exists():
                raise InputError(
                    "there is no such directory",
                    where=str(directory),
                    remedy="name the directory of a project; `specwright init DIR` creates one",
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
            "the project's log is gone, and with it the project's history",
            where=store.log_address,
            remedy="restore `.specwright/` from a copy; it is part of the project, like `state_store/`",
        )
