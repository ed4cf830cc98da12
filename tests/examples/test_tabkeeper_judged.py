"""The factory's own judges find nothing in the example product: gate, rubric, amendments.

The proposals are judged one by one, each beside the shipped state of what it depends on. Left out: the run
through the graphs, with its role calls in the order of `expected.json`.
"""

import json
from pathlib import Path

import pytest

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Candidate, SealedModule
from specwright.domain.answers import ArbiterAnswer, ChallengerAnswer
from specwright.domain.debate.amendments import applied_problems, target_problems
from specwright.domain.debate.answer_rules import citable, compliance_problems
from testkit.examples.tabkeeper_playbook import CALLS, SHIPPED, STAGES, contracts, read, stage_of
from testkit.sampling import nightly, slow


@pytest.fixture(scope="module")
def locked() -> dict[str, MicroModuleContract]:
    """The contracts of the seven modules by name."""
    return contracts()


@pytest.fixture(scope="module")
def sealed(locked, tmp_path_factory) -> dict[str, SealedModule]:
    """The shipped modules by reference."""
    base = tmp_path_factory.mktemp("sealed")
    return {
        locked[name].ref: SealedModule(locked[name], s.copy_to(base / name)) for name, s in SHIPPED.items()
    }


def files_of(directory: Path) -> dict[str, bytes]:
    """A module directory as a candidate carries it."""
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize(
    "stage",
    [slow(s) if s.name == "amended" else nightly(s) for s in STAGES],
    ids=lambda stage: f"{stage.module} {stage.name}",
)
def test_the_gate_passes_every_deliverable_and_has_nothing_to_splice(stage, locked, sealed, tmp_path):
    """Also what the Challenger refuses comes through the mechanical checks (F-11.2-02, D-S8-03, D-18-01)."""
    contract = locked[stage.module]
    files = files_of(stage.copy_to(tmp_path / "m"))
    dependencies = tuple(sealed[dependency.ref] for dependency in contract.dependencies)
    verdict = SandboxedShipGate().judge(Candidate(contract, files, dependencies))
    assert verdict.findings == ()
    assert verdict.actual_fingerprint == contract.interface_fingerprint
    assert verdict.files == files
    assert {result.result for result in verdict.tests} == {"PASS"}


@pytest.mark.parametrize("call", [c for c in CALLS if c.role == "challenger"], ids=lambda call: call.answer)
def test_no_challenge_is_a_mild_review(call, locked, tmp_path):
    """Each criterion is judged on cited evidence (F-9.4-06, F-9.5-01, F-9.5-02)."""
    listed, examples = set[str](), ""
    if call.subject != "contracts":
        stage_of(call.subject, call.stage).copy_to(tmp_path / "m")
        listed = set(json.loads((tmp_path / "m/tests/obligations.json").read_text()))
        examples = (tmp_path / "m/examples.md").read_text()
    asked = [locked[call.subject]] if listed else list(locked.values())
    given = citable(asked, listed, (), examples)
    assert compliance_problems(ChallengerAnswer.model_validate(read(call.answer)), given) == []


@pytest.mark.parametrize("call", [c for c in CALLS if c.role == "arbiter"], ids=lambda call: call.answer)
def test_every_amendment_is_exact_and_was_applied(call, tmp_path):
    """Targets keep the grammar, and the files bear them out (F-9.6-01, F-9.6-04, D-14-01, D-14-02)."""
    amendments = ArbiterAnswer.model_validate(read(call.answer)).amendments
    assert target_problems(amendments, contracts=call.subject == "contracts") == []
    if amendments:
        before = files_of(stage_of(call.subject, call.stage).copy_to(tmp_path / "before"))
        after = files_of(stage_of(call.subject, "amended").copy_to(tmp_path / "after"))
        assert applied_problems(amendments, before, after) == []
        assert applied_problems(amendments, before, before) != []
