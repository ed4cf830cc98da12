"""Commands that look at a project without driving it: status, tasks, modules, module, trace, index search (design:
command-line)."""

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import counted, listed, note, say, show, write_new_file
from ship_gate.terminal.program import AsJson
from ship_gate.trust import note_ignored, trust_command
from specwright.cli.commands import Directory, is_begun
from specwright.cli.terminal.output import next_command
from specwright.errors import CorruptionErrors, InputError, InputErrors, RefusedError, SpecwrightErrors

if TYPE_CHECKING:
    from ship_gate.contract.contract import MicroModuleContract
    from ship_gate.terminal.page import Page
    from specwright.application.factory import ProjectView
    from specwright.application.history.provenance import ModuleDebates
    from specwright.application.stages.trace import Trace
    from specwright.bootstrap.views.last_stop import LastStop
    from specwright.cli.pages.stop import BudgetAtGate
    from specwright.domain.costs import Cost, Price
    from specwright.domain.tasks.project_state import ProjectState
    from specwright.settings import Settings


_LABELS = 10
"""Columns that the labels of `status` take."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, tasks, modules, module, trace):
        app.command()(command)
    group = typer.Typer(help="Look into the Code Index of shipped modules.", no_args_is_help=True)
    group.callback()(lambda: None)  # without it a group of one command would be that command
    group.command()(search)
    app.add_typer(group, name="index")


def status(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Where the project stands, and what to do next."""
    from ship_gate.terminal.page import Page
    from specwright.application.stages.status import project_status
    from specwright.bootstrap.views.at_work import at_work
    from specwright.bootstrap.views.reading import driven_by, last_run, reading_project
    from specwright.bootstrap.workers.drive import queue_state
    from specwright.cli.pages.queued import add_queue
    from specwright.cli.pages.stop import stop_page, tasks_in_progress
    from specwright.cli.terminal.at_work import at_work_in_words

    _note_ignored(directory)
    if not has_begun(directory):
        _show_not_begun(directory, as_json=as_json)
        return
    scripted, queued, page = last_run(directory).scripted, queue_state(directory), Page()
    with reading_project(directory) as view:
        if as_json:
            show(status_document(view, directory), "status")
            return
        stop, driver, now = project_status(view), driven_by(directory), tasks_in_progress(view)
        working = at_work(directory)
        asked, price = _cost_of(directory), _price_in(directory)
        cause = _cause(directory) if stop.is_between_stops else None
        if view.projection.state is not None:
            _add_progress(page, view.projection.state, [] if working else now, driven=bool(driver))
        if working:
            page.labelled("Now:", at_work_in_words(working, now), labels=_LABELS)
        page.add(_driver_line(driver))
        add_queue(page, queued, directory)
        if not driver and not (queued and queued.waits):
            budget = _budget_of(directory, asked)
            page.add(
                stop_page(view, stop, directory, scripted=scripted, price=price, cause=cause, budget=budget)
            )
    _add_asked(page, asked, scripted=scripted)
    page.print()


def status_document(view: "ProjectView", directory: Path) -> dict[str, Any]:
    """Where a project stands in which a run has begun."""
    from specwright.application.stages.status import project_status
    from specwright.bootstrap.views.at_work import at_work
    from specwright.bootstrap.views.reading import driven_by, last_run
    from specwright.bootstrap.workers.drive import queue_state
    from specwright.cli.pages.queued import queue_document
    from specwright.cli.pages.stop import stop_document, tasks_in_progress
    from specwright.cli.terminal.at_work import at_work_document

    stop, scripted = project_status(view), last_run(directory).scripted
    asked = _cost_of(directory)
    return {
        **stop_document(view, stop, directory, scripted=scripted, price=_price_in(directory)),
        **_cause_document(_cause(directory) if stop.is_between_stops else None),
        "driven_by": driven_by(directory) or None,
        "at_work": at_work_document(at_work(directory)),
        "queue": queue_document(queue_state(directory)),
        "under_way": tasks_in_progress(view),
        "asked": asked and asked.to_json(),
    }


def _add_asked(page: "Page", asked: "Cost | None", *, scripted: bool) -> None:
    """What was asked of models so far."""
    if asked is None:
        page.labelled("Asked:", "the journal is damaged; `specwright verify` says where", labels=_LABELS)
    elif asked.requests:
        page.labelled("Asked:", _asked(asked, scripted=scripted), labels=_LABELS)


def _cause(directory: Path) -> "LastStop | None":
    """What stopped the last run; None if nothing did."""
    from specwright.bootstrap.views.last_stop import last_stop

    return last_stop(directory)


def _budget_of(directory: Path, asked: "Cost | None") -> "BudgetAtGate":
    """The budget of the project, and what was spent of it; none where that cannot be read."""
    from specwright.bootstrap.costs import budgets_in
    from specwright.cli.pages.stop import NO_BUDGET, BudgetAtGate

    try:
        return BudgetAtGate(budgets_in(directory).project, asked) if asked else NO_BUDGET
    except SpecwrightErrors:
        return NO_BUDGET


def _cause_document(cause: "LastStop | None") -> dict[str, Any]:
    """The same for a program; the exit code is that of the run."""
    return {"stop": cause._asdict(), "exit_code": cause.exit_code} if cause else {"stop": None}


def _driver_line(driver: str) -> "Page":
    """That a run is at work, if one is."""
    from ship_gate.terminal.page import Page

    page = Page()
    if driver:
        page.line(f"A run is at work: {driver}.")
    return page


def has_begun(directory: Path) -> bool:
    """Whether the directory is a project in which a run has begun, or no project at all. A run that was interrupted while
    it opened the project has not begun."""
    from specwright.bootstrap.storage.stores import LOG, RUNTIME

    is_new = os.path.lexists(directory / "SPEC.md") and not any(
        (directory / name).exists() for name in (f"{RUNTIME}/{LOG}", "state_store")
    )
    return not is_new or bool(_settings_in(directory).store)


def _show_not_begun(directory: Path, *, as_json: bool) -> None:
    """What is still missing before the first run."""
    from ship_gate.terminal.page import Page, present
    from specwright.bootstrap.spec_file import spec_fault

    document, page = not_begun_document(directory), Page()
    missing, options = document["missing"], "" if _settings_in(directory).model else "--model PROVIDER:MODEL"
    words = {"spec": spec_fault(directory), "model": "no model is set"}
    said = ", ".join(words[name] for name in missing) or "everything is there"
    page.prose(f"No run has begun here: {said}.")
    if "spec" in missing:
        page.line(str(directory / "SPEC.md"), "Write:", labels=_LABELS)
    page.line(next_command("run", directory, options), "Then:", labels=_LABELS)
    present(document, "status", page, as_json=as_json)


def not_begun_document(directory: Path) -> dict[str, Any]:
    """Where a project stands in which no run has begun."""
    from specwright.bootstrap.spec_file import spec_fault

    settings = _settings_in(directory)
    missing = ["spec"] * bool(spec_fault(directory))
    return {
        "where": "new",
        "exit_code": 0,
        "scripted": False,
        "tasks": {},
        "escalations": [],
        "stop": None,
        "driven_by": None,
        "at_work": None,
        "queue": None,
        "under_way": [],
        "asked": None,
        "missing": missing + ["model"] * (not (settings.model or settings.role_models)),
    }


def _settings_in(directory: Path) -> "Settings":
    from specwright.settings import load_settings

    return load_settings(directory, looking=True)


def _note_ignored(directory: Path) -> None:
    """Say which settings came with the project and do not count; a store is refused, and damage told of, elsewhere."""
    from specwright.settings import ignored_settings

    with suppress(*InputErrors):
        ignored = {name: value for name, value in ignored_settings(directory).items() if name != "store"}
        note_ignored(directory, ignored, f"`{trust_command(directory)}` lets it count")


def tasks(
    directory: Directory = Path(),
    graph: Annotated[bool, typer.Option("--graph", help="Show which task waits for which.")] = False,
    mermaid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the graph as Mermaid; - prints it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Every task with its status, and why it is not running."""
    from ship_gate.terminal.page import Page, brief
    from specwright.bootstrap.views.reading import reading_project
    from specwright.domain.tasks.project_state import text_graph
    from specwright.domain.tasks.task_board import by_spec_id

    with reading_project(directory) as view:
        state = view.projection.state
        if mermaid is not None:
            _draw(mermaid, state, directory)
            if str(mermaid) == "-":
                return
        if graph and state is not None and not as_json:
            say(text_graph(state))
            return
        document = tasks_document(view, directory)
        rows = document["tasks"]
        names = {
            row["module_ref"]: view.modules.contract(row["module_ref"]).name
            for row in rows
            if row["module_ref"]
        }
    if as_json:
        show(document, "tasks")
        return
    if not rows:
        note(f"No tasks yet: they come with the approved spec. `{next_command('status', directory)}`")
        return
    page = Page()
    lines: list[tuple[str, ...]] = []
    for row in rows:
        ref = row["module_ref"]
        last = f"{ref}  {names[ref]}" if ref or state is None else by_spec_id(state, row["why"])
        lines.append((row["spec_task_id"], _task_status(row), brief(row["task"]), last))
    page.table(("TASK", "STATUS", "NAME", "MODULE, OR WHAT IT WAITS FOR"), lines, whole=("TASK", "STATUS"))
    page.print()


def tasks_document(view: "ProjectView", directory: Path) -> dict[str, Any]:
    """Every task in declaration order, and why it is not running."""
    from specwright.bootstrap.views.reading import driven_by
    from specwright.domain.tasks.task_board import why_each

    if (state := view.projection.state) is None:
        return {"tasks": []}
    entries = sorted(state.tasks.items(), key=lambda item: item[1].declaration_order)
    why = why_each(state, driven=bool(driven_by(directory)))
    return {"tasks": [{"task_id": name, **entry.to_json(), "why": why[name]} for name, entry in entries]}


def modules(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every sealed module, with its purpose and tests."""
    from specwright.bootstrap.views.reading import reading_project

    with reading_project(directory) as view:
        rows = modules_document(view)["modules"]
    if as_json:
        show({"modules": rows}, "modules")
        return
    if not rows:
        note(f"No module is sealed yet. `{next_command('status', directory)}`")
        return
    from ship_gate.terminal.page import Page, brief

    page = Page()
    page.table(
        ("MODULE", "NAME", "TESTS", "PURPOSE"),
        [(row["module_ref"], brief(row["name"]), str(row["tests"]), _purpose(row)) for row in rows],
        whole=("MODULE", "NAME", "TESTS"),
    )
    page.print()


def modules_document(view: "ProjectView") -> dict[str, Any]:
    """Every sealed module."""
    return {"modules": [_row(view, ref) for ref in view.modules.refs()]}


def module(
    module_id: Annotated[
        str, typer.Argument(metavar="MM-ID", help="MM-ID, MM-ID@VERSION, or the module's name.")
    ],
    directory: Directory = Path(),
    trail: Annotated[bool, typer.Option("--trail", help="How it came about, back to the spec.")] = False,
    debate: Annotated[
        bool, typer.Option("--debate", help="What was said for and against it, by round.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """A module's contract and evidence, its trail or its debate."""
    if trail and debate:
        raise InputError("--trail and --debate are two pages", remedy="ask for one of them")
    if is_begun(Path(module_id)) and not is_begun(directory):
        raise InputError(
            "the module's name is missing, this is a project",
            where=module_id,
            remedy=f"`{next_command('modules', Path(module_id))}` lists the names, "
            f"`{next_command('module NAME', Path(module_id))}` shows one",
        )
    from ship_gate.terminal.page import present
    from specwright.application.history.provenance import provenance
    from specwright.bootstrap.views.reading import reading_project
    from specwright.cli.pages.debate import debate_page
    from specwright.cli.pages.module import module_page, provenance_page

    with reading_project(directory) as view:
        if not (trail or debate or as_json or _sealed(view, module_id)) and _planned(view, module_id):
            note(f"No version of {module_id} is sealed yet; this is what was said of it.")
            debate = True
        if debate:
            debates = module_debates(view, module_id, directory)
            document, page = debates.to_json(), debate_page(debates)
        elif trail:
            chain = provenance(view, sealed_module(view, module_id, directory))
            document, page = chain.to_json(), provenance_page(chain)
        else:
            ref = sealed_module(view, module_id, directory)
            document = module_document(view, ref)
            page = module_page(
                view.modules.contract(ref),
                view.modules.evidence(ref),
                view.modules.location(ref),
                view.projection.deprecations.get(ref),
            )
    present(document, "debates" if debate else "trail" if trail else "module", page, as_json=as_json)


def module_document(view: "ProjectView", ref: str) -> dict[str, Any]:
    """A sealed module: its contract, its evidence, and whether it is deprecated."""
    seen, deprecation = view.modules.view(ref), view.projection.deprecations.get(ref)
    return {
        "contract": seen.contract.to_json(),
        "evidence": view.modules.evidence(ref).to_json(),
        "examples": seen.examples,
        "deprecation": deprecation and deprecation.to_json(),
    }


def trace(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="TSK-001, 'TSK-001 criterion 2', words of a criterion, or a module.",
        ),
    ],
    directory: Directory = Path(),
    as_json: AsJson = False,
) -> None:
    """From a criterion, task or module to its tests and code."""
    from ship_gate.terminal.page import present
    from specwright.bootstrap.views.reading import reading_project
    from specwright.cli.pages.module import trace_page

    with reading_project(directory) as view:
        found = traced(view, text, directory)
    present(found.to_json(), "trace", trace_page(found), as_json=as_json)


def traced(view: "ProjectView", text: str, directory: Path) -> "Trace":
    """What a text leads to.

    Raises:
        InputError: it is no criterion, no task and no module.
    """
    from specwright.application.stages.trace import ProjectTrace

    project = ProjectTrace(view)
    if (found := project.of(text) if text.strip() else None) is None:
        raise InputError(
            f"{text!r} is no criterion, no task and no module",
            where=str(directory),
            remedy=f"{did_you_mean(text, project.known)}`{next_command('tasks', directory)}` lists the tasks, "
            f"`{next_command('modules', directory)}` the modules",
        )
    return found


_Filter = list[str] | None


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What a module should do, in plain words.")],
    directory: Directory = Path(),
    tag: Annotated[_Filter, typer.Option(metavar="TAG", help="Only modules with one of these tags.")] = None,
    input_type: Annotated[
        _Filter, typer.Option(metavar="TYPE", help="Only modules that take one of these types.")
    ] = None,
    output_type: Annotated[
        _Filter, typer.Option(metavar="TYPE", help="Only modules that return one of these types.")
    ] = None,
    inactive: Annotated[
        bool, typer.Option("--inactive", help="Also deprecated and superseded ones.")
    ] = False,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Shipped modules by what they do, the best match first."""
    from ship_gate.terminal.page import Page, brief
    from specwright.bootstrap.views.reading import search_index
    from specwright.ports.code_index import IndexQuery

    types = tuple(input_type or ()), tuple(output_type or ())
    hits = search_index(directory, IndexQuery(query, tuple(tag or ()), *types, inactive, top))
    if as_json:
        matches = [{**hit.entry.to_json(), "similarity_score": hit.similarity_score} for hit in hits]
        show({"matches": matches}, "matches")
        return
    if not hits:
        note("No module in the Code Index matches.")
        return
    page = Page()
    lines = [
        (hit.entry.ref, brief(hit.entry.name), f"{hit.similarity_score:.2f}", hit.entry.purpose)
        for hit in hits
    ]
    page.table(("MODULE", "NAME", "MATCH", "PURPOSE"), lines, whole=("MODULE", "NAME", "MATCH"))
    page.print()


def module_debates(view: "ProjectView", wanted: str, directory: Path) -> "ModuleDebates":
    """What was said about a module, by its name, its id or a reference.

    Raises:
        InputError: none was ever planned.
    """
    from specwright.application.history.provenance import debates_of, planned_modules

    planned = planned_modules(view)
    named = [one for one in planned if wanted in _names_of(one.contract)]
    if not named:
        raise InputError(
            f"no module {wanted!r} was ever planned here",
            where=str(directory),
            remedy=did_you_mean(wanted, [one.contract.name for one in planned])
            + f"planned are {listed([one.contract.name for one in planned]) or 'none yet'}",
        )
    newest = named[-1].contract.module_id  # a name may have been planned twice, for two modules
    return debates_of(view, [one for one in named if one.contract.module_id == newest])


def _names_of(contract: "MicroModuleContract") -> tuple[str, ...]:
    return contract.ref, contract.module_id, contract.name


def _add_progress(page: "Page", state: "ProjectState", now: list[str], *, driven: bool) -> None:
    """How many tasks are done, which one is at work or comes next."""
    from ship_gate.terminal.page import brief
    from specwright.domain.tasks.task_board import Outcome, TaskBoard

    counts = Counter(_task_status(entry.to_json()) for entry in state.tasks.values())
    shipped, every = counts.pop("SHIPPED", 0), len(state.tasks)
    others = [f"{count} {name.lower().replace('_', ' ')}" for name, count in sorted(counts.items())]
    page.bar("Tasks:", shipped, every, ", ".join([f"{shipped} of {every} shipped", *others]), labels=_LABELS)
    if now:
        page.labelled("Now:" if driven else "Begun:", ", ".join(now), labels=_LABELS)
    board = TaskBoard(state)
    next_task = board.next_task()
    if board.outcome() is Outcome.RUNNABLE and next_task and not board.in_progress():
        entry = state.tasks[next_task]
        page.labelled("Next:", f"{entry.spec_task_id}  {brief(entry.task)}", labels=_LABELS)


def _task_status(entry: dict[str, Any]) -> str:
    """A task's status for a person: one that was split is not told as given up."""
    return "SPLIT" if entry["superseded_by"] else str(entry["status"])


def _price_in(directory: Path) -> "Price | None":
    """What the models of the last run cost; None if they are scripted, or the settings are damaged."""
    from specwright.bootstrap.costs import price_of
    from specwright.cli.session.options import last_options, settings_for

    try:
        return price_of(settings_for(directory, last_options(directory), looking=True))
    except InputErrors:
        return None


def _cost_of(directory: Path) -> "Cost | None":
    """What was asked of models; None if a damaged journal does not tell, since the rest of the status stands in the log."""
    from specwright.bootstrap.costs import prices_in, total_cost

    try:
        return total_cost(directory, prices_in(directory))
    except CorruptionErrors:
        return None


def _asked(cost: "Cost", *, scripted: bool) -> str:
    """What the project has asked of models since it began."""
    from specwright.domain.costs import money

    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out; price: {money(cost)}"
    if not cost.tokens:
        tokens = "scripted" if scripted else "the provider counts no tokens"
    return f"{counted(cost.requests, 'model call')} in all; {tokens}"


def _draw(file: Path, state: "ProjectState | None", directory: Path) -> None:
    """Write the graph of the tasks as Mermaid."""
    from specwright.domain.tasks.project_state import mermaid

    if state is None:
        raise RefusedError(
            "there are no tasks to draw yet: they come with the approved spec",
            where=str(file),
            remedy=f"`{next_command('status', directory)}` says what comes first",
        )
    write_new_file(file, mermaid(state))


def _row(view: "ProjectView", ref: str) -> dict[str, Any]:

    contract, evidence = view.modules.contract(ref), view.modules.evidence(ref)
    return {
        "module_ref": ref,
        "name": contract.name,
        "purpose": contract.purpose,
        "version": contract.module_version,
        "interface_fingerprint": evidence.verification.interface_fingerprint,
        "tests": evidence.execution_log.summary.total,
        "ship_id": evidence.ship_id,
        "deprecated": ref in view.projection.deprecations,
        "status": _status(view, ref),
    }


def _status(view: "ProjectView", ref: str) -> str:
    if retired := view.projection.deprecations.get(ref):
        return retired.status.value
    return "SHIPPED"


def _purpose(row: dict[str, Any]) -> str:
    return f"{row['status']}. {row['purpose']}" if row["status"] != "SHIPPED" else row["purpose"]


def sealed_module(view: "ProjectView", wanted: str, directory: Path) -> str:
    """The newest sealed version of a module, by its name, its id or a reference.

    Raises:
        InputError: none is sealed.
    """
    if ref := _sealed(view, wanted):
        return ref
    if _planned(view, wanted):
        raise InputError(
            f"no version of {wanted} is sealed yet",
            where=str(directory),
            remedy=f"`{next_command(f'module {wanted}', directory, '--debate')}` shows what was said of it",
        )
    names = [name for ref in view.modules.refs() for name in _names_of(view.modules.contract(ref))]
    raise InputError(
        f"there is no sealed module {wanted!r}",
        where=str(directory),
        remedy=f"{did_you_mean(wanted, names)}`{next_command('modules', directory)}` lists them",
    )


def _sealed(view: "ProjectView", wanted: str) -> str:
    refs = reversed(view.modules.refs())
    return next((ref for ref in refs if wanted in _names_of(view.modules.contract(ref))), "")


def _planned(view: "ProjectView", wanted: str) -> bool:
    from specwright.application.history.provenance import planned_modules

    return any(wanted in _names_of(one.contract) for one in planned_modules(view))
