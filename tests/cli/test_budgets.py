"""Budgets as a person meets them: a pause with exit 3, a larger budget, and the run goes on (DESIGN §6)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.costs import pauses_by_estimate
from specwright.settings import load_settings
from testkit.cli.commands import SMALL, specwright
from testkit.endpoint import Endpoint, serving

PRICED = '[prices]\n"openai:test" = [1.0, 10.0]\n'


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that answers for the nameplate."""
    with serving(SMALL / "playbook") as served:
        yield served


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with the nameplate's SPEC.md and a price for its model."""
    (tmp_path / "SPEC.md").write_text((SMALL / "SPEC.md").read_text())
    (tmp_path / "specwright.toml").write_text(PRICED)
    return tmp_path


def total(directory: Path) -> dict[str, Any]:
    """What the project has asked for."""
    return json.loads(specwright("costs", directory, "--json").out)["total"]


@pytest.mark.timeout(400)
@pytest.mark.slow
def test_a_run_pauses_at_a_budget_and_goes_on_with_a_larger_one(directory: Path, endpoint: Endpoint) -> None:
    """Exit 3 before the call, nothing lost, nothing asked twice; what is spent stays below the budget (D-S6-08)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url, "--approve")
    paused = specwright("run", directory, *model, "--budget-tokens", 13_500)
    assert (paused.code, "may exceed `budget_tokens`, 13,500 tokens" in paused.err) == (3, True), paused
    spent = total(directory)
    assert 0 < spent["input_tokens"] + spent["output_tokens"] <= 13_500
    asked = sum(endpoint.asked.values())
    assert specwright("run", directory, "--json").document["exit_code"] == 3  # the budget is remembered
    assert sum(endpoint.asked.values()) == asked
    money = specwright("run", directory, "--budget-tokens", 0, "--task-budget-usd", 0.1)
    assert (money.code, "`task_budget_usd`, $0.10" in money.err) == (3, True), money
    assert sum(endpoint.asked.values()) > asked
    assert "still to come: about " in money.err
    assert specwright("run", directory, "--task-budget-usd", 9).code == 0
    assert set(endpoint.asked.values()) == {1}
    spent = total(directory)
    assert spent["input_tokens"] == endpoint.tokens["prompt_tokens"]
    assert spent["output_tokens"] == endpoint.tokens["completion_tokens"]
    price = (spent["input_tokens"] + 10 * spent["output_tokens"]) / 1_000_000
    assert spent["usd"] == pytest.approx(price, abs=1e-5)


def test_an_unknown_price_is_told_as_unknown(directory: Path, endpoint: Endpoint) -> None:
    """Never as nothing, for a program or a person; a budget in money is refused before anything is asked (D-S6-09)."""
    (directory / "specwright.toml").unlink()
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    refused = specwright("run", directory, *model, "--budget-usd", 5)
    refused.refuses("price of openai:test at http://127.0.0.1", "is unknown", "[prices]")
    assert not endpoint.asked
    gate = specwright("run", directory, *model)
    assert gate.code == 3
    assert "up to the approval: about 10,000 tokens (4,000 to 53,000), price unknown" in gate.err
    assert "price unknown, as recorded runs took" in gate.out
    assert total(directory)["usd"] is None
    assert "unknown" in specwright("costs", directory).out.splitlines()[-1]
    assert "price: unknown" in specwright("status", directory).out
    amended = specwright("amend", directory, "--feedback", "Say it in fewer words.")
    assert "up to the approval: about 10,000" not in amended.err  # the draft is in the request
    assert "up to the approval: about 1" in amended.err


def test_the_gate_says_what_the_approval_will_cost(directory: Path, endpoint: Endpoint) -> None:
    """In tokens and money with a range, before it asks; `status` says the same (D-S9-14)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url, "--json")
    estimate = specwright("run", directory, *model).document["estimate"]
    assert estimate == {
        "tokens": 32_000, "tokens_range": [16_000, 67_000], "usd": 0.0898, "usd_range": [0.0449, 0.1886],
    }  # fmt: skip
    looked = specwright("status", directory)
    assert "Costs:  about 32,000 tokens (16,000 to 67,000), $0.0898 ($0.0449 to $0.19)" in looked.out
    assert specwright("status", directory, "--json").document["estimate"] == estimate


def test_a_budget_that_is_edited_wins_over_the_last_run(directory: Path, endpoint: Endpoint) -> None:
    """As with models: whoever edits the file means it (D-S9-01)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    assert specwright("run", directory, *model, "--budget-tokens", 10).code == 3
    assert not endpoint.asked
    (directory / "specwright.toml").write_text("budget_tokens = 1_000_000\n" + PRICED)
    assert specwright("run", directory).code == 3
    assert endpoint.asked


@pytest.mark.parametrize("budget", ["--budget-tokens=-1", "--budget-usd=nan", "--budget-usd=-0.5"])
def test_a_budget_that_is_none_is_refused(directory: Path, budget: str) -> None:
    """D-S9-04: what, where."""
    told = specwright(
        "run", directory, "--model", "openai:test", "--base-url", "http://127.0.0.1:1/v1", budget
    )
    told.refuses("budget")


def test_status_says_what_stopped_a_run_and_what_goes_on(directory: Path, endpoint: Endpoint) -> None:
    """A budget: why, and the command with the directory; a run that goes on takes it away (D-S9-14)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    paused = specwright("run", directory, *model, "--budget-tokens", 10)
    assert paused.code == 3
    told = paused.err.split("`specwright run " if "`specwright run " in paused.err else " run ")[1]
    assert told.startswith(f"{directory} --budget-tokens "), paused.err
    page, document = specwright("status", directory).out, specwright("status", directory, "--json").document
    stop = document["stop"]
    assert (stop["kind"], stop["exit_code"], document["exit_code"]) == ("budget", 3, 3)
    assert "may exceed `budget_tokens`, 10 tokens" in stop["reason"]
    assert "The last run stopped: paused before the next call" in page
    assert f"run {directory} {stop['options']}" in page
    assert "sent back" not in page
    gate = specwright("run", directory, *stop["options"].split())
    assert gate.code == 3, gate
    assert "wait" in gate.out  # the amount that was told reached the gate
    assert specwright("status", directory, "--json").document["stop"] is None


def test_a_budget_below_the_estimate_is_said_before_the_approval(directory: Path, endpoint: Endpoint) -> None:
    """At the gate and in `status`, with the command that raises it; spec.md says what the build takes (D-S9-14)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    gate = specwright("run", directory, *model, "--budget-tokens", 30_000)
    assert gate.code == 3, gate
    assert "Budget: 30,000 tokens\n" in gate.err
    said = f"is below the estimate of 32,000: the run will pause on the way; `specwright run {directory} --budget-tokens"
    for told in (gate, specwright("status", directory)):
        assert said in " ".join(told.out.split()), told.out
    spec = (directory / "state_store/product/spec.md").read_text()
    assert "## Costs\n\nTo build it takes about 32,000 tokens (16,000 to 67,000), $0.0898" in spec
    raised = specwright("run", directory, "--budget-tokens", 200_000)
    assert "is below the estimate" not in raised.out


def test_a_run_says_that_no_budget_holds_and_how_to_have_none_at_all(
    directory: Path, endpoint: Endpoint
) -> None:
    """Unset, it pauses by the estimate; 0 is no limit, in the file as on the command line (D-S6-08)."""
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    assert "budget     none set; the run pauses at 159,000 tokens" in specwright("run", directory, *model).err
    refused = specwright("amend", directory, "--decision", 99, "--feedback", "half to even")
    assert (refused.code, "pauses at" in refused.err) == (2, False), refused
    assert "none set; the run pauses at 201,000 tokens" in specwright("approve", directory).err
    assert "nothing stops a run" in specwright("run", directory, "--budget-tokens", 0).err
    assert pauses_by_estimate(load_settings(directory))
    (directory / "specwright.toml").write_text("budget_tokens = 0\n" + PRICED)
    assert not pauses_by_estimate(load_settings(directory))


def test_a_run_without_a_budget_pauses_by_its_estimate(
    directory: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a call that may exceed it; the next run goes on for as much again (D-S6-08)."""
    monkeypatch.setattr("specwright.roles.models.spending.allowance", lambda most: 10)
    model = ("--model", "openai:test", "--base-url", endpoint.base_url)
    paused = specwright("run", directory, *model)
    assert paused.code == 3
    assert "no budget is set" in paused.err
    assert not endpoint.asked
    assert f"`specwright run {directory} --budget-tokens N`" in paused.err
    assert "no budget is set" in " ".join(specwright("status", directory).out.split())
    assert specwright("run", directory, "--budget-tokens", 0).code == 3
    assert endpoint.asked
