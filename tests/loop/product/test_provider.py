"""The factory over an OpenAI-compatible endpoint: the same code path as with a provider's model (DESIGN §6).

The endpoint is a real server on loopback; it answers from the playbook, and badly when told to.
"""

import json
from pathlib import Path

import pytest

from specwright.ports import usage_of
from testkit.endpoint import Endpoint, Fault
from testkit.loop.processes import Uninterrupted
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.stores import records, store_files
from testkit.workshop import Finished, Workshop


def run(workshop: Workshop, endpoint: Endpoint, project: Path, *options: object) -> Finished:
    """A run of the nameplate over an endpoint."""
    where = ("--spec", NAMEPLATE_SPEC, "--model", "openai:test", "--base-url", endpoint.base_url)
    return workshop.command("run", project, *where, "--approve", "--json", *options)


def sealed(project: Path) -> dict[str, list[bytes]]:
    """What was sealed, by module name; ids, times and durations left out."""
    files = store_files(project)
    found: dict[str, list[bytes]] = {}
    for name, data in sorted(files.items()):
        if name.startswith("state_store/modules/") and name.endswith(
            (".py", "examples.md", "obligations.json")
        ):
            contract = json.loads(files["/".join(name.split("/")[:4]) + "/contract.json"])
            found.setdefault(contract["name"], []).append(data)
    return found


@pytest.mark.slow
def test_an_endpoint_and_a_playbook_make_the_same_modules(uninterrupted: Uninterrupted, released_once: Path):
    """The same graphs, agents, tools and schemas with either (D-S6-01, D-S6-02)."""
    assert sealed(released_once) == sealed(uninterrupted.project)
    assert list(sealed(released_once)) == ["initials"]


@pytest.mark.slow
def test_the_anthropic_wire_format_makes_the_same_modules(
    workshop: Workshop, endpoint: Endpoint, uninterrupted: Uninterrupted, tmp_path: Path
):
    """From SPEC.md to the wheel with the real gate; each invocation is named, each token counted, and tools and system
    prompt are marked for the provider's cache (D-S6-01, D-S6-05)."""
    where = ("--model", "anthropic:test", "--base-url", endpoint.base_url)
    finished = workshop.command("run", tmp_path, "--spec", NAMEPLATE_SPEC, *where, "--approve")
    assert finished.code == 0, finished.err
    assert sealed(tmp_path) == sealed(uninterrupted.project)
    asked = records(tmp_path, "model")
    assert [request.place.run_id for request in endpoint.log] == [record.place.scope for record in asked]
    used = [usage_of(record.answer)[:2] for record in asked]
    assert sum(i for i, _ in used) == endpoint.tokens["prompt_tokens"] > 10_000
    assert sum(o for _, o in used) == endpoint.tokens["completion_tokens"] > 1_000
    assert {request["max_tokens"] for request in endpoint.requests} == {32_000}
    assert all(request["system"][-1]["cache_control"]["type"] == "ephemeral" for request in endpoint.requests)
    assert {key.removeprefix("Bearer ") for key in endpoint.keys} == {"local"}


def test_the_journal_counts_the_tokens_that_the_endpoint_counted(uninterrupted: Uninterrupted):
    """Input and output (D-S4-09, D-S6-05)."""
    used = [usage_of(record.answer)[:2] for record in records(uninterrupted.project, "model")]
    counted = uninterrupted.endpoint.tokens
    assert sum(i for i, _ in used) == counted["prompt_tokens"] > 10_000
    assert sum(o for _, o in used) == counted["completion_tokens"] > 1_000


def test_each_request_names_its_invocation(uninterrupted: Uninterrupted):
    """A server of `--base-url` can match its logs with the journal, call by call (D-S4-09)."""
    journalled = [record.place.scope for record in records(uninterrupted.project, "model")]
    assert [request.place.run_id for request in uninterrupted.endpoint.log] == journalled


def test_what_the_endpoint_gets_is_what_a_provider_expects(uninterrupted: Uninterrupted):
    """Tools for every role, no streaming, a key even where none is asked."""
    requests = uninterrupted.endpoint.requests
    assert all("tools" in request for request in requests)
    assert not any(request.get("stream") for request in requests)
    assert uninterrupted.endpoint.keys == {"Bearer local"}


@pytest.mark.slow
def test_answers_of_weak_models_are_understood_or_asked_for_again(
    workshop: Workshop, endpoint: Endpoint, uninterrupted: Uninterrupted, tmp_path: Path
):
    """Prose, fences and reasoning are peeled off; broken answers are re-asked with the reason (D-S6-04, D-11-05)."""
    endpoint.misbehave(
        Fault("prose", "challenger", "contracts"),
        Fault("reasoning", "arbiter", "contracts"),
        Fault("empty", "arbiter", "initials", ordinal=0),
        Fault("surrogate", "arbiter", "initials", ordinal=1),
        Fault("fence", "arbiter", "initials", ordinal=2),
        Fault("empty", "challenger", "initials", times=2),
        Fault("same ids", "proposer", "initials", times=9),
    )
    finished = run(workshop, endpoint, tmp_path)
    assert finished.code == 0, finished.err
    assert sealed(tmp_path) == sealed(uninterrupted.project)
    assert len(endpoint.log) == len(uninterrupted.endpoint.log) + 4
    asked_again = [
        request["messages"][-1]["content"]
        for request, asked in zip(endpoint.requests, endpoint.log, strict=True)
        if asked.ordinal and asked.place.role == "arbiter"
    ]
    assert ["no JSON object" in text for text in asked_again] == [True, True]
    used = [usage_of(record.answer)[:2] for record in records(tmp_path, "model")]
    assert sum(i for i, _ in used) == endpoint.tokens["prompt_tokens"]
