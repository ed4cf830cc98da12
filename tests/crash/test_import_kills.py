"""Modules that are imported before the first run, and a product that is built on one of them, survive crashes (D-50,
DESIGN section 4)."""

from pathlib import Path

import pytest

from testkit.killing import Job
from testkit.loop.adopted_products import WORDS, words_playbook
from testkit.loop.processes import assert_kills_change_nothing
from testkit.paths import GATE_MODULES
from testkit.sampling import nightly
from testkit.workshop import Workshop


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("step", "forgetting"), [nightly(31, True), nightly(3, False)])
def test_an_import_that_is_killed_and_repeated_doubles_nothing(
    workshop: Workshop, tmp_path: Path, step: int, forgetting: bool
):
    """From the first verdict over the record, the approval and the debate to the release: the same bytes, every verdict and
    every Wire once (D-S4-01, D-33-01)."""
    model = f"playbook:{words_playbook(tmp_path / 'playbook')}"
    modules = [str(GATE_MODULES / name) for name in ("tally_words", "save_tally")]
    whole, again = (
        Job(str(tmp_path / name), str(WORDS / "SPEC.md"), model, imports=modules)
        for name in ("whole", "again")
    )
    assert_kills_change_nothing(workshop, whole, again, step, forgetting=forgetting)
