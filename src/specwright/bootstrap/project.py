"""A project open for driving: its adapters put together, and held against other drivers (design: floors, journal)."""

import platform
import re
import shlex
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langgraph.checkpoint.sqlite import SqliteSaver

from specwright import __version__
from specwright.application.change.catch_up import finish_change
from specwright.application.change.closing import abandon_change
from specwright.application.change.report import TriedReport, begin_report, try_report
from specwright.application.change.request import begin_change
from specwright.application.criteria import open_questions
from specwright.application.deprecation import deprecate, finish_deprecations
from specwright.application.escalation.answers import check, finish_answers, resolve
from specwright.application.escalation.halt import open_escalations
from specwright.application.factory import Factory
from specwright.application.interface_change.decisions import decide, finish_decisions
from specwright.application.projection import Projection
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.application.store import layout
from specwright.application.store.log_ends import check_log_ends, note_log_end
from specwright.bootstrap.costs import price_of, spending_of
from specwright.bootstrap.gate import gate_of, packages_of
from specwright.bootstrap.models import model_sources_of, require_recording_of
from specwright.bootstrap.reading import RUNTIME, TOPIC, require_log
from specwright.bootstrap.search import search_of
from specwright.bootstrap.spec_file import spec_for_run, store_spec, structured_spec
from specwright.domain.base.allowed_packages import AllowedPackage
from specwright.domain.escalation.resolutions import HumanResolution
from specwright.domain.interface_change.decision import DecisionRequest
from specwright.domain.modules.deprecation import Deprecation, DeprecationRequest
from specwright.domain.modules.evidence import Environment
from specwright.errors import InputError, RefusedError
from specwright.graphs.driver import Driver, open_driver
from specwright.graphs.exception_graph import resolve_exceptions
from specwright.index.embedder import load_embedder
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import FileJournal, Recording
from specwright.log.sqlite_log import SqliteWireLog
from specwright.ports.code_index import CodeIndex
from specwright.ports.gate import ShipGate
from specwright.ports.journal import Journal
from specwright.ports.progress import Progress, Step
from specwright.ports.roles import Role, Roles
from specwright.ports.search import WebSearch
from specwright.ports.store import FileTree, StateStore
from specwright.ports.wire_log import WireLog
from specwright.roles.models.provider_call import CallLimits
from specwright.roles.models.rate_limits import RateLimiter
from specwright.roles.models.sources import ModelSource, fallback_sources
from specwright.roles.team import ModelRoles
from specwright.settings import Settings, load_settings
from specwright.storage import STAGING, DiskStateStore, DiskTree, driver_lock
from specwright.storage.context_pack import ContextPackBackend
from specwright.wheels import FlitPackager


@dataclass(frozen=True, slots=True)
class Project:
    """A project that this process drives, from stop to stop; other processes may read it meanwhile.

    Args:
        directory: Where it is.
        factory: Its ports.
        driver: Its graph.
        drift: Where a replayed request differs from the recorded one; grows as it runs.
    """

    directory: Path
    factory: Factory
    driver: Driver
    drift: list[str]

    @property
    def status(self) -> ProjectStatus:
        """Where the project is."""
        return project_status(self.factory)

    @property
    def escalations(self) -> list[str]:
        """The ids of the escalations that wait for a person."""
        if self.factory.projection.board is None:
            return []
        return [*open_escalations(self.factory), *open_questions(self.factory)]

    def run(self, *, approve: bool = False) -> ProjectStatus:
        """Go to the next stop: begin, or go on after an interruption. Where a person must decide it stays.

        Args:
            approve: Approve the spec when that stop is reached, and go on.

        Returns:
            Where the project is then.

        Raises:
            ModelError: a model cannot be reached or gives no usable answer; a later run goes on from there.
            BudgetError: the next call may exceed a budget; a later run goes on from there.
            RefusedError: the disk or a rule of the factory refuses.
            CorruptionError: the project's records contradict each other.
        """
        resolve_exceptions(self.factory)
        paused = self.driver.advance()
        if approve and paused.interrupt and paused.interrupt["kind"] == "approval":
            self.driver.advance(_APPROVAL)
        return self.status

    def approve(self, sha256: str = "") -> ProjectStatus:
        """Approve the spec that waits, and go to the next stop.

        Args:
            sha256: Of the spec that is meant, as the gate shows it; empty for the one that was shown last.

        Raises:
            InputError: what is given is no SHA-256.
            RefusedError: no spec waits, or it is not the one that was shown or named. For the others see `run`.
        """
        if sha256 and not _SHA256.fullmatch(sha256):
            raise InputError(
                f"{sha256[:80]!r} is no SHA-256",
                where="--sha256",
                remedy="`specwright status --json` shows the one of the spec that waits, as `sha256`",
            )
        spec = layout.spec_files(self.factory.projection.change_number)
        named = {"sha256": sha256.lower()} if sha256 else {}
        stop = self._answer_approval({**_APPROVAL, **named})
        if refused := (self.driver.waiting() or {}).get("refused"):
            raise RefusedError(
                f"not approved: {refused}",
                where=str(self.directory / "state_store" / spec.spec),
                remedy="read it again; put back what was changed, or have it changed with `specwright amend` or "
                "`specwright reject`",
            )
        return stop

    def amend(self, feedback: str) -> ProjectStatus:
        """Have the spec that waits changed, and go to the next stop.

        Raises:
            InputError: no feedback.
            RefusedError: no spec waits. For the others see `run`.
        """
        return self._answer_approval({"action": "AMEND", "feedback": _required("feedback", feedback)})

    def reject(self, reasons: str) -> ProjectStatus:
        """Have the spec that waits written anew from SPEC.md, and go to the next stop.

        Raises:
            InputError: no reasons.
            RefusedError: no spec waits. For the others see `run`.
        """
        return self._answer_approval({"action": "REJECT", "reasons": _required("reasons", reasons)})

    def resolve(self, resolution: HumanResolution) -> ProjectStatus:
        """Answer an escalation, and go to the next stop.

        Raises:
            InputError: it does not fit the escalation, or no such escalation waits. For the others see `run`.
        """
        check(self.factory, resolution)
        if resolution.escalation_id in self.factory.projection.questions:  # no task waits for it
            resolve(self.factory, resolution)
            return self.run()
        if self.driver.waiting() is None:  # a crash came between the halt and the question
            self.driver.advance()
        self.driver.advance(resolution.to_json())
        return self.status

    def deprecate(self, asked: DeprecationRequest) -> Deprecation:
        """Deprecate a sealed version; no model is asked.

        Raises:
            RefusedError: it, or its replacement, is not sealed here or retired already.
        """
        return deprecate(self.factory, asked)

    def decide(self, request: DecisionRequest) -> ProjectStatus:
        """Decide about an interface change exception, and go to the next stop.

        Raises:
            InputError: there is no such exception.
            RefusedError: its task does not wait for a decision. For the others see `run`.
        """
        decide(self.factory, request)
        return self.run()

    def change(self, request: str, spec_before: str, spec_text: str) -> ProjectStatus:
        """Begin a change of the released product, and go to the next stop; asked for in the same words again, it goes on.

        Args:
            request: A sentence, or empty if the changed SPEC.md says it.
            spec_before: The SPEC.md that the product was built from.
            spec_text: As it is now.

        Raises:
            InputError: nothing has changed, or another change is under way.
            RefusedError: the product is not released yet. For the others see `run`.
        """
        begin_change(self.factory, request, spec_before, spec_text)
        return self.run()

    def try_report(self, module: str, text: str, where: str) -> TriedReport:
        """Run the example of a bug report against the sealed module; nothing is written and no model is asked.

        Args:
            module: Its name, its MM-ID, or the reference of its version.
            text: Of the file with the example.
            where: The file, for messages.

        Raises:
            InputError: there is no such module, or this is no example of it.
            RefusedError: the product is not released yet.
        """
        return try_report(self.factory, module, text, where)

    def report(self, tried: TriedReport, pointer: str, spec_text: str) -> ProjectStatus:
        """Begin what a failed example asks for, a repair or a change request, and go to the next stop.

        Args:
            tried: Failed.
            pointer: What it breaks: a JSON pointer into the contract or the number of a criterion; empty if nothing says it.
            spec_text: The SPEC.md that the product was built from.

        Raises:
            InputError: nothing stands where it points, or another change is under way. For the others see `run`.
        """
        begin_report(self.factory, tried, pointer, spec_text)
        return self.run()

    def abandon(self) -> ProjectStatus:
        """Give up the change that is under way; no model is asked.

        Raises:
            InputError: none is under way.
        """
        abandon_change(self.factory)
        return self.status

    def _answer_approval(self, answer: dict[str, str]) -> ProjectStatus:
        waits = self.driver.waiting()
        if waits is None or waits["kind"] != "approval":
            raise RefusedError(
                f"no spec waits for approval; the project is {self.status.value.replace('_', ' ')}",
                where=str(self.directory),
                remedy=f"`specwright status {shlex.quote(str(self.directory))}` says what comes next",
            )
        self.driver.advance(answer)
        return self.status


_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_APPROVAL = {"action": "APPROVE", "by": "human:operator"}


def _required(name: str, text: str) -> str:
    if not text.strip():
        raise InputError(f"the {name} are empty" if name == "reasons" else f"the {name} is empty")
    return text.strip()


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapters that leave something on the disk, and the gate (design: journal)."""

    store: StateStore
    folder: FileTree
    log: WireLog
    journal: Journal
    index: CodeIndex
    gate: ShipGate


class Composition(NamedTuple):
    """What is put in the place of the production parts; tests wrap ports to kill a run at any effect.

    Args:
        wrap_adapters: Called with the adapters; what it returns is used.
        wrap_models: Called with the models of the roles; what it returns is used.
        draws: A recorded journal whose ids and times are drawn again.
        saver: What stores the graph's checkpoints.
    """

    wrap_adapters: Callable[[Adapters], Adapters] = lambda adapters: adapters
    wrap_models: Callable[[Mapping[Role, ModelSource]], Mapping[Role, ModelSource]] = lambda models: models
    draws: Recording | None = None
    saver: type[SqliteSaver] = SqliteSaver


PRODUCTION = Composition()


class Silent:
    """A `Progress` port that shows nothing."""

    def note(self, event: object) -> None:
        """Show nothing."""


@contextmanager
def open_project(
    directory: str | Path,
    settings: Settings | None = None,
    progress: Progress | None = None,
    spec_text: str | None = None,
    composition: Composition = PRODUCTION,
) -> Generator[Project]:
    """Open a project for driving; until it is closed no other process can drive it.

    Args:
        directory: The project; it is made if SPEC.md is given as text.
        settings: Which models answer, and the limits; by default those of specwright.toml and the environment. Without
            a model a project can be opened, but nothing asked.
        progress: Is called at every step; by default nothing is shown.
        spec_text: The text of SPEC.md; by default the project's file is read. Empty for what does not run.
        composition: For tests.

    Yields:
        The project. It has not moved yet: `Project.run` goes to the next stop.

    Raises:
        BusyError: another process drives it.
        InputError: wrong settings, an unusable SPEC.md, or models that cannot be made.
        CorruptionError: the project was copied without its log.
    """
    directory = Path(directory)
    settings = settings or load_settings(directory)
    progress = progress or Silent()
    text = spec_for_run(directory) if spec_text is None else spec_text
    require_log(directory)
    sources, recorded = model_sources_of(settings) if settings.model else ({}, None)
    if recorded and text:
        require_recording_of(text, recorded)
    packages, search = packages_of(settings), search_of(settings)
    runtime = directory / RUNTIME
    with ExitStack() as stack:
        stack.enter_context(driver_lock(runtime))
        draws = composition.draws or recorded
        ports = composition.wrap_adapters(_adapters(directory, settings, draws, progress, stack))
        roles = _roles(ports, composition.wrap_models(sources), directory, settings, progress, search)
        factory = _factory(ports, roles, progress, text, packages, settings)
        check_log_ends(ports.store, ports.log)
        _catch_up(factory)
        driver = stack.enter_context(open_driver(factory, runtime / "checkpoints.db", composition.saver))
        if text:
            store_spec(directory, text)
        with _settled(factory):
            yield Project(directory, factory, driver, recorded.drift if recorded else [])


def _catch_up(factory: Factory) -> None:
    """Bring the state to where the log is, and to its end what a crash cut short."""
    factory.projection.catch_up()
    factory.projection.write(now=True)
    finish_change(factory)
    finish_deprecations(factory)
    finish_answers(factory)
    finish_decisions(factory)


@contextmanager
def _settled(factory: Factory) -> Generator[None]:
    """Write the state and the end of the log when the project is closed, also after an interruption."""
    try:
        yield
    except KeyboardInterrupt:
        # the state in memory may be half changed, so it is read from the log again
        projection = Projection(factory.log, factory.store, time.monotonic)
        projection.catch_up()
        projection.write(now=True)
        note_log_end(factory.store, factory.log)
        raise
    factory.projection.write(now=True)
    note_log_end(factory.store, factory.log)


def _adapters(
    directory: Path, settings: Settings, draws: Recording | None, progress: Progress, stack: ExitStack
) -> Adapters:
    """The adapters of a project; the stack closes them."""
    runtime = directory / RUNTIME
    journal = FileJournal(runtime / "journal.jsonl", recording=draws)
    stack.callback(journal.close)
    log = SqliteWireLog(runtime / "wire.db", TOPIC, time.time_ns)
    stack.callback(log.close)
    index = SqliteCodeIndex(directory / "state_store" / "code_index", load_embedder(settings.embedder))
    stack.callback(index.close)
    if index.needs_reindex:
        progress.note(Step("index", "", "the embedder has changed; every entry is embedded again"))
        index.reindex()
    return Adapters(
        store=DiskStateStore(directory / "state_store", runtime / STAGING),
        folder=DiskTree(directory, runtime / STAGING),
        log=log,
        journal=journal,
        index=index,
        gate=gate_of(settings),
    )


def _roles(
    ports: Adapters,
    sources: Mapping[Role, ModelSource],
    directory: Path,
    settings: Settings,
    progress: Progress,
    search: WebSearch,
) -> Roles:
    return ModelRoles(
        sources,
        ports.journal,
        ports.index,
        search,
        directory / RUNTIME / "work",
        progress,
        ContextPackBackend,
        settings.calls_per_role,
        CallLimits(settings.timeout_seconds, settings.max_retries),
        spending_of(settings, directory),
        fallback_sources(settings),
        RateLimiter(settings.limits),
    )


def _factory(
    ports: Adapters,
    roles: Roles,
    progress: Progress,
    spec_text: str,
    packages: tuple[AllowedPackage, ...],
    settings: Settings,
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
        given_spec=structured_spec(spec_text),
        price=price_of(settings),
        searches=settings.search != "none",
    )


def _environment(packages: tuple[AllowedPackage, ...]) -> Environment:
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )
