"""The composition root: the only place where adapters are chosen (DESIGN §2).

A project is a directory: SPEC.md, specwright.toml, `project/` with the task files, `state_store/` (F§7, D20), and
`.specwright/` with what belongs to this machine's runs: log, journal, checkpoints, lock, last options.
"""

import platform
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.sqlite import SqliteSaver

from specwright import __version__, canonical_json
from specwright.application.factory import Factory, View
from specwright.application.projection import Projection
from specwright.application.verifying import Checked, Fault, verify_store
from specwright.domain.ship import Environment
from specwright.errors import CorruptionError, InputError
from specwright.gate import FirstGate
from specwright.gate.directory_verdict import DirectoryVerdict, judge_directory
from specwright.gate.sandbox_kind import SandboxKind, available_sandbox
from specwright.gate.sealed_source import SealedSource
from specwright.graphs.driver import Driver, open_driver
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import Cassette, FileJournal
from specwright.journal.journal import request_digest
from specwright.log.metadata import hcs_metadata
from specwright.log.sqlite_log import SqliteWireLog
from specwright.log.verify import verify as verify_log
from specwright.packaging import FlitPackager
from specwright.ports.code_index import CodeIndex
from specwright.ports.gate import ShipGate
from specwright.ports.journal import Journal
from specwright.ports.progress import Progress, Step
from specwright.ports.roles import Role, Roles
from specwright.ports.store import FileTree, StateStore
from specwright.ports.wire_log import WireLog
from specwright.roles.models import ModelSettings, ModelSource, model_sources, probe
from specwright.roles.search import NoSearch
from specwright.roles.team import Bounds, ModelRoles
from specwright.settings import Settings, load_settings
from specwright.storage import UNFINISHED, DiskStateStore, DiskTree, driver_of, driving
from specwright.storage.guarded_backend import ContextPackBackend

__all__ = [
    "RUNTIME",
    "TOPIC",
    "Opened",
    "Recorded",
    "driven_by",
    "judged_directory",
    "log_findings",
    "model_sources_of",
    "open_project",
    "probe_model",
    "reading_project",
    "sandbox_here",
    "stored_wires",
    "verified_project",
]

RUNTIME = ".specwright"
TOPIC = "0.0.1001"


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


class Recorded:
    """A recorded journal as the replay model reads it."""

    def __init__(self, cassette: Cassette) -> None:
        self.path = cassette.path
        self.cassette = cassette
        self.drift: list[str] = []

    def model_answer(self, scope: str, ordinal: int) -> tuple[str, Any] | None:
        """The digest of the request and the answer at a place."""
        recorded = self.cassette.model_answer(scope, ordinal)
        return (recorded.request, recorded.answer) if recorded else None

    def drifted(self, place: str) -> None:
        """Remember a drifted request."""
        self.drift.append(place)

    def digest(self, request: Any) -> str:
        """As the journal makes it."""
        return request_digest(request)


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


def model_sources_of(settings: Settings) -> tuple[dict[Role, ModelSource], Recorded | None]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, or a name stands for none.
    """
    names = [settings.model, *settings.role_models.values()]
    recorded: Recorded | None = None
    for name in names:
        if name.startswith("replay:"):
            recorded = Recorded(Cassette(Path(name.partition(":")[2])))
    if unknown := set(settings.role_models) - set(Role):
        raise InputError(f"there is no role {sorted(unknown)[0]!r}", remedy=f"roles are: {', '.join(Role)}")
    reached = ModelSettings(
        settings.model,
        dict(settings.role_models),
        settings.base_url,
        settings.timeout_seconds,
        settings.max_retries,
    )
    return model_sources(reached, recorded), recorded


@contextmanager
def open_project(
    directory: Path, settings: Settings, progress: Progress, spec_text: str, composition: Plain | None = None
) -> Generator[Opened]:
    """Hold a project and put its factory together. Settings without a model suit what asks none.

    Raises:
        HeldError: another process drives it.
        InputError: the models cannot be made.
    """
    composed = composition or Plain()
    sources, recorded = model_sources_of(settings) if settings.model else ({}, None)
    runtime = directory / RUNTIME
    with ExitStack() as stack:
        stack.enter_context(driving(runtime))
        cassette = composed.cassette(recorded.cassette if recorded else None)
        journal = FileJournal(runtime / "journal.jsonl", cassette=cassette)
        stack.callback(journal.close)
        store = DiskStateStore(directory / "state_store", runtime / UNFINISHED)
        folder = DiskTree(directory, runtime / UNFINISHED)
        log = SqliteWireLog(runtime / "wire.db", TOPIC, time.time_ns)
        stack.callback(log.close)
        index = SqliteCodeIndex(directory / "state_store" / "code_index", load_embedder(settings.embedder))
        stack.callback(index.close)
        if index.needs_reindex:
            progress.note(Step("index", "", "the embedder has changed; every entry is embedded anew"))
            index.reindex()
        ports = composed.adapters(
            Adapters(
                store,
                folder,
                log,
                journal,
                index,
                FirstGate(settings.gate_timeout_seconds, sandbox=settings.sandbox),
            )
        )
        roles = ModelRoles(
            composed.sources(sources),
            ports.journal,
            ports.index,
            NoSearch(),
            runtime / "work",
            progress,
            ContextPackBackend,
            Bounds(settings.calls_per_role),
        )
        factory = _factory(ports, roles, progress, spec_text)
        factory.projection.catch_up()
        factory.projection.write(now=True)
        driver = stack.enter_context(open_driver(factory, runtime / "checkpoints.db", composed.saver))
        yield Opened(factory, driver, recorded.drift if recorded else [])
        factory.projection.write(now=True)


def driven_by(directory: Path) -> str:
    """The process that drives a project now, in words; empty if none does."""
    return driver_of(directory / RUNTIME)


def sandbox_here(settings: Settings) -> tuple[bool, str]:
    """Whether code of modules can be confined as the settings ask, and how, or why not."""
    if settings.sandbox == "none":
        return False, 'sandbox = "none": the code of modules runs with the rights of this account'
    found = available_sandbox()
    if found.kind is not SandboxKind.NONE and settings.sandbox in ("auto", found.kind.value):
        return True, f"{found.kind.value}, with seccomp and limits"
    return False, found.reason


def probe_model(settings: Settings) -> str:
    """Ask the default model for one word; what it takes is not journalled.

    Raises:
        SpecwrightError: it cannot be reached.
    """
    source = model_sources_of(settings)[0][Role.ARBITER]
    return probe(source)


@contextmanager
def reading_project(directory: Path) -> Generator[View]:
    """A project as its log and its store tell it, while another process may drive it.

    Raises:
        InputError: there is no project.
    """
    log = SqliteWireLog(_log_file(directory), TOPIC, time.time_ns)
    try:
        store = DiskStateStore(directory / "state_store")
        view = View(store, Projection(log, store, time.monotonic))
        view.projection.catch_up()
        yield view
    finally:
        log.close()


def stored_wires(directory: Path) -> list[dict[str, Any]]:
    """Every Wire of a project with its proof beside it (W HCS Metadata).

    Raises:
        InputError: there is no project.
    """
    log = SqliteWireLog(_log_file(directory), TOPIC, time.time_ns)
    try:
        return [
            {**hcs_metadata(TOPIC, entry), "wire": canonical_json.loads(entry.body)} for entry in log.stored()
        ]
    finally:
        log.close()


def log_findings(directory: Path) -> list[dict[str, Any]]:
    """What is wrong with a project's log; empty if its chain is intact.

    Raises:
        InputError: there is no project.
    """
    return [finding._asdict() for finding in verify_log(_log_file(directory))]


def judged_directory(directory: Path, dependencies: Sequence[Path], *, fix: bool) -> DirectoryVerdict:
    """Judge one module directory with no factory around it (D-S8-15).

    Raises:
        InputError: it is no module directory, or a dependency is nowhere.
        RefusedError: `fix` on a sealed version.
    """
    settings = load_settings(directory)
    gate = FirstGate(settings.gate_timeout_seconds, sandbox=settings.sandbox)
    return judge_directory(gate, directory, dependencies, fix=fix)


def verified_project(directory: Path, *, at_rest: bool) -> Checked:
    """Prove a project's records, its log's chain and its state file (D-S9-11).

    Raises:
        InputError: there is no project.
    """
    path = _log_file(directory)
    broken = [
        Fault(finding.code, f"{RUNTIME}/{path.name}", f"Wire {finding.sequence_number}: {finding.message}")
        for finding in verify_log(path)
    ]
    try:
        log = SqliteWireLog(path, TOPIC, time.time_ns)
    except CorruptionError as error:
        return Checked(0, 0, 0, 0, (*broken, Fault("log.unreadable", f"{RUNTIME}/{path.name}", error.what)))
    try:
        store = DiskStateStore(directory / "state_store")
        checked = verify_store(store, log, SealedSource(), at_rest=at_rest)
    finally:
        log.close()
    return checked._replace(faults=(*broken, *checked.faults))


def _log_file(directory: Path) -> Path:
    path = directory / RUNTIME / "wire.db"
    if not path.is_file():
        raise InputError("no run has begun here", where=str(directory), remedy="`specwright run` begins one")
    return path


def _factory(ports: Adapters, roles: Roles, progress: Progress, spec_text: str) -> Factory:
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
        environment=_environment(),
        spec_text=spec_text,
    )


def _environment() -> Environment:
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref="standard-library",
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )
