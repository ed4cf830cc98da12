"""Driving a project to its next stop and printing it. Imported only by commands that drive."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import typer

from ship_gate.terminal.output import note, refused_by_system, say
from ship_gate.terminal.page import Page
from specwright.application.interface_change import require_shown
from specwright.application.stages.release import release_all, release_some
from specwright.application.stages.status import ProjectStatus
from specwright.bootstrap.costs import budgets_of, pauses_by_estimate, prices_of, total_cost
from specwright.bootstrap.drive import queue_state
from specwright.bootstrap.project import Project, model_sources_of, open_project
from specwright.bootstrap.queueing import open_queued
from specwright.bootstrap.run_options import options_for, was_scripted
from specwright.bootstrap.spec_file import awaiting_approval, read_example_file, spec_changed, spec_copy
from specwright.bootstrap.views import reading_project
from specwright.cli.interruption import interruptible
from specwright.cli.options import settings_for
from specwright.cli.output import ask, on_terminal, present
from specwright.cli.pages.modules import module_page, report_page, statements_page
from specwright.cli.pages.stop import queued_page, release_page, stop_page
from specwright.cli.progress import ConsoleProgress
from specwright.documents.commands import next_command
from specwright.documents.modules import Module
from specwright.documents.reports import Report, Statements
from specwright.documents.stops import Queued, ReleaseDocument, Stop
from specwright.domain.base.document import Document
from specwright.domain.costs import in_words
from specwright.domain.modules.code_index import DeprecationRequest
from specwright.domain.tasks.project_state import ProjectState, TaskStatus
from specwright.errors import AnyError, InputErrors, ScriptError, SpecwrightError
from specwright.settings import SCRIPTED, Settings, load_settings


class Shown(NamedTuple):
    """A document with its page, which a step shows in place of where the project is then."""

    document: Document
    page: Callable[[Any], Page]


Step = Callable[[Project], ProjectStatus]
"""What a command has a project do: `Project.run`, `approve`, ..."""

Act = Callable[[Project], ProjectStatus | Shown]
"""The same, or what it shows itself."""


def drive(
    directory: Path,
    settings: Settings,
    spec_text: str,
    step: Act,
    *,
    as_json: bool,
    asks: bool = False,
) -> None:
    """Have a project, or its workers, take a step, print where it is then, and exit with the code of that stop.

    Args:
        directory: The project.
        settings: With a model.
        spec_text: What the run works on.
        step: What is done; it raises before anything is written if the project does not wait for it. What it shows itself
            is printed in place of the stop.
        as_json: Print one JSON document.
        asks: Ask for the answer at the approval gate; the project is not held while a person thinks.
    """
    if settings.drive == "workers":
        with (
            interruptible(next_command("run", directory), as_json=as_json),
            open_queued(directory, settings, spec_text) as queued,
        ):
            done = step(queued)
        if not isinstance(done, Shown):
            done = Shown(Queued(queue=queue_state(directory)), queued_page)
        present(*done, as_json=as_json)
        raise typer.Exit(0)
    stop, sha256 = _take_step(directory, settings, spec_text, step, as_json=as_json)
    while asks and stop is ProjectStatus.APPROVAL and (answer := _gate_answer(sha256)):
        text = spec_copy(directory).text()
        stop, sha256 = _take_step(directory, settings, text, answer, as_json=as_json)
    raise typer.Exit(stop.exit_code)


def _gate_answer(sha256: str) -> Step | None:
    """What a person at a terminal wants done with the spec that waits; None to decide later.

    Args:
        sha256: Of the spec that was shown: an approval holds for this one.
    """
    while (typed := ask("approve, amend, reject, or later? ")) is not None:
        word = typed.lower()
        if word == "later":
            return None
        if word == "approve":
            return lambda project: project.approve(sha256)
        if word == "amend" and (feedback := ask("What to change: ")):
            return lambda project: project.amend(feedback)
        if word == "reject" and (reasons := ask("Why: ")):
            return lambda project: project.reject(reasons)
        say("Nothing was sent. Type one of the four words; amend and reject need a text.")
    say()
    return None


def _take_step(
    directory: Path, settings: Settings, spec_text: str, step: Act, *, as_json: bool
) -> tuple[ProjectStatus, str]:
    """Have a project take a step and print where it is then; the hash of the spec if one waits there."""
    model_sources_of(settings)  # a wrong model name is reported before anything is written
    with _opened(directory, settings, spec_text, "run", as_json=as_json) as (project, progress):
        budgets = budgets_of(settings)
        limited = any(map(any, budgets))
        if project.factory.price and not as_json and (limited or not pauses_by_estimate(settings)):
            note(f"Budget: {in_words(budgets, None)}")
        elif settings.scripted and not as_json and limited:
            note("Budget: scripted answers spend nothing of it; it holds once another model is asked")
        stop = step(project)
        if isinstance(stop, Shown):
            present(*stop, as_json=as_json)
            raise typer.Exit(0)
        waits = project.driver.waiting() or {}
        shown = Stop.of(
            project.factory,
            stop,
            directory,
            settings=settings,
            spent=total_cost(directory, prices_of(settings)) if stop is ProjectStatus.APPROVAL else None,
            advice=_DECIDE if waits.get("advise") else "",
            usage=progress.used(),
        )
    present(shown, stop_page, as_json=as_json)
    if not as_json and (refusal := waits.get("refused")):
        note(f"The answer was refused: {refusal}")
    return stop, shown.sha256 or ""


def resume(
    directory: Path, step: Act, *, as_json: bool, spec_text: str = "", sha256: str = "", about: str = ""
) -> None:
    """Have a project that waits take a step, with the options of the last `run`.

    Args:
        directory: The project.
        step: What is done.
        as_json: Print one JSON document.
        spec_text: The SPEC.md to work on; by default the one that the run, or the change, began with.
        sha256: What waits must have this hash; empty for any.
        about: The escalation or the exception that has it; empty for the spec.
    """

    def checked(project: Project) -> ProjectStatus | Shown:
        require_shown(project.factory, sha256, about)
        return step(project)

    options = options_for(directory)
    settings = settings_for(directory, options)
    copy = spec_copy(directory)
    if not spec_text and spec_changed(directory, copy) and not awaiting_approval(directory):
        note(f"SPEC.md has changed since the run began; it goes on with {copy.where}")
    text = spec_text or copy.text()
    asks = not as_json and on_terminal()
    drive(directory, settings, text, checked, as_json=as_json, asks=asks)


def report(directory: Path, module: str, example: Path, pointer: str, *, as_json: bool) -> None:
    """Try the example of a bug report; if it fails, begin what it asks for and print the stop that comes."""
    with reading_project(directory):
        pass  # where there is no project, nothing is made
    text, spec_text = read_example_file(example), spec_copy(directory).text()

    def step(project: Project) -> ProjectStatus | Shown:
        tried = project.try_report(module, text, str(example))
        contract, title = tried.contract, tried.example.heading
        if not tried.observed:
            return Shown(Report(module_ref=contract.ref, name=contract.name, example=title), report_page)
        if pointer == "?":
            statements = Statements.of(project.factory, module, title, tried.observed)
            return Shown(statements, partial(statements_page, example=str(example)))
        return project.report(tried, pointer, spec_text)

    resume(directory, step, as_json=as_json, spec_text=spec_text)


def release(directory: Path, modules: tuple[str, ...], *, as_json: bool) -> None:
    """Release again."""
    with _without_models(directory, "release", as_json=as_json) as project:
        factory = project.factory
        number = len(factory.projection.releases) + 1
        made = release_some(factory, modules, number) if modules else release_all(factory, number)
        shown = ReleaseDocument.of(factory, made, directory, exit_code=0 if made.succeeded else 1)
    present(shown, release_page, as_json=as_json)
    raise typer.Exit(shown.exit_code)


def step_without_models(directory: Path, command: str, step: Step, *, as_json: bool) -> None:
    """Have a project take a step that asks no model, and print where it is then.

    Args:
        directory: The project.
        command: That goes on after an interruption.
        step: What is done.
        as_json: Print one JSON document.
    """
    with _without_models(directory, command, as_json=as_json) as project:
        stop = step(project)
        shown = Stop.of(project.factory, stop, directory)
    present(shown, stop_page, as_json=as_json)
    raise typer.Exit(stop.exit_code)


def deprecate(directory: Path, asked: DeprecationRequest, *, undo: bool, as_json: bool) -> None:
    """Deprecate a module version or undo that, and print what has become of it."""
    with _without_models(directory, "status", as_json=as_json) as project:
        (project.undo_deprecation if undo else project.deprecate)(asked)
        shown = Module.of(project.factory, asked.module_ref)
    present(shown, module_page, as_json=as_json)
    if undo and shown.sealed_again and not as_json:
        release = next_command("release", directory)
        say(
            f"\n{shown.sealed_again.module_ref} was sealed in its place; `{release}` makes a release with it."
        )


@contextmanager
def _without_models(directory: Path, command: str, *, as_json: bool) -> Generator[Project]:
    """A project for a command that asks no model, so needs none that works."""
    settings = load_settings(directory)
    with reading_project(directory):
        pass  # where there is no project, nothing is made
    no_models = settings.model_copy(update={"model": "", "role_models": {}})
    with _opened(directory, no_models, "", command, as_json=as_json) as (project, _):
        yield project


@contextmanager
def _opened(
    directory: Path, settings: Settings, spec_text: str, command: str, *, as_json: bool
) -> Generator[tuple[Project, ConsoleProgress]]:
    """A project with its progress on stderr. What the operating system refuses without naming a file, such as a full
    disk, names the project. What stops a command that has changed something is no bad input (exit 1)."""

    def scripted(role: str) -> bool:
        model = settings.model_of(role)
        return model.startswith(SCRIPTED) if model else was_scripted(directory)

    with interruptible(next_command(command, directory), as_json=as_json):
        try:
            with (
                ConsoleProgress(scripted) as progress,
                open_project(directory, settings, progress, spec_text) as project,
            ):
                progress.count_tasks = lambda: _shipped_and_all(project.factory.projection.state)
                before = project.position
                try:
                    yield project, progress
                except ScriptError:  # no bad input, and noted for what it is
                    raise
                except (*InputErrors, OSError) as error:
                    if progress.calls > progress.journalled_calls or project.position != before:
                        raise _after_change(error, directory) from error
                    raise
        except OSError as error:
            raise refused_by_system(error, directory) from error


def _after_change(error: AnyError | OSError, directory: Path) -> SpecwrightError:
    """An error that came after something was changed: what was done is kept, and a run goes on with it."""
    if isinstance(error, OSError):
        error = refused_by_system(error, directory)
    return SpecwrightError(error.what, where=error.where, remedy=error.remedy)


_DECIDE = """Amended so often: approve it with its known limits, or edit SPEC.md and reject this draft, which starts over \
from the edited text."""


def _shipped_and_all(state: ProjectState | None) -> tuple[int, int]:
    entries = state.tasks.values() if state else ()
    return sum(entry.status is TaskStatus.SHIPPED for entry in entries), len(entries)
