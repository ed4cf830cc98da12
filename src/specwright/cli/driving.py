"""Driving a project to its next stop and telling where that is. Imported only by commands that drive."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import typer

from specwright.application.releasing import release_all, release_some
from specwright.application.standing import Standing, standing
from specwright.bootstrap import Opened, model_sources_of, open_project, reading_project
from specwright.cli.interruption import interruptible
from specwright.cli.output import next_command, note, refused_by_system, say, show
from specwright.cli.progress import ConsoleProgress
from specwright.cli.release_summary import release_summary
from specwright.cli.run_options import SCRIPTED, was_scripted
from specwright.cli.spec_file import keep
from specwright.cli.stops import describe, document, release_document
from specwright.domain.project_state import ProjectState, TaskStatus
from specwright.errors import RefusedError
from specwright.settings import Settings

__all__ = ["Answer", "drive", "make_release", "require_gate"]

APPROVAL = {"action": "APPROVE", "by": "human:operator"}


class Answer(NamedTuple):
    """What a person says to a project that waits.

    Args:
        given: What the graph is resumed with.
        fits: Raises if the project does not wait for this; nothing is written before.
    """

    given: dict[str, Any]
    fits: Callable[[Opened], None]


class _Told(NamedTuple):
    """A stop as it is printed."""

    reached: Standing
    document: dict[str, Any]
    lines: list[str]
    remarks: list[str]


def drive(
    directory: Path,
    settings: Settings,
    spec_text: str,
    *,
    scripted: bool,
    answer: Answer | None = None,
    approve: bool = False,
    as_json: bool = False,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Go to the next stop, print it, and exit with its code.

    Args:
        directory: The project.
        settings: With a model.
        spec_text: What the run works on.
        scripted: Whether any answer of the project is or was scripted.
        answer: To what the project waits for.
        approve: Answer the approval gate with yes when it is reached.
        as_json: Print one JSON document.
        before: Done once the project is held, before anything runs.
    """
    model_sources_of(settings)  # a wrong model name is told before anything is written
    with interruptible(next_command("run", directory), as_json=as_json), _told_by_system(directory):
        with (
            ConsoleProgress(_scripted_roles(settings)) as progress,
            open_project(directory, settings, progress, spec_text) as opened,
        ):
            progress.count_tasks = lambda: _counted(opened.factory.projection.state)
            if answer is not None:
                answer.fits(opened)
            before()
            keep(directory, spec_text)
            paused = opened.driver.advance(answer.given if answer else None)
            if approve and paused.interrupt and paused.interrupt["kind"] == "approval":
                opened.driver.advance(APPROVAL)
            told = _told(opened, directory, scripted=scripted)
            told.document["usage"] = progress.used()
        _finish(told, as_json=as_json)


def make_release(directory: Path, settings: Settings, modules: tuple[str, ...], *, as_json: bool) -> None:
    """Release again, by a person's wish; it asks no model, so it needs none that works."""
    with reading_project(directory):
        pass  # no project, no traces of one
    unasked = settings.model_copy(update={"model": "", "role_models": {}})
    scripted = was_scripted(directory)
    with (
        interruptible(next_command("release", directory), as_json=as_json),
        _told_by_system(directory),
        ConsoleProgress(lambda _: scripted) as progress,
        open_project(directory, unasked, progress, "") as opened,
    ):
        factory = opened.factory
        again = len(factory.projection.releases) + 1
        made = release_some(factory, modules, again) if modules else release_all(factory, again)
        told = release_document(factory, made, directory)
        told["exit_code"] = 0 if made.succeeded else 1
        if made.succeeded:
            lines = release_summary(factory, made, directory, scripted=scripted)
        else:
            report = directory / "state_store" / "releases" / made.release_id / "failure_report.md"
            lines = [f"The release failed: {made.manifest.notes}", f"Read:   {report}"]
    if as_json:
        show(told)
    else:
        for line in lines:
            say(line)
    raise typer.Exit(told["exit_code"])


@contextmanager
def _told_by_system(directory: Path) -> Generator[None]:
    """Errors of the operating system that name no file, such as a full disk, name the project."""
    try:
        yield
    except OSError as error:
        raise refused_by_system(error, directory) from error


def require_gate(directory: Path, opened: Opened) -> None:
    """Whether a spec waits for approval.

    Raises:
        RefusedError: none does.
    """
    waits = opened.driver.waiting()
    if waits is None or waits["kind"] != "approval":
        raise RefusedError(
            f"no spec waits for approval; the project is {_words(standing(opened.factory))}",
            where=str(directory),
            remedy=f"`{next_command('status', directory)}` says what comes next",
        )


def _words(reached: Standing) -> str:
    return reached.where.value.replace("_", " ")


def _told(opened: Opened, directory: Path, *, scripted: bool) -> _Told:
    reached = standing(opened.factory)
    waits, remarks = opened.driver.waiting(), list[str]()
    if waits and waits.get("advise"):
        remarks.append("Amended so often: approve it with its known limits, or reject it and revise SPEC.md.")
    if drifted := len(opened.drift):
        remarks.append(f"{drifted} requests differ from the recorded ones, the first: {opened.drift[0]}")
    if waits and (refused := waits.get("refused")):
        remarks.append(f"The answer was refused: {refused}")
    told = document(opened.factory, reached, directory, scripted=scripted, drift=opened.drift)
    told["advice"] = remarks[0] if waits and waits.get("advise") else ""
    return _Told(reached, told, describe(opened.factory, reached, directory, scripted=scripted), remarks)


def _finish(told: _Told, *, as_json: bool) -> None:
    if as_json:
        show(told.document)
    else:
        for line in told.lines:
            say(line)
        for remark in told.remarks:
            note(remark)
    raise typer.Exit(told.reached.exit_code)


def _scripted_roles(settings: Settings) -> Callable[[str], bool]:
    return lambda role: settings.role_models.get(role, settings.model).startswith(SCRIPTED)


def _counted(state: ProjectState | None) -> tuple[int, int]:
    if state is None:
        return 0, 0
    shipped = sum(entry.status is TaskStatus.SHIPPED for entry in state.tasks.values())
    return shipped, len(state.tasks)
