"""What the evidence of a challenge may cite (F§9.4, F§9.5)."""

from typing import Any

import pytest
from pydantic import ValidationError

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.answers import CRITERIA, ChallengerAnswer
from specwright.domain.debate.answer_rules import (
    CITED_BY_A_FAULT,
    Citable,
    checks_still_shown,
    compliance_problems,
    trace_problems,
)
from specwright.domain.debate.records import Adjudication, Challenge
from specwright.roles.team import prompt
from testkit.domain.doubling import DOUBLE, GIVEN
from testkit.loop.role_answers import PASSING, failing

IN_A_CONTRACT_DEBATE = Citable([DOUBLE])


def told(evidence: str, given: Citable, assessment: str = "MET", criterion: str = "R2") -> list[str]:
    """What is wrong with a challenge one of whose criteria is judged so."""
    answer: dict[str, Any] = {
        **PASSING,
        "rubric_assessments": [dict(a) for a in PASSING["rubric_assessments"]],
    }
    answer["rubric_assessments"][CRITERIA.index(criterion)] |= {
        "evidence": evidence,
        "assessment": assessment,
    }
    if assessment == "NOT_MET":
        failure = {"invariant": "/purpose", "evidence": "Nothing shows it.", "required_change": "Show it."}
        answer |= {"verdict": "FAIL", "failures": [failure]}
    found = compliance_problems(ChallengerAnswer.model_validate(answer), given)
    return [problem for problem in found if problem.startswith(criterion)]


CITED = [
    "test_it_is_the_number_twice[three] shows six for three",
    "tests/test_double.py::test_a_negative_number_is_refused shows that very error",
    "test_inventory lists it: test_unlisted ran, too, and passed",
    "Every test_it_is_* of tests/test_double.py shows it",
    "/inputs/0/constraints/0-1 and /error_surfaces/0. Nothing is left open",
    "It is what the example 'Two and two' gives",
]
NOWHERE = {
    "/inputs/7/constraints/3 holds in every listed case": "no /inputs/7/constraints/3",
    "/purpose and /outputs/0/invariants/4 are both shown": "no /outputs/0/invariants/4",
    "test_of_another_module shows six for three there": "no test is called test_of_another_module",
    "test_it_is_the_number and test_unlisted show it": "no test is called test_it_is_the_number;",
    "For example it is quite right in all cases": "name a listed test",
    "The author has thought of everything that matters": "name a listed test",
}


def test_what_is_there_may_be_cited():
    """F-9.4-06, F-9.5-02: tests by name, file, parameter or beginning; pointers; an example by its heading. What does not
    exist makes the review mild, but NOT_MET may name a test that ought to be there."""
    assert [told(evidence, GIVEN) for evidence in CITED] == [[]] * len(CITED)
    for evidence, wrong in NOWHERE.items():
        (problem,) = told(evidence, GIVEN)
        assert wrong in problem
    assert told("There is no test_of_nought, nor any other that shows nought.", GIVEN, "NOT_MET") == []
    assert told("Something about it does not convince me yet", GIVEN, "NOT_MET") != []
    assert told("Nothing shows at all what criterion 2 asks for", GIVEN, "NOT_MET") == []


def test_criteria_are_traced_to_a_test_or_an_example():
    """F-9.4-06: a pointer says what is promised, and not that it is met. In a contract debate there is nothing else, and a
    criterion that cannot be shown has no test."""
    for evidence in CITED:
        found = told(evidence, GIVEN, criterion="R5")
        assert bool(found) is ("test_" not in evidence and "'Two and two'" not in evidence), evidence
    (problem,) = told("/purpose and /outputs/0/invariants/0 say all of it", GIVEN, criterion="R5")
    assert "name a listed test or the heading of an example" in problem
    assert told("/outputs/0/invariants/0 says all of it", IN_A_CONTRACT_DEBATE, criterion="R5") == []


def test_a_check_names_what_is_there():
    """F-9.1-02: the pointers and tests that acceptance checks trace to exist; a check that names none may say it in
    words."""
    checks = ["1: test_it_is_the_number_twice", "2: /inputs/7", "It is doubled.", "3: test_of_nothing"]
    assert trace_problems(checks, GIVEN) == [
        "acceptance_checks.1: the contract has no /inputs/7; cite what is there",
        "acceptance_checks.3: no test is called test_of_nothing; cite a listed one",
    ]


def test_each_dimension_is_named_as_a_word():
    """A longer word that holds the name of a dimension is another word (F-9.4-04)."""
    evidence = "/inputs/0 and /outputs/0, error surfaces and effects are stated, and so are "
    for instead, missing in (("modes", []), ("a modest set", ["modes"]), ("modes_x", ["modes"])):
        problems = told(f"{evidence}{instead}", GIVEN, criterion="R1")
        assert [problem for problem in problems if "dimension" in problem] == [
            f"R1 (rubric_assessments.0.evidence): name each dimension; missing: {one}" for one in missing
        ]


def test_in_a_contract_debate_the_contracts_are_cited():
    """F-9.5-02, D-10-03: there are no tests yet, and evidence that names nothing of the contract is none."""
    for evidence, mild in (
        ("/outputs/0/invariants/0 says in numbers what comes out", False),
        ("double names each failure that a number can cause", False),
        ("Each of the error surfaces says when it comes", False),
        ("The author has thought of everything that matters", True),
        ("/outputs/3 says in numbers what comes out", True),
    ):
        assert bool(told(evidence, IN_A_CONTRACT_DEBATE)) is mild, evidence


NEEDS = MicroModuleContract.model_validate(
    {**DOUBLE.to_json(), "dependencies": [{"ref": "MM-00000002@1.0.0", "why": "It adds."}]}
)


@pytest.mark.parametrize("given", [GIVEN, IN_A_CONTRACT_DEBATE], ids=["implementation", "contracts"])
def test_without_dependencies_the_empty_dimension_is_cited(given: Citable):
    """F-9.4-06, F-9.5-02: R4 is MET where there are none, and that is shown as all is."""
    assert told("/dependencies is empty: it calls nothing.", given, criterion="R4") == []
    assert given is not GIVEN or told("The contract has no dependencies.", given, criterion="R4") != []
    assert told("looks correct", given, criterion="R4") != []
    assert told("No dependencies.", given, criterion="R4") != []
    assert told("Nothing is called, as far as anybody can see.", given, criterion="R4") != []
    assert told("All that was asked for is there.", given, criterion="R6") != []
    assert told("They are used as they should be.", given._replace(contracts=[NEEDS]), criterion="R4") != []


def test_evidence_has_five_words():
    """F-9.5-02: four are too few, five are enough unless they are stock phrases; a test is mostly named for what it shows,
    so that the words of its name count."""
    assert told("/outputs/0 says twice that", GIVEN)
    assert told("/outputs/0 says it is twice", GIVEN) == []
    assert told("/outputs/0 looks correct and works as expected.", GIVEN)
    assert told("/outputs/0 looks correct and is twice the number.", GIVEN) == []
    name = "test_it_is_the_number_twice"
    assert told(name, Citable([DOUBLE], frozenset({name}))) == []


CHANGE = "Refuse numbers below nought by ValueError."
FAILURE = {"invariant": "/purpose", "evidence": "double(-1) gives -2 here, too.", "required_change": CHANGE}


def test_a_failure_says_what_is_to_change():
    """F-9.5-02: evidence and required change have five words that say something, and evidence names something; the prompt
    says so in the words of the check."""
    assert CITED_BY_A_FAULT in prompt("challenger")
    for field, text, vague in (
        ("evidence", "It fails.", True),
        ("evidence", "/purpose: -1 gives.", True),
        ("evidence", "Something about it does not convince me yet.", True),
        ("evidence", "It is not as R5 asks for it.", True),
        ("evidence", "Minus one gives as much as 2.", False),
        ("evidence", "Nobody says what becomes of an empty 'number'.", False),
        ("evidence", "No test_of_nought is among those that are listed.", False),
        ("evidence", "Nothing shows what criterion 2 asks for.", False),
        ("evidence", "Its error surfaces leave out what is too large.", False),
        ("evidence", "The example 'Two and two' contradicts the others.", False),
        ("required_change", "Refuse minus one always.", True),
        ("required_change", "Refuse minus one at once.", False),
        ("required_change", "Refuse minus one with the message of the contract.", False),
    ):
        answer = {**failing(), "failures": [{**FAILURE, field: text}]}
        found = compliance_problems(ChallengerAnswer.model_validate(answer), GIVEN)
        assert [problem.partition(":")[0] for problem in found] == [f"failures.0.{field}"] * vague, text


def test_exact_changes_say_what_is_to_change():
    """F-9.5-02, D-11-09: their texts are the change, so that nothing has to be said a second time."""
    target, detail = "contract:double#/error_cases/-", "Zero is given back as nought"
    change = {"action": "ADD", "target": target, "detail": detail}
    failure = {**FAILURE, "evidence": "Nothing says what becomes of 0.", "required_change": "As below."}
    for changes in ([change], []):
        answer = {**failing(), "failures": [{**failure, "exact_changes": changes}]}
        found = compliance_problems(ChallengerAnswer.model_validate(answer), GIVEN)
        assert bool(found) is not bool(changes)


def test_a_check_is_kept_as_far_as_its_tests_are_there():
    """F-17.2-11: of a version whose files a person has changed."""
    for check, kept in (
        ("3: test_a, test_b", ["3: test_a, test_b"]),
        ("3: test_a, test_gone and test_b", ["3: test_a, test_b"]),
        ("3: test_gone", []),
        ("3: the example 'Two'", ["3: the example 'Two'"]),
        ("test_a shows it", []),
    ):
        assert checks_still_shown([check], {"test_a", "test_b"}) == kept


def test_a_record_refuses_what_contradicts_itself():
    """Whoever makes it: five judgements, a PASS with a failure or with NOT_MET, a REJECT that ships (F-9.1-06, F-9.4-01)."""
    judged = PASSING["rubric_assessments"]
    verdict = {**PASSING, "challenge_id": "CHAL-00000001", "target_artifact_id": "IMPL-00000001"}
    ruling = {
        "adjudication_id": "ADJ-00000001",
        "target_artifact_id": "IMPL-00000001",
        "decision": "APPROVE",
        "amendments": [],
        "rationale": "Every criterion is shown.",
        "ship_directive": "SHIP",
    }
    assert Challenge.model_validate(verdict).verdict == "PASS"
    assert Adjudication.model_validate(ruling).decision == "APPROVE"
    unmet = [{**judged[0], "assessment": "NOT_MET"}, *judged[1:]]
    for broken in ({"rubric_assessments": judged[:5]}, {"rubric_assessments": unmet}, {"verdict": "FAIL"}):
        with pytest.raises(ValidationError):
            Challenge.model_validate({**verdict, **broken})
    for broken in (
        {"decision": "REJECT"},
        {"decision": "APPROVE_WITH_AMENDMENTS"},
        {"ship_directive": "NO_SHIP"},
    ):
        with pytest.raises(ValidationError):
            Adjudication.model_validate({**ruling, **broken})
