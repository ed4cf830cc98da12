"""What a killed run has spent is what its journal holds: nothing is lost, nothing counted twice (DESIGN §4, §6)."""

from pathlib import Path

import pytest

from specwright.bootstrap.costs import spending_of
from specwright.bootstrap.storage.stores import DirectoryStore
from specwright.settings import Settings
from testkit.endpoint import Endpoint, Fault
from testkit.killing import Job, Kill
from testkit.loop.processes import Uninterrupted, killed_again_and_again
from testkit.sampling import nightly, slow
from testkit.workshop import KILLED, Workshop

SETTINGS = Settings(model="openai:test", prices={"openai:test": (1.0, 10.0)})


@pytest.mark.timeout(400)
@pytest.mark.parametrize("nth", [nightly(5), nightly(17), slow(40)])
def test_a_kill_neither_loses_nor_doubles_what_was_spent(
    workshop: Workshop, job: Job, endpoint: Endpoint, uninterrupted: Uninterrupted, nth: int
):
    """After the kill and after the end, the spending is what the endpoint answered (D-S6-08, D-S4-03)."""
    project = Path(job.directory)
    assert workshop.drive(job._replace(kill=Kill(("journal",), nth))).code == KILLED
    assert spending_of(SETTINGS, DirectoryStore(project)).total.tokens == endpoint.tokens["total_tokens"] > 0
    assert workshop.drive(job).code == 0
    whole = spending_of(SETTINGS, DirectoryStore(project)).total
    assert whole == spending_of(SETTINGS, DirectoryStore(uninterrupted.project)).total
    assert whole.tokens == endpoint.tokens["total_tokens"]
    assert whole.unpriced == 0


@pytest.mark.timeout(400)
@pytest.mark.parametrize("step", [nightly(7), slow(17)])
def test_kills_while_a_fallback_answers_repeat_and_lose_nothing(
    workshop: Workshop, job: Job, endpoint: Endpoint, step: int
):
    """Each run begins with the first model, which is refused where the journal ends; what the fallback answered is kept, and
    is what the project counts (D-S6-01, D-S6-08, D-S4-03)."""
    lost = [Fault("402", role, times=999, model="test") for role in ("planner", "proposer", "arbiter")]
    endpoint.misbehave(*lost)
    assert killed_again_and_again(workshop, job._replace(fallback="openai:second"), step) > 2
    assert set(endpoint.answered.values()) == {1}
    assert {asked.model for asked in endpoint.log if asked.place.role == "planner"} == {"test", "second"}
    assert (
        spending_of(SETTINGS, DirectoryStore(Path(job.directory))).total.tokens
        == endpoint.tokens["total_tokens"]
    )
