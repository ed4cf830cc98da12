"""A project open for driving: connects its adapters, and locks out other drivers (design: layers, journal).

Also makes what the settings name: the models and web search (design: models), and the ship gate (design: ship-gate).
"""

import platform
import shlex
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.sandbox.packages import AllowedPackage
from ship_gate.ship_gate import SandboxedShipGate, gate_of, packages_of
from specwright import __version__
from specwright.application.announce import bind_journal, check_journal
from specwright.application.change import (
    TriedReport,
    abandon_change,
    begin_change,
    begin_report,
    finish_change,
    try_report,
    undo_deprecation,
)
from specwright.application.criteria import open_questions
from specwright.application.deprecation import deprecate, finish_deprecations
from specwright.application.escalation.halted import open_escalations
from specwright.application.escalation.offers import (
    RoleModels,
    check,
    check_fix,
    finish_answers,
    resolve,
    retry_halted,
)
from specwright.application.factory import Adapters, Factory
from specwright.application.interface_change import (
    CHANGE,
    checked_sha256,
    decide,
    finish_decisions,
    require_shown,
)
from specwright.application.projection import Projection
from specwright.application.stages.product import (
    check_draft,
    draft_files,
    draft_history,
    edited_examples,
    note_gave_up,
    overturned,
    send_back,
    settle_spec_text,
    withdraw,
)
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.application.store.log_ends import check_log_ends, note_log_end
from specwright.bootstrap.costs import models_by_role, price_of, require_prices, spending_of, watch_estimate
from specwright.bootstrap.examples import EXAMPLES
from specwright.bootstrap.gate_answers import answer_in_words, no_spec_waits
from specwright.bootstrap.spec_file import (
    SpecCopy,
    edited_spec,
    readable_edit,
    spec_changed,
    spec_copy,
    spec_for_run,
    store_spec,
    structured_spec,
)
from specwright.bootstrap.stores import ProjectStore, opened_store, require_log
from specwright.bootstrap.views import AtWorkProgress, noting_stop
from specwright.domain.escalation import HumanResolution
from specwright.domain.interface_change import DecisionRequest
from specwright.domain.modules.code_index import DeprecationRequest
from specwright.domain.modules.evidence import Environment
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.errors import AnswerError, InputError, RefusedError, SpecwrightErrors
from specwright.graphs.checkpoints import SaverClass
from specwright.graphs.graphs import Driver, resolve_exceptions
from specwright.index.embedder import load_embedder
from specwright.ports import Progress, Role, RunEvent, WebSearch
from specwright.roles.agent.tools import NoSearch
from specwright.roles.models.provider_call import CallLimits
from specwright.roles.models.sources import ModelSource, model_sources
from specwright.roles.team import ModelRoles
from specwright.search import ddgs, tavily
from specwright.settings import SCRIPTED, Settings, load_settings
from specwright.storage.context_pack import ContextPackBackend
from specwright.wheels import FlitPackager


def model_sources_of(settings: Settings) -> dict[Role, ModelSource]:
    """Return the models that the settings name.

    Raises:
        InputError: no model is named, a name is unknown, or a budget in money lacks a price.
    """
    if unknown := set(settings.role_models) - set(Role):
        name = sorted(unknown)[0]
        raise InputError(
            f"there is no role {name!r}", remedy=f"{did_you_mean(name, Role)}roles are: {', '.join(Role)}"
        )
    sources = model_sources(settings)
    require_prices(settings)
    return sources


def answering(settings: Settings) -> tuple[str, RoleModels]:
    """Return the researcher's model with its address, and the model of each role."""
    return f"{settings.model_of(Role.RESEARCHER)} {settings.base_url}".strip(), models_by_role(settings)


def search_of(settings: Settings) -> WebSearch:
    """Return the web search that the settings name; nothing is sent yet.

    Raises:
        InputError: the service's key is missing, or its client is not installed.
    """
    if settings.search == "tavily":
        return tavily()
    return ddgs() if settings.search == "ddgs" else NoSearch()


def project_gate(settings: Settings) -> SandboxedShipGate:
    """Return the gate with the limits of a project.

    Raises:
        InputError: a package that modules may import is not installed here.
    """
    return gate_of(settings, shipped=uses_shipped_playbooks(settings))


def uses_shipped_playbooks(settings: Settings) -> bool:
    """Return whether every role answers from a playbook of this installation's examples."""
    return all(
        name.startswith(SCRIPTED) and Path(name.removeprefix(SCRIPTED)).resolve().is_relative_to(EXAMPLES)
        for name in settings.own_models
    )


def environment_of(packages: tuple[AllowedPackage, ...]) -> Environment:
    """Return the environment in which modules are judged, for the ship evidence."""
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )


@dataclass(frozen=True, slots=True)
class Project:
    """A project that this process drives from stop to stop; other processes may read it meanwhile.

    Args:
        directory: The project's directory.
        factory: Its ports.
        driver: Its graph.
        spec_copy: Reads the SPEC.md that the project works on.
        store: Holds its records.
        researcher: The researcher's model with its address.
        models: The model of each role, as the journal names it.
    """

    directory: Path
    factory: Factory
    driver: Driver
    spec_copy: Callable[[], SpecCopy]
    store: ProjectStore
    researcher: str = ""
    models: RoleModels = field(default_factory=dict[Role, str])

    @property
    def status(self) -> ProjectStatus:
        """Where the project stopped."""
        return project_status(self.factory)

    @property
    def position(self) -> tuple[object, ...]:
        """The position of the records; it differs after any change."""
        return self.factory.log.end(), draft_history(self.factory)

    @property
    def escalations(self) -> list[str]:
        """The ids of the open escalations."""
        if self.factory.projection.board is None:
            return []
        return [*open_escalations(self.factory), *open_questions(self.factory)]

    def run(self, *, approve: bool = False, retry: str = "") -> ProjectStatus:
        """Go to the next stop: begin, or continue after an interruption. A project that waits for a person stays there.

        Before the approval, an edited SPEC.md sends the draft back. A role that gave no usable answer is asked again if its
        model has changed.

        Args:
            approve: Approve the spec at that stop, and continue.
            retry: The role to ask again after it gave no usable answer; its answers stay on record.

        Returns:
            Where the project stopped.

        Raises:
            ModelError: a model cannot be reached or gives no usable answer; a later run continues from there.
            BudgetError: the next call may exceed a budget; a later run continues from there.
            InputError: the edited SPEC.md cannot be used, or there is nothing to retry.
            RefusedError: the disk is full or read-only, or a rule of the factory forbids it.
            CorruptionError: the project's records contradict each other.
        """
        if self.factory.projection.awaits_approval:
            self._send_back_by_itself(retry=bool(retry))
        else:
            retry_halted(self.factory, self.models, retry)
        return self.go_on(approve=approve)

    def approve(self, sha256: str = "", *, old_spec: bool = False) -> ProjectStatus:
        """Approve the spec that waits for approval, and go to the next stop.

        Args:
            sha256: The hash of the spec to approve, as shown; empty for the one shown last.
            old_spec: Approve it although SPEC.md was edited since.

        Raises:
            InputError: the hash is not a SHA-256, or the stored spec was edited and is not valid any more.
            RefusedError: no spec waits, the hash is another spec's, or SPEC.md was edited. Otherwise as `run`.
        """
        answer = self._checked_approval(sha256, old_spec=old_spec)
        if self.driver.waiting() is None:  # the checkpoints are lost or too old
            self.go_on()
        self.driver.advance(answer)
        if refused := (self.driver.waiting() or {}).get("refused"):
            raise self._not_approved(refused)
        return self.status

    def _checked_approval(self, sha256: str, *, old_spec: bool) -> dict[str, str]:
        """Return the approval for the graph, if the spec that waits can be approved."""
        sha256 = checked_sha256(sha256)
        if self.status is not ProjectStatus.APPROVAL:
            raise no_spec_waits(self.factory, self.directory)
        check_draft(self.factory)
        if spec_changed(self.directory, self.spec_copy()) and not old_spec:
            raise RefusedError(
                "not approved: SPEC.md was edited after this spec was written from it",
                where=str(self.directory / "SPEC.md"),
                remedy=f"`{self._command('amend')}` updates the spec; `{self._command('approve')} --old-spec` "
                "approves the spec as it was shown",
            )
        answer = {**_APPROVAL, "sha256": sha256 or draft_history(self.factory).shown_sha256}
        if old_spec and (text := readable_edit(self.directory, self.spec_copy())):
            answer["passed_over"] = text
        return answer

    def _not_approved(self, why: str) -> RefusedError:
        return RefusedError(
            f"not approved: {why}",
            where=f"{self.factory.store.address}/{draft_files(self.factory).spec}",
            remedy="read it again; undo the change, or request it with `specwright amend` or "
            "`specwright reject`",
        )

    def amend(self, feedback: str = "", decision: tuple[int, str] | None = None) -> ProjectStatus:
        """Send the spec that waits back for changes, and go to the next stop.

        Args:
            feedback: What to change; optional if SPEC.md was edited, which is sent in any case.
            decision: The number of a decision to overturn, and what holds instead.

        Raises:
            InputError: there is no feedback and SPEC.md is unchanged, or no such decision.
            RefusedError: no spec waits. Otherwise as `run`.
        """
        correction = overturned(self.factory, *decision) if decision else ""
        return self._send_back(GateAction.AMEND, "feedback", f"{correction}\n{feedback}")

    def withdraw(self) -> ProjectStatus:
        """Take back an answer to the spec that no draft has used yet; no model is asked.

        Raises:
            RefusedError: there is no such answer, or no draft to return to.
        """
        withdraw(self.factory)
        return self.status

    def reject(self, reasons: str = "") -> ProjectStatus:
        """Send the spec that waits back to be written again from the current SPEC.md; raises the errors of `amend`.

        Args:
            reasons: Why; optional if SPEC.md was edited.
        """
        return self._send_back(GateAction.REJECT, "reasons", reasons)

    def amend_examples(self, text: str, where: str) -> ProjectStatus:
        """Put edited examples and properties into the spec that waits; no model is asked.

        Args:
            text: The text of the edited file.
            where: The file's path, for messages.

        Raises:
            InputError: they cannot be read, change nothing, or do not fit the spec.
            RefusedError: no spec waits. Otherwise as `run`.
        """
        if self.status is not ProjectStatus.APPROVAL:
            raise no_spec_waits(self.factory, self.directory)
        send_back(self.factory, edited_examples(self.factory, text, where))
        return self.go_on()

    def resolve(self, resolution: HumanResolution, *, unchecked: bool = False) -> ProjectStatus:
        """Answer an escalation, and go to the next stop.

        Args:
            resolution: The answer.
            unchecked: Record the files of a fix without judging them first.

        Raises:
            InputError: the answer does not fit, no such escalation waits, or scripted answers cannot judge a fix.
            RefusedError: the gate refuses the files of a fix; nothing was recorded.
        """
        check(self.factory, resolution)
        check_fix(self.factory, resolution, by_gate=not unchecked)
        if resolution.escalation_id in open_questions(self.factory):  # no task waits for it
            resolve(self.factory, resolution)
            return self.go_on()
        if self.driver.waiting() is None:  # a crash between halt and question
            self.driver.advance()
        self.driver.advance(resolution.to_json())
        return self.status

    def deprecate(self, asked: DeprecationRequest) -> None:
        """Deprecate a sealed version; no model is asked.

        Raises:
            RefusedError: it or its replacement is not sealed here, or already retired.
        """
        deprecate(self.factory, asked)

    def undo_deprecation(self, asked: DeprecationRequest) -> None:
        """Seal the files of a deprecated version as the next version; no model is asked.

        Raises:
            RefusedError: it is not a deprecated version of the product, or a change is in progress.
        """
        undo_deprecation(self.factory, asked.module_ref, asked.reason)

    def decide(self, request: DecisionRequest) -> ProjectStatus:
        """Answer an interface change exception, and go to the next stop.

        Raises:
            InputError: there is no such exception.
            RefusedError: its task does not wait for a decision. Otherwise as `run`.
        """
        decide(self.factory, request)
        return self.go_on()

    def change(self, request: str, spec_before: str, spec_text: str) -> ProjectStatus:
        """Begin a change of the released product, and go to the next stop; the same request again continues the change.

        Args:
            request: The request; empty if the edited SPEC.md is the request.
            spec_before: The SPEC.md of the released product.
            spec_text: The current SPEC.md.

        Raises:
            InputError: nothing has changed, or another change is in progress.
            RefusedError: the product is not released yet. Otherwise as `run`.
        """
        begin_change(self.factory, request, spec_before, spec_text)
        return self.go_on()

    def try_report(self, module: str, text: str, where: str) -> TriedReport:
        """Run the example of a bug report against the sealed module; nothing is written and no model is asked.

        Args:
            module: The module's name, its MM-ID, or a reference to a version.
            text: The text of the file with the example.
            where: The file's path, for messages.

        Raises:
            InputError: there is no such module, or the example does not call it.
            RefusedError: the product is not released yet.
        """
        return try_report(self.factory, module, text, where)

    def report(self, tried: TriedReport, pointer: str, spec_text: str) -> ProjectStatus:
        """Begin the repair or change request that a failed example leads to, and go to the next stop.

        Args:
            tried: The example that failed.
            pointer: What it breaks: a JSON pointer into the contract or the number of a criterion; empty if unknown.
            spec_text: The SPEC.md of the released product.

        Raises:
            InputError: the pointer leads nowhere, or another change is in progress. Otherwise as `run`.
        """
        begin_report(self.factory, tried, pointer, spec_text)
        return self.go_on()

    def abandon(self, sha256: str = "") -> ProjectStatus:
        """Abandon the change in progress, or only the one with a given hash; no model is asked.

        Raises:
            InputError: no change is in progress.
            RefusedError: the hash is another change's.
        """
        require_shown(self.factory, sha256, CHANGE)
        abandon_change(self.factory)
        return self.status

    def go_on(self, *, approve: bool = False) -> ProjectStatus:
        """Go to the next stop without checking SPEC.md for edits."""
        resolve_exceptions(self.factory)
        try:
            waits = self.driver.advance()
        except AnswerError as error:
            if not self.factory.projection.awaits_approval:
                raise
            note_gave_up(self.factory, self.researcher)
            raise AnswerError(
                error.what,
                where=error.where,
                remedy=f"{error.remedy}; or ask again with `{self._command('run')} --retry researcher`, another `--model` "
                "or an edited SPEC.md",
                raw_answers=error.raw_answers,
                problems=error.problems,
            ) from error
        if approve and waits and waits["kind"] == "approval":
            self.driver.advance(_APPROVAL)
        return self.status

    def _send_back(self, action: GateAction, field: str, words: str) -> ProjectStatus:
        """Send the spec that waits back, with SPEC.md if it was edited; also one sent back before and not rewritten yet."""
        history, awaits = draft_history(self.factory), self.factory.projection.awaits_approval
        if not awaits or not (history.answers or history.drafted >= 0):
            raise no_spec_waits(self.factory, self.directory, words.strip())
        text = edited_spec(self.directory, self.spec_copy())
        if not words.strip() and not text:
            raise InputError(
                f"the {field} {'are' if field == 'reasons' else 'is'} empty, and SPEC.md is unchanged",
                where=str(self.directory / "SPEC.md"),
                remedy=f"`{self._command(action.value.lower())} --{field} TEXT`, or edit SPEC.md",
            )
        send_back(self.factory, answer_in_words(self.factory, action, words.strip(), text))
        return self.go_on()

    def _send_back_by_itself(self, *, retry: bool) -> None:
        """Send the draft back without a message from the user if SPEC.md was edited or the researcher is to try again."""
        history = draft_history(self.factory)
        if text := edited_spec(self.directory, self.spec_copy()):
            action = GateAction.AMEND if self.status is ProjectStatus.APPROVAL else GateAction.RESTART
            send_back(self.factory, answer_in_words(self.factory, action, "", text))
            self.factory.progress.note(
                RunEvent("spec", "", "SPEC.md was edited; the researcher updates the spec")
            )
        elif retry or (history.gave_up and history.gave_up != self.researcher):
            send_back(self.factory, GateAnswer(action=GateAction.RESTART))

    def _command(self, name: str) -> str:
        return f"specwright {name} {shlex.quote(str(self.directory))}"


_APPROVAL = {"action": "APPROVE", "by": "human:operator"}


class Composition(NamedTuple):
    """Replacements for production parts; tests wrap ports to kill a run at any effect.

    Args:
        wrap_adapters: Receives the adapters, and returns those to use.
        wrap_models: Receives the models of the roles, and returns those to use.
        saver: Receives the class that stores checkpoints, and returns the one to use.
    """

    wrap_adapters: Callable[[Adapters], Adapters] = lambda adapters: adapters
    wrap_models: Callable[[Mapping[Role, ModelSource]], Mapping[Role, ModelSource]] = lambda models: models
    saver: SaverClass = lambda saver: saver


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
    """Open a project for driving, and lock out other drivers until it is closed.

    Args:
        directory: The project; created if the text of SPEC.md is given.
        settings: Models and limits; by default those of specwright.toml and the environment. Without a model a project
            can be opened, but no role can be asked.
        progress: Called at every step; by default nothing is shown.
        spec_text: The text of SPEC.md; by default the project's file is read. Empty for a command that does not run.
        composition: Replacements for tests.

    Yields:
        The project, unmoved: `Project.run` goes to the next stop.

    Raises:
        BusyError: another process drives it.
        InputError: the settings are wrong, SPEC.md is unusable, or a model cannot be made.
        CorruptionError: the project was copied without its log.
    """
    directory = Path(directory)
    settings = settings or load_settings(directory)
    with ExitStack() as stack:
        store = stack.enter_context(opened_store(directory, settings.store))
        text = spec_for_run(directory, store=store) if spec_text is None else spec_text
        require_log(store)
        sources = model_sources_of(settings) if settings.model else {}
        packages, search = packages_of(settings), search_of(settings)
        stack.enter_context(store.driving())
        progress = AtWorkProgress(progress or Silent(), store.folder)
        ports = composition.wrap_adapters(_adapters(store, settings, progress, stack))
        spending = spending_of(settings, store)
        roles = ModelRoles(
            composition.wrap_models(sources),
            ports.journal,
            ports.index,
            search,
            store.workspace,
            progress,
            ContextPackBackend,
            settings.calls_per_role,
            CallLimits(settings.timeout_seconds, settings.retry_seconds),
            spending,
            store.limiter(settings.limits),
        )
        factory = Factory(
            **vars(ports),
            projection=Projection(ports.log, ports.store, time.monotonic),
            roles=roles,
            packager=FlitPackager(project_gate(settings)),
            progress=progress,
            environment=environment_of(packages),
            spec_text=text,
            packages=packages,
            given_spec=structured_spec(text),
            price=price_of(settings),
            searches=settings.search != "none",
            license=settings.license,
        )
        watch_estimate(spending, settings, factory)
        check_log_ends(ports.store, ports.log)
        _catch_up(factory, store.journal_address)
        driver = Driver(factory, stack.enter_context(store.checkpoints(composition.saver)))
        if text:
            store_spec(directory, text, store)
        with _settled(factory), noting_stop(directory, store.folder, factory):
            copy = partial(spec_copy, directory, store)
            yield Project(directory, factory, driver, copy, store, *answering(settings))


def _catch_up(factory: Factory, journal: str) -> None:
    """Bring the state up to the log, and finish what a crash interrupted; `journal` is the journal's address."""
    factory.projection.catch_up()
    check_journal(factory, journal)
    factory.projection.write(now=True)
    finish_change(factory)
    if factory.projection.awaits_approval:
        settle_spec_text(factory)
    finish_deprecations(factory)
    finish_answers(factory)
    finish_decisions(factory)


@contextmanager
def _settled(factory: Factory) -> Generator[None]:
    """Write the state and the end of the log when the project is closed, also after an error or an interruption."""
    try:
        yield
    except BaseException:
        # the state in memory may be half changed, so it is read from the log again; the user sees only the first error
        with suppress(OSError, *SpecwrightErrors):
            projection = Projection(factory.log, factory.store, time.monotonic)
            projection.catch_up()
            projection.write(now=True)
            note_log_end(factory.store, factory.log)
        raise
    factory.projection.write(now=True)
    bind_journal(factory)  # last, since it states that the run ended normally
    note_log_end(factory.store, factory.log)


def _adapters(store: ProjectStore, settings: Settings, progress: Progress, stack: ExitStack) -> Adapters:
    """Return the adapters of a project; the stack closes them."""
    journal, log = stack.enter_context(closing(store.journal())), stack.enter_context(closing(store.log()))
    index = stack.enter_context(closing(store.index(load_embedder(settings.embedder))))
    if index.needs_reindex:
        progress.note(RunEvent("index", "", "the embedder has changed, so every entry is embedded again"))
        index.reindex()
    return Adapters(store.files, store.folder, log, journal, index, project_gate(settings))
