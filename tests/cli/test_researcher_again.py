"""A researcher that gave up is asked again in the same directory (F§3.2.1, F§12.6)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, specwright
from testkit.stores import records

REFUSAL = "I am sorry, I cannot do that."
ATTEMPTS = 3


@pytest.fixture
def given_up(tmp_path: Path, endpoint: Callable[[tuple[int, bytes] | None], str]) -> Path:
    """A project whose researcher only talks."""
    choice = {"index": 0, "message": {"role": "assistant", "content": REFUSAL}, "finish_reason": "stop"}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    url = endpoint((200, json.dumps(answer).encode()))
    project = tmp_path / "project"
    options = ("--spec", SMALL / "SPEC.md", "--model", "openai:m", "--base-url", url)
    specwright("run", project, *options).refuses(
        "refused    researcher: the answer holds no JSON object",
        *("no acceptable answer", REFUSAL, "--retry researcher"),
        code=1,
    )
    return project


def test_the_same_model_is_asked_again_only_if_a_person_says_so(given_up: Path) -> None:
    """A plain `run` answers from the journal; with --retry both tries stay on record (D-S6-04)."""
    again = specwright("run", given_up, "--json")
    assert (again.code, again.document["error"]["answer"]) == (1, REFUSAL)
    assert len(records(given_up, "model")) == ATTEMPTS
    assert specwright("status", given_up, "--json").document["where"] == "new"
    assert specwright("run", given_up, "--retry", "researcher").code == 1
    assert len(records(given_up, "model")) == 2 * ATTEMPTS
    assert specwright("run", given_up).code == 1
    assert len(records(given_up, "model")) == 2 * ATTEMPTS


def test_another_model_is_asked_anew(given_up: Path) -> None:
    """It does not answer for what the one before it said (D-S6-04)."""
    assert specwright("run", given_up, "--model", PLAYBOOK).code == 3
    assert REFUSAL in (given_up / ".specwright/journal.jsonl").read_text()


def test_an_edited_text_is_researched_anew(given_up: Path) -> None:
    """No new directory is needed (D-S9-04)."""
    file = given_up / "SPEC.md"
    file.write_text(file.read_text() + "\nNames may hold digits.\n")
    assert specwright("run", given_up).code == 1
    assert len(records(given_up, "model")) == 2 * ATTEMPTS
    assert specwright("run", given_up, "--model", PLAYBOOK).code == 3
    assert "Names may hold digits" in (given_up / "state_store/product/SPEC.md").read_text()


def test_who_has_done_its_work_is_not_asked_again(released: Path) -> None:
    """Nor is a role whose task would halt; each message says what to type (D-S9-04)."""
    specwright("run", released, "--retry", "researcher").refuses("approved", "RETRY")
    specwright("run", released, "--retry", "planner").refuses("no task halted because the planner", "RETRY")
    specwright("run", released, "--retry", "nobody").refuses("there is no role 'nobody'", "researcher")


def test_status_says_that_it_gave_up_and_what_asks_it_again(given_up: Path) -> None:
    """Nothing was sent back by that, nor by asking it again (D-S9-14)."""
    page, document = specwright("status", given_up).out, specwright("status", given_up, "--json").document
    assert (document["stop"]["kind"], document["exit_code"]) == ("gave_up", 1)
    assert "The last run stopped: " in page
    assert f"run {given_up} --retry researcher" in page
    paused = specwright("run", given_up, "--retry", "researcher", "--budget-tokens", 10)
    assert paused.code == 3, paused
    page = specwright("status", given_up).out
    assert "sent back" not in page
    assert "--budget-tokens" in page
