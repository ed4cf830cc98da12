"""A crash costs nothing: killed anywhere, a run goes on and ends as if nothing had been (DESIGN §4).

The factory runs in a child that a wrapped port, or this test, ends by SIGKILL; models answer from a counting endpoint.
The draws of the interrupted run are those of an uninterrupted one, so that the stores can be compared byte by byte.
"""

import json
import shutil
from pathlib import Path

import pytest

from testkit.endpoint import Endpoint, Fault, serving
from testkit.killing import EFFECTS, Job, Kill
from testkit.loop.processes import RECORDED, Uninterrupted, killed_again_and_again
from testkit.sampling import nightly, slow, spread
from testkit.stores import differences, journal_of
from testkit.workshop import KILLED, ROOT, Workshop


def goes_on(workshop: Workshop, job: Job, endpoint: Endpoint, uninterrupted: Uninterrupted) -> None:
    """Run a killed project again; it ends well, asks nothing that was answered, and leaves the same store."""
    answered = set(endpoint.answered)
    endpoint.misbehave()
    before = dict(endpoint.asked)

    finished = workshop.drive(job._replace(kill=Kill()))

    assert finished.code == 0, finished.err
    assert [name for name in answered if endpoint.asked[name] != before[name]] == []
    assert endpoint.answered == uninterrupted.endpoint.answered
    assert differences(Path(job.directory), uninterrupted.project) == []


@pytest.mark.parametrize(
    "during",
    [
        pytest.param(Fault("hang", "proposer", "initials"), marks=pytest.mark.slow),
        pytest.param(Fault("hang", "challenger", "initials"), marks=pytest.mark.nightly),
        pytest.param(Fault("hang", "planner", ordinal=1), marks=pytest.mark.nightly),
        pytest.param(Fault("hang", "arbiter", "contracts"), marks=pytest.mark.nightly),
    ],
    ids=["Proposer", "Challenger", "planner after its search", "Arbiter"],
)
def test_a_kill_in_the_middle_of_a_call_repeats_no_answered_one(
    workshop: Workshop, job: Job, endpoint: Endpoint, uninterrupted: Uninterrupted, during: Fault
):
    """Killed while a role waits for its next answer, the run goes on from the answers it has (D-S4-03, D-S4-05)."""
    endpoint.misbehave(during)
    running = workshop.begin("drive", job._asdict())
    assert endpoint.hanging.wait(60)
    running.kill()
    assert workshop.wait(running).code == KILLED
    goes_on(workshop, job, endpoint, uninterrupted)


@pytest.mark.parametrize("nth", [slow(2), nightly(5)])
def test_a_kill_between_two_wires_loses_and_doubles_none(
    workshop: Workshop, job: Job, endpoint: Endpoint, uninterrupted: Uninterrupted, nth: int
):
    """Killed after an append and before its projection, the projection is caught up (D-S4-03, D-29-03)."""
    deadly = job._replace(kill=Kill(("wire",), nth))
    assert workshop.drive(deadly).code == KILLED
    goes_on(workshop, job, endpoint, uninterrupted)


@pytest.mark.parametrize(
    ("step", "forgetting"),
    [slow(41, True), nightly(23, False), nightly(1, False, timeout=400), nightly(2, True, timeout=400)],
)
def test_a_run_that_is_killed_again_and_again_ends_all_the_same(
    workshop: Workshop,
    job: Job,
    endpoint: Endpoint,
    uninterrupted: Uninterrupted,
    step: int,
    forgetting: bool,
):
    """After every journal record, file, Wire and index entry; with checkpoints and without (D-S4-03, D-S4-07, D9)."""
    effects = sum(effect.split()[0] in RECORDED for effect in uninterrupted.effects)
    assert killed_again_and_again(workshop, job, step, forgetting=forgetting) == effects // step
    assert endpoint.asked == uninterrupted.endpoint.asked
    assert endpoint.answered == uninterrupted.endpoint.answered
    assert differences(Path(job.directory), uninterrupted.project) == []


@pytest.mark.parametrize("nth", spread([1, 2, 3, 4], slow=4))
def test_a_run_that_is_killed_at_its_first_checkpoints_begins_all_the_same(
    workshop: Workshop, job: Job, endpoint: Endpoint, nth: int
):
    """Before its first node has run there is a checkpoint of nothing; the run goes on from it (D-S4-03)."""
    waiting = job._replace(approve=False)
    assert workshop.drive(waiting._replace(kill=Kill(("checkpoint",), nth))).code == KILLED
    finished = workshop.drive(waiting)
    assert finished.code == 3, finished.err
    assert set(endpoint.asked.values()) == {1}


SHARES = 12
"""Tests over which the sweep is spread; one of them is in CI."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("share", spread(range(SHARES), slow=SHARES))
def test_a_run_that_is_killed_once_goes_on_to_the_end(
    workshop: Workshop, job: Job, endpoint: Endpoint, uninterrupted: Uninterrupted, tmp_path: Path, share: int
):
    """Killed once, at every sixth effect of any kind, checkpoints among them (D-S4-03)."""
    counted = [effect for effect in uninterrupted.effects if effect.split()[0] in EFFECTS]
    for nth in range(1 + 6 * share, len(counted) + 1, 6 * SHARES):
        endpoint.asked.clear()
        endpoint.answered.clear()
        deadly = job._replace(directory=str(tmp_path / f"{nth}"), kill=Kill(EFFECTS, nth))
        assert workshop.drive(deadly).code == KILLED, counted[nth - 1]
        goes_on(workshop, deadly, endpoint, uninterrupted)


EXAMPLE = ROOT / "examples/tabkeeper"


def answering(playbook: Path) -> Path:
    """The playbook, with a reason in each plan why it takes none of the modules that came before it, as a model that is
    asked now has to give one (D-54-03)."""
    shutil.copytree(EXAMPLE / "playbook", playbook)
    before: list[str] = []
    for path in sorted(playbook.glob("TSK-*/planner.json")):
        said = json.loads(path.read_text())
        modules = said["plan"]["modules"]
        modules[0]["reuse"]["candidates_considered"] = [
            {"module_ref": name, "why_rejected": "It does not do what is planned here."} for name in before
        ]
        before += [module["name"] for module in modules]
        path.write_text(json.dumps(said))
    return playbook


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("step", "forgetting"), [(61, False), (97, True)])
def test_a_long_run_with_a_revision_and_an_amendment_survives_many_kills(
    workshop: Workshop, tmp_path: Path, step: int, forgetting: bool
):
    """Six tasks, seven modules, a FAIL, an amendment: the same bytes, each call answered once (D-S4-03, D9)."""
    with serving(answering(tmp_path / "playbook")) as endpoint:
        whole = Job(str(tmp_path / "whole"), str(EXAMPLE / "SPEC.md"), "openai:test", endpoint.base_url)
        assert workshop.drive(whole).code == 0
        endpoint.asked.clear()
        again = whole._replace(directory=str(tmp_path / "again"), draws=str(journal_of(tmp_path / "whole")))
        assert killed_again_and_again(workshop, again, step, forgetting=forgetting) > 5
    assert set(endpoint.asked.values()) == {1}
    assert differences(tmp_path / "again", tmp_path / "whole") == []
