"""What a killed run has spent is what its journal holds: nothing is lost, nothing counted twice (DESIGN §4, §6)."""

from pathlib import Path

import pytest

from specwright.bootstrap.costs import spending_of
from specwright.bootstrap.stores import DirectoryStore
from specwright.settings import Settings
from testkit.endpoint import Endpoint
from testkit.killing import Job, Kill
from testkit.loop.processes import Uninterrupted
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
