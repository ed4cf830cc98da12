"""A project open for driving: its adapters put together, and held against other drivers (design: layers, journal).

The models and the web search that the settings name (design: models).

The ship gate as the settings of a project want it, and where it runs (design: ship-gate, contracts).
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
from specwright.search.services import ddgs, tavily
from specwright.settings import SCRIPTED, Settings, load_settings
from specwright.storage.context_pack import ContextPackBackend
from specwright.wheels import FlitPackager


def model_sources_of(settings: Settings) -> dict[Role, ModelSource]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, there is none of that name, or a budget in money meets an unknown price.
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
    """The model that answers for the researcher, with its address; and that of each role."""
    return f"{settings.model_of(Role.RESEARCHER)} {settings.base_url}".strip(), models_by_role(settings)


def search_of(settings: Settings) -> WebSearch:
    """What `web_search` asks; nothing is asked by this.

    Raises:
        InputError: the service has no key, or its client is not installed.
    """
    if settings.search == "tavily":
        return tavily()
    return ddgs() if settings.search == "ddgs" else NoSearch()


def project_gate(settings: Settings) -> SandboxedShipGate:
    """The gate with the limits of a project.

    Raises:
        InputError: a package that modules may import is not installed here.
    """
    return gate_of(settings, shipped=uses_shipped_playbooks(settings))


def uses_shipped_playbooks(settings: Settings) -> bool:
    """Whether every role is a playbook among the examples of this installation."""
    return all(
        name.startswith(SCRIPTED) and Path(name.removeprefix(SCRIPTED)).resolve().is_relative_to(EXAMPLES)
        for name in settings.own_models
    )


def environment_of(packages: tuple[AllowedPackage, ...]) -> Environment:
    """In what modules are judged, for the evidence."""
    return Environment(
        repo_revision=f"specwright-{__version__}",
        dependency_lock_ref=", ".join(["standard-library", *(package.installed for package in packages)]),
        runner_id=f"python-{platform.python_version()}-{platform.system().lower()}-{platform.machine()}",
    )


@dataclass(frozen=True, slots=True)
class Project:
    """A project that this process drives, from stop to stop; other processes may read it meanwhile.

    Args:
        directory: Where it is.
        factory: Its ports.
        driver: Its graph.
        spec_copy: Reads the SPEC.md that it works on.
        store: Where its records are.
        researcher: The models that answer for the researcher.
        models: The models that answer for each role, as the journal names them.
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
        """Where the project is."""
        return project_status(self.factory)

    @property
    def position(self) -> tuple[object, ...]:
        """Where the records are; another one says that something was changed."""
        return self.factory.log.end(), draft_history(self.factory)

    @property
    def escalations(self) -> list[str]:
        """The ids of the escalations that wait for a person."""
        if self.factory.projection.board is None:
            return []
        return [*open_escalations(self.factory), *open_questions(self.factory)]

    def run(self, *, approve: bool = False, retry: str = "") -> ProjectStatus:
        """Go to the next stop: begin, or go on after an interruption. Where a person must decide it stays.

        Before the approval an edited SPEC.md sends the draft back. A role that gave no usable answer is asked again if
        another model answers for it now.

        Args:
            approve: Approve the spec when that stop is reached, and go on.
            retry: A role that is asked again after it gave no usable answer; what it answered stays on record.

        Returns:
            Where the project is then.

        Raises:
            ModelError: a model cannot be reached or gives no usable answer; a later run goes on from there.
            BudgetError: the next call may exceed a budget; a later run goes on from there.
            InputError: SPEC.md was edited and cannot be used, or there is nothing to try again.
            RefusedError: the disk or a rule of the factory refuses.
            CorruptionError: the project's records contradict each other.
        """
        if self.factory.projection.awaits_approval:
            self._send_back_by_itself(retry=bool(retry))
        else:
            retry_halted(self.factory, self.models, retry)
        return self.go_on(approve=approve)

    def approve(self, sha256: str = "", *, old_spec: bool = False) -> ProjectStatus:
        """Approve the spec that waits, and go to the next stop.

        Args:
            sha256: Of the spec that is meant, as the gate shows it; empty for the one that was shown last.
            old_spec: Approve it although SPEC.md was edited since it was made.

        Raises:
            InputError: what is given is no SHA-256, or the spec was edited and is not valid any more.
            RefusedError: no spec waits, it is not the one that was shown or named, or SPEC.md was edited. For the others
                see `run`.
        """
        answer = self._checked_approval(sha256, old_spec=old_spec)
        if self.driver.waiting() is None:  # the checkpoints were lost, or left behind
            self.go_on()
        self.driver.advance(answer)
        if refused := (self.driver.waiting() or {}).get("refused"):
            raise self._not_approved(refused)
        return self.status

    def _checked_approval(self, sha256: str, *, old_spec: bool) -> dict[str, str]:
        """What the graph takes for an approval, if the spec that waits can be approved."""
        sha256 = checked_sha256(sha256)
        if self.status is not ProjectStatus.APPROVAL:
            raise no_spec_waits(self.factory, self.directory)
        check_draft(self.factory)
        if spec_changed(self.directory, self.spec_copy()) and not old_spec:
            raise RefusedError(
                "not approved: SPEC.md was edited since this spec was made from it",
                where=str(self.directory / "SPEC.md"),
                remedy=f"`{self._command('amend')}` has the spec follow it; `{self._command('approve')} --old-spec` "
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
            remedy="read it again; put back what was changed, or have it changed with `specwright amend` or "
            "`specwright reject`",
        )

    def amend(self, feedback: str = "", decision: tuple[int, str] | None = None) -> ProjectStatus:
        """Have the spec that waits changed, and go to the next stop.

        Args:
            feedback: What to change; may be left out if SPEC.md was edited, which is sent in any case.
            decision: The number of one that is overturned, and what holds instead.

        Raises:
            InputError: no feedback, and SPEC.md is as it was; or there is no such decision.
            RefusedError: no spec waits. For the others see `run`.
        """
        told = overturned(self.factory, *decision) if decision else ""
        return self._send_back(GateAction.AMEND, "feedback", f"{told}\n{feedback}")

    def withdraw(self) -> ProjectStatus:
        """Take back what sent the spec back and is not in a draft yet; no model is asked.

        Raises:
            RefusedError: there is no such answer, or no draft to go back to.
        """
        withdraw(self.factory)
        return self.status

    def reject(self, reasons: str = "") -> ProjectStatus:
        """Have the spec that waits written anew from SPEC.md as it is now, and go to the next stop; fails as `amend`.

        Args:
            reasons: Why; may be left out if SPEC.md was edited.
        """
        return self._send_back(GateAction.REJECT, "reasons", reasons)

    def amend_examples(self, text: str, where: str) -> ProjectStatus:
        """Put edited examples and properties into the spec that waits; no model is asked.

        Args:
            text: Of the file that a person edited.
            where: Its path, for messages.

        Raises:
            InputError: they cannot be read, change nothing, or do not fit the spec.
            RefusedError: no spec waits. For the others see `run`.
        """
        if self.status is not ProjectStatus.APPROVAL:
            raise no_spec_waits(self.factory, self.directory)
        send_back(self.factory, edited_examples(self.factory, text, where))
        return self.go_on()

    def resolve(self, resolution: HumanResolution, *, unchecked: bool = False) -> ProjectStatus:
        """Answer an escalation, and go to the next stop.

        Args:
            resolution: The answer.
            unchecked: Whether the files of a fix are recorded without being judged first.

        Raises:
            InputError: it does not fit the escalation, no such escalation waits, or scripted answers cannot judge a fix.
            RefusedError: the gate refuses the files of a fix; nothing was recorded.
        """
        check(self.factory, resolution)
        check_fix(self.factory, resolution, by_gate=not unchecked)
        if resolution.escalation_id in open_questions(self.factory):  # no task waits for it
            resolve(self.factory, resolution)
            return self.go_on()
        if self.driver.waiting() is None:  # a crash came between the halt and the question
            self.driver.advance()
        self.driver.advance(resolution.to_json())
        return self.status

    def deprecate(self, asked: DeprecationRequest) -> None:
        """Deprecate a sealed version; no model is asked.

        Raises:
            RefusedError: it, or its replacement, is not sealed here or retired already.
        """
        deprecate(self.factory, asked)

    def undo_deprecation(self, asked: DeprecationRequest) -> None:
        """Seal the files of a deprecated version as its next one; no model is asked.

        Raises:
            RefusedError: it is no deprecated version of the product, or a change is under way.
        """
        undo_deprecation(self.factory, asked.module_ref, asked.reason)

    def decide(self, request: DecisionRequest) -> ProjectStatus:
        """Decide about an interface change exception, and go to the next stop.

        Raises:
            InputError: there is no such exception.
            RefusedError: its task does not wait for a decision. For the others see `run`.
        """
        decide(self.factory, request)
        return self.go_on()

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
        return self.go_on()

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
        return self.go_on()

    def abandon(self, sha256: str = "") -> ProjectStatus:
        """Give up the change that is under way, or only the one with a hash; no model is asked.

        Raises:
            InputError: none is under way.
            RefusedError: it is another one.
        """
        require_shown(self.factory, sha256, CHANGE)
        abandon_change(self.factory)
        return self.status

    def go_on(self, *, approve: bool = False) -> ProjectStatus:
        """Go to the next stop, without a look at SPEC.md."""
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
                remedy=f"{error.remedy}; `{self._command('run')} --retry researcher` asks it again, another `--model` "
                "or an edited SPEC.md does as well",
                raw_answers=error.raw_answers,
                problems=error.problems,
            ) from error
        if approve and waits and waits["kind"] == "approval":
            self.driver.advance(_APPROVAL)
        return self.status

    def _send_back(self, action: GateAction, field: str, words: str) -> ProjectStatus:
        """Send the spec that waits back, with SPEC.md if it was edited; so also one that was sent back already and is not
        written yet."""
        history, awaits = draft_history(self.factory), self.factory.projection.awaits_approval
        if not awaits or not (history.answers or history.drafted >= 0):
            raise no_spec_waits(self.factory, self.directory, words.strip())
        text = edited_spec(self.directory, self.spec_copy())
        if not words.strip() and not text:
            raise InputError(
                f"the {field} {'are' if field == 'reasons' else 'is'} empty, and SPEC.md is as it was",
                where=str(self.directory / "SPEC.md"),
                remedy=f"`{self._command(action.value.lower())} --{field} TEXT`, or edit SPEC.md",
            )
        send_back(self.factory, answer_in_words(self.factory, action, words.strip(), text))
        return self.go_on()

    def _send_back_by_itself(self, *, retry: bool) -> None:
        """What sends a draft back without a word of the person: an edited SPEC.md, or that the researcher is tried again."""
        history = draft_history(self.factory)
        if text := edited_spec(self.directory, self.spec_copy()):
            action = GateAction.AMEND if self.status is ProjectStatus.APPROVAL else GateAction.RESTART
            send_back(self.factory, answer_in_words(self.factory, action, "", text))
            self.factory.progress.note(RunEvent("spec", "", "SPEC.md was edited: the spec is to follow it"))
        elif retry or (history.gave_up and history.gave_up != self.researcher):
            send_back(self.factory, GateAnswer(action=GateAction.RESTART))

    def _command(self, name: str) -> str:
        return f"specwright {name} {shlex.quote(str(self.directory))}"


_APPROVAL = {"action": "APPROVE", "by": "human:operator"}


class Composition(NamedTuple):
    """What is put in the place of the production parts; tests wrap ports to kill a run at any effect.

    Args:
        wrap_adapters: Called with the adapters; what it returns is used.
        wrap_models: Called with the models of the roles; what it returns is used.
        saver: Called with the class of what stores the checkpoints; what it returns is used.
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
    """Bring the state to where the log is, and to its end what a crash cut short; `journal` is its address."""
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
        # the state in memory may be half changed, so it is read from the log again; what broke off is what the user hears of
        with suppress(OSError, *SpecwrightErrors):
            projection = Projection(factory.log, factory.store, time.monotonic)
            projection.catch_up()
            projection.write(now=True)
            note_log_end(factory.store, factory.log)
        raise
    factory.projection.write(now=True)
    bind_journal(factory)  # last: it says that the run ended by itself
    note_log_end(factory.store, factory.log)


def _adapters(store: ProjectStore, settings: Settings, progress: Progress, stack: ExitStack) -> Adapters:
    """The adapters of a project; the stack closes them."""
    journal, log = stack.enter_context(closing(store.journal())), stack.enter_context(closing(store.log()))
    index = stack.enter_context(closing(store.index(load_embedder(settings.embedder))))
    if index.needs_reindex:
        progress.note(RunEvent("index", "", "the embedder has changed; every entry is embedded again"))
        index.reindex()
    return Adapters(store.files, store.folder, log, journal, index, project_gate(settings))
