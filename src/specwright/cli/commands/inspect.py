"""Commands that look at a project without driving it: status, tasks, modules, module (design: command-line)."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.commands import AsJson, Directory
from specwright.cli.terminal.output import counted, listed, next_command, note, say, show
from specwright.errors import CorruptionError, InputError, RefusedError

if TYPE_CHECKING:
    from specwright.application.factory import ProjectView
    from specwright.application.history.rounds import ModuleDebates
    from specwright.cli.pages.page import Page
    from specwright.domain.contract.contract import MicroModuleContract
    from specwright.domain.costs.cost import Cost
    from specwright.domain.costs.estimate import Price
    from specwright.domain.tasks.project_state import ProjectState


_LABELS = 10
"""Columns that the labels of `status` take."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, tasks, modules, module):
        app.command()(command)


def status(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Where the project stands, and what to do next."""
    from specwright.application.stages.status import project_status
    from specwright.bootstrap.reading import driven_by, reading_project
    from specwright.cli.pages.page import Page
    from specwright.cli.pages.stop import stop_document, stop_page, tasks_in_progress
    from specwright.cli.session.options import was_scripted

    scripted = was_scripted(directory)
    page = Page()
    with reading_project(directory) as view:
        stop, driver, now = project_status(view), driven_by(directory), tasks_in_progress(view)
        asked, price = _cost_of(directory), _price_in(directory)
        if as_json:
            document = stop_document(view, stop, directory, scripted=scripted, drift=[], price=price)
            show(
                {
                    **document,
                    "driven_by": driver or None,
                    "under_way": now,
                    "asked": asked and asked.to_json(),
                }
            )
            return
        if view.projection.state is not None:
            _add_progress(page, view.projection.state, now)
        if driver:
            page.line(f"A run is at work: {driver}.")
        else:
            page.add(stop_page(view, stop, directory, scripted=scripted, price=price))
    if asked is None:
        page.line("the journal is damaged; `specwright verify` says where", "Asked:", labels=_LABELS)
    elif asked.requests:
        page.line(_asked(asked, scripted=scripted), "Asked:", labels=_LABELS)
    page.print()


def tasks(
    directory: Directory = Path(),
    graph: Annotated[bool, typer.Option("--graph", help="Show who waits for whom.")] = False,
    mermaid: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the graph as Mermaid.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every task with its status, and why it is not running."""
    from specwright.bootstrap.reading import reading_project
    from specwright.cli.pages.page import Page, brief
    from specwright.cli.pages.stop import by_spec_id
    from specwright.domain.tasks import task_graph
    from specwright.domain.tasks.why_not import why_each

    with reading_project(directory) as view:
        state = view.projection.state
        if mermaid is not None and state is None:
            raise RefusedError(
                "there are no tasks to draw yet: they come with the approved spec",
                where=str(mermaid),
                remedy=f"`{next_command('status', directory)}` says what comes first",
            )
        if mermaid is not None and state is not None:
            _write(mermaid, task_graph.mermaid(state))
        if graph and state is not None and not as_json:
            say(task_graph.text_graph(state))
            return
        entries = sorted(state.tasks.items(), key=lambda item: item[1].declaration_order) if state else []
        why = why_each(state) if state else {}
        rows = [{"task_id": name, **entry.to_json(), "why": why[name]} for name, entry in entries]
        names = {
            row["module_ref"]: view.modules.contract(row["module_ref"]).name
            for row in rows
            if row["module_ref"]
        }
    if as_json:
        show(rows)
        return
    if not rows:
        note(f"No tasks yet: they come with the approved spec. `{next_command('status', directory)}`")
        return
    page = Page()
    lines: list[tuple[str, ...]] = []
    for row in rows:
        ref = row["module_ref"]
        last = f"{ref}  {names[ref]}" if ref or state is None else by_spec_id(state, row["why"])
        lines.append((row["spec_task_id"], row["status"], brief(row["task"]), last))
    page.table(("TASK", "STATUS", "NAME", "MODULE, OR WHAT IT WAITS FOR"), lines, whole=("TASK", "STATUS"))
    page.print()


def modules(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every sealed module, with its purpose and tests."""
    from specwright.bootstrap.reading import reading_project

    with reading_project(directory) as view:
        rows = [_row(view, ref) for ref in view.modules.refs()]
    if as_json:
        show(rows)
        return
    if not rows:
        note(f"No module is sealed yet. `{next_command('status', directory)}`")
        return
    from specwright.cli.pages.page import Page, brief

    page = Page()
    page.table(
        ("MODULE", "NAME", "TESTS", "PURPOSE"),
        [(row["module_ref"], brief(row["name"]), str(row["tests"]), _purpose(row)) for row in rows],
        whole=("MODULE", "NAME", "TESTS"),
    )
    page.print()


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
    from specwright.application.history.provenance import provenance
    from specwright.bootstrap.reading import reading_project
    from specwright.cli.pages.debate import debate_page
    from specwright.cli.pages.module import module_page, provenance_page
    from specwright.cli.pages.page import present

    with reading_project(directory) as view:
        if debate:
            debates = _debates(view, module_id, directory)
            document, page = debates.to_json(), debate_page(debates)
        elif trail:
            chain = provenance(view, _find(view, module_id, directory))
            document, page = chain.to_json(), provenance_page(chain)
        else:
            ref = _find(view, module_id, directory)
            seen, evidence = view.modules.view(ref), view.modules.evidence(ref)
            contract, deprecation = seen.contract, view.projection.deprecations.get(ref)
            document = {
                "contract": contract.to_json(),
                "evidence": evidence.to_json(),
                "examples": seen.examples,
                "deprecation": deprecation and deprecation.to_json(),
            }
            files = directory / "state_store/modules" / ref.replace("@", "/")
            page = module_page(contract, evidence, files, deprecation)
    present(document, page, as_json=as_json)


def _debates(view: "ProjectView", wanted: str, directory: Path) -> "ModuleDebates":
    from specwright.application.history.rounds import debates_of, planned_modules

    planned = planned_modules(view)
    named = [one for one in planned if wanted in _names_of(one.contract)]
    if not named:
        raise InputError(
            f"no module {wanted!r} was ever planned here",
            where=str(directory),
            remedy=f"planned are {listed([one.contract.name for one in planned]) or 'none yet'}",
        )
    newest = named[-1].contract.module_id  # a name may have been planned twice, for two modules
    return debates_of(view, [one for one in named if one.contract.module_id == newest])


def _names_of(contract: "MicroModuleContract") -> tuple[str, ...]:
    return contract.ref, contract.module_id, contract.name


def _add_progress(page: "Page", state: "ProjectState", now: list[str]) -> None:
    """How many tasks are done, which one is at work or comes next."""
    from specwright.cli.pages.page import brief
    from specwright.domain.tasks.task_board import Outcome, TaskBoard

    counts = Counter(entry.status.value for entry in state.tasks.values())
    shipped, every = counts.pop("SHIPPED", 0), len(state.tasks)
    others = [f"{count} {name.lower().replace('_', ' ')}" for name, count in sorted(counts.items())]
    page.bar("Tasks:", shipped, every, ", ".join([f"{shipped} of {every} shipped", *others]), labels=_LABELS)
    if now:
        page.line(", ".join(now), "Now:", labels=_LABELS)
    board = TaskBoard(state)
    next_task = board.next_task()
    if board.outcome() is Outcome.RUNNABLE and next_task and not board.in_progress():
        entry = state.tasks[next_task]
        page.line(f"{entry.spec_task_id}  {brief(entry.task)}", "Next:", labels=_LABELS)


def _price_in(directory: Path) -> "Price | None":
    """What the models of the last run cost; None if they are scripted, or the settings are damaged."""
    from specwright.bootstrap.costs import price_of
    from specwright.cli.session.options import last_options, settings_for

    try:
        return price_of(settings_for(directory, last_options(directory)))
    except InputError:
        return None


def _cost_of(directory: Path) -> "Cost | None":
    """What was asked of models; None if a damaged journal does not tell, since the rest of the status stands in the log."""
    from specwright.bootstrap.costs import prices_in, total_cost

    try:
        return total_cost(directory, prices_in(directory))
    except CorruptionError:
        return None


def _asked(cost: "Cost", *, scripted: bool) -> str:
    """What the project has asked of models since it began."""
    from specwright.domain.costs.cost import money

    tokens = f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out; price: {money(cost)}"
    if not cost.tokens:
        tokens = "scripted" if scripted else "the provider counts no tokens"
    return f"{counted(cost.requests, 'model call')} in all; {tokens}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error
    note(f"Wrote {path}")


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


def _find(view: "ProjectView", wanted: str, directory: Path) -> str:
    for ref in reversed(view.modules.refs()):
        if wanted in _names_of(view.modules.contract(ref)):
            return ref
    raise InputError(
        f"there is no sealed module {wanted!r}",
        where=str(directory),
        remedy=f"`{next_command('modules', directory)}` lists them",
    )
