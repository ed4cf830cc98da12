"""Where a run stopped: what matters first, and what to type next."""

from collections.abc import Sequence

from ship_gate.base.text import inline, one_line
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import Page
from specwright.application.stages.product import affected
from specwright.bootstrap.drive import Queue
from specwright.cli.at_work import at_work_in_words
from specwright.cli.pages.escalation import add_need
from specwright.documents.commands import next_command, pasteable
from specwright.documents.needs import Need
from specwright.documents.reports import CostSum
from specwright.documents.stops import Queued, Release, SpecInWords, Status, Stop
from specwright.domain.spec.product_spec import departures

ESCALATIONS_SHOWN = 5
_TASKS_SHOWN = 12
_FEW = 5
_DECISIONS_SHOWN = 20
_LINES_SHOWN = 24
_LABELS = 10
"""Columns that the labels of a status and of a release take."""


def status_page(status: Status) -> Page:
    """What is done, what is at work, and where the project stopped."""
    page, now = Page(), status.under_way
    if status.tasks:
        _add_progress(page, status)
    if status.at_work:
        page.labelled("Now:", at_work_in_words(status.at_work, now), labels=_LABELS)
    if status.driven_by:
        page.line(f"A run is at work: {status.driven_by}.")
    if status.queue:
        _add_queue(page, status.queue)
    if not status.driven_by and not (status.queue and status.queue.jobs):
        page.add(stop_page(status))
    if status.asked is None and status.missing is None:
        damaged = pasteable("the journal is damaged; `specwright verify` says where")
        page.labelled("Asked:", damaged, labels=_LABELS)
    elif status.asked and status.asked.requests:
        page.labelled("Asked:", _asked(status.asked, scripted=status.scripted), labels=_LABELS)
    return page


def _add_progress(page: Page, status: Status) -> None:
    """How many tasks are done, which one is at work or comes next; one that was split was not given up."""
    given_up = status.tasks.get("ABANDONED", 0) - status.split
    counts = status.tasks | {"ABANDONED": given_up, "SPLIT": status.split}
    shipped, every = counts.pop("SHIPPED", 0), sum(status.tasks.values())
    others = [f"{count} {name.lower().replace('_', ' ')}" for name, count in sorted(counts.items()) if count]
    page.bar("Tasks:", shipped, every, ", ".join([f"{shipped} of {every} shipped", *others]), labels=_LABELS)
    if status.under_way and not status.at_work:
        label = "Now:" if status.driven_by else "Begun:"
        page.labelled(label, ", ".join(status.under_way), labels=_LABELS)
    if status.next:
        page.labelled("Next:", status.next, labels=_LABELS)


def _asked(cost: CostSum, *, scripted: bool) -> str:
    """What the project has asked of models since it began."""
    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out; price: {cost.money}"
    if not cost.input_tokens + cost.output_tokens:
        tokens = "scripted" if scripted else "the provider counts no tokens"
    return f"{counted(cost.requests, 'model call')} in all; {tokens}"


def stop_page(stop: Stop) -> Page:
    """Where a project stopped."""
    page = Page()
    first = next((need for need in stop.needs if not need.escalation), None)
    if stop.in_words and first:
        _add_approval(page, stop, stop.in_words, first)
    elif stop.where == "released" and stop.release:
        page = release_page(stop.release, recorded=isinstance(stop, Status))
    elif first:
        _add_unfinished(page, stop, first)
    _add_waiting(page, stop)
    if change := stop.open_change:
        page.prose(f"Change {change.number} is under way since {change.asked_at}: {change.request}")
        page.line(change.back, "Back:", labels=8)
        if change.release:
            page.prose(f"Until it is released, {change.release}.")
            page.line(change.install, "Install:", labels=9)
    for need in [one for one in stop.needs if not one.urgent and one.escalation][:ESCALATIONS_SHOWN]:
        add_need(page, need, "QUESTION  ")
    return page


def _add_waiting(page: Page, stop: Stop) -> None:
    """The tasks and the escalations that hold up a project."""
    if stop.blocked:
        page.line("STALLED: what is left waits for tasks that were abandoned.")
        _add_list(page, stop.blocked, f": {next_command('tasks')}")
    if stop.where in ("halted", "stalled"):
        for need in [one for one in stop.needs if one.urgent and one.escalation][:ESCALATIONS_SHOWN]:
            add_need(page, need, "HALTED  ")
        if stop.waiting > ESCALATIONS_SHOWN:
            rest = stop.waiting - ESCALATIONS_SHOWN
            page.line(f"... and {rest:,} more questions: {next_command('escalations')}")


def _add_unfinished(page: Page, stop: Stop, need: Need) -> None:
    """What has still to be done, what stopped the last run, and the commands that go on."""
    if need.question:
        page.prose(need.question)
    if isinstance(stop, Status) and (ended := stop.stop):
        page.prose(f"The last run stopped: {one_line(ended.reason)}")
        if ended.where:
            page.prose(f"where: {ended.where}", 2, 4)
        if ended.remedy and not ended.options:
            page.prose(f"do: {pasteable(ended.remedy)}", 2, 4)
    _add_commands(page, need, "Write:" if need.kind == "start" else "Read:")
    if (standing := stop.standing) and standing.install:
        version = standing.manifest.spec_version
        page.prose(f"{standing.release_id} is still the product, version {version}.")
        page.line(standing.install, "Install:", labels=9)


def _add_commands(page: Page, need: Need, read: str = "Read:", edited: str = "") -> None:
    """The file to read, and the commands that answer."""
    if need.read:
        page.line(need.read, read, labels=8)
    if edited:
        page.prose(edited)
    for command in need.steps:
        page.line(command, "Then:", labels=8)
    for command in need.others:
        page.line(command, "   or", labels=8)


def _add_approval(page: Page, stop: Stop, words: SpecInWords, need: Need) -> None:
    # then what is different comes first, not what was approved before
    differs = bool(stop.changes or stop.change)
    if not differs:
        _add_departures(page, stop)
    page.prose(need.question)
    if stop.advice:
        page.prose(stop.advice)
    if change := stop.change:
        asked = f": {change['request']}" if change["request"] else ""
        told = f"Change {change['number']}, from {change['version_before']} to {change['version']}{asked}"
        page.prose(told, 2, 2)
    if stop.changes:
        page.line("Since the last version:")
        page.patch(stop.changes[:_LINES_SHOWN], 2)
        _add_rest(page, stop.changes, _LINES_SHOWN, "lines of this difference ")
    if stop.change:
        _add_list(page, affected(stop.change))
    if differs:
        _add_departures(page, stop)
    if not stop.change:
        room = min(4, 24 // len(words.tasks))  # with more tasks fewer lines of each: a page
        tasks = zip(words.tasks, words.criteria, strict=True)
        _add_list(page, ["\n    ".join((name, *lines[:room])) for name, lines in tasks])
    page.prose(f"To start: {words.started}", 2, 4)
    _add_prose(page, [f"warning: {one}" for one in words.warnings], _FEW, what="warnings ")
    if words.costs:
        page.line(words.costs, "Costs:", labels=8)
    if words.budget:
        page.prose(f"Budget: {words.budget}", 0, 8)
    edited = "SPEC.md was edited after this spec was written from it." if stop.spec_edited else ""
    _add_commands(page, need, edited=edited)


def _add_departures(page: Page, stop: Stop) -> None:
    """What is not built as asked, and what was decided; beside a difference only what is new in it."""
    added = "\n".join(stop.changes or ())
    for one in departures(stop.outside or [], stop.decisions or []):
        numbered = [
            (number, line) for number, line in enumerate(one.lines, 1) if inline(line) in added or not added
        ]
        said = (
            f"{len(numbered)} new, {len(one.lines) - len(numbered)} shown before." if added else one.sentence
        )
        page.prose(pasteable(f"{one.heading.upper()}: {said}"))
        lines = [f"{number}  {line}" if one.hint else line for number, line in numbered]
        _add_prose(page, lines, _DECISIONS_SHOWN if one.hint else _FEW, 5 if one.hint else 4)


def _add_prose(page: Page, texts: Sequence[str], most: int, hanging: int = 4, what: str = "") -> None:
    """The first texts, and how many more spec.md has."""
    for text in texts[:most]:
        page.prose(text, 2, hanging)
    _add_rest(page, texts, most, what)


def _add_rest(page: Page, texts: Sequence[str], most: int, what: str) -> None:
    """How many texts are left out."""
    if len(texts) > most:
        page.line(f"  ... and {len(texts) - most} more {what}in spec.md")


def _add_list(page: Page, lines: Sequence[str], where: str = "") -> None:
    """The first lines, and how many more there are."""
    for line in lines[:_TASKS_SHOWN]:
        page.line(f"  {line}")
    if len(lines) > _TASKS_SHOWN:
        page.line(f"  ... and {len(lines) - _TASKS_SHOWN:,} more{where}")


def release_page(release: Release, *, recorded: bool = False) -> Page:
    """What shipped, the proof, how to install and use it, who answered; or why the release failed.

    Args:
        release: It.
        recorded: Whether the proof was read from the store alone, which the page says then.
    """
    page = Page()
    if not release.manifest.succeeded:
        page.prose(f"The release failed: {release.manifest.notes}")
        page.line(f"{release.folder}/failure_report.md", "Read:", labels=8)
    for label, text in release.summary.items():
        if label in ("Install", "Compare"):
            page.line(text, f"{label}:", labels=_LABELS)
        elif recorded and label == "Proof":
            text = pasteable(f"{text} Not checked here: `specwright verify` does that.")
            page.labelled("Recorded:", text, labels=_LABELS)
        else:
            page.labelled(f"{label}:", pasteable(text), labels=_LABELS)
    for command in release.undo:
        page.line(command, "Undo:", labels=_LABELS)
    return page


def queued_page(queued: Queued) -> Page:
    """What a command has queued."""
    page = Page()
    page.prose("Queued: a worker drives the project to its next stop.")
    _add_workers(page, queued.queue)
    page.line(next_command("status"), "Then:", labels=8)
    return page


def _add_queue(page: Page, queue: Queue) -> None:
    """The project's place in the queue, and why the last attempt ended if a person should know."""
    last, job = queue.last_attempt, next(iter(queue.jobs), None)
    if job:
        said = f"Queued since {job.since}; a worker drives it."
        if job.due:
            said = f"A worker tries it again at {job.due}, after {last.attempts} attempts."
        page.line(f"A worker has it since {job.since}." if job.claimed else said)
        _add_workers(page, queue)
    if error := last.error:
        given_up = "; no worker tries again" if last.ended == "failed" else ""
        page.prose(f"The last attempt, {last.began}, by {last.worker}{given_up}:")
        for line in pasteable(str(error)).splitlines():
            page.prose(line.strip(), 2, 2)
    if job is None and last.ended in ("failed", "paused"):
        page.line(next_command("run"), "Again:", labels=8)


def _add_workers(page: Page, queue: Queue | None) -> None:
    if queue and not queue.workers:
        page.prose("No worker is alive; `specwright worker --store ...` starts one.")
