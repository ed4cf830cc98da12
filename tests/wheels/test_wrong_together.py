"""Products whose modules pass their gates alone and are wrong together are refused at release (DESIGN §13.2)."""

from typing import NamedTuple

import pytest

from ship_gate.contract.contract import Dependency
from ship_gate.ship_gate import SandboxedShipGate
from specwright.application.stages.release import broken_examples
from specwright.domain.acceptance.calls import acceptance_of_module
from specwright.domain.acceptance.records import TaskAcceptance
from specwright.ports import ExampleOutcome
from specwright.wheels import FlitPackager
from testkit.sampling import spread
from testkit.wheels.wrong_together import WRONG_TOGETHER

GATE = SandboxedShipGate()
PACKAGER = FlitPackager(GATE)


class Task(NamedTuple):
    """What the search for broken examples looks at of a task."""

    spec_task_id: str
    acceptance: TaskAcceptance


@pytest.mark.parametrize("name", spread(WRONG_TOGETHER, slow=12))
def test_each_module_passes_its_own_gate(name: str):
    """With all stages; and nothing of what was approved can be run there, since it takes both (D-41-05)."""
    case = WRONG_TOGETHER[name]
    for part in (case.first, case.second):
        verdict = GATE.judge(part.candidate())
        assert verdict.passed, verdict.findings
        found = acceptance_of_module(case.acceptance, case.criteria, part.contract(), [])
        assert (found.examples, found.properties) == ([], [])


@pytest.mark.parametrize("name", spread(WRONG_TOGETHER, fast=10, slow=6))
def test_the_product_is_refused_with_the_right_criterion(name: str):
    """And with the modules that took part; with one module corrected it passes, so nothing else was wrong (D-41-02,
    D-41-05)."""
    case = WRONG_TOGETHER[name]
    product = case.product()
    report = PACKAGER.exercise(PACKAGER.build(product), product)
    assert report.result == "FAIL"
    contracts = [module.contract for module in product.modules]
    (broken,) = broken_examples([Task("TSK-002", case.acceptance)], contracts, report.examples)
    assert case.criteria[broken.item.criteria[0] - 1] == case.criterion
    assert broken.item.success_criteria == [1]
    assert set(broken.modules) == {case.first.name, case.second.name}
    assert broken.outcome
    product = case.product(is_corrected=True)
    report = PACKAGER.exercise(PACKAGER.build(product), product)
    assert report.result == "PASS", report.detail


@pytest.mark.parametrize("version", ["1.0.0", "^1.0.0"])
def test_a_module_that_is_called_took_part_in_whatever_later_version_it_is_released(version: str):
    """A dependency names a range of versions, of which a release has one (D-41-03)."""
    case = WRONG_TOGETHER["rounded twice"]
    third = case.first.contract().model_copy(
        update={"name": "third", "module_id": "MM-00000003", "module_version": "1.1.0"}
    )
    called = Dependency(ref=f"{third.module_id}@{version}", why="It rounds.")
    second = case.second.contract().model_copy(update={"dependencies": [called]})
    failed = ExampleOutcome("TSK-002", "criterion 2, Together", passed=False, detail="gives False")
    task = Task("TSK-002", case.acceptance)
    (broken,) = broken_examples([task], [case.first.contract(), second, third], [failed])
    assert broken.modules == ("net", "tax", "third")
