"""`specwright doctor`: what it looks at, and what it says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ship_gate.sandbox.kind import available_sandbox
from ship_gate.sandbox.process import SandboxKind
from testkit.cli.commands import PLAYBOOK, specwright
from testkit.loopback import Asked, Reply, answering


def test_what_a_run_needs_beside_a_model_is_looked_at(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-12: a provider's embedder and a search are named and not asked, since they may cost money; what is missing comes
    with what to do. A sandbox is the one that was asked for, whichever else works."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    available_sandbox()  # is remembered, and would be what follows
    faults = {SandboxKind.BUBBLEWRAP: "bubblewrap is not installed", SandboxKind.LANDLOCK: ""}
    monkeypatch.setattr("ship_gate.sandbox.kind.fault_of", faults.__getitem__)
    rows = (
        ("index", 'embedder = "wordllama"', True, "wordllama: local, no network; gave a vector of "),
        (
            "index",
            'embedder = "openai:text-embedding-3-small"',
            True,
            "text-embedding-3-small: configured, not tested",
        ),
        ("index", 'embedder = "nowhere:nothing"', False, "nowhere:nothing"),
        ("search", 'search = "tavily"', False, "TAVILY_API_KEY"),
        ("search", 'search = "ddgs"', True, "ddgs: configured, not tested"),
        ("sandbox", 'sandbox = "none"', False, "apt install bubblewrap"),
        ("sandbox", 'sandbox = "bubblewrap"', False, "bubblewrap is not installed"),
        ("sandbox", 'sandbox = "landlock"', True, "landlock, with seccomp and limits"),
    )
    wrong: list[tuple[str, Any]] = []
    for name, setting, ok, words in rows:
        (project / "specwright.toml").write_text(f'model = "{PLAYBOOK}"\n{setting}\n')
        told = specwright("doctor", project, "--json")
        (found,) = (check for check in told.document["checks"] if check["name"] == name)
        said = found["detail"] + found["do"]
        if (found["ok"], words in said, ok or found["do"] != "", told.code) != (ok, True, True, int(not ok)):
            wrong.append((setting, found))
    assert wrong == []


@contextmanager
def provider(*, calls_tools: bool = True) -> Iterator[str]:
    """A server in the OpenAI wire format that answers a tool with a call, or with prose."""

    def reply(request: Asked) -> Reply:
        asked = request.document
        message: dict[str, Any] = {"role": "assistant", "content": "ready"}
        if "tools" in asked and calls_tools:
            call = {"name": asked["tools"][0]["function"]["name"], "arguments": '{"word": "ready"}'}
            message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": call}]}
        return Reply(
            body={
                "id": "1", "object": "chat.completion", "created": 1, "model": "x",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
            }
        )  # fmt: skip

    with answering(reply) as address:
        yield f"{address}/v1"


def checks(project: Path, url: str, *more: str) -> dict[str, Any]:
    """The checks by name, with these settings."""
    settings = "\n".join(['model = "openai:gpt-4o"', f'base_url = "{url}"', *more])
    (project / "specwright.toml").write_text(settings + "\n")
    return {check["name"]: check for check in specwright("doctor", project, "--json").document["checks"]}


def test_everything_about_a_model_is_looked_at(project: Path) -> None:
    """Endpoint, tools, context, price; what is not known is said (D-S9-12, D-S6-09)."""
    with provider() as url:
        found = checks(project, url)
        assert list(found) == [
            "model",
            "tools",
            "context",
            "price",
            "sandbox",
            "index",
            "search",
            "disk",
        ]
        assert found["tools"]["detail"] == "openai:gpt-4o: calls tools"
        assert "is unknown" in found["context"]["detail"]
        assert found["price"]["detail"] == f"openai:gpt-4o at {url}: unknown"
        assert "[prices]" in found["price"]["do"]
        assert "MiB free" in found["disk"]["detail"]
        priced = checks(project, url, "[prices]", '"openai:gpt-4o" = [1.5, 6]')
        assert priced["price"]["detail"] == "openai:gpt-4o: $1.50 in, $6.00 out, for a million tokens"


def test_a_model_that_calls_no_tools_is_told(project: Path) -> None:
    """Every role answers by a tool (D-S9-12)."""
    with provider(calls_tools=False) as url:
        tools = checks(project, url)["tools"]
    assert (tools["ok"], "calls no tool" in tools["detail"]) == (False, True), tools


def test_what_was_not_looked_at_is_said(project: Path) -> None:
    """So that nobody takes it for checked (D-S9-12)."""
    (project / "specwright.toml").write_text(f'model = "{PLAYBOOK}"\nsearch = "ddgs"\n')
    said = " ".join(specwright("doctor", project).out.split())
    assert "not looked at: the account's limits" in said
    assert "whether the search service answers" in said
