"""Which bug reports a later version of a module must still satisfy (D39)."""

from types import SimpleNamespace
from typing import Any

import pytest

from ship_gate.contract.contract import Input
from specwright.application.deprecation import reports_of
from testkit.domain.doubling import DOUBLE

STEP = Input(name="step", type="int", constraints=["is not zero"])
LATER = {
    "the same inputs": (list(DOUBLE.inputs), True),
    "one more with a default": (
        [*DOUBLE.inputs, STEP.model_copy(update={"constraints": ["defaults to 1"]})],
        True,
    ),
    "one more that every caller has to pass": ([*DOUBLE.inputs, STEP], False),
    "another in its place": ([STEP], False),
}


@pytest.mark.parametrize(("inputs", "counts"), LATER.values(), ids=LATER)
def test_a_report_counts_while_its_example_can_call_the_module(inputs: list[Input], counts: bool) -> None:
    """D-39-03, D-38-09: an approved change of the interface is no dead end for a module that was repaired before."""
    report = SimpleNamespace(module_ref=DOUBLE.ref)
    repaired = SimpleNamespace(before=DOUBLE.ref, ended="released", request=SimpleNamespace(report=report))
    view: Any = SimpleNamespace(
        projection=SimpleNamespace(changes=[repaired]),
        modules=SimpleNamespace(contract={DOUBLE.ref: DOUBLE}.__getitem__),
    )
    later = DOUBLE.model_copy(update={"inputs": inputs, "module_version": "2.0.0"})
    assert reports_of(view, later) == [report] * counts
