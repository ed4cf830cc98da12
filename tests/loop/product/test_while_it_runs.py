"""What is seen and kept of a run while a role still thinks: its progress, and its checkpoints (DESIGN §5, F§15.5)."""

import re
from pathlib import Path

import pytest

from testkit.checkpoints import invocations
from testkit.endpoint import Endpoint, Fault
from testkit.loop.products import NAMEPLATE_SPEC
from testkit.workshop import KILLED, Workshop


@pytest.mark.slow
def test_a_run_that_is_killed_in_the_challenger_goes_on_from_there(
    workshop: Workshop, endpoint: Endpoint, tmp_path: Path
):
    """While the Challenger thinks, stderr shows every role that has worked, and the Proposer's checkpoint is on the disk;
    killed and run again, no Proposer is asked and no node before the Challenger's runs (F-15-14, F-19-01, D-S5-05)."""
    endpoint.misbehave(Fault("hang", "challenger", "initials"))
    where = ("--model", "openai:test", "--base-url", endpoint.base_url, "--approve")
    arguments = [str(part) for part in ("run", tmp_path / "p", "--spec", NAMEPLATE_SPEC, *where)]
    running = workshop.begin("command", arguments)
    assert endpoint.hanging.wait(60)

    shown = (running.files / "err").read_text()
    for role, subject in (
        ("researcher", ""),
        ("planner", ""),
        ("challenger", "contracts"),
        ("arbiter", "contracts"),
        ("proposer", "initials"),
    ):
        assert re.search(rf"\b{role} +{subject}", shown), shown
    assert "released" not in shown
    debate = invocations(tmp_path / "p")[-1]
    assert (debate.graph, debate.ran) == ("debate", [("propose",)])

    running.kill()
    assert workshop.wait(running).code == KILLED
    before = len(endpoint.log)
    endpoint.misbehave()
    finished = workshop.command("run", tmp_path / "p")
    assert finished.code == 0, finished.err
    assert [(one.place.role, one.place.subject) for one in endpoint.log[before:]] == [
        ("challenger", "initials"),
        ("arbiter", "initials"),
    ]
    (debate,) = (one for one in invocations(tmp_path / "p") if one.namespace == debate.namespace)
    assert [node for (node,) in debate.ran] == ["propose", "challenge", "route", "adjudicate", "ship"]
