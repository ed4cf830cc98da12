"""Fallback models: who answers when the model of a role fails for good (design: models)."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testkit.cli.commands import SMALL, Told, specwright
from testkit.endpoint import Endpoint, Fault, serving
from testkit.sampling import spread

PRICED = '[prices]\n"openai:first" = [1.0, 1.0]\n"openai:second" = [100.0, 100.0]\n'


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint that answers for the nameplate, whichever model is asked."""
    with serving(SMALL / "playbook") as served:
        yield served


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with the nameplate's SPEC.md, and prices that tell the models apart."""
    (tmp_path / "SPEC.md").write_text((SMALL / "SPEC.md").read_text())
    (tmp_path / "specwright.toml").write_text(PRICED)
    return tmp_path


def run(directory: Path, endpoint: Endpoint, *options: object) -> Told:
    """A run with a model and one that stands in for it."""
    models = ("--model", "openai:first", "--fallback-model", "openai:second")
    return specwright("run", directory, *models, "--base-url", endpoint.base_url, *options)


def bought(directory: Path) -> list[dict[str, Any]]:
    """The journalled answers of models."""
    lines = (directory / ".specwright/journal.jsonl").read_text().splitlines()
    return [record["answer"] for record in map(json.loads, lines) if record["kind"] == "model"]


def models_asked(endpoint: Endpoint) -> Counter[str]:
    """How often each model was asked."""
    return Counter(asked.model for asked in endpoint.log)


def test_a_fallback_goes_on_in_the_middle_of_a_conversation(directory: Path, endpoint: Endpoint) -> None:
    """What the first model answered is not asked again; each answer has its model and its price (D-S6-01, D-S6-11)."""
    endpoint.misbehave(
        Fault("empty", "researcher", ordinal=0), Fault("402", "researcher", ordinal=1, model="first")
    )
    told = run(directory, endpoint)
    assert told.code == 3, told
    label = f"openai:second at {endpoint.base_url}"
    assert f"{label} answers for the researcher from now on: the account behind the key" in told.err
    answers = bought(directory)
    assert [answer["model"].split()[0] for answer in answers] == ["openai:first", "openai:second"]
    tokens = [answer["message"]["data"]["usage_metadata"]["total_tokens"] for answer in answers]
    assert [float(answer["usd"]) for answer in answers] == [tokens[0] / 1e6, tokens[1] / 1e4]
    assert set(endpoint.answered.values()) == {1}
    assert models_asked(endpoint) == {"first": 2, "second": 1}


@pytest.mark.parametrize("fault", spread(["503", "401", "404", "malformed", "400"], fast=5))
def test_a_fallback_answers_after_any_fault_of_the_endpoint(
    directory: Path, endpoint: Endpoint, fault: str
) -> None:
    """Retries that are used up, a key or a model that is refused, answers that follow no protocol (D-S6-11)."""
    endpoint.misbehave(Fault(fault, model="first", times=9))
    assert run(directory, endpoint).code == 3
    assert models_asked(endpoint) == {"first": 1, "second": 1}


def test_without_a_model_that_answers_the_last_fault_is_told_and_a_later_run_goes_on(
    directory: Path, endpoint: Endpoint
) -> None:
    """The next run begins with the first model again, and asks for nothing that was answered (D-S4-03)."""
    endpoint.misbehave(Fault("empty", "researcher", ordinal=0), Fault("500", ordinal=1, times=2))
    run(directory, endpoint).refuses("the model call failed", code=1)
    endpoint.misbehave()
    assert specwright("run", directory).code == 3
    assert [answer["model"].split()[0] for answer in bought(directory)] == ["openai:first"] * 2
    assert set(endpoint.answered.values()) == {1}
    assert models_asked(endpoint) == {"first": 3, "second": 1}


def test_a_budget_is_no_reason_for_a_fallback(directory: Path, endpoint: Endpoint) -> None:
    """Another model would spend the same money (D-S6-08)."""
    told = run(directory, endpoint, "--budget-tokens", 10)
    assert told.code == 3
    assert "budget_tokens" in told.err
    assert not endpoint.log


def test_an_answer_that_is_none_is_no_reason_for_a_fallback(directory: Path, endpoint: Endpoint) -> None:
    """It came and was paid; the role is told what was wrong, and gives up after some (D-S6-13)."""
    endpoint.misbehave(Fault("empty", "researcher", times=9))
    assert run(directory, endpoint).code == 1
    assert set(models_asked(endpoint)) == {"first"}


def test_a_budget_in_money_needs_the_price_of_each_fallback(directory: Path, endpoint: Endpoint) -> None:
    """Before anything is asked (D-S6-09)."""
    (directory / "specwright.toml").write_text('[prices]\n"openai:first" = [1.0, 1.0]\n')
    run(directory, endpoint, "--budget-usd", 5).refuses("price of openai:second", "is unknown")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("judge=openai:x", "there is no role 'judge'"),
        ("arbiter=x", "provider:model"),
        ("playbook:somewhere", "is scripted"),
        ("anthropic:x", "ANTHROPIC_API_KEY"),
    ],
)
def test_a_fallback_that_cannot_be_asked_is_refused_before_the_run(
    directory: Path, endpoint: Endpoint, name: str, words: str
) -> None:
    """One of another provider is asked at that provider, not at --base-url (D-S9-04)."""
    model = ("--model", "openai:first", "--base-url", endpoint.base_url)
    specwright("run", directory, *model, "--fallback-model", name).refuses(words)
    assert not (directory / ".specwright").exists()


def test_limits_of_a_provider_are_settings(directory: Path, endpoint: Endpoint) -> None:
    """A run keeps to them; a wrong one is named with its place (D-S6-11, D-S9-04)."""
    (directory / "specwright.toml").write_text("[limits.openai]\nrequests_per_minute = 60\n")
    assert run(directory, endpoint).code == 3
    (directory / "specwright.toml").write_text("[limits.openai]\nrequests = 60\n")
    run(directory, endpoint).refuses("limits.openai.requests", "specwright.toml")


def test_a_key_that_is_refused_waits_for_the_person_once_answers_were_paid_for(
    directory: Path, endpoint: Endpoint
) -> None:
    """At the very first call it is bad input (2); after that it is as a gate (3), and says how to go on (D-S9-02)."""
    model = ("--model", "openai:first", "--base-url", endpoint.base_url)
    endpoint.misbehave(Fault("401", "researcher"))
    specwright("run", directory, *model).refuses("refuses the key", "set OPENAI_API_KEY", code=2)
    assert specwright("run", directory).code == 3
    endpoint.misbehave(Fault("403", "planner"))
    specwright("approve", directory).refuses(
        "refuses the key",
        "set OPENAI_API_KEY to a key that it takes; then run again: nothing is lost",
        code=3,
    )
    assert set(endpoint.answered.values()) == {1}
