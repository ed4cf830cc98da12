"""A factory put together and held, so that one process drives a project (DESIGN §2, §4)."""

import platform
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langgraph.checkpoint.sqlite import SqliteSaver

from specwright import __version__
from specwright.application.factory import Factory
from specwright.application.projection import Projection
from specwright.application.stores.log_ends import check_log_ends, note_log_end
from specwright.bootstrap.gating import gate_of, packages_of
from specwright.bootstrap.models import model_sources_of
from specwright.bootstrap.reading import RUNTIME, TOPIC, require_log
from specwright.domain.allowed_packages import AllowedPackage
from specwright.domain.ship import Environment
from specwright.graphs.driver import Driver, open_driver
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import Cassette, FileJournal
from specwright.log.sqlite_log import SqliteWireLog
from specwright.packaging import FlitPackager
from specwright.ports.code_index import CodeIndex
from specwright.ports.gate import ShipGate
from specwright.ports.journal import Journal
from specwright.ports.progress import Progress, Step
from specwright.ports.roles import Role, Roles
from specwright.ports.store import FileTree, StateStore
from specwright.ports.wire_log import WireLog
from specwright.roles.models import ModelSource
from specwright.roles.search import NoSearch
from specwright.roles.team import Bounds, ModelRoles
from specwright.settings import Settings
from specwright.storage import UNFINISHED, DiskStateStore, DiskTree, driving
from specwright.storage.guarded_backend import ContextPackBackend

__all__ = ["Adapters", "Opened", "Plain", "open_project"]


class Opened(NamedTuple):
    """A project open for driving.

    Args:
        factory: Its ports.
        driver: Its graph.
        drift: Where a replayed request differs from the recorded one; grows as it runs.
    """

    factory: Factory
    driver: Driver
    drift: list[str]


@dataclass(frozen=True, slots=True)
class Adapters:
    """What a test may wrap before the factory is put together (DESIGN §4: kill points are wrapped ports)."""

    store: StateStore
    folder: FileTree
    log: WireLog
    journal: Journal
    index: CodeIndex
    gate: ShipGate


class Plain:
    """The production composition: every adapter as it is. A test makes a subclass of it."""

    saver: type[SqliteSaver] = SqliteSaver
    """What keeps the graph's checkpoints."""

    def cassette(self, recorded: Cassette | None) -> Cassette | None:
        """The recorded run whose draws are repeated, if there is one."""
        return recorded

    def adapters(self, adapters: Adapters) -> Adapters:
        """All adapters, to be used as they are."""
        return adapters

    def sources(self, sources: Mapping[Role, ModelSource]) -> Mapping[Role, ModelSource]:
        """The models, to be asked as they are."""
        return sources


@contextmanager
def open_project(
    directory: Path, settings: Settings, progress: Progress, spec_text: str, composition: Plain | None = None
) -> Generator[Opened]:
    """Hold a project and put its factory together. Settings without a model suit what asks none.

    Raises:
        HeldError: another process drives it.
        InputError: the models cannot be made.
        CorruptionError: the project came without its log.
    """
    require_log(directory)
    composed = composition or Plain()
    sources, recorded = model_sources_of(settings) if settings.model else ({}, None)
    packages = packages_of(settings)
    runtime = directory / RUNTIME
    with ExitStack() as stack:
        stack.enter_context(driving(runtime))
        cassette = composed.cassette(recorded.cassette if recorded else None)
        ports = composed.adapters(_adapters(directory, settings, cassette, progress, stack))
        roles = _roles(ports, composed.sources(sources), runtime / "work", settings, progress)
        factory = _factory(ports, roles, progress, spec_text, packages)
        check_log_ends(ports.store, ports.log)
        factory.projection.catch_up()
        factory.projection.write(now=True)
        driver = stack.enter_context(open_driver(factory, runtime / "checkpoints.db", composed.saver))
        try:
            yield Opened(factory, driver, recorded.drift if recorded else [])
        except KeyboardInterrupt:
            _settle(ports)
            raise
        factory.projection.write(now=True)
        note_log_end(ports.store, ports.log)


def _settle(ports: Adapters) -> None:
    """After an interruption, show what the log holds; read anew, since it may have come in the middle of a change."""
    projection = Projection(ports.log, ports.store, time.monotonic)
    projection.catch_up()
    projection.write(now=True)
    note_log_end(ports.store, ports.log)


def _adapters(
    directory: Path, settings: Settings, cassette: Cassette | None, progress: Progress, stack: ExitStack
) -> Adapters:
    """The adapters of a project; the stack closes them."""
    runtime = directory / RUNTIME
    journal = FileJournal(runtime / "journal.jsonl", cassette=cassette)
    stack.callback(journal.close)
    log = SqliteWireLog(runtime / "wire.db", TOPIC, time.time_ns)
    stack.callback(log.close)
    index = SqliteCodeIndex(directory / "state_store" / "code_index", load_embedder(settings.embedder))
    stack.callback(index.close)
    if index.needs_reindex:
        progress.note(Step("index", "", "the embedder has changed; every entry is embedded anew"))
        index.reindex()
    return Adapters(
        store=DiskStateStore(directory / "state_store", runtime / UNFINISHED),
        folder=DiskTree(directory, runtime / UNFINISHED),
        log=log,
        journal=journal,
        index=index,
        gate=gate_of(settings),
    )


def _roles(
    ports: Adapters, sources: Mapping[Role, ModelSource], work: Path, settings: Settings, progress: Progress
) -> Roles:
    bounds = Bounds(settings.calls_per_role)
    return ModelRoles(
        sources, ports.journal, ports.index, NoSearch(), work, progress, ContextPackBackend, bounds
    )


def _factory(
    ports: Adapters, roles: Roles, progress: Progress, spec_text: str, packages: tuple[AllowedPackage, ...]
) -> Factory:
    return Factory(
        store=ports.store,
        folder=ports.folder,
        log=ports.log,
        projection=Projection(ports.log, ports.store, time.monotonic),
        journal=ports.journal,
        index=ports.index,
        gate=ports.gate,
        roles=roles,
        packager=FlitPackager(),
        progress=progress,
        environment=_environment(packages),
        spec_text=spec_text,
        packages=packages,
    )


def _environment(packages: tuple[AllowedPackage, ...]) -> Environment:
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )
