"""Recorded examples made again in the lane `one-shot`, the recorded answers given in the requests that it makes (DESIGN
D51)."""

from pathlib import Path
from typing import Any

import pytest

from specwright.bootstrap.verify import verify_project
from specwright.ports.gate import ENTRY_FILE, Candidate, GateVerdict
from testkit.examples.recorded_answers import Asked, run_again
from testkit.loop.scripted_gate import ScriptedGate
from testkit.sampling import nightly, slow


class DocumentingGate(ScriptedGate):
    """Passes everything, and writes the contract into the source as the real one does."""

    def judge(self, candidate: Candidate, *, thorough: bool = True) -> GateVerdict:
        """As the scripted one."""
        verdict = super().judge(candidate, thorough=thorough)
        source = self.documented(candidate.files[ENTRY_FILE], candidate.contract)
        return verdict._replace(files={**candidate.files, ENTRY_FILE: source})


EXAMPLES = [
    slow("fieldtext", 22, 7, lambda: DocumentingGate([])),
    nightly("dueplan", 22, 10, lambda: DocumentingGate([])),
    nightly("jsonamend", 19, 13, lambda: DocumentingGate([])),
    nightly("dueplan", 22, 10, lambda: None, timeout=900),
]
"""Each with its requests in the lanes `task` and `one-shot`, and the gate: a script, or None for the real one."""


def files_of_wheel(project: Path) -> bytes:
    """The wheel of the release."""
    (wheel,) = project.glob("state_store/releases/*/*.whl")
    return wheel.read_bytes()


@pytest.mark.parametrize(("example", "alone", "together", "gate"), EXAMPLES)
def test_the_same_answers_give_the_same_wheel_in_fewer_requests(
    example: str, alone: int, together: int, gate: Any, tmp_path: Path
):
    """D51: byte for byte the same wheel, and both projects verify; five tasks of one module take seven requests, where each
    contract was approved as it was planned."""
    asked: dict[str, Asked] = {}
    for lane in ("task", "one-shot"):
        asked[lane] = run_again(example, lane, tmp_path / lane, gate())
    assert files_of_wheel(tmp_path / "task") == files_of_wheel(tmp_path / "one-shot")
    assert [asked[lane].total for lane in ("task", "one-shot")] == [alone, together]
    assert asked["one-shot"].characters_in < 0.9 * asked["task"].characters_in
    for lane in ("task", "one-shot"):
        assert verify_project(tmp_path / lane).findings == ()
