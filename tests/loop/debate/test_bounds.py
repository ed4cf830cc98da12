"""Whatever the roles answer, the loop ends within its bound and ships nothing that was not let pass.

F§9.3, F§19.6, D10, D11, D13, D18, D25.
"""

import tempfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specwright.ports import Place, Role
from testkit.loop.debate_workbench import IN_MEMORY, DebateWorkbench, script
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
from testkit.loop.scripted_gate import AT_PREFLIGHT, AT_THE_GATE, FALSIFIABLE, MISMATCH

PLAN = plan(planned("double"), planned("halve", "double"))
MODULES = len(PLAN["modules"])
ROUNDS = 1 + 2
FREE_ROUNDS = 1
ATTEMPTS = 3
DRAFTS = (1 + 3, 1 + 2, 1 + 1)

LOCKS = 2
CONTRACT_DEBATE = (ROUNDS + FREE_ROUNDS) * 3 * ATTEMPTS + LOCKS * ATTEMPTS
MODULE_DEBATE = sum(DRAFTS) + ROUNDS * 3 * ATTEMPTS
REOPENING_DEBATE = MODULE_DEBATE + FREE_ROUNDS * (DRAFTS[-1] + 2 * ATTEMPTS)
BOUND = CONTRACT_DEBATE + REOPENING_DEBATE + (MODULES - 1) * MODULE_DEBATE

OTHER = plan(planned("double", purpose="Double a number that is not negative."), planned("halve", "double"))
NO_PLAN = plan(planned("double", "treble"))

SAID: dict[str, dict[str, Any]] = {
    Role.PLANNER: {"plan": PLAN, "another plan": OTHER, "no plan": NO_PLAN, "prose": PROSE},
    Role.CHALLENGER: {
        "pass": PASSING,
        "fail": failing(),
        "mild": MILD,
        "inconsistent": INCONSISTENT,
        "prose": PROSE,
        "contract fault": faulty("contract", "Nothing says what comes out for 0."),
        "plan fault": faulty("plan", "double and halve are one behaviour."),
    },
    Role.ARBITER: {
        "approve": approving(),
        "reject": rejecting(),
        "amend": amending(
            ("MODIFY", "file:implementation/__init__.py", "Say in the first line what it is for.")
        ),
        "amend contract": amending(
            ("MODIFY", "contract:double#/purpose", "Say that it doubles, in one sentence.")
        ),
        "vague": amending(("MODIFY", "function:double", "improve error handling")),
        "contradict": ruling("APPROVE", "NO_SHIP", "It is approved, but it must not ship today."),
        "prose": PROSE,
        "confirm contract": confirming("contract"),
        "confirm plan": confirming("plan"),
    },
}
DRAFTED = {
    "sound": "",
    "broken": AT_PREFLIGHT,
    "weak": AT_THE_GATE,
    "mismatch": MISMATCH,
    "falsifiable": FALSIFIABLE,
}
APPLIED = {"apply": "", "apply badly": AT_PREFLIGHT, "apply weakly": AT_THE_GATE}
AMENDER = "amender"

Tapes = dict[str, list[str]]
WORDS: dict[str, list[str]] = {
    **{role: list(words) for role, words in SAID.items()},
    Role.CHALLENGER: [*SAID[Role.CHALLENGER], "counterexample"],
    Role.ARBITER: [*SAID[Role.ARBITER], "strike"],
    Role.PROPOSER: [*DRAFTED, "prose"],
    AMENDER: [*APPLIED, "pretend", "refuse", "prose"],
}


class Tape:
    """Each role says what its tape holds, over and over, wherever in the run it is asked."""

    def __init__(self, tapes: Tapes, *, agreed: bool) -> None:
        self._tapes: dict[str, Iterator[str]] = {role: cycle(words) for role, words in tapes.items()}
        self._agreed = agreed
        self._count = 0
        self._test = "test_none"

    def answer(self, place: Place, ordinal: int) -> Turn:
        """The next on the tape."""
        self._count += 1
        if self._agreed and place.subject in ("plan", "contracts"):
            return script(planning=PLAN).answer(place, ordinal)
        amends = place.role is Role.PROPOSER and place.stage.startswith("amended")
        word = next(self._tapes[AMENDER if amends else place.role])
        if word in DRAFTED:
            return Turn(claimed(), draft(place.subject, DRAFTED[word], f"Version {self._count}."))
        if word in APPLIED:
            return Turn(amended(""), draft(place.subject, APPLIED[word], f"Version {self._count}."))
        if word in ("pretend", "refuse"):
            return Turn(amended("" if word == "pretend" else "There is nothing to change there."))
        if word == "counterexample":
            self._test = f"test_case_{self._count}"
            return Turn(falsifying((self._test, "", f"def {self._test}():\n    assert double(3) == 6\n")))
        if word == "strike":
            return Turn(striking(self._test))
        return Turn(PROSE if word == "prose" else SAID[place.role][word])


def tapes(most: int) -> st.SearchStrategy[Tapes]:
    """Something for every role; what goes on comes first, so that what is found shrinks to it."""
    return st.fixed_dictionaries(
        {role: st.lists(st.sampled_from(words), min_size=1, max_size=most) for role, words in WORDS.items()}
    )


MAKE, REMAKE = ["prose", "no plan", "plan"], ["prose", "no plan", "another plan"]
UNSOUND = ["prose", "mild"]
VAGUE = ["prose", "vague"]

WORST: Tapes = {
    Role.PLANNER: [*MAKE, *REMAKE, *MAKE, *REMAKE],
    Role.PROPOSER: [*["broken"] * 3, "sound", *["broken"] * 2, "sound", "broken", "sound"],
    AMENDER: ["prose", "pretend", "apply weakly"],
    Role.CHALLENGER: [*UNSOUND, "pass"],
    Role.ARBITER: [*VAGUE, "reject"] * 2 + [*VAGUE, "amend contract"] + [*VAGUE, "amend"] * 3,
}
"""Whoever can be asked again is, in every round: the bound of a module's debate, reached at the gate of its last round."""

REOPENED: Tapes = {
    **WORST,
    Role.PROPOSER: [*WORST[Role.PROPOSER], "broken", "sound"],
    Role.PLANNER: [*MAKE, *MAKE, *MAKE, *REMAKE, *MAKE, *REMAKE],
    Role.CHALLENGER: [*UNSOUND, "pass"] * 3 + [*UNSOUND, "contract fault"] + [*UNSOUND, "pass"] * 4,
    Role.ARBITER: [
        *VAGUE,
        "reject",
        *VAGUE,
        "reject",
        *VAGUE,
        "amend contract",
        *VAGUE,
        "confirm contract",
        *VAGUE,
        "amend contract",
    ]
    + [*VAGUE, "amend"] * 3,
}
"""The same, with contracts that lock in their third round, are found at fault, and lock in a fourth: the bounds of both."""


def run(given_tapes: Tapes, *, agreed: bool) -> tuple[str, list[str]]:
    """The outcome and the calls of a run, which is held against all that must be true of any.

    Args:
        given_tapes: What is said.
        agreed: Whether the contracts are agreed on at once, whatever the tapes say.
    """
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as made, DebateWorkbench(Path(made), script()) as bench:
        bench.follow(Tape(given_tapes, agreed=agreed))
        status = bench.begin()
        assert status in {"SHIPPED", "HALTED"}
        asked = [call for call in bench.trace if not call.endswith(("preflight", "gate"))]
        assert len(asked) <= BOUND
        debated = bench.records()
        assert all(len(rounds) <= ROUNDS + FREE_ROUNDS for rounds in debated.values())
        longer = [name for name in ("double", "halve") if len(debated.get(name, ())) > ROUNDS]
        assert len(longer) <= 1
        for name in ("double", "halve"):
            most = REOPENING_DEBATE if name in longer else MODULE_DEBATE
            assert len([c for c in asked if c.startswith(f"{name}/")]) <= most
            assert (
                bench.trace.count(f"{name}/preflight")
                <= sum(DRAFTS) + DRAFTS[-1] + (ROUNDS + FREE_ROUNDS) * ATTEMPTS
            )
            assert bench.trace.count(f"{name}/gate") <= ROUNDS
        assert len([c for c in asked if c.startswith(("plan/", "contracts/"))]) <= CONTRACT_DEBATE
        assert bench.unapproved() == []
        sealed = set(bench.sealed())
        if status == "SHIPPED":
            assert sealed == {"double", "halve"}
        else:
            details = bench.escalation.details
            assert not sealed & ({*details.get("failed", {})} | {*details.get("abandoned", [])})
            assert sealed == set(details.get("shipped", {}))
        return status, asked


@pytest.mark.parametrize(
    ("worst", "bounds"),
    [
        (WORST, {"double/": MODULE_DEBATE}),
        (REOPENED, {"double/": REOPENING_DEBATE, ("plan/", "contracts/"): CONTRACT_DEBATE}),
    ],
    ids=["module", "reopened"],
)
def test_a_bound_is_reached_and_not_passed(worst: Tapes, bounds: dict[str | tuple[str, ...], int]):
    """F-9.3-01, D-10-05, D-11-01, D-11-04, D-18-02: it is as tight as it is said below, and the run halts."""
    status, asked = run(worst, agreed=False)
    assert status == "HALTED"
    assert {of: sum(call.startswith(of) for call in asked) for of in bounds} == bounds


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(tapes(most=6), st.booleans())
def test_no_answers_make_the_loop_run_on_or_ship_what_was_not_let_pass(given_tapes: Tapes, agreed: bool):
    """D-S1-02, F-1-01, F-6-03, F-9.3-01, D-10-05, D-10-06, D-11-01, D-11-04, D-11-05, D-11-06, D-18-02, D-25-01.

    The bound, from the rules alone: a debate has 1 + 2 rounds (D11). In a round of the contract debate the planner,
    the Challenger and the Arbiter each answer at most 3 times; amended contracts lock, and they lock at most twice,
    since the debate is reopened once (D10), for one round that costs no revision: 4 * 3 * 3 + 2 * 3 = 42. In a round of a
    module's debate the Proposer hands in a draft at most 4 times (D18), in its second round 3 and then 2 times, and
    Challenger, Arbiter and the amending Proposer answer at most 3 times each; what was amended may fail at the gate, so that
    each round may be amended: 4 + 3 + 2 + 3 * 3 * 3 = 36 for each module. The one module that reopens the contract debate
    has a round more, in which nothing is amended: 36 + 2 + 2 * 3 = 44.
    """
    run(given_tapes, agreed=agreed)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(tapes(most=12), st.booleans())
def test_no_answers_make_the_loop_run_on_in_many_more_runs(given_tapes: Tapes, agreed: bool):
    """F-9.3-01, D-11-01, D-25-01: the same with longer tapes."""
    run(given_tapes, agreed=agreed)
