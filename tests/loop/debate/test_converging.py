"""Contract debates that end: exact changes, and what is out of scope (F§9.3, D11, D13, D14)."""

from pathlib import Path
from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import amending, approving, failing, plan, planned, rejecting

MODULE = "double"
ONE = plan(planned(MODULE))
REVISED = plan(planned(MODULE, purpose="Double a number that is not negative."))
ZERO = ("ADD", f"contract:{MODULE}#/error_cases/-", "Zero is given back as nought")
MINUS = ("MODIFY", f"contract:{MODULE}#/error_cases/0", "Minus two is refused with ValueError")
BEYOND = ("ADD", f"contract:{MODULE}#/inputs/0/constraints/-", "out of scope: numbers of over ten digits")


def change(one: tuple[str, str, str]) -> dict[str, str]:
    """An exact change."""
    return dict(zip(("action", "target", "detail"), one, strict=True))


def finding(*changes: tuple[str, str, str], why: str = "Nothing says what becomes of 0.") -> dict[str, Any]:
    """A FAIL of one failure, with the changes that mend it."""
    said = failing(why)
    (failure,) = said["failures"]
    return {**said, "failures": [{**failure, "exact_changes": [change(one) for one in changes]}]}


def both(*verdicts: dict[str, Any]) -> dict[str, Any]:
    """One FAIL with the failures of several."""
    return {**verdicts[0], "failures": [one for said in verdicts for one in said["failures"]]}


def accepting(*numbers: int, own: tuple[tuple[str, str, str], ...] = ()) -> dict[str, Any]:
    """An approval that takes over exact changes by number."""
    return {**amending(*own), "accepted_changes": list(numbers)}


def debated(directory: Path, said: dict[str, list[Any]]) -> DebateWorkbench:
    """A project whose contracts were debated so; by `C1`, `A2`, `P2`."""
    places = {
        "C": "contracts/round-{}/challenger",
        "A": "contracts/round-{}/arbiter",
        "P": "plan/round-{}/planner",
    }
    answers = {places[party[0]].format(party[1:]): given for party, given in said.items()}
    with DebateWorkbench(directory, script(answers, ONE)) as bench:
        bench.begin()
    return bench


def rounds(bench: DebateWorkbench) -> str:
    """Who was asked about the contracts: `P1 C1 A1`."""
    letters = {"planner": "P", "challenger": "C", "arbiter": "A"}
    asked = [one.split("/") for one in bench.traced("plan", "contracts")]
    return " ".join(f"{letters[role]}{stage.rpartition('-')[2]}" for _, stage, role in asked)


def record(bench: DebateWorkbench, number: int, kind: str) -> dict[str, Any]:
    """A record of the contract debate."""
    return bench.record("contracts", number, kind)


def locked(bench: DebateWorkbench) -> MicroModuleContract:
    """The contract of the module that shipped."""
    path = bench.sealed()[MODULE] / "contract.json"
    return MicroModuleContract.from_bytes(path.read_bytes(), str(path))


def test_failures_with_exact_changes_cost_no_round(directory: Path):
    """D-11-09: each has one that applies, so the Arbiter takes them over and code writes them into the plan."""
    bench = debated(directory, {"C1": [both(finding(ZERO), finding(MINUS))], "A1": [accepting(1, 2)]})
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 A1")
    challenge, ruling = record(bench, 1, "challenge"), record(bench, 1, "adjudication")
    assert (challenge["verdict"], len(challenge["failures"]), challenge["mendable"]) == ("FAIL", 2, True)
    assert ruling["amendments"] == [change(ZERO), change(MINUS)]
    assert "accepted_changes" not in ruling
    contract = locked(bench)
    assert contract.error_cases == [MINUS[2], ZERO[2]]
    told = bench.roles.asked_at("contracts/round-1/arbiter").message
    assert f"1. ADD {ZERO[1]}: {ZERO[2]}" in told
    assert "Each failure has exact changes, which code has tried" in told


@pytest.mark.parametrize(
    "refused",
    [approving(), accepting(1), accepting(1, 3), amending(ZERO)],
    ids=["all", "one", "none such", "own"],
)
def test_an_approval_mends_every_failure(directory: Path, refused: dict[str, Any]):
    """D-11-09: what it leaves out goes back to the Arbiter; a text of its own at the same target will do."""
    fails = both(finding(ZERO), finding(MINUS))
    own = ("MODIFY", MINUS[1], "Minus three is refused with ValueError")
    bench = debated(directory, {"C1": [fails], "A1": [refused, accepting(1, own=(own,))]})
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 A1 A1")
    assert locked(bench).error_cases == [own[2], ZERO[2]]


def test_a_rejection_still_costs_the_revision(directory: Path):
    """D-11-09, D-11-01: an Arbiter to whom the changes are not right sends the plan back, with them."""
    bench = debated(directory, {"C1": [finding(ZERO)], "A1": [rejecting()], "P2": [REVISED]})
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 A1 P2 C2 A2")
    assert f"0. ADD {ZERO[1]}: {ZERO[2]}" in bench.roles.asked_at("plan/round-2/planner").message


@pytest.mark.parametrize(
    "fails",
    [
        both(finding(ZERO), finding()),
        finding(("MODIFY", f"contract:{MODULE}#/error_cases/7", "Minus two is refused with ValueError")),
        finding(MINUS, ("MODIFY", MINUS[1], "Minus nine is refused with ValueError")),
        finding(("MODIFY", f"contract:{MODULE}#/purpose", "Reword it so that zero is said")),
    ],
    ids=["one without", "nowhere", "two of one statement", "an instruction"],
)
def test_a_fail_that_code_cannot_mend_is_revised(directory: Path, fails: dict[str, Any]):
    """D-11-09: without asking the Arbiter first, as any other."""
    bench = debated(directory, {"C1": [fails], "P2": [REVISED]})
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 P2 C2 A2")
    assert "mendable" not in record(bench, 1, "challenge")


def test_exact_changes_take_one_round_instead_of_three(directory: Path):
    """D-10-07, D-11-01, D-11-09: finer and finer cases cost a revision each where no change is proposed."""
    cases = [
        finding(BEYOND, why=f"A number of {n} digits has no statement of its own.") for n in (11, 12, 13)
    ]
    without = {f"C{n}": [failing(one["failures"][0]["evidence"])] for n, one in enumerate(cases, start=1)}
    before = debated(directory / "before", {**without, "A3": [amending(BEYOND)]})
    assert rounds(before) == "P1 C1 P2 C2 P3 C3 A3"
    at_once = debated(directory / "scope", {"C1": [both(*cases)], "A1": [accepting(1)]})
    assert rounds(at_once) == "P1 C1 A1"
    assert locked(at_once).inputs[0].constraints == ["is not negative", BEYOND[2]]


def test_amendments_with_which_no_contract_locks_are_refused(directory: Path):
    """D-10-06, F-9.6-04: the Arbiter is told what they break, instead of a planner that can do nothing about it."""
    many = [(*BEYOND[:2], f"out of scope: numbers of {n} digits") for n in range(11, 18)]
    bench = debated(directory, {"A1": [amending(*many), amending(*many[:6])]})
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 A1 A1")
    assert locked(bench).inputs[0].constraints == ["is not negative", *(text for *_, text in many[:6])]


def test_exact_changes_that_are_too_many_together_go_to_the_arbiter(directory: Path):
    """D-11-09: it is told why they do not fit, and writes one for several at the same target; no round is spent."""
    many = [(*BEYOND[:2], f"out of scope: numbers of {n} digits") for n in range(11, 18)]
    fails = both(*(finding(one, why=f"Nothing is said of {one[2]}.") for one in many))
    own = (*BEYOND[:2], "out of scope: numbers of 11 to 17 digits")
    said = {"C1": [fails], "A1": [accepting(*range(1, 8)), accepting(own=(own,))]}
    bench = debated(directory, said)
    assert (bench.status(), rounds(bench)) == ("SHIPPED", "P1 C1 A1 A1")
    assert locked(bench).inputs[0].constraints == ["is not negative", own[2]]
    told = bench.roles.asked_at("contracts/round-1/arbiter").message
    assert "with all of them the contracts cannot be locked" in told
    assert "7 statements are out of scope; say it in 6 at most" in told


WORDS = ("MODIFY", f"contract:{MODULE}#/outputs/0/invariants/0", "is the number twice, as a whole number")
MARKED = f"""Changed since it was said:
`{MODULE}` - outputs: result: is the number twice
`{MODULE}` + outputs: result: is the number twice, as a whole number
`{MODULE}` + error_cases: Zero is given back as nought

A contract that says otherwise was amended since, and holds."""


def test_what_changed_since_the_planner_spoke_is_marked(directory: Path):
    """Beside what it says of the contracts, to all who work on a module."""
    fails = finding(WORDS, ZERO)
    said = {"C1": [fails], "A1": [accepting(1, 2)]}
    bench = debated(directory, said)
    assert bench.status() == "SHIPPED"
    for role in ("proposer", "challenger", "arbiter"):
        told = bench.roles.told_at(f"{MODULE}/round-1/{role}")
        assert f"{ONE['claim']}\n\n{MARKED}" in told


def test_nothing_is_marked_where_the_planner_spoke_last(directory: Path):
    """A revision with a claim of its own."""
    spoken = {
        **plan(planned(MODULE, error_cases=["Minus two is refused"])),
        "claim": "Minus two is refused now, as was asked for.",
    }
    bench = debated(directory, {"C1": [failing()], "P2": [spoken]})
    told = bench.roles.asked_at(f"{MODULE}/round-1/proposer").message
    assert spoken["claim"] in told
    assert "Changed since" not in told
