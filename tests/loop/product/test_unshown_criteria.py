"""A criterion that a whole run leaves unshown: the product is released, and the question is answered afterwards (D42)."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from specwright.bootstrap.project import Composition, open_project
from specwright.domain.escalation import Action, HumanResolution
from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rewrite
from testkit.power_cut import Cut, PowerCutError
from testkit.workshop import Workshop

LIMIT = "The object itself does not cross to the tests."


def released_with_question(workshop: Workshop, tmp_path: Path) -> tuple[Path, str]:
    """A released product with a criterion that nobody showed, and the question about it."""
    playbook = shutil.copytree(PLAYBOOK, tmp_path / "playbook")
    debate = playbook / "TSK-001/contracts/round-1"
    judged = json.loads((debate / "challenger.json").read_text())["rubric_assessments"]
    judged[4]["assessment"] = "CANNOT_BE_SHOWN"
    named = {"criterion": 2, "evidence": LIMIT}
    rewrite(debate / "challenger.json", rubric_assessments=judged, unshown_criteria=[named])
    rewrite(debate / "arbiter.json", set_aside=[{"criterion": 2, "reason": LIMIT}])
    project, model = tmp_path / "project", f"playbook:{playbook}"
    made = workshop.command("run", project, "--spec", NAMEPLATE_SPEC, "--model", model, "--approve", "--json")
    assert made.code == 0
    (question,) = made.document["escalations"]
    (unshown,) = made.document["release"]["manifest"]["unshown_criteria"]
    assert (unshown["criterion"], unshown["reason"], unshown["answer"]) == (2, LIMIT, "")
    return project, question["escalation_id"]


@pytest.mark.slow
def test_a_released_product_lists_what_it_does_not_show_and_takes_the_answer(
    workshop: Workshop, tmp_path: Path
):
    """Exit 0; `status` and `escalations` list it, `resolve` answers it once, and a later release says so (F-17.2-01,
    D-42-04)."""
    project, question = released_with_question(workshop, tmp_path)
    assert question in workshop.command("status", project).out
    answered = workshop.command("resolve", question, "ACCEPT_UNSHOWN", project, "--rationale", "We know it.")
    assert answered.code == 0
    assert workshop.command("escalations", project, "--json").document["escalations"] == []
    again = workshop.command("release", project, "--json").document
    (unshown,) = again["manifest"]["unshown_criteria"]
    assert unshown["answer"] == "accepted without being shown: We know it."
    assert workshop.command("verify", project).code == 0


@pytest.mark.nightly
def test_an_answer_that_a_crash_cut_short_is_carried_out_by_the_next_command(
    workshop: Workshop, tmp_path: Path
):
    """Its record and task file are there, the Wires are not; nobody has to answer again (F-17.3-01, D-29-01)."""
    project, question = released_with_question(workshop, tmp_path)
    answer = HumanResolution(
        action=Action.DROP_CRITERION, payload={"rationale": "Nobody needs it."}, escalation_id=question
    )
    cut = Composition(wrap_adapters=lambda adapters: replace(adapters, log=Cut(adapters.log, "append")))
    with pytest.raises(PowerCutError), open_project(project, spec_text="", composition=cut) as opened:
        opened.resolve(answer)
    assert workshop.command("run", project).code == 0
    assert workshop.command("escalations", project, "--json").document["escalations"] == []
    assert workshop.command("verify", project).code == 0
