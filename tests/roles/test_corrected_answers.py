"""An answer that was refused is corrected by its changes (D-11-04, design: falsifying-tests)."""

from collections.abc import Sequence
from typing import Any

import pytest

from specwright.domain.answers import ChallengerAnswer, PlanAnswer
from specwright.errors import AnswerError
from specwright.roles.agent.submission import Submission, parser
from testkit.loop.role_answers import PASSING, plan, planned

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


def submission() -> Submission[ChallengerAnswer]:
    """Where a Challenger hands in."""
    form = parser(ChallengerAnswer, pointers, changing="/rubric_assessments/0/evidence")
    return Submission(form, 3, "it")


def test_one_wrong_pointer_is_corrected_by_itself():
    """D-13-01, F-9.5-03: the others, and the review, stay as they are; the whole answer will do as well."""
    desk = submission()
    told = desk.offer({**PASSING, FIELD: [WRONG, SOUND]})
    assert "- falsifying_tests.0: the contract has no /outputs/7\n" in told
    assert "changes: you need not write the whole again" in told
    assert "rubric_assessments" in desk.offer({FIELD: [RIGHT]})
    correction = {"op": "replace", "path": f"/{FIELD}/0", "value": RIGHT}
    assert desk.offer({"changes": [correction]}) == "Accepted."
    assert desk.accepted is not None
    assert [test.obligation for test in desk.accepted.falsifying_tests] == ["/outputs/0", ""]


def refused_form(said: str) -> dict[str, Any]:
    """An answer that does not fit the schema: an assessment says something else than its words."""
    first, *others = PASSING["rubric_assessments"]
    return {**PASSING, "rubric_assessments": [{**first, "assessment": said}, *others], FIELD: [SOUND]}


def test_what_changes_in_an_answer_of_the_wrong_form_will_do():
    """D-11-04, D-S6-04: a field of a long answer is corrected by itself, and the rest stands."""
    desk, wrong = submission(), refused_form("PERHAPS")
    told = desk.offer(wrong)
    assert "rubric_assessments.0.assessment" in told
    assert '"path": "/rubric_assessments/0/evidence"' in told
    correction = {"changes": [{"op": "replace", "path": "/rubric_assessments/0/assessment", "value": "MET"}]}
    assert "Accepted" in desk.offer(correction)
    assert desk.accepted is not None
    assert desk.accepted.to_json() == ChallengerAnswer.model_validate(refused_form("MET")).to_json()


def test_changes_that_do_not_fit_leave_the_answer_as_it_was():
    """D-11-04: the next ones are of the answer that was there."""
    desk = submission()
    desk.offer(refused_form("PERHAPS"))
    path = "/rubric_assessments/0/assessment"
    assert "none was made" in desk.offer({"changes": [{"op": "replace", "path": path, "value": "MAYBE"}]})
    assert "Accepted" in desk.offer({"changes": [{"op": "replace", "path": path, "value": "MET"}]})


def test_a_part_of_an_answer_is_none_that_changes_could_be_of():
    """D-S6-04: what was handed in must be seen to be the answer."""
    assert "changes" not in submission().offer({"criterion": "R1", "assessment": "PERHAPS"})
    assert "changes" not in submission().offer({})


def test_advice_for_the_role_is_no_problem_that_a_person_reads():
    """How a long answer is corrected concerns the role alone (F-10-10)."""
    form = parser(PlanAnswer, lambda _: ["modules.0: wrong"], changing="/modules/0/purpose")
    offered = Submission(form, 1, "the planner")
    assert "JSON Patch" in offered.offer(plan(planned("double")))
    with pytest.raises(AnswerError) as halted:
        offered.ensure_open()
    assert halted.value.problems == ("modules.0: wrong",)
    assert "JSON Patch" not in str(halted.value)
