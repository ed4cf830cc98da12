"""The pages of a project as a folder of files: no server, relative links, a page to search in (design: studio).

The pages are those of the server, without what can be done there.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ship_gate.base.text import one_line
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import planned_modules
from specwright.application.interface_change import exceptions
from specwright.bootstrap.views.project_views import ProjectViews
from specwright.bootstrap.views.reading import log_length
from specwright.errors import InputError, RefusedError
from specwright.studio.pages import Page, page
from specwright.studio.projects import StudioProject
from specwright.studio.site import ASSETS, Site, asset, file_of, render
from specwright.studio.views import board, catalogue, log
from specwright.studio.views.heads import head_of
from specwright.studio.views.spec import MOST_TASKS

MOST_MOMENTS = 400
"""Entries of the log that have pages of their own."""

_DIVISIONS = ("role", "task", "module", "round", "content")


class ExportResult(NamedTuple):
    """What was written.

    Args:
        pages: How many.
        bytes: Of all files.
        left_out: Entries of the log without pages of their own.
    """

    pages: int
    bytes: int
    left_out: int


class _Row(NamedTuple):
    """A page in the search: its address, its name, what stands there."""

    page: str
    name: str
    text: str


def export(directory: Path, out: Path) -> ExportResult:
    """Write the pages of a project.

    Args:
        directory: Of the project.
        out: A new directory.

    Raises:
        InputError: it is there already, or cannot be made; or no run has begun.
        RefusedError: the project is damaged.
    """
    project = StudioProject("", directory, ProjectViews())
    head = head_of(project)
    if failure := head.failure:
        raise RefusedError(failure.what, where=failure.where, remedy=failure.remedy)
    with project.reading() as view:
        paths, rows = list(_paths(view, directory)), list(_rows(view))
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise InputError("it is there already", where=str(out), remedy="name a new directory") from error
    except OSError as error:
        raise InputError(f"it cannot be made: {error.strerror}", where=str(out)) from error
    written = sum(_write(out, path, page(project, path, {})) for path in paths)
    search = Page("search.html", {"head": head, "kind": "search", "page": rows})
    written += _write(out, "search", search)
    written += _put(out / "index.html", _index())
    for name in ASSETS:
        if name != "htmx.min.js":
            written += _put(out / "assets" / name, asset(name))
    return ExportResult(len(paths) + 2, written, max(0, log_length(directory) - MOST_MOMENTS))


def _paths(view: ProjectView, directory: Path) -> Iterator[str]:
    """The address of every page."""
    yield from ("run", "spec", "tasks", "modules", "trace", "costs")
    state, total = view.projection.state, log_length(directory)
    tasks = list(state.tasks.values()) if state else []
    spec = view.projection.spec
    if spec is not None and len(tasks) > MOST_TASKS:
        yield from (f"spec/{pillar.pillar_id}" for pillar in spec.pillars)
    yield from (f"tasks/{number}" for number in range(2, 1 + -(-len(tasks) // board.PER_PAGE)))
    yield from (f"task/{entry.spec_task_id}" for entry in tasks)
    yield from (f"escalation/{name}" for name in view.escalations.ids())
    yield from (f"exception/{one.record.exception_id}" for one in exceptions(view))
    refs = view.modules.refs()
    yield from (f"modules/{number}" for number in range(2, 1 + -(-len(refs) // catalogue.PER_PAGE)))
    names = {view.modules.contract(ref).name for ref in refs}
    names |= {one.contract.name for one in planned_modules(view)}
    yield from (f"module/{name}" for name in sorted({*names, *refs}))
    yield from (f"trace/{number}" for number in range(2, 1 + -(-total // log.PER_PAGE)))
    for number in range(1, min(total, MOST_MOMENTS) + 1):
        yield f"wire/{number}"
    yield from (f"costs/{by}" for by in _DIVISIONS)


def _rows(view: ProjectView) -> Iterator[_Row]:
    """What the search finds: tasks with their criteria, modules with what they do, escalations."""
    state = view.projection.state
    for task_id, entry in state.tasks.items() if state else ():
        definition = view.projection.definitions[task_id]
        text = f"{entry.task}. {definition.description} {' '.join(definition.acceptance_criteria)}"
        yield _Row(f"task/{entry.spec_task_id}", entry.spec_task_id, one_line(text))
    for ref in view.modules.refs():
        contract = view.modules.contract(ref)
        yield _Row(f"module/{ref}", contract.name, f"{ref} {contract.purpose} {' '.join(contract.tags)}")
    for name in view.escalations.ids():
        text = view.escalations.escalation(name).minimal_decision_required
        yield _Row(f"escalation/{name}", name, one_line(text))


def _write(out: Path, path: str, content: Page) -> int:
    context = {"csrf": "", "live": False, "job": None, "job_failure": None, **content.context}
    text = render(content.template, Site(static=True, here=path), context)
    return _put(out / f"{file_of(path)}.html", text.encode())


def _put(file: Path, data: bytes) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return len(data)


def _index() -> bytes:
    return (
        b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Specwright</title>'
        b'<meta http-equiv="refresh" content="0; url=run.html"></head>'
        b'<body><p><a href="run.html">The project</a></p></body></html>\n'
    )
