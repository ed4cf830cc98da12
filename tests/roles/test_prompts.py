"""What each role is told, whole: the first request of every role in one small run, kept beside this test (F§9, D17).

A change of a prompt, a message or a tool shows here as a difference that a person reads. Ids, hashes and times are
numbered. `RENEW_PROMPTS=1 .venv/bin/pytest tests/roles/test_prompts.py` writes the files anew.
"""

import difflib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import BaseMessage
from pydantic import ValidationError

from ship_gate.contract.types import BOUNDARY_TYPES, type_problem
from specwright.bootstrap.project import Silent, open_project
from specwright.domain.answers import (
    AmendmentsAnswer,
    ContractChallenge,
    ContractRuling,
    ModuleChallenge,
    ModuleRuling,
    PlanAnswer,
    ProposerAnswer,
    UndisputedRuling,
)
from specwright.domain.spec.product_spec import ProductSpecDraft
from specwright.ports import Place
from specwright.roles.agent.agent import tool_schema
from specwright.roles.team import REQUESTS, prompt
from specwright.settings import Settings
from testkit.domain.product_specs import draft_data
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rewrite
from testkit.loop.role_answers import amended, approving, claimed, failing, plan, planned
from testkit.roles.overheard import RequestRecorder

KEPT = Path(__file__).parent / "rendered"
RENEW = "RENEW_PROMPTS"
MOST_CHARACTERS = 6000
"""Of a prompt: about 1,500 tokens, which a small model still follows."""

ROLES = ("researcher", "planner", "proposer", "amender", "challenger", "arbiter")
ON_REQUEST = {"untested_criteria"}
"""Fields that a request names where it asks for them."""
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
    """System message, message and tools, to the letter (F-9.4-03, F-19-03, D-17-01, D-54-04, D-10-03, D-42-07, F-3.4-02)."""
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


def test_a_prompt_names_every_field_of_the_answer():
    """A model that reads the prompt alone knows what to hand in, and where the boundary is (D-S6-04, F-19-03); long
    instructions are not followed."""
    faults: dict[str, object] = {}
    for kind, request in REQUESTS.items():
        told = prompt(*request.prompts)
        faults |= {
            f"{kind}: {name}": "" for name in {*kind.model_fields} - ON_REQUEST if f"`{name}" not in told
        }
        if "closed-source service" not in told and kind is not UndisputedRuling:
            faults[f"{kind}: boundary"] = told
        if len(told) > MOST_CHARACTERS or re.search(r"TODO|§|\bD\d+\b|\{\w+\}", told):
            faults[f"{kind}: text"] = told
    assert faults == {}


LAZY: dict[Any, Callable[[str], Any]] = {
    ProductSpecDraft: lambda text: draft_data() | {"title": text},
    PlanAnswer: lambda text: plan(planned("double", purpose=text)),
    ProposerAnswer: lambda text: claimed() | {"claim": text},
    AmendmentsAnswer: lambda text: claimed() | {"applied": [{**amended("")["applied"][0], "note": text}]},
    ContractChallenge: lambda text: {
        n: said for n, said in failing(text).items() if n != "untested_criteria"
    },
    ModuleChallenge: failing,
    **dict.fromkeys(
        (UndisputedRuling, ContractRuling, ModuleRuling), lambda text: approving() | {"rationale": text}
    ),
}
"""An answer to each schema, of which one text is left to say."""


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_an_answer_that_says_nothing_is_refused_by_its_schema(kind: Any):
    """With a text of its own it is taken (D-S6-10)."""
    kind.model_validate(LAZY[kind]("Nothing shows what becomes of three."))
    for text in ("TBD", " todo: ", "...", ""):
        with pytest.raises(ValidationError):
            kind.model_validate(LAZY[kind](text))


def test_those_who_choose_types_are_told_one_list_of_them():
    """The list of the code that refuses others, to the last; each is taken, by itself or with what it holds (D-S8.1-05,
    D-42-07)."""
    assert all(", ".join(BOUNDARY_TYPES) in prompt(role) for role in ("researcher", "planner-contracts"))
    held = {
        "tuple": "tuple[int, ...]",
        "dict": "dict[str, int]",
        "Literal": "Literal['a']",
        "None": "int | None",
    }
    types = {name: held.get(name, f"{name}[int]" if "set" in name else name) for name in BOUNDARY_TYPES}
    assert [name for name, written in types.items() if type_problem(written)] == []


def test_a_debate_over_contracts_shows_no_field_that_it_cannot_use():
    """Falsifying tests, struck tests and faults above the module are for an implementation, exact changes for contracts
    (D-10-01, D-11-09, D-13-01)."""
    for contracts, module in ((ContractChallenge, ModuleChallenge), (ContractRuling, ModuleRuling)):
        told = prompt(*REQUESTS[contracts].prompts)
        shown = [{*_fields(tool_schema(one))} for one in (contracts, module)]
        assert [name for name in shown[1] - shown[0] if f"`{name}`" in told] == []
        assert {"falsifying_tests", "struck_tests"} & (shown[1] - shown[0])
        assert {"exact_changes", "accepted_changes"} & (shown[0] - shown[1])


def test_a_ruling_on_what_nobody_disputes_has_its_own_short_prompt():
    """What only a dispute needs is neither named nor in the schema."""
    told = prompt(*REQUESTS[UndisputedRuling].prompts)
    disputed = {*ContractRuling.model_fields, *ModuleRuling.model_fields} - {*UndisputedRuling.model_fields}
    assert [name for name in disputed if f"`{name}`" in told] == []
    assert len(told) < len(prompt(*REQUESTS[ModuleRuling].prompts)) / 2


def _fields(schema: Any) -> Iterator[str]:
    """The names of the fields of a schema, on all levels."""
    if isinstance(schema, dict):
        members = cast(dict[str, Any], schema)
        yield from members.get("properties", {})
        for part in members.values():
            yield from _fields(part)
    elif isinstance(schema, list):
        for part in cast(list[Any], schema):
            yield from _fields(part)
