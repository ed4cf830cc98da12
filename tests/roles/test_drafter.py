"""What a model drafts of an adopted function: what the sandbox bears out is kept, everything else is dropped and told."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.gate.adoption import adopt_source
from specwright.bootstrap.gate.drafting import Drafting
from specwright.bootstrap.gate.ship_gate import gate_of
from specwright.bootstrap.verify import judge_directory
from specwright.domain.adoption.drafted_answer import DraftAnswer
from specwright.domain.adoption.report import AdoptedFunction, AdoptionStatus, Evidence, Origin
from specwright.ports.roles import Place
from specwright.roles.models.playbook import PlaybookChatModel
from specwright.roles.team import prompt
from specwright.settings import Settings

KEPT = Path(__file__).parent / "rendered/drafter.md"
SOURCE = '''
def shares(cents, parts: int) -> list[int]:
    """Split an amount into parts that differ by one at most."""
    if not 1 <= parts <= 100:
        raise ValueError(parts)
    base, rest = divmod(cents, parts)
    return [base + 1] * rest + [base] * (parts - rest)
'''
LIMITS = """@pytest.mark.parametrize('parts', [0, -1, 101])
def test_too_few_or_many(parts):
    with pytest.raises(ValueError):
        shares(1, parts)"""
GOOD: dict[str, Any] = {
    "types": [{"parameter": "cents", "type": "int"}],
    "constraints": [{"parameter": "parts", "text": "from 1 to 100"}],
    "invariants": ["the parts add up to cents"],
    "examples": [
        {"sentence": "The first part is the largest.", "call": "shares(10, 3)"},
        {"sentence": "There is no part.", "call": "shares(1, 0)"},
    ],
    "tests": [
        {"code": LIMITS, "shows": ["/error_surfaces/0", "from 1 to 100"]},
        {
            "code": "def test_limits():\n    assert shares(7, 1) == [7]\n    assert len(shares(7, 100)) == 100",
            "shows": ["from 1 to 100"],
        },
        {
            "code": "def test_whole():\n    assert shares(11, 4) == [3, 3, 3, 2]\n    assert shares(8, 4) == [2, 2, 2, 2]",
            "shows": ["", "the parts add up to cents"],
        },
    ],
}
BAD: dict[str, Any] = {
    "types": [{"parameter": "parts", "type": "str"}, {"parameter": "cents", "type": "str"}],
    "constraints": [
        {"parameter": "parts", "text": "at most 1000"},
        {"parameter": "other", "text": "more than 3"},
    ],
    "errors": [{"name": "KeyError", "when": "There is no such part."}],
    "examples": [{"sentence": "It prints.", "call": "print(1)"}],
    "tests": [
        {"code": "def test_wrong():\n    assert shares(10, 3) == [1]", "shows": [""]},
        {"code": "def test_nothing():\n    shares(10, 3)\n    assert True", "shows": ["at most 1000"]},
        {"code": "import os", "shows": []},
    ],
}


class Scripted:
    """A model of one's own answers."""

    scripted = True

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = answers
        self.places: list[Place] = []

    def model(self, place: Place) -> PlaybookChatModel:
        """Answers one after the other."""
        self.places.append(place)
        turns: Sequence[Any] = [[("", answer)] for answer in self.answers]
        return Overheard(turns=[*turns], place=place, next_source="none")

    def can_share(self, place: Place) -> bool:
        """Never."""
        return False


class Overheard(PlaybookChatModel):
    """Keeps what it was told."""

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        HEARD.append("\n".join(f"## {one.type}\n\n{one.text.strip()}\n" for one in messages))
        return super()._generate(messages, stop, run_manager, **kwargs)


HEARD: list[str] = []


def drafted(folder: Path, *answers: dict[str, Any], budget: int = 0) -> tuple[AdoptedFunction, Drafting]:
    """What came of the function with answers of a model."""
    (folder / "money.py").write_text(SOURCE)
    drafter = Drafting(Scripted(*answers), gate_of(Settings()), budget=budget)
    report = adopt_source(f"{folder}/money.py", folder / "out", complete=drafter.drafted)
    return report.functions[0], drafter


@pytest.mark.slow
def test_what_holds_is_written_and_marked_and_the_gate_passes(tmp_path: Path) -> None:
    """A type, a limit, an invariant, an example and tests, of one request (D-50-06)."""
    HEARD.clear()
    function, drafter = drafted(tmp_path, GOOD)
    if os.environ.get("RENEW_PROMPTS"):
        KEPT.write_text(HEARD[0], encoding="utf-8")
    assert [KEPT.read_text(encoding="utf-8")] == HEARD, "RENEW_PROMPTS=1 writes it anew"
    assert function.status is AdoptionStatus.COMPLETE, function.gaps
    assert function.remarks == ()
    assert [one.text for one in function.statements if one.origin is Origin.DRAFTED] == [
        "parts: from 1 to 100", "result: the parts add up to cents", "cents: int",
    ]  # fmt: skip
    assert {one.evidence for one in function.statements if one.pointer} == {Evidence.RUN}
    assert drafter.taken.requests == 1
    folder = tmp_path / "out/shares"
    contract = json.loads((folder / "contract.json").read_text())
    assert contract["inputs"][1]["constraints"] == ["from 1 to 100"]
    assert (folder / "tests/test_drafted.py").read_text().startswith('"""Drafted by a model.')
    assert "There is no part. Drafted by a model." in (folder / "examples.md").read_text()
    assert '"drafted"' in (folder / "adoption.json").read_text()
    assert judge_directory(folder).findings == ()


@pytest.mark.slow
def test_what_does_not_hold_is_dropped_and_told_after_one_correction(tmp_path: Path) -> None:
    """A wrong type, a test that fails or shows nothing, a statement without a test, an error that never came (D-50-06)."""
    function, drafter = drafted(tmp_path, BAD, BAD)
    dropped = [one.removeprefix("drafted and dropped: ") for one in function.remarks]
    assert drafter.taken.requests == 2
    assert function.status is AdoptionStatus.INCOMPLETE
    assert not [one for one in function.statements if one.origin is Origin.DRAFTED]
    for begin in (
        "parts: str: its type is stated already", "cents: str: ", "other: more than 3: there is no such parameter",
        "test_wrong: it fails", "test_nothing: ", "import os: it is not one function",
        "KeyError: There is no such part.: no test", "parts: at most 1000: no test", "print(1): it is no call",
    ):  # fmt: skip
        assert [one for one in dropped if one.startswith(begin)], (begin, dropped)
    assert not (tmp_path / "out/shares/tests/test_drafted.py").exists()
    contract = json.loads((tmp_path / "out/shares/contract.json").read_text())
    assert contract["inputs"][1]["constraints"] == []


@pytest.mark.slow
def test_a_correction_counts_alone_and_a_budget_stops_before_the_request(tmp_path: Path) -> None:
    """The second answer is what is kept; nothing is asked that may not be paid (D-50-06)."""
    function, drafter = drafted(tmp_path, BAD, GOOD)
    assert (function.status, drafter.taken.requests) == (AdoptionStatus.COMPLETE, 2)
    other = tmp_path / "other"
    other.mkdir()
    poor, asked = drafted(other, GOOD, budget=100)
    assert asked.taken.requests == 0
    assert [one for one in poor.remarks if one.startswith("nothing was drafted: the budget of 100 tokens")]
    assert (other / "out/shares/contract.json").is_file()


def test_the_prompt_names_every_field_of_the_answer() -> None:
    """And stays short (D-S6-04)."""
    told = prompt("drafter")
    assert [
        name for name in DraftAnswer.model_fields if name != "imports" and f"- `{name}`" not in told
    ] == []
    assert "`imports`" in told
    assert len(told) < 6000
