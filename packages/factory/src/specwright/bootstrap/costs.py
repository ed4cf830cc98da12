"""Costs of a project, summed from its journal; prices and budgets from its settings (design: models)."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any, Literal, cast

from specwright.application.factory import Factory
from specwright.application.stages.product import next_stop_estimate
from specwright.bootstrap.stores import ProjectStore, opened_store
from specwright.domain.costs import Budget, Budgets, Cost, Price, Usage, in_words
from specwright.errors import InputError, InputErrors
from specwright.journal.journal import JournalRecord
from specwright.ports import (
    Role,
    RunEvent,
    characters_of,
    paid_for,
    provider_of,
    read_as_model_answer,
    usage_of,
)
from specwright.roles.models.spending import PublishedPrices, Spending, StageEstimate, counted, model_label
from specwright.settings import SCRIPTED, Settings, load_settings

Division = Literal["role", "task", "module", "round", "version", "content"]
"""How costs are divided."""

_CHANGE = re.compile(r"change-[0-9]+")


def prices_of(settings: Settings) -> PublishedPrices:
    """Return the prices that apply to a project."""
    return PublishedPrices(settings.prices)


def prices_in(directory: Path) -> PublishedPrices:
    """Return the prices for reading a project; damaged settings set none."""
    try:
        return prices_of(load_settings(directory, looking=True))
    except InputErrors:
        return PublishedPrices()


def budgets_of(settings: Settings) -> Budgets:
    """Return the budgets of a project."""
    return Budgets(
        Budget(settings.budget_tokens, Decimal(str(settings.budget_usd))),
        Budget(settings.task_budget_tokens, Decimal(str(settings.task_budget_usd))),
    )


def models_by_role(settings: Settings) -> dict[Role, str]:
    """Return the model of each role as the journal names it; scripted roles are left out."""
    named = {role: settings.model_of(role) for role in Role}
    bought = {role: name for role, name in named.items() if name and not name.startswith(SCRIPTED)}
    return {role: model_label(name, settings.base_url) for role, name in bought.items()}


def price_of(settings: Settings) -> Price | None:
    """Return a function that prices a role's tokens, for an estimate; None if all answers are scripted."""
    models, prices = models_by_role(settings), prices_of(settings)
    if not models:
        return None

    def price(role: str, usage: Usage) -> Decimal | None:
        model = models.get(Role(role))
        return prices.usd(model, usage) if model else Decimal(0)

    return price


def spending_of(settings: Settings, store: ProjectStore) -> Spending:
    """Return what the project has spent so far, with its budgets."""
    spending = Spending(budgets_of(settings), prices_of(settings), models_by_role(settings))
    for record, where in _records(store, "model"):
        with read_as_model_answer(where):
            spending.read([(record.place.scope, record.answer)])
    return spending


def pauses_by_estimate(settings: Settings) -> bool:
    """Return whether the estimate limits a run: no setting or option names a project budget, not even 0."""
    return not settings.model_fields_set & {"budget_tokens", "budget_usd"}


def watch_estimate(spending: Spending, settings: Settings, factory: Factory) -> None:
    """Make a run without a budget pause at a multiple of its estimate (design: models)."""
    if pauses_by_estimate(settings):
        spending.expect(estimate_by_stage(factory))


def estimate_by_stage(factory: Factory) -> Callable[[str], StageEstimate | None]:
    """Return a function that estimates the current stage, spec or tasks, and announces it; None if the stage is the one
    that is known."""

    def estimate(known: str) -> StageEstimate | None:
        projection = factory.projection
        stage = f"{'spec' if projection.awaits_approval else 'build'} {projection.change_number}"
        if stage == known or not (projection.awaits_approval or projection.state):
            return None
        estimated = next_stop_estimate(factory, factory.price or (lambda role, usage: None))
        most = estimated.range_of_tokens[1]
        factory.progress.note(RunEvent("budget", "", in_words(Budgets(), most)))
        return StageEstimate(stage, most)

    return estimate


def require_prices(settings: Settings) -> None:
    """Refuse a budget in money if the price of a model is unknown.

    Raises:
        InputError: a price is unknown.
    """
    if not budgets_of(settings).in_money:
        return
    for model in dict.fromkeys(models_by_role(settings).values()):
        if prices_of(settings).usd(model, Usage()) is None:
            raise InputError(
                f"a budget in money cannot be enforced: the price of {model} is unknown",
                where="budget_usd, task_budget_usd",
                remedy="set `budget_tokens` instead, or the price, for instance in specwright.toml\n"
                f'    [prices]\n    "{model.partition(" at ")[0]}" = [1.25, 10.0]   # US dollars for a million tokens',
            )


def costs(directory: Path, by: Division, prices: PublishedPrices) -> dict[str, Cost]:
    """The costs of a project, the largest part first.

    With `content`, each part has its share of tokens and money by its characters; only `answers` count as calls.
    With `version`, a change has the costs from its first step to the first step of the next change.

    Raises:
        CorruptionError: the journal is damaged.
    """
    sums, version = dict[str, Cost](), "first version"
    with opened_store(directory) as store:
        for record, where in _records(store, "" if by == "version" else "model"):
            if change := _CHANGE.match(record.place.scope):
                version = change[0]
            if record.place.kind != "model":
                continue
            with read_as_model_answer(where):
                parts = _parts(record, by, version, prices)
            for part, cost in parts.items():
                sums[part] = sums.get(part, Cost()).plus(cost)
    return dict(sorted(sums.items(), key=lambda item: (-item[1].input_tokens, -item[1].characters)))


def total_cost(directory: Path, prices: PublishedPrices) -> Cost:
    """Return the total cost of a project."""
    return reduce(Cost.plus, costs(directory, "role", prices).values(), Cost())


def refused_cost(directory: Path, prices: PublishedPrices) -> Cost:
    """Return the cost of answers that were not accepted: the same role was asked again at the same place.

    Raises:
        CorruptionError: the journal is damaged.
    """
    last, refused = dict[str, Cost](), Cost()
    with opened_store(directory) as store:
        for record, where in _records(store, "model"):
            with read_as_model_answer(where):
                if not _is_answer(cast(dict[str, Any], record.answer)):
                    continue
                (cost,) = _parts(record, "role", "", prices).values()
            refused = refused.plus(last.get(record.place.scope, Cost()))
            last[record.place.scope] = cost
    return refused


def _is_answer(answer: dict[str, Any]) -> bool:
    """Return whether the role submitted an answer, rather than only read or searched."""
    calls: list[dict[str, Any]] = answer["message"]["data"].get("tool_calls") or []
    return not calls or any(str(call["name"]).startswith(("submit_", "emit_")) for call in calls)


def _records(store: ProjectStore, kind: str = "") -> Iterator[tuple[JournalRecord, str]]:
    """Yield the journal's records of a kind, each with its place for an error message."""
    for record in store.records(kind):
        yield record, f"{store.journal_address}, {record.place.scope} {record.place.ordinal}"


def _parts(record: JournalRecord, by: Division, version: str, prices: PublishedPrices) -> dict[str, Cost]:
    answer = cast(dict[str, Any], record.answer)
    bought = provider_of(record.answer)
    usage, characters = usage_of(record.answer), characters_of(record.answer)
    usage = counted(record.answer) if bought else usage
    model, paid = bought or _recorded_model(answer), paid_for(record.answer)
    usd = _paid(model, usage, prices) if paid is None else paid
    whole = Cost(1, characters, *usage[:2], usd or Decimal(0), int(usd is None))
    if by != "content":
        return {_place(by, version, record.place.scope): whole}
    written = _paid(model, Usage(0, usage.output_tokens), prices) or Decimal(0)
    parts, before = dict[str, Cost](), 0
    for kind, size in cast("dict[str, int]", answer.get("asked") or {}).items():
        # both ends are rounded down, so that the parts add up to the whole
        begin, end = (usage.input_tokens * at // max(1, characters) for at in (before, before + size))
        parts[kind] = Cost(0, size, end - begin, 0, (whole.usd - written) * size / max(1, characters))
        before += size
    rest = whole._replace(characters=0, input_tokens=0, usd=written) if characters else whole
    return {**parts, "answers": rest}


def _paid(model: str, usage: Usage, prices: PublishedPrices) -> Decimal | None:
    """Return what an answer costs; a playbook's answer, without model and tokens, costs nothing."""
    if not model and not usage.input_tokens + usage.output_tokens:
        return Decimal(0)
    return prices.usd(model, usage)


def _recorded_model(answer: dict[str, Any]) -> str:
    """Return the model that a recorded answer names; empty if it names none."""
    said = cast(dict[str, Any], answer["message"]["data"].get("response_metadata") or {})
    provider, name = said.get("model_provider"), said.get("model_name")
    return f"{provider}:{name}" if provider and name else ""


def _place(by: Division, version: str, scope: str) -> str:
    """Return the part that an invocation such as `TSK-003.1/split_evenly/round-1/proposer` belongs to."""
    run, *middle, role = scope.split("/")
    task = run.partition(".")[0]
    subject, stage = (*middle, "", "")[:2]
    module = f"{task} {subject}"
    parts = {"role": role, "task": task, "module": module, "round": f"{module} {stage}", "version": version}
    return parts[by].strip()
