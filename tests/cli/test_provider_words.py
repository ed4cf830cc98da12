"""What a provider refuses, in the user's terms: the account, the key's variable, the model, the package (D-S9-04)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from testkit.cli.commands import specwright

Start = Callable[[tuple[int, bytes] | None], str]


def openai(status: int, code: str, message: str) -> tuple[int, bytes]:
    """A refusal as OpenAI's API writes it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return status, json.dumps({"error": error}).encode()


def anthropic(status: int, kind: str, message: str) -> tuple[int, bytes]:
    """A refusal as Anthropic's API writes it."""
    return status, json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


REFUSALS = {
    "openai empty": (
        "openai:gpt-x",
        openai(429, "insufficient_quota", "You exceeded your current quota, please check your plan."),
        3,
        ("account behind the key has no credit", "add credit"),
    ),
    "anthropic empty": (
        "anthropic:claude-x",
        anthropic(400, "invalid_request_error", "Your credit balance is too low to access the API."),
        3,
        ("account behind the key has no credit", "add credit"),
    ),
    "openai key": (
        "openai:gpt-x",
        openai(401, "invalid_api_key", "Incorrect API key provided."),
        2,
        ("refuses the key", "set OPENAI_API_KEY to a key"),
    ),
    "anthropic key": (
        "anthropic:claude-x",
        anthropic(401, "authentication_error", "invalid x-api-key"),
        2,
        ("refuses the key", "set ANTHROPIC_API_KEY to a key"),
    ),
    "openai model": (
        "openai:gpt-x",
        openai(404, "model_not_found", "The model `gpt-x` does not exist."),
        2,
        ("does not know the model gpt-x", "--model"),
    ),
    "anthropic model": (
        "anthropic:claude-x",
        anthropic(404, "not_found_error", "model: claude-x"),
        2,
        ("does not know the model claude-x", "--model"),
    ),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_says_whose_and_what_to_set(
    kind: str, endpoint: Start, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 3 for an empty account, which waits for a person; 2 for a key or a name that never worked."""
    model, answer, code, words = REFUSALS[kind]
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "sk-secret-of-these-tests")
    told = specwright("run", project, "--model", model, "--base-url", endpoint(answer))
    told.refuses(*words, code=code)
    assert "sk-secret" not in told.err


def test_a_provider_without_its_package_names_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install; exit 2, before anything is asked."""
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-secret-of-these-tests")
    told = specwright("run", project, "--model", "mistralai:mistral-large")
    told.refuses("the provider mistralai needs a package", "pip install langchain-mistralai")


def test_a_key_that_is_not_set_is_named(project: Path) -> None:
    """The variable, for both providers that are installed."""
    specwright("run", project, "--model", "openai:gpt-x").refuses("OPENAI_API_KEY is not set")
    specwright("run", project, "--model", "anthropic:claude-x").refuses("ANTHROPIC_API_KEY is not set")
