"""Driving a project to its next stop and telling where that is. Imported only by commands that drive."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from specwright.application.releasing import Made, release_all, release_some
from specwright.application.standing import Standing, standing
from specwright.bootstrap import Opened, model_sources_of, open_project
from specwright.cli.output import say, show
from specwright.cli.progress import ConsoleProgress
from specwright.cli.project_files import keep
from specwright.cli.stops import describe, document
from specwright.errors import RefusedError
from specwright.settings import Settings

__all__ = ["drive", "make_release"]

APPROVAL = {"action": "APPROVE", "by": "human:operator"}


def drive(
    directory: Path,
    settings: Settings,
    spec_text: str,
    *,
    answer: dict[str, str] | None = None,
    approve: bool = False,
    as_json: bool = False,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Go to the next stop, print it, and exit with its code.

    Args:
        answer: To the approval gate, where the project must then stand.
        approve: Answer the approval gate with yes when it is reached.
        before: Done once the project is held, before anything runs.
    """
    model_sources_of(settings)  # a wrong model name is told before anything is written
    scripted = _scripted(settings)
    with (
        ConsoleProgress(scripted=scripted) as progress,
        open_project(directory, settings, progress, spec_text) as opened,
    ):
        before()
        keep(directory, spec_text)
        _require_gate(opened, answer)
        paused = opened.driver.advance(answer)
        if approve and paused.interrupt and paused.interrupt["kind"] == "approval":
            opened.driver.advance(APPROVAL)
        reached = standing(opened.factory)
        told = document(opened.factory, reached, directory, scripted=scripted, drift=opened.drift)
        told["advice"] = _advice(opened)
        lines = describe(opened.factory, reached, directory, scripted=scripted)
    _finish(reached, told, lines, as_json=as_json)


def make_release(directory: Path, settings: Settings, modules: tuple[str, ...], *, as_json: bool) -> None:
    """Release again, by a person's wish."""
    with (
        ConsoleProgress(scripted=True) as progress,
        open_project(directory, settings, progress, "") as opened,
    ):
        again = len(opened.factory.projection.releases) + 1
        made: Made = (
            release_some(opened.factory, modules, again) if modules else release_all(opened.factory, again)
        )
        told: dict[str, Any] = {
            "release_id": made.release_id,
            "wheel": made.wheel,
            "manifest": made.manifest.to_json(),
        }
    if as_json:
        show(told)
    else:
        say(f"Release {made.release_id}: {made.manifest.notes}")
        if made.wheel:
            say(str(directory / "state_store" / made.wheel))
    raise typer.Exit(0 if made.succeeded else 1)


def _require_gate(opened: Opened, answer: dict[str, str] | None) -> None:
    waits = opened.driver.waiting()
    if answer is not None and (waits is None or waits["kind"] != "approval"):
        raise RefusedError(
            "no spec waits for approval",
            where=standing(opened.factory).where,
            remedy="`specwright status` says what does",
        )


def _advice(opened: Opened) -> str:
    waits = opened.driver.waiting()
    if waits and waits.get("advise"):
        return (
            "After this many amendments: approve it with its known limits, or reject it and revise SPEC.md."
        )
    return ""


def _finish(reached: Standing, told: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
    if as_json:
        show(told)
    else:
        for line in lines:
            say(line)
        if told["advice"]:
            print(told["advice"], file=sys.stderr)  # noqa: T201 - the command line prints
    raise typer.Exit(reached.exit_code)


def _scripted(settings: Settings) -> bool:
    return settings.model.startswith(("playbook:", "replay:"))
