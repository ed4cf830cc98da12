"""`specwright module --debate`: what was said for and against a module, by round (F§9, DESIGN §9)."""

import json
from pathlib import Path

import pytest

from ship_gate.terminal.page import Page
from specwright.application.history.provenance import DebateRounds, GateOutcome, Round
from specwright.cli.pages.escalation import add_debate
from specwright.domain.answers import AmendmentsAnswer
from specwright.domain.debate.records import Adjudication, Challenge, Proposal
from testkit.cli.commands import specwright
from testkit.loop.role_answers import PASSING

pytestmark = pytest.mark.slow  # a halt takes a whole debate

WIDTH = 100


def refs(project: Path) -> dict[str, str]:
    """The references of the modules that have a contract outside the artifacts, by name."""
    found = (project / "state_store").glob("*/MM-*/**/contract.json")
    contracts = [json.loads(path.read_text()) for path in found]
    return {one["name"]: f"{one['module_id']}@{one['module_version']}" for one in contracts}


def test_a_halted_module_tells_every_round(halted_once: Path) -> None:
    """Contracts first, then three rounds with claim, evidence and ruling, the last one named (D-S9-08, D-15-01)."""
    told = specwright("module", "shout", halted_once, "--debate")
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0].endswith("  halted")
    rounds = [line.strip() for line in lines if line.startswith("  Round")]
    assert rounds == ["Round 1: PASS, APPROVE", "Round 1: FAIL", "Round 2: FAIL", "Round 3: FAIL, REJECT"]
    assert [line.split("(")[0].strip() for line in lines if "(debate PROP-" in line] == [
        "Contracts",
        f"Implementation of {refs(halted_once)['shout']}",
    ]
    said = told.out.partition("Round 2")[2].partition("Round 3")[0]
    for words in ("claim", "shown by", "R6 unmet", "fault 1", "In round 2 the name of 2 words", "required"):
        assert words in said
    assert "because   Nothing of what was asked for was shown." in told.out


@pytest.mark.parametrize("wanted", ["initials", "id", "id@version"])
def test_a_shipped_module_is_found_by_name_id_and_version(wanted: str, halted_once: Path) -> None:
    """With and without its version, and by its name (D-S9-08)."""
    ref = refs(halted_once)["initials"]
    asked = {"initials": "initials", "id": ref.partition("@")[0], "id@version": ref}[wanted]
    told = specwright("module", asked, halted_once, "--debate")
    assert told.out.splitlines()[0] == f"initials  {ref}  sealed"
    assert "gate        PASS  IMPL-" in told.out


def test_the_page_fits_on_a_hundred_columns(halted_once: Path) -> None:
    """Nobody scrolls sideways (D-S9-08)."""
    for name in ("shout", "initials"):
        told = specwright("module", name, halted_once, "--debate")
        assert max(map(len, told.out.splitlines())) <= WIDTH


def test_a_program_gets_the_records_themselves(halted_once: Path) -> None:
    """One JSON document with every round's proposal, challenge, adjudication and gate (D-S9-03, D-S9-08)."""
    found = specwright("module", "shout", halted_once, "--debate", "--json").document
    assert found["standing"] == "halted"
    (contracts,), (implementation,) = found["contract_debates"], found["implementation_debates"]
    assert contracts["rounds"][0]["adjudication"]["decision"] == "APPROVE"
    assert [one["number"] for one in implementation["rounds"]] == [1, 2, 3]
    for one in implementation["rounds"]:
        for kind in ("proposal", "challenge", "adjudication"):
            bodies = (halted_once / "state_store/artifacts").glob(f"*/*/*/body/{kind}.json")
            assert one[kind] is None or one[kind] in [json.loads(path.read_text()) for path in bodies]


def test_a_module_that_was_never_planned_is_refused(halted_once: Path) -> None:
    """The message names what is planned (D-S9-04)."""
    for asked in ("MM-00000000", "MM-00000000@1.0.0", "nothing"):
        specwright("module", asked, halted_once, "--debate").refuses(asked, "initials, shout")
    specwright("module", "shout", halted_once, "--debate", "--trail").refuses("two pages")


def test_counterexamples_amendments_and_the_gate_stand_beside_what_they_are_about() -> None:
    """A falsifying test with its source and message, the ruling on it, each amendment and what became of it, the
    gate's findings (D-13-02, D-13-03, F-9.6-02)."""
    source = "from modules.shout import shout\n\n\ndef test_sharp_s():\n    assert shout('ß') == 'SS'\n"
    challenge = Challenge.model_validate(
        {
            "challenge_id": "CHAL-00000001",
            "target_artifact_id": "IMPL-00000001",
            "verdict": "FAIL",
            "rubric_assessments": PASSING["rubric_assessments"],
            "failures": [
                {
                    "invariant": "/outputs/0/invariants/0: the falsifying test test_sharp_s passes",
                    "evidence": f"test_sharp_s fails when it is run:\n{source}\nAssertionError: 'ß' != 'SS'",
                    "required_change": "Correct the module so that test_sharp_s passes.",
                    "fault": "contract",
                }
            ],
            "falsifying_tests": [
                {
                    "name": name,
                    "obligation": "/outputs/0/invariants/0",
                    "source": source,
                    "contract_sha256": "0" * 64,
                    "result": result,
                    "message": "",
                }
                for name, result in (("test_sharp_s", "FAIL"), ("test_dotless_i", "PASS"))
            ],
        }
    )
    ruling = Adjudication.model_validate(
        {
            "adjudication_id": "ADJ-00000001",
            "target_artifact_id": "IMPL-00000001",
            "decision": "APPROVE_WITH_AMENDMENTS",
            "ship_directive": "SHIP",
            "rationale": "What the test asks for is no letter's capital.",
            "amendments": [
                {"action": "ADD", "target": "test:test_umlaut", "detail": "Show that ü becomes Ü."}
            ],
            "struck_tests": [
                {
                    "test": "test_sharp_s",
                    "contract_pointer": "/outputs/0/invariants/0",
                    "reason": "one letter stays one letter",
                }
            ],
        }
    )
    applied = AmendmentsAnswer.model_validate(
        {
            "applied": [{"amendment_index": 0, "applied": False, "note": "There is such a test already."}],
            "claim": "shout is amended as the ruling says.",
            "acceptance_checks": ["ü becomes Ü."],
        }
    )
    proposal = Proposal(
        proposal_id="PROP-00000001",
        target_artifact_id="IMPL-00000001",
        claim="shout makes capitals.",
        deliverable_ref="IMPL-00000001@1.0.0",
        acceptance_checks=["Every letter is a capital."],
    )
    round_1 = Round(
        number=1,
        proposal=proposal,
        challenge=challenge,
        adjudication=ruling,
        amended=applied,
        gate=[GateOutcome(target="IMPL-00000001", failures=challenge.failures)],
    )
    debate = DebateRounds(debate_id="PROP-00000001", over="shout", rounds=[round_1])
    drawn = Page()
    add_debate(drawn, "Implementation", debate)
    page = drawn.render()
    for words in (
        "Round 1: FAIL, APPROVE_WITH_AMENDMENTS, refused by the gate",
        "held      test_dotless_i, against /outputs/0/invariants/0",
        "test_sharp_s passes (a fault of the",
        "    assert shout('ß') == 'SS'",
        "AssertionError: 'ß' != 'SS'",
        "struck    test_sharp_s, by /outputs/0/invariants/0: one letter stays one letter",
        "amend 0   ADD test:test_umlaut: Show that ü becomes Ü.",
        "NOT done  There is such a test already.",
        "gate        FAIL  IMPL-00000001",
    ):
        assert words in page, page
