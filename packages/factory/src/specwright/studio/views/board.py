"""The run: what is at work, what it has cost, the tasks with what they wait for (design: studio, costs)."""

from pathlib import Path
from typing import NamedTuple

from specwright.application.factory import ProjectView
from specwright.application.stages.release import last_release
from specwright.bootstrap.costs import Division, budgets_in, costs, prices_in, total_cost
from specwright.bootstrap.views.last_stop import LastStop, last_stop
from specwright.domain.costs import Cost, dollars, money
from specwright.domain.modules.release import ReleaseManifest
from specwright.domain.spec.change_request import ChangeRequest
from specwright.domain.tasks.project_state import ProjectState, TaskEntry
from specwright.domain.tasks.task_board import Reasons, by_spec_id
from specwright.domain.tasks.task_file import TaskDefinition
from specwright.errors import InputError, InputErrors, SpecwrightErrors

PER_PAGE = 100
"""Rows of a list on one page."""


class Share(NamedTuple):
    """What was spent of a budget: in words, and in whole hundredths."""

    name: str
    spent: str
    limit: str
    hundredths: int


class TaskRow(NamedTuple):
    """A task in a list: its entry, why it is not running, and the modules that it sealed."""

    task_id: str
    entry: TaskEntry
    why: str


class Listing(NamedTuple):
    """A page of a long list.

    Args:
        rows: Of this page.
        number: Of the page, from 1.
        pages: How many there are.
        total: Rows of all pages.
        status: The status that is asked for; empty for all.
        query: The words that are asked for.
    """

    rows: list[TaskRow]
    number: int
    pages: int
    total: int
    status: str
    query: str


class RunPage(NamedTuple):
    """The run for a person.

    Args:
        listing: The tasks.
        cost: What was asked of models.
        money: The same in money, in words.
        shares: Of the budgets.
        release: The last one.
        wheel: Where its file is; empty if there is none.
        change: The change that is under way.
        stop: What stopped the last run; None if nothing did.
    """

    listing: Listing
    cost: Cost | None
    money: str
    shares: list[Share]
    release: ReleaseManifest | None
    wheel: str
    change: ChangeRequest | None
    stop: LastStop | None


class TaskPage(NamedTuple):
    """A task for a person: its definition, its state, why it is not running, its neighbours, its modules by name."""

    task_id: str
    entry: TaskEntry
    definition: TaskDefinition
    why: str
    needs: list[TaskEntry]
    needed_by: list[TaskEntry]
    modules: dict[str, str]


class CostsPage(NamedTuple):
    """What was asked of models, by parts: each with its cost and its share of all tokens in hundredths."""

    by: str
    parts: list[tuple[str, Cost, str, int]]
    total: Cost
    money: str


def run_page(view: ProjectView, directory: Path, *, driven: bool) -> RunPage:
    """The run of a project, with the first of its tasks."""
    state, release = view.projection.state, last_release(view)
    cost = project_cost(directory)
    return RunPage(
        listing(state, driven=driven),
        cost,
        money(cost) if cost else "",
        shares(directory, cost) if cost else [],
        release,
        _wheel(view, release),
        change.request if (change := view.projection.open_change) else None,
        last_stop(directory),
    )


def listing(
    state: ProjectState | None, *, driven: bool, number: int = 1, status: str = "", query: str = ""
) -> Listing:
    """A page of the tasks."""
    if state is None:
        return Listing([], 1, 1, 0, status, query)
    wanted = query.casefold()
    found = [
        task_id
        for task_id in state.ordered
        if status in ("", state.tasks[task_id].status)
        and (not wanted or wanted in _searched(state.tasks[task_id]))
    ]
    pages = max(1, -(-len(found) // PER_PAGE))
    number = min(max(1, number), pages)
    reasons = Reasons(state, driven=driven)
    rows = [
        TaskRow(one, state.tasks[one], by_spec_id(state, reasons.of(one)))
        for one in found[(number - 1) * PER_PAGE : number * PER_PAGE]
    ]
    return Listing(rows, number, pages, len(found), status, query)


def _searched(entry: TaskEntry) -> str:
    return f"{entry.spec_task_id} {entry.task} {entry.pillar} {entry.epic} {entry.story}".casefold()


def task_page(view: ProjectView, spec_id: str, *, driven: bool) -> TaskPage:
    """A task by its id in the spec.

    Raises:
        InputError: there is none.
    """
    state = view.projection.state
    tasks = state.tasks if state else {}
    task_id = next((name for name, entry in tasks.items() if entry.spec_task_id == spec_id), None)
    if state is None or task_id is None:
        raise InputError(f"there is no task {spec_id[:40]}", where="the address")
    entry = tasks[task_id]
    return TaskPage(
        task_id,
        entry,
        view.projection.definitions[task_id],
        by_spec_id(state, Reasons(state, driven=driven).of(task_id)),
        [tasks[ref] for ref in entry.depends_on],
        [other for other in tasks.values() if task_id in other.depends_on][:PER_PAGE],
        {ref: view.modules.contract(ref).name for ref in entry.module_refs},
    )


def costs_page(directory: Path, by: Division) -> CostsPage:
    """What was asked of models, by parts."""
    prices = prices_in(directory)
    parts, total = costs(directory, by, prices), total_cost(directory, prices)
    sizes = {name: cost.tokens if total.tokens else cost.characters for name, cost in parts.items()}
    most = max(sizes.values(), default=0) or 1
    rows = [
        (name or "spec", cost, money(cost), round(100 * sizes[name] / most)) for name, cost in parts.items()
    ]
    return CostsPage(by, rows, total, money(total))


def project_cost(directory: Path) -> Cost | None:
    """What was asked of models; None if the journal cannot be read."""
    try:
        return total_cost(directory, prices_in(directory))
    except SpecwrightErrors:
        return None


def shares(directory: Path, cost: Cost) -> list[Share]:
    """What was spent of the budgets of the project."""
    try:
        budget = budgets_in(directory).project
    except InputErrors:
        return []
    found: list[Share] = []
    if budget.tokens:
        part = round(100 * cost.tokens / budget.tokens)
        found.append(Share("tokens", f"{cost.tokens:,}", f"{budget.tokens:,}", min(100, part)))
    if budget.usd:
        part = round(100 * cost.usd / budget.usd)
        found.append(Share("money", dollars(cost.usd), dollars(budget.usd), min(100, part)))
    return found


def _wheel(view: ProjectView, release: ReleaseManifest | None) -> str:
    if release is None or not release.product.wheel:
        return ""
    folder = view.store.directory(f"releases/{release.release_id}")
    return str(folder / release.product.wheel)
