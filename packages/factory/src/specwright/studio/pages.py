"""The pages of the studio: templates over the documents that commands print with `--json` (design: command-line).

The server and the static export use the same templates; only the links differ: those of the export are relative and end
in `.html`, and it has no actions. Everything that is put into a page is escaped.
"""

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, suppress
from datetime import datetime
from functools import cache, partial
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args
from urllib.parse import quote

from jinja2 import Environment, PackageLoader

from specwright.application.escalation.halted import HaltedTask, recommended_action
from specwright.application.escalation.offers import DECISIONS, meaning
from specwright.application.factory import ProjectView
from specwright.application.history.provenance import Provenance, debates_over, planned_modules
from specwright.application.interface_change import CHANGE, shown_sha256
from specwright.application.stages.product import current_spec
from specwright.application.stages.trace import ProjectTrace
from specwright.application.store.layout import spec_files
from specwright.bootstrap.costs import Division
from specwright.bootstrap.spec_file import spec_copy
from specwright.bootstrap.views import ProjectViews, driven_by, has_begun, log_length, stored_wires
from specwright.documents.modules import Module, Modules, Tasks, module_debates, sealed_module
from specwright.documents.needs import Escalation, answer_steps
from specwright.documents.reports import Costs, Exceptions, ReleaseDifference
from specwright.documents.stops import Status
from specwright.domain.escalation import Action
from specwright.domain.tasks.task_board import by_spec_id
from specwright.errors import (
    AnyError,
    CorruptionErrors,
    InputError,
    InputErrors,
    RefusedErrors,
    SpecwrightErrors,
)
from specwright.ports import Role
from specwright.studio.projects import StudioProject

PER_PAGE = 100
"""Rows of a list on one page."""

MOST_TASKS = 60
"""Of a spec that is shown whole; of a larger one a page shows one pillar."""

_ID = re.compile(r"[A-Za-z0-9_.@+^-]{1,100}")


class Page(NamedTuple):
    """A template and what it is filled with."""

    template: str
    context: Mapping[str, Any]


class NoPageError(Exception):
    """There is no page at this address."""


def page(project: StudioProject, path: str) -> Page:
    """The page of a project at an address.

    Raises:
        NoPageError: there is none.
        SpecwrightError: the project cannot be read, or has no such thing.
    """
    kind, _, name = path.partition("/")
    if kind not in _PAGES or (name and not _ID.fullmatch(name)):
        raise NoPageError(path)
    context = {"project": project, "kind": kind, "begun": has_begun(project.directory)}
    if not context["begun"]:
        if path != "run":
            raise NoPageError(path)
        return Page("run.html", {**context, "status": Status.not_begun(project.directory), "tasks": []})
    with project.reading() as view:
        made = _PAGES[kind](view, project.directory, name)
        status = Status.now(view, project.directory)
        readable = partial(by_spec_id, view.projection.state) if view.projection.state else str
        context |= {"status": status, "readable": readable, "change_sha256": shown_sha256(view, CHANGE)}
        return Page(f"{kind}.html", {**context, **made})


def home(projects: Sequence[StudioProject]) -> dict[str, Any]:
    """The status of each project, or why it cannot be read, and what waits for a person, the oldest first."""
    found: list[tuple[StudioProject, Status | None, AnyError | None]] = []
    for project in projects:
        try:
            found.append((project, _status(project), None))
        except SpecwrightErrors as error:
            found.append((project, None, error))
    waiting = [(need, project, status) for project, status, _ in found if status for need in status.needs]
    waiting.sort(key=lambda one: (not one[0].urgent, not one[0].since, one[0].since))
    return {"projects": found, "waiting": waiting}


def _status(project: StudioProject) -> Status:
    if not has_begun(project.directory):
        return Status.not_begun(project.directory)
    with project.reading() as view:
        return Status.now(view, project.directory)


def number_of(name: str) -> int:
    """The number of a page of a list, as the address ends; 1 if it has none.

    Raises:
        NoPageError: it is no number of a page.
    """
    if not re.fullmatch(r"([1-9][0-9]{0,7})?", name):
        raise NoPageError(name)
    return int(name or 1)


def _part(rows: Sequence[object], name: str) -> dict[str, Any]:
    """One page of a list."""
    part = _numbered(name, len(rows))
    return {**part, "rows": rows[(part["number"] - 1) * PER_PAGE : part["number"] * PER_PAGE]}


def _numbered(name: str, total: int) -> dict[str, int]:
    """Which page of a list of so many rows an address names."""
    number, pages = number_of(name), max(1, -(-total // PER_PAGE))
    if number > pages:
        raise NoPageError(name)
    return {"number": number, "pages": pages, "total": total}


def _run(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    return {"tasks": _task_rows(view, directory)[:PER_PAGE]}


def _task_rows(view: ProjectView, directory: Path) -> list[Any]:
    return Tasks.of(view, driven=bool(driven_by(directory))).tasks


def _tasks(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    return _part(_task_rows(view, directory), name)


def _task(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    entry = next((one for one in _task_rows(view, directory) if one.spec_task_id == name), None)
    if entry is None:
        raise NoPageError(name)
    found = ProjectTrace(view).of(name)
    tasks = [one for one in found.tasks if one.task_id == name] if found else []
    return {"entry": entry, "definition": view.projection.definitions[entry.task_id], "tasks": tasks}


def _spec(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    approved = view.projection.spec
    spec = current_spec(view) if view.projection.awaits_approval or approved is None else approved
    sizes = [(one, sum(len(s.tasks) for e in one.epics for s in e.stories)) for one in spec.pillars]
    large = sum(number for _, number in sizes) > MOST_TASKS
    wanted = name or (spec.pillars[0].pillar_id if large else "")
    pillars = [one for one in spec.pillars if wanted in ("", one.pillar_id)]
    if not pillars:
        raise NoPageError(name)
    copy, path = spec_copy(directory), spec_files(view.projection.change_number).acceptance
    return {
        "spec": spec,
        "spec_waits": view.projection.awaits_approval,
        "pillars": pillars,
        "outline": sizes if large else [],
        "source": copy.text() if copy.exists else "",
        "acceptance": view.store.read(path).decode() if view.store.exists(path) else "",
    }


def _escalation(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    if not view.escalations.exists(name):
        raise NoPageError(name)
    record = view.escalations.escalation(name)
    escalation = Escalation.of(view, record, directory)
    payloads = {**escalation.actions}
    if Action.PROVIDE_FIX in payloads:
        with suppress(*InputErrors, *RefusedErrors):
            module, draft = next(iter(HaltedTask(view, record).drafts().items()))
            files = {path: data.decode(errors="replace") for path, data in draft.files.items()}
            payloads[Action.PROVIDE_FIX] |= {"fix_artifacts": files, "module": module}
    recommended = None if "exception_id" in record.details else recommended_action(record)
    return {
        "escalation": escalation,
        "recommended": recommended,
        "answers": {
            action: (
                meaning(record, Action(action)),
                payload,
                answer_steps(view, record, Action(action), directory),
            )
            for action, payload in sorted(payloads.items(), key=lambda one: Action(one[0]) is not recommended)
        },
        "decided": view.projection.resolutions.get(name),
        "debates": debates_over(view, record.debate_trail.proposals),
    }


def _exception(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    found = next((one for one in Exceptions.of(view).exceptions if one.exception_id == name), None)
    if found is None:
        raise NoPageError(name)
    return {"exception": found, "decisions": DECISIONS}


def _modules(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    rows = Modules.of(view).modules
    sealed = {one.module_ref.partition("@")[0] for one in rows}
    planned = {one.contract.module_id: one.contract for one in planned_modules(view)}
    unsealed = [contract for module_id, contract in planned.items() if module_id not in sealed]
    return {**_part(rows, name), "unsealed": unsealed}


def _module(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    debates = module = trail = None
    with suppress(*InputErrors):
        debates = module_debates(view, name, directory)
    try:
        ref = sealed_module(view, name, directory)
    except InputErrors:
        if debates is None:
            raise
    else:
        module = Module.of(view, ref)
        with suppress(*CorruptionErrors):  # `specwright verify` names the missing link
            trail = Provenance(view).trail(ref)
    return {"module": module, "debates": debates, "trail": trail}


def _diff(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    return {"found": ReleaseDifference.of(view, new=name)}


def _log(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    part = _numbered(name, log_length(directory))
    return {**part, "rows": stored_wires(directory, (part["number"] - 1) * PER_PAGE, PER_PAGE)}


def _costs(view: ProjectView, directory: Path, name: str) -> dict[str, Any]:
    by, divisions = name or "role", get_args(Division)
    if by not in divisions:
        raise NoPageError(name)
    return {"costs": Costs.of(directory, cast(Division, by)), "divisions": divisions}


_PAGES: Mapping[str, Callable[[ProjectView, Path, str], dict[str, Any]]] = {
    "run": _run,
    "tasks": _tasks,
    "task": _task,
    "spec": _spec,
    "escalation": _escalation,
    "exception": _exception,
    "modules": _modules,
    "module": _module,
    "diff": _diff,
    "log": _log,
    "costs": _costs,
}
"""What fills each page, by the first part of its address, which is also the name of its template."""


PACKAGE = "specwright.studio"

ASSETS = ("studio.css", "studio.js", "icon.svg")
"""The files beside the pages of an export."""

_STATUSES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("✓", "good"): ("SHIPPED", "PASS", "APPROVE", "SHOWN", "TESTED", "MET", "released", "task.complete"),
    ("✗", "bad"): ("HALTED", "FAIL", "FAILED", "REJECT", "NOT_MET", "halted", "stalled", "release_failed"),
    ("!", "bad"): ("damaged", "task.blocked", "task.failed"),
    ("▶", "busy"): ("IN_PROGRESS", "running", "task.started"),
    ("?", "ask"): ("approval", "review.recorded"),
    ("±", "warn"): ("APPROVE_WITH_AMENDMENTS", "DEPRECATED", "SUPERSEDED"),
    ("◌", "warn"): ("BLOCKED", "stopped"),
    ("–", "calm"): ("SKIPPED", "NOT_RUN", "ABANDONED"),
}
"""The statuses by their sign, so that no colour is needed to read one, and their tone, which gives the colour."""

_SIGNS = {status: found for found, statuses in _STATUSES.items() for status in statuses}


@cache
def asset(name: str) -> bytes:
    """A file beside the pages."""
    return (files(PACKAGE) / "assets" / name).read_bytes()


class Site:
    """Where the pages of a project are, seen from one page.

    Args:
        key: Of the project; empty for the pages of the studio itself.
        static: Whether they are files.
        here: The page from which a static link leads, `module/initials`.
    """

    def __init__(self, key: str = "", *, static: bool = False, here: str = "") -> None:
        self.key = key
        self.static = static
        self.here = here
        self.linked: list[str] = []
        """The pages of the project to which the page links."""

    def to(self, page: str) -> str:
        """The link to a page of the project."""
        path, mark, anchor = page.partition("#")
        self.linked.append(path)
        place = (
            _relative(f"{file_of(path)}.html", self.here) if self.static else f"/p/{self.key}/{quote(path)}"
        )
        return f"{place}{mark}{anchor}"

    def home(self) -> str:
        """The link to the first page."""
        return self.to("run") if self.static else "/"

    def asset(self, name: str) -> str:
        """The link to a file beside the pages."""
        return _relative(f"assets/{name}", self.here) if self.static else f"/assets/{name}"


def file_of(page: str) -> str:
    """The name of a page's file without its ending: what a file system may not take is replaced."""
    return "/".join(quote(part, safe="@+=,").replace("%", "_") for part in page.split("/"))


def _relative(target: str, here: str) -> str:
    return quote(posixpath.relpath(target, posixpath.dirname(file_of(here)) or "."))


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is put into them."""
    made = Environment(loader=PackageLoader(PACKAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "moment": moment,
        "sign": lambda status: _SIGNS.get(str(status), ("○", ""))[0],
        "tone": lambda status: _SIGNS.get(str(status), ("", "calm"))[1],
        "words": lambda status: str(status).replace("_", " ").lower(),
        "size": lambda number: f"{number:,}",
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
    return made


_STEERING = dict.fromkeys(
    (*range(9), 11, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    "\ufffd",
)
"""Characters that control a terminal or reorder a text, as a page shows them."""


def render(template: str, site: Site, context: Mapping[str, Any]) -> str:
    """A page as text."""
    made = environment().get_template(template).render(site=site, roles=list(Role), **context)
    return made.translate(_STEERING)


def moment(text: str) -> str:
    """A time as a person reads it, `25 Nov 2026, 14:45:02 UTC`."""
    try:
        found = datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00")
    except ValueError:
        return text
    return f"{found:%d %b %Y, %H:%M:%S} UTC".lstrip("0")


_INDEX = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Specwright</title>'
    b'<meta http-equiv="refresh" content="0; url=run.html"></head>'
    b'<body><p><a href="run.html">The project</a></p></body></html>\n'
)


class ExportResult(NamedTuple):
    """How many pages were written, and the bytes of all files."""

    pages: int
    bytes: int


def export(directory: Path, out: Path) -> ExportResult:
    """Write the pages of a project.

    Args:
        directory: Of the project.
        out: A new directory.

    Raises:
        InputError: it is there already, or cannot be made; or no run has begun.
    """
    root, place = directory.resolve(), out.resolve()
    project = StudioProject(root.name, directory, ProjectViews())
    with project.reading():
        page(project, "run")  # nothing is written of a project that cannot be read
    try:
        out.mkdir(parents=True)
    except FileExistsError as error:
        raise InputError("it is there already", where=str(out), remedy="name a new directory") from error
    except OSError as error:
        raise InputError(f"it cannot be made: {error.strerror}", where=str(out)) from error
    written = sum(_put(place / f"assets/{name}", asset(name)) for name in ASSETS)
    written += _put(place / "index.html", _INDEX)
    todo, seen = ["run"], set[str]()
    with chdir(root):
        # who reads the pages has the project elsewhere: commands and files are named from its directory
        project, prefix = project._replace(directory=Path()), f"{escape(str(root))}/"
        while todo:
            if (path := todo.pop()) not in seen:
                seen.add(path)
                found, site = page(project, path), Site(project.key, static=True, here=path)
                text = render(found.template, site, {"csrf": "", "job": None, **found.context})
                written += _put(place / f"{file_of(path)}.html", text.replace(prefix, "").encode())
                todo += site.linked
    return ExportResult(len(seen) + 1, written)


def _put(file: Path, data: bytes) -> int:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.write_bytes(data)
