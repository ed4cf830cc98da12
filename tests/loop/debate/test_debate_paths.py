"""Every path of the debate, over both of its deliverables: who is asked, what is written, what comes of it (F§9, D10-D19).

A row says what the parties answer where they do not simply agree, and what must be seen. The parties of a round are
`P` (who proposes: the planner for the contracts, the Proposer for a module), `C` Challenger, `A` Arbiter and `M` (who
proposed, applying amendments); `p` is a preflight, `f` a run of
falsifying tests and `G` the ship gate; another place is written out. A letter with its round stands once for each
time it is asked. Records are the first letters of what lies in each round's directory: `PC|PCAG` is a round without a
ruling, then one with a ruling and a gate report.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from specwright.application.escalation.offers import suited_actions
from testkit.loop.debate_workbench import TWO, DebateWorkbench, modelled, script
from testkit.loop.late_faults import confirming, falsifying, faulty, striking
from testkit.loop.role_answers import (
    INCONSISTENT,
    MILD,
    PASSING,
    PROSE,
    Turn,
    amended,
    amending,
    approving,
    claimed,
    draft,
    failing,
    plan,
    planned,
    rejecting,
    ruling,
)
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE, BOUNDARY, FALSIFIABLE, LIMITED, MISMATCH
from testkit.sampling import spread

CONTRACTS, MODULE = "contracts", "double"

LETTERS = {"proposal": "P", "challenge": "C", "adjudication": "A", "amendments": "M", "gate": "G"}

ROLES = ("/planner", "/proposer", "/challenger", "/arbiter")

TRIED = ("test_three", "/outputs/0/invariants/0", "def test_three():\n    assert double(3) == 6\n")

SAID: dict[str, Any] = {
    "prose": PROSE,
    "pass": PASSING,
    "fail": failing(),
    "mild": MILD,
    "inconsistent": INCONSISTENT,
    "approve": approving(),
    "reject": rejecting(),
    "vague": amending(("MODIFY", "function:double", "improve error handling")),
    "aimless": amending(("MODIFY", "the whole thing", "Say three where it says two now.")),
    "contradicting": ruling("APPROVE", "NO_SHIP", "It is approved, but it must not ship today."),
    "counterexample": falsifying(TRIED),
    "counterexample and fail": falsifying(TRIED, said=failing()),
    "contract fault": faulty("contract", "Nothing says what comes out for 0."),
    "plan fault": faulty("plan", "double and halve are one behaviour."),
    "strike": striking("test_three"),
    "strike and reject": striking("test_three", said=rejecting("The criteria are not shown by any test.")),
    "strike nowhere": striking("test_three", pointer="/outputs/7"),
    "strike another": striking("test_four"),
    "confirm contract": confirming("contract"),
    "confirm plan": confirming("plan"),
    "ship despite": ruling("REJECT", "SHIP", "It is rejected, but let it ship all the same."),
}


def disclaiming(
    pointer: str, why: str = "A list that holds itself does not cross to the module."
) -> dict[str, Any]:
    """A claim that a statement of the contract cannot be shown."""
    fault = {"pointer": pointer, "finding": "tests.boundary", "where": LIMITED, "reason": why}
    return {**claimed(), "contract_at_fault": [fault]}


def silent(mark: str = "") -> dict[str, str]:
    """A draft whose tests claim no more than the happy path."""
    claims = {"test_it_is_the_number_twice": [""], "test_a_negative_number_is_refused": []}
    return {**draft(MODULE, mark), "tests/obligations.json": json.dumps(claims)}


OF_MODULE: dict[str, Any] = {
    **SAID,
    "falsifiable": Turn(claimed(), draft(MODULE, FALSIFIABLE)),
    "sound": Turn(claimed(), draft(MODULE)),
    "broken": Turn(claimed(), draft(MODULE, AT_PREFLIGHT)),
    "limited": Turn(claimed(), draft(MODULE, BOUNDARY)),
    "disclaim": Turn(disclaiming("/error_surfaces/0"), draft(MODULE, BOUNDARY)),
    "disclaim falsely": Turn(disclaiming("/error_surfaces/0"), draft(MODULE)),
    "disclaim vaguely": Turn(disclaiming("/error_surfaces/0", "It is not good."), draft(MODULE, BOUNDARY)),
    "limited and silent": Turn(claimed(), silent(BOUNDARY)),
    "disclaim another": Turn(disclaiming("/outputs/0/invariants/0"), silent()),
    "disclaim beside": Turn(disclaiming("/outputs/0/invariants/0"), silent(AT_PREFLIGHT)),
    "quoting": Turn({**claimed(), "claim": "It says return number * 2, so two gives four."}, draft(MODULE)),
    "weak": Turn(claimed(), draft(MODULE, AT_THE_GATE)),
    "mismatch": Turn(claimed(), draft(MODULE, MISMATCH)),
    "amend": amending(("MODIFY", "file:implementation/__init__.py", "Say in the first line what it is for.")),
    "add": amending(("ADD", "test:test_three", "Add a test that doubles three.")),
    "remove": amending(("REMOVE", "test:test_a_negative_number_is_refused", "Remove the test of minus one.")),
    "apply": Turn(amended(""), draft(MODULE, version="Doubles numbers.")),
    "pretend": Turn(amended("")),
    "refuse": Turn(amended("The first line is fixed by the stub.")),
    "apply weakly": Turn(amended(""), draft(MODULE, AT_THE_GATE, "Doubles numbers.")),
    "apply badly": Turn(amended(""), draft(MODULE, AT_PREFLIGHT, "Doubles numbers.")),
    "nowhere": amending(("MODIFY", "test:test_three", "Double three as well as the two.")),
    "lose": Turn(
        amended(""),
        {
            **draft(MODULE, version="Doubles numbers."),
            "examples.md": draft(MODULE)["examples.md"].partition("## A negative")[0],
        },
    ),
    "miscount": Turn(amended("", ""), draft(MODULE, version="Doubles numbers.")),
}
ONE = plan(planned(MODULE))
CHANGED = plan(planned(MODULE, purpose="Double a number that is not negative."))
OF_CONTRACTS: dict[str, Any] = {
    **SAID,
    "fail": failing(),
    "sound": ONE,
    "amend": amending(("MODIFY", "contract:double#/purpose", "Say that it doubles, in one sentence.")),
    "add": amending(("ADD", "contract:double#/error_cases/-", "Add minus two as a second error case.")),
    "remove": amending(("REMOVE", "contract:double#/error_cases/0", "Remove the case of minus one.")),
    "apply": CHANGED,
    "pretend": ONE,
    "nowhere": amending(("MODIFY", "contract:double#/error_cases/7", "Say minus two instead of one.")),
    "lose": plan(planned(MODULE, purpose=CHANGED["modules"][0]["purpose"], error_cases=["Nought is nought"])),
}


class Row(NamedTuple):
    """A path.

    Args:
        said: By party and round, what it answers one time after the other; agreement where nothing is said.
        trace: Who is asked, in order.
        records: What lies on the disk.
        halts: Words of the reason for which it halts; empty if it ships.
        raw: How many raw answers the escalation keeps.
        only: The deliverable that can go this way.
        cause: Of the halt, where it is not that of its deliverable.
    """

    said: dict[str, list[str]]
    trace: str
    records: str
    halts: str = ""
    raw: int = 0
    only: str = ""
    cause: str = ""


REOPENED = "plan/round-2/planner contracts/round-2/challenger contracts/round-2/arbiter"
REJECTED = "the Arbiter rejected it and no revision is left"
FAILS = {"C1": ["fail"], "C2": ["fail"], "C3": ["fail"]}
AFTER_THREE = "P1 p C1 P2 p C2 P3 p C3"

PATHS: dict[str, Row] = {
    "it passes and is approved": Row({}, "P1 p C1 A1 G", "PCAG"),
    "it fails, then passes": Row({"C1": ["fail"]}, "P1 p C1 P2 p C2 A2 G", "PC|PCAG"),
    "it fails twice, then passes and is approved": Row(
        {"C1": ["fail"], "C2": ["fail"]}, f"{AFTER_THREE} A3 G", "PC|PC|PCAG"
    ),
    "it fails three times and is amended": Row(
        {**FAILS, "A3": ["amend"], "M3": ["apply"]}, f"{AFTER_THREE} A3 M3 p G", "PC|PC|PCAMG"
    ),
    "it fails three times and is rejected": Row(
        {**FAILS, "A3": ["reject"]}, f"{AFTER_THREE} A3", "PC|PC|PCA", REJECTED
    ),
    "approval after the last failure is refused, then it is rejected": Row(
        {**FAILS, "A3": ["approve", "reject"]}, f"{AFTER_THREE} A3 A3", "PC|PC|PCA", REJECTED
    ),
    "approval after the last failure is refused, then it is amended": Row(
        {**FAILS, "A3": ["approve", "amend"], "M3": ["apply"]}, f"{AFTER_THREE} A3 A3 M3 p G", "PC|PC|PCAMG"
    ),
    "an Arbiter that insists on approval after the last failure": Row(
        {**FAILS, "A3": ["approve"]}, f"{AFTER_THREE} A3 A3 A3", "PC|PC|PC", "APPROVE is refused", raw=3
    ),
    "it is rejected inside the window": Row({"A1": ["reject"]}, "P1 p C1 A1 P2 p C2 A2 G", "PCA|PCAG"),
    "it is rejected until no revision is left": Row(
        {"A1": ["reject"], "A2": ["reject"], "A3": ["reject"]},
        "P1 p C1 A1 P2 p C2 A2 P3 p C3 A3",
        "PCA|PCA|PCA",
        REJECTED,
    ),
    "it is rejected, fails, and fails again": Row(
        {"A1": ["reject"], "C2": ["fail"], "C3": ["fail"], "A3": ["reject"]},
        "P1 p C1 A1 P2 p C2 P3 p C3 A3",
        "PCA|PC|PCA",
        REJECTED,
    ),
    "a mild review three times is a failure of its own kind": Row(
        {"C1": ["mild"]}, "P1 p C1 C1 C1 P2 p C2 A2 G", "PC|PCAG"
    ),
    "a mild review is told so and corrected": Row({"C1": ["mild", "pass"]}, "P1 p C1 C1 A1 G", "PCAG"),
    "a Challenger that is always mild": Row(
        {"C1": ["mild"], "C2": ["mild"], "C3": ["mild"], "A3": ["reject"]},
        "P1 p C1 C1 C1 P2 p C2 C2 C2 P3 p C3 C3 C3 A3",
        "PC|PC|PCA",
        REJECTED,
    ),
    "a verdict that contradicts its assessments": Row(
        {"C1": ["inconsistent", "pass"]}, "P1 p C1 C1 A1 G", "PCAG"
    ),
    "a ruling whose directive contradicts it": Row(
        {"A1": ["contradicting", "ship despite", "approve"]}, "P1 p C1 A1 A1 A1 G", "PCAG"
    ),
    "a verdict that contradicts its assessments three times": Row(
        {"C1": ["inconsistent"]}, "P1 p C1 C1 C1 P2 p C2 A2 G", "PC|PCAG"
    ),
    "a Challenger that never keeps to the schema": Row(
        {"C1": ["prose"]},
        "P1 p C1 C1 C1",
        "P",
        "the answer holds no JSON object",
        raw=3,
    ),
    "an Arbiter that never keeps to the schema": Row(
        {"A1": ["prose"]}, "P1 p C1 A1 A1 A1", "PC", "the answer holds no JSON object", raw=3
    ),
    "amendments that are vague three times": Row(
        {"A1": ["vague", "aimless", "vague"]}, "P1 p C1 A1 A1 A1", "PC", "say exactly what changes", raw=3
    ),
    "amendments that are vague, then exact": Row(
        {"A1": ["vague", "amend"], "M1": ["apply"]}, "P1 p C1 A1 A1 M1 p G", "PCAMG"
    ),
    "it is approved with amendments": Row({"A1": ["amend"], "M1": ["apply"]}, "P1 p C1 A1 M1 p G", "PCAMG"),
    "an amendment of what is not there goes back to the Arbiter": Row(
        {"A1": ["nowhere", "amend"], "M1": ["apply"]}, "P1 p C1 A1 A1 M1 p G", "PCAMG"
    ),
    "amendments with which something else is changed or gets lost": Row(
        {"A1": ["amend"], "M1": ["lose", "apply"]}, "P1 p C1 A1 M1 p M1 p G", "PCAMG"
    ),
    "an amendment that is said to be applied and is not": Row(
        {"A1": ["amend"], "M1": ["pretend", "apply"]}, "P1 p C1 A1 M1 p M1 p G", "PCAMG"
    ),
    "an amendment that is never applied": Row(
        {"A1": ["amend"], "M1": ["pretend"]}, "P1 p C1 A1 M1 p M1 p M1 p", "PCA", "amendment 0", raw=3
    ),
    "an addition that is never made": Row(
        {"A1": ["add"], "M1": ["pretend"]}, "P1 p C1 A1 M1 p M1 p M1 p", "PCA", "amendment 0", raw=3
    ),
    "a removal that is never made": Row(
        {"A1": ["remove"], "M1": ["pretend"]}, "P1 p C1 A1 M1 p M1 p M1 p", "PCA", "amendment 0", raw=3
    ),
    "the Proposer says why it cannot apply an amendment": Row(
        {"A1": ["amend"], "M1": ["refuse"]},
        "P1 p C1 A1 M1",
        "PCAM",
        "The first line is fixed by the stub.",
        only=MODULE,
    ),
    "the Proposer accounts for amendments that nobody asked for": Row(
        {"A1": ["amend"], "M1": ["miscount", "apply"]}, "P1 p C1 A1 M1 p M1 p G", "PCAMG", only=MODULE
    ),
    "amendments that spoil the module are repaired": Row(
        {"A1": ["amend"], "M1": ["apply badly", "apply"]}, "P1 p C1 A1 M1 p M1 p G", "PCAMG", only=MODULE
    ),
    "a Proposer that never keeps to the schema": Row(
        {"P1": ["prose"]}, "P1 P1 P1 P1", "", "the answer holds no JSON object", raw=4, only=MODULE
    ),
    "a claim that quotes the source is corrected": Row(
        {"P1": ["quoting", "sound"]}, "P1 p P1 p C1 A1 G", "PCAG", only=MODULE
    ),
    "a draft that never passes preflight": Row(
        {"P1": ["broken"]}, "P1 p P1 p P1 p P1 p", "", "expected 4, got 5", raw=4, only=MODULE
    ),
    "a draft that is repaired at preflight": Row(
        {"P1": ["broken", "broken", "broken", "sound"]}, "P1 p P1 p P1 p P1 p C1 A1 G", "PCAG", only=MODULE
    ),
    "a revision that never passes preflight": Row(
        {"C1": ["fail"], "P2": ["broken"]},
        "P1 p C1 P2 p P2 p P2 p",
        "PC",
        "expected 4, got 5",
        raw=3,
        only=MODULE,
    ),
    "another surface at the gate, then the locked one": Row(
        {"P1": ["mismatch"]}, "P1 p C1 A1 G P2 p C2 A2 G", "PCAG|PCAG", only=MODULE
    ),
    "it fails at the gate, then passes there": Row(
        {"P1": ["weak"]}, "P1 p C1 A1 G P2 p C2 A2 G", "PCAG|PCAG", only=MODULE
    ),
    "it fails at the gate with the budget spent": Row(
        {"P1": ["weak"], "P2": ["mismatch"], "P3": ["weak"]},
        "P1 p C1 A1 G P2 p C2 A2 G P3 p C3 A3 G",
        "PCAG|PCAG|PCAG",
        "7 of 12 mutants lived",
        only=MODULE,
    ),
    "another surface at the gate with the budget spent": Row(
        {"C1": ["fail"], "C2": ["fail"], "P3": ["mismatch"]},
        f"{AFTER_THREE} A3 G",
        "PC|PC|PCAG",
        "Interface fingerprint mismatch: expected ",
        only=MODULE,
    ),
    "a failure, a rejection and the gate draw on one budget": Row(
        {"C1": ["fail"], "A2": ["reject"], "P3": ["weak"]},
        "P1 p C1 P2 p C2 A2 P3 p C3 A3 G",
        "PC|PCA|PCAG",
        "7 of 12 mutants lived",
        only=MODULE,
    ),
    "what was amended fails at the gate, and is debated again": Row(
        {"A1": ["amend"], "M1": ["apply weakly"]}, "P1 p C1 A1 M1 p G P2 p C2 A2 G", "PCAMG|PCAG", only=MODULE
    ),
    "what was amended after the last failure fails at the gate": Row(
        {**FAILS, "A3": ["amend"], "M3": ["apply weakly"]},
        f"{AFTER_THREE} A3 M3 p G",
        "PC|PC|PCAMG",
        "7 of 12 mutants lived",
        only=MODULE,
    ),
    "a counterexample is found and the module corrected": Row(
        {"P1": ["falsifiable"], "C1": ["counterexample"], "A1": ["approve", "reject"]},
        "P1 p C1 f A1 A1 P2 p f C2 A2 G f",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a revision that the counterexample still shows is repaired at preflight": Row(
        {"P1": ["falsifiable"], "C1": ["counterexample"], "A1": ["reject"], "P2": ["falsifiable", "sound"]},
        "P1 p C1 f A1 P2 p f P2 p f C2 A2 G f",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a counterexample is struck": Row(
        {
            "P1": ["falsifiable"],
            "C1": ["counterexample"],
            "A1": ["strike nowhere", "strike another", "strike"],
        },
        "P1 p C1 f A1 A1 A1 G",
        "PCAG",
        only=MODULE,
    ),
    "a counterexample beside another failure costs the revision, struck or not": Row(
        {"P1": ["falsifiable"], "C1": ["counterexample and fail"], "A1": ["approve", "reject"]},
        "P1 p C1 f A1 A1 P2 p f C2 A2 G f",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a counterexample beside another failure that is struck stands in nobody's way": Row(
        {
            "P1": ["falsifiable"],
            "C1": ["counterexample and fail"],
            "A1": ["strike", "strike and reject"],
            "P2": ["falsifiable"],
        },
        "P1 p C1 f A1 A1 P2 p C2 A2 G",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a counterexample that no revision gets rid of": Row(
        {"P1": ["falsifiable"], "C1": ["counterexample"], "A1": ["reject"], "P2": ["falsifiable"]},
        "P1 p C1 f A1 P2 p f P2 p f P2 p f",
        "PCA",
        "test_three",
        raw=3,
        only=MODULE,
    ),
    "a test that the module withstands counts from then on": Row(
        {"C1": ["counterexample"]}, "P1 p C1 f A1 G f", "PCAG", only=MODULE
    ),
    "a fault of the contract that code confirms costs nobody a revision": Row(
        {"P1": ["limited", "disclaim vaguely", "disclaim"]},
        f"P1 p P1 p P1 p {REOPENED} P2 p C2 A2 G",
        "P|PCAG",
        only=MODULE,
    ),
    "after it both debates have their whole budget": Row(
        {"P1": ["disclaim"], "C2": ["fail"], "C3": ["fail"], "C4": ["fail"], "A4": ["reject"]},
        f"P1 p {REOPENED} P2 p C2 P3 p C3 P4 p C4 A4",
        "P|PC|PC|PCA",
        REJECTED,
        only=MODULE,
    ),
    "a fault of the contract that never was is a repair": Row(
        {"P1": ["disclaim falsely", "sound"]}, "P1 p P1 p C1 A1 G", "PCAG", only=MODULE
    ),
    "a Proposer that insists on it halts": Row(
        {"P1": ["disclaim falsely"]},
        "P1 p P1 p P1 p P1 p",
        "",
        "there was no tests.boundary",
        raw=4,
        only=MODULE,
    ),
    "a fault that code cannot confirm is the Arbiter's to confirm": Row(
        {"P1": ["limited and silent", "disclaim another"], "A1": ["approve", "confirm contract"]},
        f"P1 p P1 p C1 A1 A1 {REOPENED} P2 p C2 A2 G",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a fault beside another finding is the Arbiter's once that is gone": Row(
        {"P1": ["limited and silent", "disclaim beside"]},
        "P1 p P1 p P1 p P1 p",
        "",
        "an Arbiter rules on /outputs/0/invariants/0 once nothing else keeps the draft back",
        raw=4,
        only=MODULE,
    ),
    "a fault that neither code nor the Arbiter confirms costs the revision": Row(
        {"P1": ["limited and silent", "disclaim another"], "A1": ["reject"]},
        "P1 p P1 p C1 A1 P2 p C2 A2 G",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a fault of the contract is found late": Row(
        {"C1": ["contract fault"], "A1": ["confirm contract"]},
        f"P1 p C1 A1 {REOPENED} P2 p C2 A2 G",
        "PCA|PCAG",
        only=MODULE,
    ),
    "a fault of the contract that the Arbiter does not confirm": Row(
        {"C1": ["contract fault"], "A1": ["reject"]}, "P1 p C1 A1 P2 p C2 A2 G", "PCA|PCAG", only=MODULE
    ),
    "a second fault of the contract halts": Row(
        {
            "C1": ["contract fault"],
            "A1": ["confirm contract"],
            "C2": ["contract fault"],
            "A2": ["confirm contract"],
        },
        f"P1 p C1 A1 {REOPENED} P2 p C2 A2",
        "PCA|PCA",
        "the contract is at fault",
        only=MODULE,
    ),
    "a fault of the plan halts the task": Row(
        {"C1": ["plan fault"], "A1": ["confirm plan"]},
        "P1 p C1 A1",
        "PCA",
        "double and halve are one behaviour.",
        only=MODULE,
        cause="plan",
    ),
    "falsifying tests are none of a contract debate": Row(
        {"C1": ["counterexample", "pass"]}, "P1 C1 C1 A1", "PCAG", only=CONTRACTS
    ),
    "nor is there anything to strike in one": Row(
        {"A1": ["strike", "approve"]}, "P1 C1 A1 A1", "PCAG", only=CONTRACTS
    ),
    "in a contract debate a fault of the contract is one of the deliverable": Row(
        {"C1": ["contract fault"]}, "P1 C1 P2 C2 A2", "PC|PCAG", only=CONTRACTS
    ),
    "and nobody can confirm it as a fault above it": Row(
        {"C1": ["fail"], "C2": ["plan fault"], "C3": ["plan fault"], "A3": ["confirm plan"]},
        "P1 C1 P2 C2 P3 C3 A3",
        "PC|PC|PCA",
        REJECTED,
        only=CONTRACTS,
    ),
    "a fault of the plan that the Arbiter does not confirm": Row(
        {"C1": ["plan fault"], "A1": ["confirm contract", "reject"]},
        "P1 p C1 A1 A1 P2 p C2 A2 G",
        "PCA|PCAG",
        only=MODULE,
    ),
}

CASES = [
    pytest.param(subject, row, id=f"{subject}-{name}".replace(" ", "_"))
    for name, row in PATHS.items()
    for subject in (CONTRACTS, MODULE)
    if row.only in ("", subject)
]


def place(subject: str, party: str) -> str:
    """`C2` in a debate, as a place in the run."""
    letter, number = party[0], party[1:]
    proposes = "plan/{}-{}/planner" if subject == CONTRACTS else "double/{}-{}/proposer"
    if letter in "PM":
        return proposes.format("round" if letter == "P" else "amended", number)
    return f"{subject}/round-{number}/{'challenger' if letter == 'C' else 'arbiter'}"


def expected_trace(subject: str, row: Row) -> list[str]:
    """The whole run: before the debate, the debate, and what comes after it."""
    opening = ["plan/round-1/planner", "contracts/round-1/challenger", "contracts/round-1/arbiter"]
    other = ["proposer", "preflight", "challenger", "arbiter", "gate"]
    simple = {
        name: [
            f"{name}/{step}" if step in ("preflight", "gate") else f"{name}/round-1/{step}" for step in other
        ]
        for name in (MODULE, "halve")
    }
    by_code = {"p": "double/preflight", "f": "double/tests", "G": "double/gate"}
    steps = [
        by_code.get(step) or (step if "/" in step else place(subject, step)) for step in row.trace.split()
    ]
    if subject == MODULE:
        return [*opening, *steps, *([] if row.cause else simple["halve"])]
    debate = [step for step in steps if step not in by_code.values()]
    return [*debate, *([] if row.halts else simple[MODULE])]


@pytest.mark.parametrize(("subject", "row"), spread(CASES, fast=6, slow=10))
def test_a_path_of_the_debate(directory: Path, subject: str, row: Row):
    """Calls, records, status and what shipped (D-S1-01, F-3.4-07, F-3.4-08, F-6-03, F-6-05,
    F-9.1-05, F-9.1-06, F-9.1-07, F-9.3-01, F-9.3-02,
    F-9.3-03, F-9.3-04, F-9.3-05, F-9.4-02, F-9.5-01, F-9.5-02, F-9.5-03, F-9.5-04, F-9.6-01, F-9.6-02, F-9.6-03, F-9.6-04,
    F-9.6-05, F-11.2-04, D-10-01, D-10-02, D-10-05, D-10-06, D-11-01, D-11-02, D-11-03, D-11-04, D-11-05, D-11-06, D-13-02,
    D-13-03, D-13-04, D-13-05, D-14-01, D-14-02, D-15-01, D-18-01, D-18-02, D-25-01, F-17.1-04, F-17.2-03)."""
    words = OF_MODULE if subject == MODULE else OF_CONTRACTS
    answers = {place(subject, party): [words[word] for word in said] for party, said in row.said.items()}
    with DebateWorkbench(directory, script(answers, TWO if subject == MODULE else ONE)) as bench:
        status = bench.begin()
        assert bench.trace == expected_trace(subject, row)
        assert status == ("HALTED" if row.halts else "SHIPPED")
        assert written(bench, subject) == row.records
        assert bench.unapproved() == []
        assert set(bench.sealed()) == shipped(subject, row)
        if row.halts:
            assert_halted(bench, subject, row)
        else:
            assert not (bench.base / "escalations").exists()


SLOW = {
    "a mild review three times is a failure of its own kind",
    "an Arbiter that never keeps to the schema",
    "an amendment that is said to be applied and is not",
}
FAST = {"a ruling whose directive contradicts it", "a draft that is repaired at preflight"}


def _marks(name: str, subject: Any) -> list[pytest.MarkDecorator]:
    """A few paths are fast, one in six of the others is slow, the rest is nightly."""
    if name in FAST and subject == MODULE:
        return []
    is_slow = (name in SLOW and subject == MODULE) or list(PATHS).index(name) % 6 == 0
    return [pytest.mark.slow if is_slow else pytest.mark.nightly]


AGAIN = [
    pytest.param(case.values[0], row, id=case.id, marks=_marks(name, case.values[0]))
    for name, row in PATHS.items()
    for case in CASES
    if case.values[1] is row
]


@pytest.mark.parametrize(("subject", "row"), AGAIN)
def test_the_real_roles_go_the_same_way(directory: Path, subject: str, row: Row):
    """F-9.5-03, D-11-03, D-11-04, D-11-05, D-11-06, D-18-02: over a chat model the same calls, each re-ask one of them."""
    words = OF_MODULE if subject == MODULE else OF_CONTRACTS
    answers = {place(subject, party): [words[word] for word in said] for party, said in row.said.items()}
    played = modelled(script(answers, TWO if subject == MODULE else ONE))
    with DebateWorkbench(directory, script(), roles=played) as bench:
        assert bench.begin() == ("HALTED" if row.halts else "SHIPPED")
        assert bench.trace == expected_trace(subject, row)
        assert written(bench, subject) == row.records
        assert bench.unapproved() == []
        assert set(bench.sealed()) == shipped(subject, row)


def written(bench: DebateWorkbench, subject: str) -> str:
    """The records of a debate, as letters in the order of a round."""
    rounds = bench.records().get(subject, [])
    return "|".join("".join(s for name, s in LETTERS.items() if name in kinds.split()) for kinds in rounds)


def shipped(subject: str, row: Row) -> set[str]:
    """What must be sealed at the end: the other module is, unless the plan itself is given up."""
    other = {"halve"} if subject == MODULE and not row.cause else set[str]()
    return other if row.halts else {MODULE, *other}


RECOMMENDED = {"APPROVE_OVERRIDE", "AMEND_SPEC", "SPLIT_TASK", "REVISE_PLAN", "PROVIDE_FIX", "ABANDON_TASK"}


def assert_halted(bench: DebateWorkbench, subject: str, row: Row) -> None:
    """The escalation says why, with everything that was said."""
    escalation = bench.escalation
    details = escalation.details
    assert details["cause"] == (row.cause or ("modules" if subject == MODULE else CONTRACTS))
    assert row.halts in escalation.failed_invariants[0].evidence
    assert escalation.recommended_resolution in RECOMMENDED
    by_hand = {"APPROVE_OVERRIDE", "PROVIDE_FIX"} & {*suited_actions(bench.factory, escalation)}
    assert bool(by_hand) is (details["cause"] == "modules")
    # one sentence: of a module its name and what kind of end it was
    said = row.halts.partition(": ")[0] if subject == MODULE else row.halts
    assert said in escalation.minimal_decision_required or MODULE in escalation.minimal_decision_required
    assert len(details.get("raw_answers", [])) == row.raw
    kinds = " ".join(kind for rounds in bench.records().values() for kind in rounds).split()
    trail = escalation.debate_trail
    held = [*trail.proposals], [*trail.challenges], [*trail.adjudications]
    for said, kind in zip(held, ("proposal", "challenge", "adjudication"), strict=True):
        assert len(said) == kinds.count(kind), kind
    if subject == MODULE:
        assert details["failed"].keys() == {MODULE}
        assert details["shipped"].keys() == shipped(subject, row)
        assert details["abandoned"] == (["halve"] if row.cause else [])
        aside = [path.parent.name for path in bench.base.glob("drafts/*/*/IMPL-*/escalation.json")]
        assert len(aside) == (1 if row.records else 0)
