"""A criterion that a whole run leaves unshown: the product is released, and the question is answered afterwards (D42)."""

import json
import shutil
from pathlib import Path

from testkit.loop.products import NAMEPLATE_SPEC, PLAYBOOK, rewrite
from testkit.workshop import Workshop

LIMIT = "The object itself does not cross to the tests."


def test_a_released_product_lists_what_it_does_not_show_and_takes_the_answer(
    workshop: Workshop, tmp_path: Path
):
    """Exit 0; `status` and `escalations` list it, `resolve` answers it once, and a later release says so (F-17.2-01)."""
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
    listed = workshop.command("status", project)
    assert question["escalation_id"] in listed.out
    answered = workshop.command(
        "resolve", question["escalation_id"], "ACCEPT_UNSHOWN", project, "--rationale", "We know it."
    )
    assert answered.code == 0
    assert workshop.command("escalations", project, "--json").document == []
    again = workshop.command("release", project, "--json").document
    (unshown,) = again["manifest"]["unshown_criteria"]
    assert unshown["answer"] == "accepted without being shown: We know it."
    assert workshop.command("verify", project).code == 0
