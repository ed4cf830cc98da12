"""Faults of an approved spec that only a run shows: it halts, and the person is told what to strike (DESIGN §13.2)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from specwright.application.stages.release import release_all
from specwright.domain.spec.product_spec import ProductSpec
from specwright.errors import CorruptionError
from specwright.ports import BuiltWheel
from testkit.domain.product_specs import spec_of_graph
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.role_answers import Turn, claimed, draft, plan, planned

IMPORT = "from keeper import double\n\n"
CONTRADICTS = {"title": "Twice three", "criteria": [1], "code": f"{IMPORT}double(3)", "gives": "5"}
FALSE_AT_A_CORNER = {
    "title": "Always more",
    "criteria": [1],
    "variables": {"number": "int"},
    "code": f"{IMPORT}double(number) > number",
    "errors": ["ValueError"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("acceptance", "title", "words"),
    [
        ({"examples": [CONTRADICTS]}, "Twice three", "it gives '6', the text block says '5'"),
        ({"properties": [FALSE_AT_A_CORNER]}, "Always more", "for number=0 its code gives False"),
    ],
    ids=["an example that contradicts its criterion", "a property that is false for a corner"],
)
def test_a_halt_over_what_was_approved_recommends_to_strike_it(
    directory: Path, acceptance: dict[str, Any], title: str, words: str
):
    """Three drafts that nothing else is wrong with: AMEND_SPEC is recommended, with the title; a change begins without what
    was struck (D-40-10, D-41-04, D-56-03)."""
    spec = spec_of_graph([[]]).to_json()
    (task,) = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"]
    task["acceptance"] = {"provides": ["double(number: int) -> int"], **acceptance}
    answers = {"double/round-1/proposer": [Turn(claimed(), draft("double"))] * 3}
    gate = SandboxedShipGate(30.0, strength=0.0, fuzz=FuzzBounds(examples=0))
    with DebateWorkbench(
        directory, script(answers, plan(planned("double"), task_facing="double")), gate
    ) as bench:
        bench.approve(ProductSpec.model_validate(spec))
        bench.run()
        escalation = bench.escalation
        struck = {
            "amended_acceptance_criteria": task["acceptance_criteria"],
            "amendment_rationale": "It was wrong itself.",
            "strike_examples": [title],
        }
        name = escalation.escalation_id
        assert (
            bench.run(answer={"action": "AMEND_SPEC", "payload": struck, "escalation_id": name}) == "COMPLETE"
        )
        approved, decided = bench.projection.spec, bench.projection.decided_spec
    assert escalation.recommended_resolution == "AMEND_SPEC"
    assert escalation.details["broken_titles"] == [title]
    assert (
        f"if what was approved as {title!r} is wrong itself, AMEND_SPEC strikes it"
        in escalation.resolution_context
    )
    assert any(words in one.evidence for one in escalation.failed_invariants)
    assert approved is not None
    assert decided is not None
    assert (title in str(approved.to_json()), title in str(decided.to_json())) == (True, False)


class Forgetful:
    """A packager whose wheels export nothing."""

    def build(self, product: Any) -> BuiltWheel:
        """An empty wheel."""
        return BuiltWheel("keeper-1.0.0-py3-none-any.whl", b"", "0" * 64, ())


def test_a_wheel_without_a_provided_name_is_a_fault_of_specwright(directory: Path):
    """The release says so, and asks nobody to change the spec (D-53-01, D-53-03)."""
    spec = spec_of_graph([[]]).to_json()
    task = spec["pillars"][0]["epics"][0]["stories"][0]["tasks"][0]
    task["acceptance"] = {"provides": ["double(number: int) -> int"]}
    with DebateWorkbench(directory, script(planning=plan(planned("double")))) as bench:
        bench.approve(ProductSpec.model_validate(spec))
        assert bench.run() == "COMPLETE"
        with pytest.raises(CorruptionError, match="does not export double") as told:
            release_all(replace(bench.factory, packager=Forgetful()))
        assert "a fault of Specwright" in told.value.remedy
        assert bench.projection.releases == []
