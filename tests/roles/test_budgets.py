"""Budgets are reserved before each call, and what was spent is what the journal holds (DESIGN §6)."""

from decimal import Decimal
from typing import Any

import pytest

from specwright.domain.costs import (
    RESERVED_OUTPUT,
    TIMES_THE_MOST,
    Budget,
    Budgets,
    Cost,
    Estimate,
    Usage,
    below_estimate,
    dollars,
    in_words,
)
from specwright.errors import BudgetError
from specwright.ports import Place, Role
from specwright.roles.models.spending import PublishedPrices, Spending, StageEstimate, model_label

PLACE = Place("TSK-001", 1, "shout", "round-1", Role.ARBITER)
OTHER = PLACE._replace(task="TSK-002")
MODEL = "openai:gpt-5"
PRICES = PublishedPrices({MODEL: (1.0, 10.0)})
ONE_CALL = 100 + RESERVED_OUTPUT
"""What a call of 300 characters is reserved."""


def answer(tokens_in: int, tokens_out: int, model: str = MODEL, **more: Any) -> Any:
    """A journalled answer that was bought."""
    usage = {"input_tokens": tokens_in, "output_tokens": tokens_out, **more}
    return {"message": {"data": {"usage_metadata": usage}}, "asked": {"system prompt": 300}, "model": model}


def spending(model: str = MODEL, prices: PublishedPrices = PRICES, **budgets: Budget) -> Spending:
    """A spending with budgets; every role has one model."""
    return Spending(Budgets(**budgets), prices, dict.fromkeys(Role, model))


def test_a_call_that_fits_is_made_and_counted_by_what_it_took() -> None:
    """The reservation is given back for the tokens that the provider counted (D-S6-08)."""
    book = spending(project=Budget(tokens=ONE_CALL))
    book.reserve(PLACE, 300)
    book.settle(PLACE, answer(90, 10))
    assert (book.total.tokens, book.total.usd) == (100, Decimal("0.00019"))


def test_a_call_that_may_exceed_a_budget_is_not_made() -> None:
    """Each of the four pauses before the call, and says what would be enough (D-S6-08, D-S1-02)."""
    tokens, usd = Budget(tokens=ONE_CALL - 1), Budget(usd=Decimal("0.08"))
    for scope, budget, setting in (
        ("project", tokens, "budget_tokens"),
        ("project", usd, "budget_usd"),
        ("task", tokens, "task_budget_tokens"),
        ("task", usd, "task_budget_usd"),
    ):
        with pytest.raises(BudgetError, match=f"`{setting}`") as caught:
            spending(**{scope: budget}).reserve(PLACE, 300)
        assert caught.value.exit_code == 3
        enough = Decimal(caught.value.remedy.split("--")[1].split("`")[0].split()[1])
        raised: Any = Budget(*(enough if limit else limit for limit in budget))
        spending(**{scope: raised}).reserve(PLACE, 300)


def test_tasks_have_a_budget_each() -> None:
    """What one spent is not missing in another's; the researcher works for the project, and is in none (D-S6-08)."""
    spending(task=Budget(tokens=1)).reserve(PLACE._replace(task="", role=Role.RESEARCHER), 300)
    book = spending(task=Budget(tokens=ONE_CALL))
    book.reserve(PLACE, 300)
    book.settle(PLACE, answer(90, 10))
    book.reserve(OTHER, 300)
    with pytest.raises(BudgetError):
        book.reserve(PLACE, 300)


def test_what_is_under_way_is_reserved() -> None:
    """Two calls at once cannot both take the last of a budget; one without an answer gives it back (D-S6-08)."""
    book = spending(project=Budget(tokens=ONE_CALL + 1))
    book.reserve(PLACE, 300)
    other = spending(project=Budget(tokens=ONE_CALL + 1))
    with pytest.raises(BudgetError):
        book.reserve(OTHER, 300)
    other.reserve(PLACE, 300)
    other.settle(PLACE, None)
    other.reserve(OTHER, 300)


def test_once_refused_every_call_is() -> None:
    """A library that goes on after an error must not buy what comes next (D-S6-08)."""
    book = spending(project=Budget(tokens=ONE_CALL))
    for characters in (3_000_000, 3):
        with pytest.raises(BudgetError):
            book.reserve(PLACE, characters)


def test_what_was_bought_is_counted_as_it_was() -> None:
    """A recording repeats the tokens of its run, and nobody pays for them again; where a server counts nothing it is
    estimated, or a limit would never be reached; prices change, with the hour at some providers, and the sum of a resumed
    run is that of the run (D-S6-08)."""

    def read(said: Any, **more: Any) -> Cost:
        book = spending(**more)
        book.read([("TSK-001.1/shout/round-1/arbiter", said)])
        return book.total

    assert read(answer(900, 90, model="")).tokens == 0
    assert read(answer(0, 0)).tokens > 100
    dear = PublishedPrices({MODEL: (50.0, 50.0)})
    assert read({**answer(90, 10), "usd": "0.00019"}, prices=dear).usd == Decimal("0.00019")


def test_an_unknown_price_is_unknown() -> None:
    """Neither nothing nor the price of another model of that name; a budget in money is then refused. What a provider had in
    its cache is cheaper; money that is hardly any is not shown as none (D-S6-09)."""
    published = PublishedPrices()
    usage = Usage(1_000_000, 0)
    assert published.usd("openai:gpt-4o", usage) == Decimal("2.5")
    assert published.usd(model_label("openai:gpt-4o", "http://me:pw@127.0.0.1:1/v1?key=x"), usage) is None
    assert published.usd("openai:nothing-of-the-kind", usage) is None
    assert published.usd("nobody:gpt-4o", usage) is None
    with pytest.raises(BudgetError, match="cannot be enforced"):
        spending("openai:nothing", project=Budget(usd=Decimal(9))).reserve(PLACE, 300)
    whole, cached = (published.usd("openai:gpt-4o", Usage(1000, 0, read)) for read in (0, 1000))
    assert whole is not None
    assert cached is not None
    assert 0 < cached < whole
    assert dollars(Decimal("0.00001")) == "under $0.0001"


def test_a_server_that_is_named_is_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its prices are its own, by --base-url as by the environment, for every provider; the label names who answered, not how
    to log in there (D-S6-09, D-S6-15)."""
    label = model_label("openai:x", "http://me:pw@127.0.0.1:1/v1?key=x")
    assert label == "openai:x at http://127.0.0.1:1/v1"
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        with monkeypatch.context() as environment:
            environment.setenv(variable, "http://127.0.0.1:1/v1")
            assert model_label("openai:gpt-4o", "") == "openai:gpt-4o at http://127.0.0.1:1/v1"
    sonnet = model_label("anthropic:claude-sonnet-4-5", "http://127.0.0.1:4000")
    assert PublishedPrices().usd(sonnet, Usage(1_000_000, 0)) is None


def test_without_a_budget_a_run_pauses_at_a_multiple_of_its_estimate() -> None:
    """What was spent before it began does not count; the next stage, and the next run, count anew (D-S6-08)."""
    book, stages = spending(), ["spec 0"]
    book.read([("research-1.1/researcher", answer(1_000_000, 0))])
    book.expect(lambda known: StageEstimate(stages[-1], ONE_CALL) if known != stages[-1] else None)
    for _ in range(TIMES_THE_MOST):
        book.reserve(PLACE, 300)
        book.settle(PLACE, answer(ONE_CALL, 0))
    stages.append("build 0")
    for _ in range(TIMES_THE_MOST):
        book.reserve(PLACE, 300)
        book.settle(PLACE, answer(ONE_CALL, 0))
    with pytest.raises(
        BudgetError, match=r"no budget is set, and it may exceed .* 3 times the most that"
    ) as caught:
        book.reserve(PLACE, 300)
    assert caught.value.exit_code == 3
    assert "`specwright run` goes on for as much again" in caught.value.remedy
    assert "--budget-tokens 0` no limit at all" in caught.value.remedy


def test_a_budget_below_the_estimate_is_said_with_one_that_reaches() -> None:
    """By what is left of it, in tokens and in money; one that reaches is not mentioned (D-S6-08, D-S9-14)."""
    estimate = Estimate(30_000, Decimal("0.30"))
    short = below_estimate(Budget(tokens=40_000), Cost(1, 1, 20_000, 0), estimate)
    assert "the budget of 40,000 tokens, of which 20,000 are left, is below the estimate of 30,000" in short
    assert "`specwright run --budget-tokens 83000`" in short
    assert "$0.20 is below the estimate of $0.30" in below_estimate(
        Budget(usd=Decimal("0.2")), Cost(), estimate
    )
    assert not below_estimate(Budget(tokens=50_000), Cost(1, 1, 20_000, 0), estimate)
    assert not below_estimate(Budget(), Cost(), estimate)


def test_the_budget_that_holds_is_said() -> None:
    """Also that none does, and what stops a run then (D-S6-08)."""
    assert in_words(Budgets(Budget(tokens=5_000), Budget(usd=Decimal(2))), None) == (
        "5,000 tokens and $2.00 for each task"
    )
    assert "pauses at 3,000 tokens, 3 times the most" in in_words(Budgets(), 1_000)
    assert "nothing stops a run" in in_words(Budgets(), None)
