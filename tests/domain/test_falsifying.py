"""Falsifying tests and the rulings on them (D10, D13, F§9.3)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.independent_tests import FalsifyingTest
from specwright.domain.answers import (
    CRITERIA,
    ArbiterAnswer,
    ChallengerAnswer,
    Failure,
    FaultOf,
    StruckTest,
    Verdict,
)
from specwright.domain.debate.answer_rules import is_disputed, overturns, ruling_problems
from specwright.domain.debate.records import (
    Challenge,
    TriedTest,
    active_tests,
    as_regression_tests,
    challenge,
    counterexample,
    named_in,
    naming_problems,
    still_counting,
)

CONTRACT = MicroModuleContract.model_validate(
    {
        "module_id": "MM-00000001",
        "module_version": "1.0.0",
        "name": "double",
        "purpose": "Double a number.",
        "tags": ["numbers"],
        "inputs": [{"name": "number", "type": "int", "constraints": ["is not negative"]}],
        "outputs": [{"name": "result", "type": "int", "invariants": ["is the number twice"]}],
        "error_surfaces": [],
        "effects": [],
        "modes": {"sync": True, "async": False},
        "error_cases": ["Nought"],
        "dependencies": [],
    }
)
NOW, EARLIER = "a" * 64, "b" * 64
ASSESSED = [
    {"criterion": name, "assessment": "MET", "evidence": "/inputs/0 shows it in so many words."}
    for name in CRITERIA
]
PROSE = {
    "invariant": "/inputs/0",
    "evidence": "Nothing shows nought.",
    "required_change": "Show what nought gives.",
}


def tried(name: str, verdict: Verdict = Verdict.FAIL, against: str = NOW) -> TriedTest:
    """A test as it was tried."""
    return TriedTest(
        name=name,
        obligation="",
        source=f"def {name}(): assert double(2) == 4",
        contract_sha256=against,
        result=verdict,
        message="4 is not 5",
    )


def challenged(*tests: TriedTest, failures: Any = (), unmet: str = "", **changes: Any) -> Challenge:
    """A challenge with tests that were tried."""
    assessed = [{**a, "assessment": "NOT_MET"} if a["criterion"] == unmet else a for a in ASSESSED]
    answer = ChallengerAnswer.model_validate(
        {
            "rubric_assessments": assessed,
            "verdict": "FAIL" if failures or unmet else "PASS",
            "failures": list(failures) or ([PROSE] if unmet else []),
            **changes,
        }
    )
    return challenge(answer, "CHAL-00000001", "IMPL-00000001", tests)


def ruled(decision: str = "REJECT", **changes: Any) -> ArbiterAnswer:
    """A ruling."""
    directive = "NO_SHIP" if decision == "REJECT" else "SHIP"
    amendments = [{"action": "ADD", "target": "test:test_x", "detail": "Add a test that doubles three."}]
    given = {
        "decision": decision,
        "ship_directive": directive,
        "rationale": "What was shown decides it, and it was shown.",
        "amendments": amendments if decision == "APPROVE_WITH_AMENDMENTS" else [],
    }
    return ArbiterAnswer.model_validate({**given, **changes})


def struck(
    name: str, pointer: str = "/outputs/0/invariants/0", reason: str = "It asks for more than it says."
) -> Any:
    """A strike."""
    return {"test": name, "contract_pointer": pointer, "reason": reason}


def test_one_failed_test_makes_the_verdict_fail_and_is_a_failure_of_its_own():
    """D-13-02: whatever the rubric says; a test that passes changes nothing."""
    found = challenged(tried("test_a"), tried("test_b", Verdict.PASS))
    assert found.verdict is Verdict.FAIL
    assert found.failures == [counterexample(tried("test_a"))]
    assert challenged(tried("test_b", Verdict.PASS)).verdict is Verdict.PASS


DISPUTED = [
    challenged(tried("test_a")),
    challenged(tried("test_a"), failures=[{**PROSE, "evidence": "test_a fails, as it must."}]),
    challenged(tried("test_a"), failures=[PROSE]),
    challenged(tried("test_a"), unmet="R2"),
    challenged(failures=[{**PROSE, "fault": "contract"}]),
    challenged(failures=[{**PROSE, "fault": "plan"}], unmet="R6"),
]


def test_a_fail_goes_to_the_arbiter_first_only_if_tests_failed_or_it_lies_above():
    """D-13-03, D-13-04, D-10-05, D-10-06: otherwise it costs its revision at once."""
    assert [found for found in DISPUTED if not is_disputed(found)] == []
    costly = challenged(tried("test_a", Verdict.PASS)), challenged(unmet="R2")
    assert [found for found in costly if is_disputed(found)] == []


def test_a_name_that_begins_like_a_test_names_another():
    """D-13-02, D-13-04: a listed test is not taken for the falsifying one whose name it begins with."""
    longer = {**PROSE, "evidence": "test_a_number_of_tests shows nothing for nought."}
    assert not challenged(tried("test_a"), failures=[longer]).rests_on_tests
    assert named_in(Failure.model_validate(longer), ["test_a"]) == []
    assert named_in(Failure.model_validate({**PROSE, "evidence": "See `test_a`."}), ["test_a"]) == ["test_a"]


BOTH_STRUCK = [struck("test_a"), struck("test_b")]
RULINGS: list[tuple[ArbiterAnswer, int, str]] = [
    (ruled("APPROVE"), 2, "strike every failed test"),
    (ruled("APPROVE"), 0, "APPROVE is refused"),
    (ruled("APPROVE_WITH_AMENDMENTS"), 1, "rule REJECT"),
    (ruled("APPROVE", struck_tests=[struck("test_a")]), 2, "strike every failed test"),
    (ruled(struck_tests=[struck("test_c")]), 2, "is no failed test"),
    (ruled(struck_tests=[struck("test_a", "/outputs/3")]), 2, "has no /outputs/3"),
    (ruled(struck_tests=[struck("test_a", reason="Too much was asked.")]), 2, "say why"),
    (ruled(struck_tests=[struck("test_a", reason="Too much was asked here.")]), 2, ""),
    (ruled(confirmed_fault="plan"), 2, "no failure of this challenge is marked plan"),
    (ruled("APPROVE_WITH_AMENDMENTS"), 0, ""),
    (ruled("APPROVE", struck_tests=BOTH_STRUCK), 0, ""),
    (ruled(struck_tests=BOTH_STRUCK), 2, ""),
    (ruled(), 2, ""),
]


def test_what_may_be_ruled_on_counterexamples():
    """D-13-03, D-13-04, F-9.3-03: strike with a pointer and a reason; a FAIL that stands is no approval."""
    failed = challenged(tried("test_a"), tried("test_b"))
    for ruling, left, problem in RULINGS:
        problems = ruling_problems(ruling, failed, [CONTRACT], left)
        assert bool(problem) is bool(problems), ruling
        assert problem in "; ".join(problems)


def test_with_all_struck_nothing_is_left_of_the_failures_and_with_some_the_rest_is():
    """D-13-04: what a Proposer is told are the tests that stand, and whatever was not about tests."""
    found = challenged(tried("test_a"), tried("test_b"), failures=[{**PROSE, "evidence": "test_a fails."}])
    both = [StruckTest.model_validate(struck(name)) for name in ("test_a", "test_b")]
    assert overturns(found, both)
    assert not overturns(found, both[:1])
    assert found.without(both[:1]) == [counterexample(tried("test_b"))]
    assert Failure.model_validate(PROSE) in challenged(tried("test_a"), failures=[PROSE]).without(both)


def test_a_confirmed_fault_goes_with_a_rejection():
    """D-10-05, D-10-06: what is wrong above the module cannot ship."""
    with pytest.raises(ValidationError, match="confirmed_fault goes with REJECT"):
        ruled("APPROVE", confirmed_fault="contract")
    assert challenged(failures=[{**PROSE, "fault": "contract"}]).faults(FaultOf.CONTRACT)


def test_an_answer_holds_few_small_tests_with_names_of_their_own():
    """D-13-01: five at most, of 4,000 characters each."""
    one = {"name": "test_a", "obligation": "", "source": "def test_a(): assert double(2) == 4"}
    for tests in (
        [one, one],
        [{**one, "name": f"test_{i}"} for i in range(6)],
        [{**one, "source": "x" * 4001}],
    ):
        with pytest.raises(ValidationError):
            challenged(falsifying_tests=tests)
    again = [FalsifyingTest.model_validate(one)]
    assert "take another name" in naming_problems(again, [tried("test_a")])[0]
    assert naming_problems(again, [tried("test_b")]) == []


NAMES = st.sampled_from(["test_a", "test_b", "test_c", "test_d"])


@given(
    st.lists(
        st.tuples(NAMES, st.sampled_from(Verdict), st.sampled_from([NOW, EARLIER])), unique_by=lambda t: t[0]
    ),
    st.sets(NAMES),
)
def test_a_test_stands_until_it_is_struck_or_its_contract_is_gone(all_tried: list[Any], gone: set[str]):
    """D-13-05: whether it failed or passed when it was tried."""
    tests = [tried(name, verdict, against) for name, verdict, against in all_tried]
    strikes = [StruckTest.model_validate(struck(name)) for name in gone]
    found = {one.name for one in active_tests(tests, strikes, NOW)}
    assert found == {one.name for one in tests if one.contract_sha256 == NOW} - gone


INVARIANT, OTHER_WORDS = "/outputs/0/invariants/0", {"purpose": "Double any number."}
LATER: list[tuple[str, dict[str, Any], bool]] = [
    (INVARIANT, {"module_version": "1.0.1", "error_cases": ["One"]}, True),
    (INVARIANT, OTHER_WORDS, True),
    (INVARIANT, {"inputs": [{"name": "number", "type": "int", "constraints": []}]}, False),
    (INVARIANT, {"outputs": []}, False),
    ("/error_surfaces/0", {"outputs": []}, True),
    ("", {"module_version": "1.0.1"}, True),
    ("", OTHER_WORDS, False),
    ("/inputs/0/constraints/0", {"outputs": []}, False),
]


def test_a_test_counts_for_a_later_version_unless_what_it_looks_at_changed():
    """The inputs, and the dimension of its statement; of the purpose and of constraints, anything."""
    for obligation, changed, counts in LATER:
        more = {"obligation": obligation, "criteria": [1, 9]}
        one = tried("test_three", Verdict.PASS).model_copy(update=more)
        sealed = as_regression_tests([one], ["Doubles three"], CONTRACT.ref)
        assert [test.criteria for test in sealed] == [["Doubles three"]]
        later = MicroModuleContract.model_validate({**CONTRACT.to_json(), **changed})
        assert still_counting(sealed, CONTRACT, later) == (sealed if counts else []), (obligation, changed)
