"""A project that workers drive: what was queued, what a worker does or last did (design: workers)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ship_gate.terminal.page import Page
from specwright.bootstrap.workers.drive import QueueState
from specwright.cli.terminal.output import next_command, pasteable


def queued_document(state: QueueState | None) -> dict[str, Any]:
    """What a command has queued, for a program."""
    return {"where": "queued", "exit_code": 0, "queue": queue_document(state)}


def queued_page(state: QueueState | None, directory: Path) -> Page:
    """What a command has queued, for a person."""
    page = Page()
    page.prose("Queued: a worker drives the project to its next stop.")
    _add_workers(page, state)
    page.line(next_command("status", directory), "Then:", labels=8)
    return page


def queue_document(state: QueueState | None) -> dict[str, Any] | None:
    """The project's place in the queue and the last attempt, for a program; None if workers do not drive it."""
    if state is None:
        return None
    jobs = [
        {
            "claimed": job.claimed,
            "since": _stamp(job.since),
            "due": _stamp(job.due) if job.due else None,
            "attempts": job.attempts,
        }
        for job in state.jobs
    ]
    return {"jobs": jobs, "workers": state.workers, "last_attempt": state.record.to_json()}


def add_queue(page: Page, state: QueueState | None, directory: Path) -> None:
    """The project's place in the queue, and why the last attempt ended if a person should know."""
    if state is None:
        return
    record, job = state.record, next(iter(state.jobs), None)
    if job is not None and job.claimed:
        page.line(f"A worker has it since {_stamp(job.since)}.")
    elif job is not None and job.due is not None:
        page.line(f"A worker tries it again at {_stamp(job.due)}, after {record.attempts} attempts.")
    elif job is not None:
        page.line(f"Queued since {_stamp(job.since)}; a worker drives it.")
    if job is not None:
        _add_workers(page, state)
    if record.error is not None:
        given_up = "; no worker tries again" if record.ended == "failed" else ""
        page.prose(f"The last attempt, {record.began}, by {record.worker}{given_up}:")
        for line in pasteable(str(record.error)).splitlines():
            page.prose(line.strip(), 2, 2)
    if job is None and record.ended in ("failed", "paused"):
        page.line(next_command("run", directory), "Again:", labels=8)


def _add_workers(page: Page, state: QueueState | None) -> None:
    if state is not None and not state.workers:
        page.prose("No worker is alive; `specwright worker --store ...` starts one.")


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
