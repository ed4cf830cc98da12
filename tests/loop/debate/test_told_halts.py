"""What an escalation tells when several things went wrong, and which answers it offers (F§17.1, F§3.4, D10, D22)."""

from pathlib import Path
from typing import Any

from specwright.application.escalation.offers import suited_actions
from specwright.application.history.provenance import debates_of, planned_modules
from specwright.domain.escalation import Action
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.late_faults import confirming, faulty
from testkit.loop.resolving import override
from testkit.loop.role_answers import (
    Turn,
    amended,
    amending,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
)
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE

FIVE = plan(
    planned("first"),
    planned("second", "first"),
    planned("double"),
    planned("fourth", "double"),
    planned("fifth"),
    task_facing="double",
)
NO_DRAFT = [Turn(claimed(), draft("first", AT_PREFLIGHT))]
UNSETTLED = "Zero is nowhere, so that nobody can test it."
FAULT: dict[str, list[Any]] = {
    "double/round-1/challenger": [faulty("contract", "Nothing says what comes out for 0.")],
    "double/round-1/arbiter": [confirming("contract")],
}


def test_contracts_that_a_reopened_debate_leaves_open_halt_with_every_group(directory: Path):
    """F-3.4-05, F-17.1-04, D-10-05, D-11-05, D-20-02: the module that found the fault, the one that failed before it, their
    drafts, raw answers and both rulings."""
    answers = {
        **FAULT,
        "first/round-1/proposer": NO_DRAFT,
        "contracts/round-2/challenger": [failing("It is still open.")],
        "contracts/round-3/challenger": [failing("It is still open.")],
        "contracts/round-4/challenger": [failing("It is still open.")],
        "contracts/round-4/arbiter": [rejecting(UNSETTLED)],
    }
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        told, details = bench.escalation, bench.escalation.details
        assert (details["cause"], details["module"]) == ("contracts", "double")
        assert details["failed"].keys() == {"first", "double"}
        assert details["abandoned"] == ["second", "fourth", "fifth"]
        assert details["shipped"] == {}
        assert len(details["raw_answers"]) == 4
        assert "contract of double" in told.minimal_decision_required
        assert told.recommended_resolution is Action.REVISE_PLAN
        for words in (
            "abandoned: second, fourth, fifth",
            f"on contracts: {UNSETTLED}",
            "on double: The contract",
        ):
            assert words in told.resolution_context
        shown = [f.invariant for f in told.failed_invariants]
        assert shown[1:4] == ["first ships", "tests.failed at test_it_is_the_number_twice", "double ships"]
        (aside,) = bench.base.glob("drafts/*/*/IMPL-*/escalation.json")
        assert "the contract is at fault" in bench.read(aside)["reason"]


def test_a_contract_that_stays_at_fault_is_no_matter_of_files(directory: Path):
    """F-17.1-04, D-10-05: found a second time, what helps is another plan."""
    again = {place.replace("round-1", "round-2"): said for place, said in FAULT.items()}
    with DebateWorkbench(directory, script({**FAULT, **again}, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        told = bench.escalation
        assert told.details["cause"] == "modules"
        assert told.recommended_resolution is Action.REVISE_PLAN
        assert "no implementation of the contract of double can be right" in told.resolution_context


def halted_by(directory: Path, challenge: dict[str, Any]) -> tuple[Action, dict[str, Any]]:
    """What is recommended after three rounds of one verdict on a module, and the details."""
    answers: dict[str, list[Any]] = {f"first/round-{n}/challenger": [challenge] for n in (1, 2, 3)}
    answers["first/round-3/arbiter"] = [rejecting("Whether zero counts is for the person to say.")]
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        return bench.escalation.recommended_resolution, bench.escalation.details


def test_what_the_gate_passes_is_not_to_be_corrected(directory: Path):
    """F-17.1-04, D-S9-01: where nothing but the judges' words stands against the last draft, its files are not at fault."""
    recommended, details = halted_by(directory, failing("I miss zero."))
    assert recommended is Action.APPROVE_OVERRIDE
    assert details["passing"] == ["first"]
    assert details["last_words"] == {"first": "Whether zero counts is for the person to say."}


def test_the_last_word_of_the_arbiter_is_no_person_s(directory: Path):
    """F-17.1-04, D-22-01: an approval that the gate refuses is not told as the Arbiter's rationale."""
    weak = Turn(claimed(), draft("double", AT_THE_GATE))
    answers = {
        **{f"double/round-{n}/proposer": [weak] for n in (1, 2, 3)},
        **{f"double/round-{n}/arbiter": [rejecting(f"Round {n} shows nothing.")] for n in (1, 2, 3)},
    }
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        bench.begin()
        assert Action.APPROVE_OVERRIDE in suited_actions(bench.factory, bench.escalation)
        assert override(bench) == "HALTED"
        assert Action.APPROVE_OVERRIDE not in suited_actions(bench.factory, bench.escalation)
        assert (
            "the Arbiter's last word on double: Round 3 shows nothing." in bench.escalation.resolution_context
        )


def test_a_draft_that_no_repair_got_through_is_kept_for_the_person(directory: Path):
    """D-20-02, D-11-06, F-17.2-11, F-17.1-04, F-17.2-03, D-22-01: with what was found in it, so that a fix need not begin
    with nothing; a fix is recommended, and no approval offered, since nothing was ever proposed."""
    strange = {**draft("first", AT_PREFLIGHT, "Nearly."), "tests/a b\\c.txt": "?"}
    answers = {"first/round-1/proposer": [Turn(claimed(), strange)]}
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        assert bench.escalation.recommended_resolution is Action.PROVIDE_FIX
        assert bench.escalation.details["passing"] == []
        offered = suited_actions(bench.factory, bench.escalation)
        assert Action.APPROVE_OVERRIDE not in offered
        assert Action.PROVIDE_FIX in offered
        (place,) = bench.base.glob("drafts/*/*/unproposed-TSK-001.1-round-1")
        kept = {p.relative_to(place).as_posix(): p for p in place.rglob("*") if p.is_file()}
        written = {*strange} - {"tests/a b\\c.txt"}
        assert kept.keys() == written | {"contract.json", "findings.json", "escalation.json"}
        assert "Nearly." in kept["implementation/__init__.py"].read_text()
        assert any("expected 4, got 5" in line for line in bench.read(kept["findings.json"])["problems"])
        planned_now = [one for one in planned_modules(bench.factory) if one.contract.name == "first"]
        assert debates_of(bench.factory, planned_now).standing == "halted"


def test_amended_files_that_no_repair_got_through_are_kept_too(directory: Path):
    """D-20-02, F-9.6-05: beside the version that was approved."""
    answers = {
        "double/round-1/arbiter": [amending(("MODIFY", "example:Two", "Show three in the place of two."))],
        "double/amended-1/proposer": [Turn(amended(""), draft("double", AT_PREFLIGHT))],
    }
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        names = [path.name for path in bench.base.glob("drafts/*/*/*")]
        assert sorted(name.partition("-")[0] for name in names) == ["IMPL", "unproposed"]


def test_what_the_plan_that_is_locked_now_leaves_out_does_not_halt_its_task(directory: Path):
    """D-10-05: a module that failed before the contracts were debated again, and is planned no more; nobody could
    answer for it."""
    without = plan(planned("double"), planned("fifth"), task_facing="double")
    answers = {**FAULT, "first/round-1/proposer": NO_DRAFT, "plan/round-2/planner": [without]}
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "SHIPPED"
        assert set(bench.sealed()) == {"double", "fifth"}
        assert bench.unapproved() == []


def test_what_it_keeps_stays_failed(directory: Path):
    """D-10-05, D-11-01: no module gets a second budget because another one's contract was at fault."""
    answers = {**FAULT, "first/round-1/proposer": NO_DRAFT}
    with DebateWorkbench(directory, script(answers, FIVE)) as bench:
        assert bench.begin() == "HALTED"
        assert bench.escalation.details["failed"].keys() == {"first"}
        assert set(bench.sealed()) == {"double", "fourth", "fifth"}
        assert bench.trace.count("first/round-1/proposer") == 4
