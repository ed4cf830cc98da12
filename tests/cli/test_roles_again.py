"""A role that gave no usable answer is asked anew, by another model or because a person says so (F§12.6, F§17.2)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.stores import records

pytestmark = pytest.mark.slow

SAID = "I would rather talk about it."


@pytest.fixture
def given_up(tmp_path: Path, endpoint: Callable[[tuple[int, bytes] | None], str]) -> Path:
    """A project whose planner only talked, so that its task halted."""
    choice = {"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    url = endpoint((200, json.dumps(answer).encode()))
    options = ("--model", PLAYBOOK, "--role-model", "planner=openai:m", "--base-url", url, "--approve")
    told = specwright("run", tmp_path / "project", "--spec", SMALL / "SPEC.md", *options)
    assert told.code == 3, told
    assert SAID in told.out
    return tmp_path / "project"


def planner_answers(project: Path) -> int:
    """How often the planner answered so far."""
    return sum("/planner" in record.place.scope for record in records(project, "model"))


def test_another_model_is_asked_anew_and_both_answers_stay(given_up: Path) -> None:
    """It does not answer for what the one before it said; the same model is not asked by a plain run (D-S6-04)."""
    before = planner_answers(given_up)
    assert specwright("run", given_up).code == 3
    assert planner_answers(given_up) == before
    told = specwright("run", given_up, "--role-model", f"planner={PLAYBOOK}")
    assert told.code == 0, told
    assert planner_answers(given_up) > before
    assert SAID in (given_up / ".specwright/journal.jsonl").read_text()
    assert specwright("verify", given_up).code == 0


def test_the_same_model_is_asked_anew_when_a_person_says_so(given_up: Path) -> None:
    """By the role's name; a role that did its work has nothing to be asked for (D-S6-04)."""
    before = planner_answers(given_up)
    specwright("run", given_up, "--retry", "arbiter").refuses("no task halted because the arbiter")
    assert planner_answers(given_up) == before
    assert specwright("run", given_up, "--retry", "planner").code == 3
    assert planner_answers(given_up) == 2 * before


def test_another_model_is_recommended_before_a_plan_of_the_person_s_own(given_up: Path) -> None:
    """F-17.2-01, D-S6-04: the page says what a retry does, and the two runs that make one."""
    other = f"specwright run {given_up} --role-model planner=PROVIDER:MODEL"
    assert f"type          {other}" in specwright("status", given_up).out
    (waits,) = specwright("escalations", given_up, "--json").document["escalations"]
    assert waits["command"] == other
    page = specwright("escalations", waits["escalation_id"], given_up).out
    recommended = page.partition("Recommended")[2].partition("Other answers")[0]
    assert "RETRY: no answer of the planner could be used" in " ".join(recommended.split())
    assert other in recommended
    assert f"or  specwright run {given_up} --retry planner" in recommended
    assert "REVISE_PLAN" not in recommended
