"""What each role is told, whole: the first request of every role in one small run, kept beside this test (F§9, D17).

A change of a prompt, a message or a tool shows here as a difference that a person reads. Ids, hashes and times are
numbered. `RENEW_PROMPTS=1 .venv/bin/pytest tests/roles/test_prompts.py` writes the files anew.
"""

import difflib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from ship_gate.base.record import Record
from ship_gate.contract.boundary.types import BOUNDARY_TYPES, type_problem
from specwright.bootstrap.project import Silent, open_project
from specwright.domain.answers.answers import (
    CONTRACTS_ONLY,
    DISPUTED_ONLY,
    IMPLEMENTATION_ONLY,
    OFFERED_ONLY,
    WITH_CRITERIA_ONLY,
    ArbiterAnswer,
    ChallengerAnswer,
)
from specwright.domain.debate.debate import CONTRACTS
from specwright.ports.roles import Assignment, Place, Role
from specwright.roles.agent.agent import tool_schema
from specwright.roles.team import UNDISPUTED, _unusable, prompt
from specwright.settings import Settings
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rewrite
from testkit.roles.damage import ANSWERS
from testkit.roles.overheard import RequestRecorder

KEPT = Path(__file__).parent / "rendered"
RENEW = "RENEW_PROMPTS"
MOST_CHARACTERS = 6000
"""Of a prompt: about 1,500 tokens, which a small model still follows."""

ASKED = Assignment(Place("TSK-001", 1, CONTRACTS, "round-1", Role.CHALLENGER), "", {})

ROLES = ("researcher", "planner", "proposer", "amender", "challenger", "arbiter")
DEBATES = {"challenger": ("contracts", "module"), "arbiter": ("contracts", "module")}
"""The debates that roles are told apart."""
_VARYING = re.compile(
    r"\b(?:MM|IMPL|PROP|CHAL|ADJ|MP|CTR|CP|RSR)-[0-9a-f]{8}\b|\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\dT[\d:.]+Z"
)


class Overhearing(RequestRecorder):
    """Keeps the first request of each role as a model gets it."""

    def __init__(self, project: Path) -> None:
        super().__init__(project, lambda place, project: None)
        self.first: dict[str, str] = {}

    def record(self, place: Place, messages: list[BaseMessage], tools: list[Any]) -> None:
        """Render a request."""
        role = (
            "amender" if place.stage.startswith("amended") and place.role == "proposer" else str(place.role)
        )
        if role not in self.first:
            self.first[role] = _rendered(messages, tools)


def _rendered(messages: list[BaseMessage], tools: list[Any]) -> str:
    names = ", ".join(tool["function"]["name"] for tool in tools) or "none"
    parts = [f"## {message.type}\n\n{message.text.strip()}\n" for message in messages]
    text = "\n".join([*parts, f"## tools\n\n{names}\n"])
    numbered: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        kind = found.group().partition("-")[0] if "-" in found.group()[:5] else "sha256"
        kind = "time" if found.group().endswith("Z") else kind
        return numbered.setdefault(found.group(), f"<{kind} {len(numbered) + 1}>")

    return _VARYING.sub(number, text)


def _amended(playbook: Path) -> None:
    """Let the Arbiter ask for one more test, and the Proposer add it."""
    module = playbook / "TSK-001/initials"
    detail = "Show that a name of one word gives its one letter."
    amendment = {"action": "ADD", "target": "test:test_a_name_of_one_word", "detail": detail}
    rewrite(module / "round-1/arbiter.json", decision="APPROVE_WITH_AMENDMENTS", amendments=[amendment])
    shutil.copytree(module / "round-1/deliverable", module / "amended/deliverable")
    tests = module / "amended/deliverable/tests"
    rewrite(tests / "obligations.json", test_a_name_of_one_word=[])
    source = tests / "test_initials.py"
    source.write_text(
        source.read_text() + '\n\ndef test_a_name_of_one_word():\n    assert initials("ada") == "A"\n'
    )
    said = json.loads((module / "round-1/proposer.json").read_text())
    applied = [{"amendment_index": 0, "applied": True, "note": "The test is added."}]
    (module / "amended/proposer.json").write_text(json.dumps({**said, "applied": applied}))


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The first request of each role, in a run of the nameplate."""
    base = tmp_path_factory.mktemp("prompts")
    playbook = base / "playbook"
    shutil.copytree(PLAYBOOK, playbook)
    _amended(playbook)
    (base / "project").mkdir()
    heard = Overhearing(base / "project")
    settings = Settings(model=f"playbook:{playbook}")
    with open_project(
        base / "project", settings, Silent(), NAMEPLATE_SPEC.read_text(), heard.composition
    ) as opened:
        opened.driver.advance()
        opened.driver.advance({"action": "APPROVE", "by": "human:operator"})
    return heard.first


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_told_what_was_read_and_agreed(role: str, rendered: Mapping[str, str]) -> None:
    """System message, message and tools, to the letter (F-9.4-03, F-19-03, D-17-01)."""
    path = KEPT / f"{role}.md"
    if os.environ.get(RENEW):
        path.parent.mkdir(exist_ok=True)
        path.write_text(rendered[role], encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    changes = difflib.unified_diff(
        kept.splitlines(), rendered[role].splitlines(), "kept", "now", lineterm="", n=1
    )
    assert rendered[role] == kept, (
        f"{path.name} differs; if it is meant: {RENEW}=1 .venv/bin/pytest tests/roles/test_prompts.py\n"
        + "\n".join(changes)
    )


@pytest.mark.parametrize("role", ROLES)
def test_a_prompt_names_every_field_of_the_answer(role: str) -> None:
    """A model that reads the prompt alone knows what to hand in (D-S6-04); a request that asks for tests of criteria
    names the fields that only it has."""
    told = "".join(prompt(role, debate) for debate in DEBATES.get(role, [""]))
    fields = {*ANSWERS[role].schema.model_fields} - WITH_CRITERIA_ONLY
    assert [name for name in fields if f"`{name}" not in told] == []


@pytest.mark.parametrize("role", ROLES)
def test_a_prompt_names_the_boundary(role: str) -> None:
    """Everything else is a closed-source service (F-19-03)."""
    assert "closed-source service" in prompt(role)


@pytest.mark.parametrize("role", ROLES)
def test_a_prompt_is_short(role: str) -> None:
    """Long instructions are not followed (D-S6-10)."""
    for debate in DEBATES.get(role, [""]):
        told = prompt(role, debate)
        assert len(told) <= MOST_CHARACTERS
        assert "TODO" not in told
        assert not re.search(r"§|\bD\d+\b|\{\w+\}", told)


@pytest.mark.parametrize("role", ["researcher", "planner"])
def test_those_who_choose_types_are_told_one_list_of_them(role: str) -> None:
    """The list of the code that refuses others, to the last (D-S8.1-05)."""
    assert ", ".join(BOUNDARY_TYPES) in prompt(role)


@pytest.mark.parametrize("name", BOUNDARY_TYPES)
def test_a_type_that_is_told_is_taken(name: str) -> None:
    """By itself, or with what it holds (D-S8.1-05)."""
    held = {
        "tuple": "tuple[int, ...]",
        "dict": "dict[str, int]",
        "Literal": "Literal['a']",
        "None": "int | None",
    }
    assert type_problem(held.get(name, f"{name}[int]" if "set" in name else name)) == ""


@pytest.mark.parametrize("answer", [ChallengerAnswer, ArbiterAnswer])
def test_a_debate_over_contracts_shows_no_field_that_it_cannot_use(answer: type[Record]):
    """Falsifying tests, struck tests and faults above the module are for an implementation (D-10-01, D-13-01)."""
    shown = {
        debate: {*_fields(tool_schema(answer, _unusable(debate, ASKED)))} for debate in DEBATES["challenger"]
    }

    assert IMPLEMENTATION_ONLY & shown["module"]
    assert not IMPLEMENTATION_ONLY & shown["contracts"]
    role = answer.__name__.removesuffix("Answer").lower()
    assert not [name for name in IMPLEMENTATION_ONLY if f"`{name}`" in prompt(role, "contracts")]


@pytest.mark.parametrize(("answer", "of_use", "asked"), [(ArbiterAnswer, OFFERED_ONLY, "has_offers")])
def test_a_round_shows_the_fields_that_it_can_use(answer: type[Record], of_use: frozenset[str], asked: str):
    """Numbers of exact changes where some are offered, and never in a debate over a module (D-11-09)."""
    given = ASKED._replace(**{asked: True})
    shown = {*_fields(tool_schema(answer, _unusable(CONTRACTS, given)))}
    assert of_use <= shown
    assert not of_use & {*_fields(tool_schema(answer, _unusable(CONTRACTS, ASKED)))}
    assert not CONTRACTS_ONLY & {*_fields(tool_schema(answer, _unusable("module", given)))}


def test_a_ruling_on_what_nobody_disputes_has_its_own_short_prompt():
    """It names the fields of its answer; what only a dispute needs is neither named nor in the schema (D-S6-10)."""
    told, shown = prompt(UNDISPUTED), {*_fields(tool_schema(ArbiterAnswer, DISPUTED_ONLY))}
    assert [name for name in shown if f"`{name}`" not in told] == []
    assert [name for name in DISPUTED_ONLY if f"`{name}`" in told] == []
    assert {*ArbiterAnswer.model_fields} - shown == DISPUTED_ONLY
    assert len(told) < len(prompt("arbiter", "module")) / 2


def _fields(schema: Any) -> Iterator[str]:
    """The names of the fields of a schema, on all levels."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _fields(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _fields(part)
