"""A faulty item of an answer goes back alone (D-11-04, design: falsifying-tests)."""

from collections.abc import Sequence
from typing import Any

from specwright.domain.answers.answers import ChallengerAnswer
from specwright.roles.answers.submission import Submission, parser
from testkit.loop.role_answers import PASSING

FIELD = "falsifying_tests"


def handed(name: str, obligation: str) -> dict[str, Any]:
    """A falsifying test."""
    return {"name": name, "obligation": obligation, "source": f"def {name}():\n    assert double(3) == 6\n"}


SOUND, WRONG, RIGHT = (
    handed("test_one", ""),
    handed("test_two", "/outputs/7"),
    handed("test_two", "/outputs/0"),
)


def pointers(answer: ChallengerAnswer) -> Sequence[str]:
    """One pointer is wrong."""
    return [
        f"{FIELD}.{i}: the contract has no {test.obligation}"
        for i, test in enumerate(answer.falsifying_tests)
        if test.obligation == "/outputs/7"
    ]


def submission(*more: str) -> Submission[ChallengerAnswer]:
    """Where a Challenger hands in."""
    return Submission(parser(ChallengerAnswer, lambda one: [*pointers(one), *more], resent=FIELD), 3, "it")


def test_one_wrong_pointer_sends_one_test_back():
    """D-13-01: the others, and the review, stand."""
    desk = submission()
    told = desk.offer({**PASSING, FIELD: [WRONG, SOUND]})
    assert "- falsifying_tests.0: the contract has no /outputs/7\n" in told
    assert "hand in this field alone, with these corrected" in told
    assert desk.offer({FIELD: [RIGHT]}) == "Accepted."
    assert desk.accepted is not None
    assert [test.name for test in desk.accepted.falsifying_tests] == ["test_one", "test_two"]
    assert [test.obligation for test in desk.accepted.falsifying_tests] == ["", "/outputs/0"]


def test_a_correction_that_is_wrong_again_is_an_attempt():
    """D-11-04: and goes back alone once more."""
    desk = submission()
    desk.offer({**PASSING, FIELD: [SOUND, WRONG]})
    assert "hand in this field alone" in desk.offer({FIELD: [WRONG]})
    assert desk.offer({FIELD: [RIGHT]}) == "Accepted."


def test_the_whole_answer_may_be_handed_in_all_the_same():
    """D-11-04: as before."""
    desk = submission()
    desk.offer({**PASSING, FIELD: [SOUND, WRONG]})
    assert desk.offer({**PASSING, FIELD: [RIGHT]}) == "Accepted."
    assert desk.accepted is not None
    assert len(desk.accepted.falsifying_tests) == 1


def test_where_something_else_is_wrong_the_answer_goes_back_whole():
    """F-9.5-03, D-11-04: tests alone are then no answer."""
    desk = submission("R1 (rubric_assessments.0.evidence): say what shows it")
    assert "hand in this field alone" not in desk.offer({**PASSING, FIELD: [SOUND, WRONG]})
    assert "rubric_assessments" in desk.offer({FIELD: [RIGHT]})
    assert desk.accepted is None
