"""A criterion that no test can show: judged, set aside, asked about, and carried to all who judge it later (F§9.4, D42)."""

from pathlib import Path
from typing import Any

import pytest

from specwright.application.criteria import carried_rulings, open_questions, unshown_in_release
from specwright.application.escalation.offers import resolve
from specwright.application.tasks import project_state, task_at
from specwright.domain.escalation import HumanResolution
from specwright.errors import RefusedError
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.late_faults import REPLANNED, confirming, faulty
from testkit.loop.role_answers import (
    PASSING,
    WHY_UNSHOWN,
    approving,
    aside,
    plan,
    planned,
    rejecting,
    unshown,
)

WHY = WHY_UNSHOWN
TWO = "Raises ValueError for an empty file"


ONE = plan(planned("double"))
ANSWERS: dict[str, list[Any]] = {
    "contracts/round-1/challenger": [unshown(2)],
    "contracts/round-1/arbiter": [aside(2)],
}


def messages(bench: DebateWorkbench, subject: str) -> dict[str, str]:
    """What each role was asked about a subject, by stage and role."""
    asked = [one for one in bench.roles.asked if one.place.subject == subject]
    return {f"{one.place.stage}/{one.place.role}": one.message for one in asked}


def test_a_ruling_is_carried_to_everybody_who_judges_the_criterion_later(directory: Path):
    """The task goes on and ships; a person is asked (F-9.4-06, D-42-04, D-42-05)."""
    with DebateWorkbench(directory, script(ANSWERS, ONE)) as bench:
        assert bench.begin() == "SHIPPED"
        told = f"criterion 2: set aside by the Arbiter: {WHY}"
        assert "2. " + TWO in messages(bench, "contracts")["round-1/challenger"]
        assert "no test can show these criteria: 2" in messages(bench, "contracts")["round-1/arbiter"]
        for where in messages(bench, "double"):
            message = bench.roles.told_at(f"double/{where}")
            assert f"2. {TWO}\n   {told}" in message
            said = "A contract that says otherwise was amended since, and holds."
            assert f"# What the planner says of the contracts\n\n{ONE['claim']}\n\n{said}" in message
        (question,) = open_questions(bench.factory)
        details = bench.factory.escalations.escalation(question).details
        assert (details["criterion"], details["text"], details["reason"]) == (2, TWO, WHY)
        assert bench.unapproved() == []


def about(invariant: str, evidence: str, *unmet: str) -> dict[str, Any]:
    """A FAIL of one failure."""
    judged = [
        {**one, "assessment": "NOT_MET" if one["criterion"] in unmet else "MET"}
        for one in PASSING["rubric_assessments"]
    ]
    failure = {
        "invariant": invariant,
        "evidence": evidence,
        "required_change": "Show what it asks for in a test.",
    }
    return {**PASSING, "rubric_assessments": judged, "verdict": "FAIL", "failures": [failure]}


def test_a_fail_about_a_criterion_that_was_set_aside_is_asked_again(directory: Path):
    """D-42-03: it costs no revision; one about something else as well does."""
    wrong: list[str] = []
    for number, (said, counts) in enumerate(
        (
            (about("Criterion 2 is shown", "No listed test gives '' as a file.", "R5"), False),
            (about("Every criterion is shown", "No listed test shows criterion 2 at all.", "R5"), False),
            (about("Criteria 1 and 2 are shown", "No listed test gives '' as a file.", "R5"), True),
            (about("Criterion 2 is shown", "No listed test gives '' as a file.", "R2"), True),
            (about("/outputs/0/invariants/0: twice", "Criterion 2 is not kept to for 3.", "R5"), True),
        )
    ):
        answers = {**ANSWERS, "double/round-1/challenger": [said, PASSING]}
        with DebateWorkbench(directory / str(number), script(answers, ONE)) as bench:
            assert bench.begin() == "SHIPPED"
            refused = ["which a ruling set aside" in refusal for refusal in bench.roles.refusals]
            rounds = len(bench.records()["double"])
            if (refused, rounds) != (([], 2) if counts else ([True], 1)):
                wrong.append(f"{said['failures'][0]['invariant']}: {bench.roles.refusals}, {rounds}")
    assert wrong == []


def test_a_planner_sees_the_ruling_of_an_earlier_round(directory: Path):
    """In the contract debate itself and in one that is reopened (F-9.4-06)."""
    answers = {
        **ANSWERS,
        "contracts/round-1/arbiter": [aside(2, ruling=rejecting("Say what twice means for a large number."))],
        "plan/round-2/planner": [REPLANNED],
        "double/round-1/challenger": [faulty("contract", "Nothing says what twice means for 0.")],
        "double/round-1/arbiter": [confirming("contract")],
        "plan/round-3/planner": [REPLANNED],
    }
    with DebateWorkbench(directory, script(answers)) as bench:
        assert bench.begin() == "SHIPPED"
        asked = messages(bench, "plan")
        assert "set aside" not in asked["round-1/planner"]
        assert all("criterion 2: set aside by the Arbiter" in asked[f"round-{n}/planner"] for n in (2, 3))
        assert len(open_questions(bench.factory)) == 1


WRONG: list[tuple[list[Any], list[Any], str]] = [
    (
        [unshown(2)],
        [approving(), aside(2)],
        "that 2 cannot be shown: set it aside with a reason, or rule REJECT",
    ),
    ([unshown(2)], [aside(1, 2), aside(2)], "no judge says of 1 that it cannot be shown; of these: 2"),
    ([PASSING], [aside(2), approving()], "set_aside: Extra inputs are not permitted"),
    ([unshown(2)], [aside(2, why="No test shows that."), aside(2)], "set_aside.0.reason: say why no test"),
    ([unshown(3), PASSING], [], "the task has 2 criteria, numbered from 1"),
    ([unshown(2, why="It is not good."), PASSING], [], "say which limit forbids it"),
    ([unshown(), PASSING], [], "CANNOT_BE_SHOWN is for R5, and comes with unshown_criteria"),
    (
        [{**PASSING, "unshown_criteria": unshown(2)["unshown_criteria"]}, PASSING],
        [],
        "CANNOT_BE_SHOWN is for R5",
    ),
]


def test_a_judge_names_a_criterion_and_its_limit_and_settles_nothing_else(directory: Path):
    """The Challenger says which and why, the Arbiter settles what the challenge names; each is asked again (F-9.4-06,
    F-9.5-01, D-11-03, D-42-06)."""
    for number, (challenges, rulings, refused) in enumerate(WRONG):
        answers = {"contracts/round-1/challenger": challenges}
        if rulings:
            answers["contracts/round-1/arbiter"] = rulings
        with DebateWorkbench(directory / str(number), script(answers, ONE)) as bench:
            assert bench.begin() == "SHIPPED"
            (refusal,) = bench.roles.refusals
            assert refused in refusal


REWORDED = "Raises ValueError that says empty"


@pytest.mark.parametrize(
    ("action", "reworded", "answer", "left"),
    [
        ("ACCEPT_UNSHOWN", {}, "accepted without being shown: Why not.", [TWO]),
        ("DROP_CRITERION", {}, "dropped: Why not.", []),
        (
            "REWORD_CRITERION",
            {"reworded_criterion": REWORDED},
            f"reworded, for what has not shipped: {REWORDED} (Why not.)",
            [REWORDED],
        ),
    ],
)
def test_an_answer_stands_in_the_release_and_changes_what_a_halted_task_is_run_again_for(
    directory: Path, action: str, reworded: dict[str, str], answer: str, left: list[str]
):
    """Taken while nothing waits, once, and only with an action that suits it; of a halted task the criterion is gone or
    another one, with the old ones in the history (F-17.2-01)."""

    def given(question: str, action: str = action) -> HumanResolution:
        payload = {"rationale": "Why not.", **(reworded if action != "ABANDON_TASK" else {})}
        return HumanResolution.model_validate(
            {"action": action, "payload": payload, "escalation_id": question}
        )

    with DebateWorkbench(directory / "shipped", script(ANSWERS, ONE)) as bench:
        bench.begin()
        (question,) = open_questions(bench.factory)
        with pytest.raises(RefusedError, match="ABANDON_TASK does not suit"):
            resolve(bench.factory, given(question, "ABANDON_TASK"))
        assert resolve(bench.factory, given(question)) == question
        assert open_questions(bench.factory) == []
        scope = bench.factory.journal.scope("release/1")
        (listed,) = unshown_in_release(bench.factory, scope, list(project_state(bench.factory).tasks))
        assert (listed.criterion, listed.text, listed.answer) == (2, TWO, answer)
    rejected = {f"double/round-{n}/arbiter": [rejecting()] for n in (1, 2, 3)}
    with DebateWorkbench(directory / "halted", script({**ANSWERS, **rejected}, ONE)) as bench:
        assert bench.begin() == "HALTED"
        (question,), (task_id,) = open_questions(bench.factory), project_state(bench.factory).tasks
        before = task_at(bench.factory, task_id).definition.acceptance_criteria
        resolve(bench.factory, given(question))
        task = task_at(bench.factory, task_id)
        assert task.definition.acceptance_criteria == [before[0], *left]
        assert [one.replaced_criteria for one in task.definition.amendments] == [before] * (left != [TWO])
        assert all(one in bench.factory.folder.read(task.path).decode() for one in left)
        assert project_state(bench.factory).tasks[task_id].status == "HALTED"


def test_a_ruling_reaches_another_task_with_the_same_criterion(directory: Path):
    """It is known by its text, whatever its number is there; what the person answers is in every later request, and not in
    one that is repeated (F-9.4-06, D-42-05)."""
    with DebateWorkbench(directory, script(ANSWERS, ONE)) as bench:
        bench.begin()
        task = task_at(bench.factory, *project_state(bench.factory).tasks)
        criteria = [TWO, "It returns twice the number."]
        definition = task.definition.model_copy(update={"acceptance_criteria": criteria})
        other = task._replace(definition=definition, entry=task.entry.model_copy(update={"attempt": 2}))
        (question,), told = open_questions(bench.factory), f"set aside by the Arbiter: {WHY}"
        (number, ruling), *_ = carried_rulings(bench.factory, other, [], "TSK-002.1/x").items()
        assert (number, ruling.text) == (1, told)
        said = {"action": "ACCEPT_UNSHOWN", "payload": {"rationale": "Why not."}, "escalation_id": question}
        resolve(bench.factory, HumanResolution.model_validate(said))
        before, after = (carried_rulings(bench.factory, other, [], f"TSK-002.1/{name}") for name in "xy")
        assert before[1].text == told
        assert after[1].text == f"{told} The person: accepted without being shown: Why not."
