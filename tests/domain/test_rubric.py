"""What the evidence of a challenge may cite (F§9.4, F§9.5)."""

from typing import Any

import pytest

from ship_gate.contract.contract import MicroModuleContract
from specwright.domain.answers import CRITERIA, ChallengerAnswer
from specwright.domain.debate.answer_rules import (
    Citable,
    checks_still_shown,
    compliance_problems,
    trace_problems,
)
from testkit.domain.doubling import DOUBLE, GIVEN
from testkit.loop.role_answers import PASSING, failing

IN_A_CONTRACT_DEBATE = Citable([DOUBLE])


def told(evidence: str, given: Citable, assessment: str = "MET", criterion: str = "R5") -> list[str]:
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


@pytest.mark.parametrize(
    "evidence",
    [
        "test_it_is_the_number_twice[three] shows six for three",
        "tests/test_double.py::test_a_negative_number_is_refused shows that very error",
        "test_inventory lists it: test_unlisted ran, too, and passed",
        "Every test_it_is_* of tests/test_double.py shows it",
        "/inputs/0/constraints/0-1 and /error_surfaces/0. Nothing is left open",
        "It is what the example 'Two and two' gives",
    ],
)
def test_what_is_there_may_be_cited(evidence: str):
    """F-9.4-06, F-9.5-02: tests by name, file, parameter or beginning; pointers; an example by its heading."""
    assert told(evidence, GIVEN) == []


@pytest.mark.parametrize(
    ("evidence", "wrong"),
    [
        ("/inputs/7/constraints/3 holds in every listed case", "no /inputs/7/constraints/3"),
        ("/purpose and /outputs/0/invariants/4 are both shown", "no /outputs/0/invariants/4"),
        ("test_of_another_module shows six for three there", "no test is called test_of_another_module"),
        ("test_it_is_the_number and test_unlisted show it", "no test is called test_it_is_the_number;"),
        ("For example it is quite right in all cases", "name a listed test"),
        ("The author has thought of everything that matters", "name a listed test"),
    ],
)
def test_what_is_not_there_shows_nothing(evidence: str, wrong: str):
    """F-9.4-06, F-9.5-02: a pointer, test or example that does not exist makes the review mild."""
    (problem,) = told(evidence, GIVEN)
    assert wrong in problem


def test_a_check_names_what_is_there():
    """F-9.1-02: the pointers and tests that acceptance checks trace to exist; a check that names none may say it in
    words."""
    checks = ["1: test_it_is_the_number_twice", "2: /inputs/7", "It is doubled.", "3: test_of_nothing"]
    assert trace_problems(checks, GIVEN) == [
        "acceptance_checks.1: the contract has no /inputs/7; cite what is there",
        "acceptance_checks.3: no test is called test_of_nothing; cite a listed one",
    ]


@pytest.mark.parametrize(
    ("instead", "missing"),
    [("modes", ""), ("a modest set", "modes"), ("modes_x", "modes")],
)
def test_each_dimension_is_named_as_a_word(instead: str, missing: str):
    """A longer word that holds the name of a dimension is another word (F-9.4-04)."""
    evidence = f"/inputs/0 and /outputs/0, error surfaces and effects are stated, and so are {instead}"
    problems = told(evidence, GIVEN, criterion="R1")
    wanted = (
        [f"R1 (rubric_assessments.0.evidence): name each dimension; missing: {missing}"] if missing else []
    )
    assert [problem for problem in problems if "dimension" in problem] == wanted


def test_what_is_missing_is_said_by_its_missing_name():
    """F-9.4-06: NOT_MET may name a test that ought to be there."""
    assert told("There is no test_of_nought, nor any other that shows nought.", GIVEN, "NOT_MET") == []


@pytest.mark.parametrize(
    ("evidence", "mild"),
    [
        ("/outputs/0/invariants/0 says in numbers what comes out", False),
        ("double names each failure that a number can cause", False),
        ("Each of the error surfaces says when it comes", False),
        ("The author has thought of everything that matters", True),
        ("/outputs/3 says in numbers what comes out", True),
    ],
)
def test_in_a_contract_debate_the_contracts_are_cited(evidence: str, mild: bool):
    """F-9.5-02, D-10-03: there are no tests yet, and evidence that names nothing of the contract is none."""
    assert bool(told(evidence, IN_A_CONTRACT_DEBATE)) is mild


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


@pytest.mark.parametrize(
    ("evidence", "mild"),
    [("/outputs/0 says twice that", True), ("/outputs/0 says it is twice", False)],
    ids=["four words", "five words"],
)
def test_evidence_has_five_words(evidence: str, mild: bool):
    """F-9.5-02: four are too few, five are enough."""
    assert (len(evidence.split()) < 5) is mild
    assert bool(told(f"{evidence}", GIVEN)) is mild


def test_the_words_of_a_name_count_as_evidence():
    """F-9.5-02: a test is mostly named for what it shows, and what is met needs no more than to be cited."""
    name = "test_it_is_the_number_twice"
    assert told(name, Citable([DOUBLE], frozenset({name}))) == []


@pytest.mark.parametrize(
    ("field", "text", "vague"),
    [
        ("evidence", "It fails.", True),
        ("evidence", "Minus one gives two.", True),
        ("evidence", "Minus one gives minus two.", False),
        ("required_change", "Refuse minus one always.", True),
        ("required_change", "Refuse minus one at once.", False),
        ("required_change", "Refuse minus one with the message of the contract.", False),
    ],
)
def test_a_failure_says_what_is_to_change(field: str, text: str, vague: bool):
    """F-9.5-02: evidence and required change have five words that say something."""
    failure = {
        "invariant": "/purpose",
        "evidence": "Minus one gives minus two here.",
        "required_change": "Refuse numbers below nought by ValueError.",
    }
    answer = {**failing(), "failures": [{**failure, field: text}]}
    found = compliance_problems(ChallengerAnswer.model_validate(answer), GIVEN)
    assert [problem.partition(":")[0] for problem in found] == ([f"failures.0.{field}"] if vague else [])


def test_exact_changes_say_what_is_to_change():
    """F-9.5-02, D-11-09: their texts are the change, so that nothing has to be said a second time."""
    change = {
        "action": "ADD",
        "target": "contract:double#/error_cases/-",
        "detail": "Zero is given back as nought",
    }
    failure = {
        "invariant": "/purpose",
        "evidence": "Nothing says what becomes of zero.",
        "required_change": "As below.",
    }
    answer = {**failing(), "failures": [{**failure, "exact_changes": [change]}]}
    assert compliance_problems(ChallengerAnswer.model_validate(answer), GIVEN) == []
    answer["failures"][0]["exact_changes"] = []
    assert compliance_problems(ChallengerAnswer.model_validate(answer), GIVEN) != []


@pytest.mark.parametrize(
    ("check", "kept"),
    [
        ("3: test_a, test_b", ["3: test_a, test_b"]),
        ("3: test_a, test_gone and test_b", ["3: test_a, test_b"]),
        ("3: test_gone", []),
        ("3: the example 'Two'", ["3: the example 'Two'"]),
        ("test_a shows it", []),
    ],
)
def test_a_check_is_kept_as_far_as_its_tests_are_there(check: str, kept: list[str]):
    """F-17.2-11: of a version whose files a person has changed."""
    assert checks_still_shown([check], {"test_a", "test_b"}) == kept
