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


def paths() -> dict[str, Row]:
    """The table beside this file."""
    found: dict[str, Row] = {}
    for line in Path(__file__).with_name("debate_paths.md").read_text(encoding="utf-8").splitlines()[9:]:
        name, only, told, trace, records, halts, raw, cause = (c.strip() for c in line.strip("|").split("|"))
        each = (one.partition(": ") for one in told.split("; ") if one)
        said = {party: words.split(", ") for party, _, words in each}
        trace, records = trace.replace("reopen", REOPENED), records.replace("/", "|")
        found[name] = Row(said, trace, records, halts, int(raw or 0), only, cause)
    return found


PATHS = paths()
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
