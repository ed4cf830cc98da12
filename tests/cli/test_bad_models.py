"""Models and playbooks that do not answer: one message, and the run can go on (D-S9-04, D-S6-01)."""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import PLAYBOOK, SMALL, everything, specwright
from testkit.sampling import spread

Start = Callable[[tuple[int, bytes] | None], str]

OPENAI, ANTHROPIC = "openai:x", "anthropic:x"


def refusal(status: int, code: str, message: str) -> tuple[int, bytes]:
    """A refusal as OpenAI's and Anthropic's APIs write it."""
    return status, json.dumps(
        {"type": "error", "error": {"message": message, "type": code, "code": code}}
    ).encode()


ANSWERS = {
    "OpenAI, key": (OPENAI, refusal(401, "invalid_api_key", "Incorrect."), 4, ("refuses the key", "set OPENAI_API_KEY")),
    "Anthropic, key": (ANTHROPIC, refusal(401, "x", "invalid x-api-key"), 4, ("refuses the key", "set ANTHROPIC_API_KEY")),
    "OpenAI, model": (OPENAI, refusal(404, "x", "does not exist"), 4, ("does not know the model x", "--model")),
    "Anthropic, model": (ANTHROPIC, refusal(404, "x", "model: x"), 4, ("does not know the model x", "--model")),
    "a 404 page": (OPENAI, (404, b"404 page not found"), 4, ("or not this address", "ends in /v1")),
    "OpenAI, credit": (OPENAI, refusal(429, "insufficient_quota", "Check your plan."), 6, ("no credit left", "add credit")),
    "Anthropic, credit": (ANTHROPIC, refusal(400, "x", "credit balance too low"), 6, ("no credit left", "add credit")),
    "429": (OPENAI, refusal(429, "x", "slow down"), 5, ("rate limit",)),
    "500": (OPENAI, refusal(500, "x", "broken"), 5, ("500", "run again")),
    "an HTML page": (OPENAI, (200, b"<html>Welcome</html>"), 1, ("does not follow its protocol", "--base-url")),
    "JSON of another kind": (OPENAI, (200, b'{"hello": 1}'), 1, ("does not follow its protocol", "--base-url")),
    "nothing": (OPENAI, (200, b""), 1, ("protocol", "--base-url")),
}  # fmt: skip


@pytest.mark.parametrize("kind", spread(ANSWERS, fast=7, slow=2))
def test_an_endpoint_that_answers_wrongly_is_told_in_one_message(
    kind: str, endpoint: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-S9-04: a refused key or model, an empty account, an endpoint that is down and any other fault have codes of their
    own; `status` repeats why it stopped until a run goes on."""
    model, answer, code, words = ANSWERS[kind]
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "sk-secret-of-these-tests")
    told = specwright("run", project, "--model", model, "--base-url", endpoint(answer))
    told.refuses(*words, code=code)
    assert "sk-secret" not in told.err
    shown = specwright("status", project).out
    assert "specwright run" in shown
    assert words[0] in shown
    assert ("--model PROVIDER:MODEL" in shown) == (answer[0] == 404)


def test_what_a_provider_lacks_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: the variable of its key, or its package and how it is installed; exit 2, before anything is asked."""
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-secret-of-these-tests")
    for model, words in (
        (
            "mistralai:mistral-large",
            ("the provider mistralai needs a package", "pip install", "langchain-mistralai"),
        ),
        (OPENAI, ("OPENAI_API_KEY is not set",)),
        (ANTHROPIC, ("ANTHROPIC_API_KEY is not set",)),
    ):
        specwright("run", project, "--model", model).refuses(*words)


def test_an_endpoint_that_cannot_be_reached_is_named(project: Path) -> None:
    """D-S9-04, D-S6-01: exit 5, with the address."""
    told = specwright("run", project, "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1")
    told.refuses("nothing listens", "http://127.0.0.1:9/v1", "--base-url", code=5)


def test_an_endpoint_that_never_answers_is_given_up(
    endpoint: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-S6-01: timeouts are set; exit 5, and the setting that raises them."""
    monkeypatch.setenv("SPECWRIGHT_TIMEOUT_SECONDS", "0.3")
    told = specwright("run", project, "--model", "openai:x", "--base-url", endpoint(None))
    told.refuses("did not answer in time", "timeout_seconds", code=5)


def test_doctor_says_of_an_endpoint_what_a_run_would_meet(project: Path) -> None:
    """D-S9-12: exit 1 and what to do, with nothing written."""
    (project / "specwright.toml").write_text('model = "openai:x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    before = everything(project)
    told = specwright("doctor", project)
    assert told.code == 1
    assert "MISS model   openai:x: nothing listens at the model's endpoint" in told.out
    assert "`specwright doctor`" not in told.out
    assert everything(project) == before
    (project / "specwright.toml").unlink()
    assert "OPENAI_API_KEY" in specwright("doctor", project).out


def test_doctor_says_within_ten_seconds_that_a_model_is_slow(endpoint: Start, project: Path) -> None:
    """D-S9-12: one that is slow or being loaded is not wrong; how long a run waits is said, and not to raise that. A busy
    machine may need twice the time."""
    began = time.monotonic()
    told = specwright("doctor", project, "--model", "openai:x", "--base-url", endpoint(None), "--json")
    assert time.monotonic() - began < 20
    model = told.document["checks"][0]
    assert "openai:x: is slow: no complete answer came within 7 seconds" in model["detail"]
    assert "a run waits 600 seconds" in model["do"]
    assert "raise" not in model["do"]


def test_doctor_is_content_with_a_playbook(project: Path) -> None:
    """D-S9-12: everything that a run needs is there; exit 0."""
    (project / "specwright.toml").write_text(f'model = "{PLAYBOOK}"\n')
    told = specwright("doctor", project, "--json")
    assert told.code == 0
    assert [check["name"] for check in told.document["checks"]] == [
        "model",
        "sandbox",
        "index",
        "search",
        "disk",
    ]
    assert told.document["not_checked"]


@pytest.fixture
def playbook(tmp_path: Path) -> Path:
    """A playbook to break."""
    return Path(shutil.copytree(SMALL / "playbook", tmp_path / "playbook"))


def test_a_playbook_that_is_none_is_refused_before_anything_is_written(project: Path, playbook: Path) -> None:
    """D-S9-04, D-S6-02: missing, a file, an empty directory, broken JSON; exit 2."""
    before = everything(project)
    (playbook / "empty").mkdir()
    for place in (playbook / "gone", playbook / "playbook.json", playbook / "empty"):
        specwright("run", project, "--model", f"playbook:{place}").refuses("no playbook there", str(place))
    for text in ("{", "[]", '{"name": 1, "name": 2}', "\xff"):
        (playbook / "playbook.json").write_text(text)
        told = specwright("run", project, "--model", f"playbook:{playbook}")
        told.refuses("the playbook is broken", str(playbook / "playbook.json"))
    assert everything(project) == before


BROKEN = {
    "researcher/spec.json": ("{", "the playbook is broken"),
    "TSK-001/planner.json": (None, "no answer 1 for "),
    "TSK-001/contracts/round-1/challenger.json": ("[1]", "the playbook is broken"),
    "TSK-001/initials/round-1/proposer.json": (None, "no answer 1 for "),
    "TSK-001/initials/round-1/arbiter.json": ("{", "the playbook is broken"),
}


@pytest.mark.parametrize("name", spread(BROKEN, fast=len(BROKEN), slow=len(BROKEN)))
def test_a_playbook_with_a_bad_answer_stops_there_and_goes_on_once_it_is_corrected(
    name: str, project: Path, playbook: Path
) -> None:
    """D-S6-02, D-S9-02: the file that is missing or broken, exit 2 while nothing was done, 1 after that; corrected, the same
    run goes on from there."""
    text, words = BROKEN[name]
    sound = (playbook / name).read_text()
    (playbook / name).unlink()
    if text is not None:
        (playbook / name).write_text(text)
    told = specwright("run", project, "--model", f"playbook:{playbook}", "--approve")
    told.refuses(words, str(playbook / name), code=2 if name.startswith("researcher") else 1)
    (playbook / name).write_text(sound)
    if name.startswith("researcher"):
        assert specwright("run", project).code == 3
    else:
        assert specwright("run", project, "--approve").code == 0


def test_a_plan_without_its_plan_is_a_broken_playbook(project: Path, playbook: Path) -> None:
    """D-S6-02, D-S9-02: an answer of the wrong shape names its file too; exit 1, since the spec was approved before."""
    (playbook / "TSK-001/planner.json").write_text('{"searches": []}')
    told = specwright("run", project, "--model", f"playbook:{playbook}", "--approve")
    told.refuses("playbook", str(playbook / "TSK-001/planner.json"), code=1)
