"""From an address to a page: which template, and what it is filled with (design: studio).

Every page is made from the log and the store when it is asked for. The server and the static export use the same.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast, get_args

from specwright.application.factory import ProjectView
from specwright.application.stages.status import ProjectStatus, project_status
from specwright.bootstrap.costs import Division
from specwright.studio.projects import StudioProject
from specwright.studio.views import board, catalogue, escalation, log, module, spec
from specwright.studio.views.heads import head_of

_ID = re.compile(r"[A-Za-z0-9_.@+^-]{1,100}")


class Page(NamedTuple):
    """A template and what it is filled with."""

    template: str
    context: Mapping[str, Any]


class NoPageError(Exception):
    """There is no page at this address."""


class _PageRequest(NamedTuple):
    """What is asked for.

    Args:
        view: The project.
        project: The same in the studio.
        name: The part of the address after the page's.
        query: What stands after the question mark.
        driven: Whether a process drives the project.
    """

    view: ProjectView
    project: StudioProject
    name: str
    query: Mapping[str, str]
    driven: bool

    @property
    def number(self) -> int:
        """The number of a page of a list, as the address ends; 1 if it has none."""
        return int(self.name) if self.name.isdecimal() and len(self.name) < 10 else 1


def page(project: StudioProject, path: str, query: Mapping[str, str]) -> Page:
    """The page of a project at an address.

    Raises:
        NoPageError: there is none.
        SpecwrightError: the project cannot be read, or has no such thing.
    """
    kind, _, name = path.partition("/")
    if kind not in _PAGES or (name and not _ID.fullmatch(name)):
        raise NoPageError(path)
    template, make = _PAGES[kind]
    head = head_of(project)
    if not head.begun or head.status == "damaged":
        if kind != "run" or name:
            raise NoPageError(path)
        return Page("begin.html", {"head": head, "kind": "run", "path": path})
    with project.reading() as view:
        made = make(_PageRequest(view, project, name, query, bool(head.driver)))
        return Page(template, {"head": head, "kind": kind, "path": path, "page": made})


def _entry(name: str) -> int:
    if not name.isdecimal() or len(name) > 9:
        raise NoPageError(name)
    return int(name)


def _run(asked: _PageRequest) -> Any:
    return board.run_page(asked.view, asked.project.directory, driven=asked.driven)


def _tasks(asked: _PageRequest) -> Any:
    status, query = asked.query.get("status", ""), asked.query.get("q", "")[:200]
    state = asked.view.projection.state
    return board.listing(state, driven=asked.driven, number=asked.number, status=status, query=query)


def _spec(asked: _PageRequest) -> Any:
    waits = project_status(asked.view) is ProjectStatus.APPROVAL
    return spec.spec_page(asked.view, asked.project.directory, asked.name, waits=waits)


def _task(asked: _PageRequest) -> Any:
    return board.task_page(asked.view, asked.name, driven=asked.driven)


def _escalation(asked: _PageRequest) -> Any:
    return escalation.escalation_page(asked.view, asked.name, str(asked.project.directory))


def _exception(asked: _PageRequest) -> Any:
    return escalation.exception_page(asked.view, asked.name)


def _modules(asked: _PageRequest) -> Any:
    query = asked.query.get("q", "")
    return catalogue.catalogue_page(asked.view, asked.project.directory, query, asked.number)


def _module(asked: _PageRequest) -> Any:
    return module.module_page(asked.view, asked.name)


def _trace(asked: _PageRequest) -> Any:
    return log.log_page(asked.project.directory, asked.number)


def _wire(asked: _PageRequest) -> Any:
    return log.wire_page(asked.project.directory, _entry(asked.name))


def _costs(asked: _PageRequest) -> Any:
    by = asked.name or "role"
    if by not in get_args(Division):
        raise NoPageError(by)
    return board.costs_page(asked.project.directory, cast(Division, by))


_PAGES: Mapping[str, tuple[str, Callable[[_PageRequest], Any]]] = {
    "run": ("run.html", _run),
    "spec": ("spec.html", _spec),
    "tasks": ("tasks.html", _tasks),
    "task": ("task.html", _task),
    "escalation": ("escalation.html", _escalation),
    "exception": ("exception.html", _exception),
    "modules": ("modules.html", _modules),
    "module": ("module.html", _module),
    "trace": ("trace.html", _trace),
    "wire": ("wire.html", _wire),
    "costs": ("costs.html", _costs),
}
"""Each page by the first part of its address: its template, and what fills it."""
