"""Messages, parts and agent cards of Agent Wire as A2A 1.0 has them, by the types of a published implementation (D37)."""

from typing import Any

import pytest

from specwright.wire import data
from specwright.wire.a2a_documents import a2a_agent_card, a2a_message, a2a_part
from wire.a2a_types import strictly
from wire.story import fixture


@pytest.mark.parametrize("role", ["human", "agent", "system"])
def test_a_message_parses_strictly(role: str):
    """Messages and parts map to A2A (W-7-01, W-2-09)."""
    parts = [fixture(f"part.valid-{kind}.json") for kind in ("text", "data", "artifact-ref", "file-ref")]
    message = a2a_message(
        fixture("message.valid.json") | {"role": role, "parts": parts, "context_id": "project:notes"}
    )

    strictly("Message", message)
    assert message["role"] == ("ROLE_USER" if role == "human" else "ROLE_AGENT")
    assert message["metadata"]["priority"] == "2"  # pyright: ignore
    assert [a2a_part(part) for part in parts] == message["parts"]


def test_an_agent_card_parses_strictly():
    """Identity, skills, modes, constraints and auth map to A2A (W-7-03, W-2-09)."""
    card = a2a_agent_card(fixture("agent-card.valid.json"), url="https://example.org/a2a")
    parsed = strictly("AgentCard", card)

    assert parsed["capabilities"]["extensions"][0]["params"]["max_parallel_tasks"] == "2"
    assert parsed["securityRequirements"][0]["schemes"].keys() == {"bearer"}
    assert parsed["skills"][0]["tags"] == ["review"]


def test_a_card_with_everything_parses_strictly_and_no_scheme_is_dropped():
    """What guards an agent is said to A2A too (W-7-03)."""
    full = fixture("agent-card.valid-full.json")
    parsed = strictly("AgentCard", a2a_agent_card(full, url="https://example.org/a2a"))

    assert parsed["securitySchemes"].keys() == set(full["auth"]["schemes"])
    assert parsed["provider"]["organization"] == "Example"
    assert parsed["skills"][1]["inputModes"] == ["text/plain"]
    assert parsed["skills"][1]["tags"] == ["triage"]


def test_every_scheme_that_a_card_may_name_has_a_form_in_a2a():
    """The schema lists no scheme that the mapping would leave out (W-7-03)."""
    card = fixture("agent-card.valid.json")
    schema: Any = data.schemas()["agent-card.schema.json"]
    for scheme in schema["properties"]["auth"]["properties"]["schemes"]["items"]["enum"]:
        shown = a2a_agent_card(card | {"auth": {"schemes": [scheme]}}, url="https://example.org/a2a")
        assert ("securitySchemes" in shown) == (scheme != "none")
