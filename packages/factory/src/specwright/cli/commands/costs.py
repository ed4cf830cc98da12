"""The command that says what a project asked of models (design: command-line, costs)."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ship_gate.terminal.output import say, show
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory

if TYPE_CHECKING:
    from ship_gate.terminal.page import Page
    from specwright.domain.costs import Cost


Division = Literal["role", "task", "module", "round", "content"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(costs)


def costs(
    directory: Directory = Path(),
    by: Annotated[
        Division,
        typer.Option("--by", help="What the sum is divided by."),
    ] = "role",
    as_json: AsJson = False,
) -> None:
    """What was asked of models: requests, tokens and money."""
    from specwright.bootstrap.costs import costs as costs_of
    from specwright.bootstrap.costs import prices_in, total_cost
    from specwright.bootstrap.views.at_work import at_work
    from specwright.bootstrap.views.reading import last_run, require_begun
    from specwright.cli.terminal.at_work import at_work_in_words

    require_begun(directory)
    if as_json:
        show(costs_document(directory, by), "costs")
        return
    prices = prices_in(directory)
    parts, whole = costs_of(directory, by, prices), total_cost(directory, prices)
    working = at_work(directory)
    waiting = working if working and working.model else None
    if waiting:
        say(f"A request has no answer yet: {at_work_in_words(waiting)}.")
    if not whole.requests:
        say("No answer has come yet." if waiting else "No model has been asked yet.")
        return
    _page(by, parts, whole, scripted=last_run(directory).scripted).print()


def costs_document(directory: Path, by: Division) -> dict[str, Any]:
    """What was asked of models, by part and in all."""
    from specwright.bootstrap.costs import costs as costs_of
    from specwright.bootstrap.costs import prices_in, total_cost
    from specwright.bootstrap.views.at_work import at_work
    from specwright.cli.terminal.at_work import at_work_document

    prices, working = prices_in(directory), at_work(directory)
    return {
        "by": by,
        "parts": {part: cost.to_json() for part, cost in costs_of(directory, by, prices).items()},
        "total": total_cost(directory, prices).to_json(),
        "waiting": at_work_document(working if working and working.model else None),
    }


def _page(by: str, parts: "Mapping[str, Cost]", whole: "Cost", *, scripted: bool) -> "Page":
    """The costs as a table, and what its zeros and gaps mean."""
    from ship_gate.terminal.page import Page
    from specwright.domain.costs import money

    page, columns = Page(), [by, "requests", "characters", "tokens in", "tokens out", "money"]
    rows = [
        [part, *(f"{number:,}" for number in cost[:4]), money(cost)]
        for part, cost in {**parts, "in all": whole}.items()
    ]
    unpriced = whole.unpriced == whole.requests
    if unpriced:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    page.table(columns, rows, whole=columns[1:])
    if not whole.tokens and scripted:
        page.prose("The answers are scripted: they have no tokens and cost nothing.")
    if unpriced:
        page.prose("The price of the models is unknown; `[prices]` in specwright.toml sets it.")
    return page
