"""Runs the tests of a candidate once more where no module answers: none of them may pass (D-S8-07, D-S8-09; ADR 0036).

In the process that runs the tests every call of the module meets an error that no test can expect. A test that is
reported as passed all the same shows nothing: it forgets what it saw, or its report is forged, however that was done.

Left out: a test that looks at the answer before it forges. It has to know the answer that it covers up, so it could as
well assert it; what a test asserts is for the debate to judge.
"""

import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from specwright.domain.contract import MicroModuleContract
from specwright.gate.sandbox.pair import Pair, prepare
from specwright.gate.staging import Staged, lay_out, workspace
from specwright.gate.test_run import run_tests
from specwright.ports.gate import Finding

__all__ = ["prepare_silence", "silence_findings"]

_TIMES = 4
_LEAST_SECONDS = 5.0


@contextmanager
def prepare_silence(staged: Staged) -> Generator[Pair, None, None]:
    """Start a runner without a module, in folders that look like those of any other run of these tests.

    Raises:
        SpecwrightError: the process could not be started.
    """
    with workspace() as root:
        again = lay_out(root, staged.sandbox)
        shutil.copytree(staged.tests, again.tests, dirs_exist_ok=True)
        with prepare(again, "test_runner", silent=True) as pair:
            yield pair


def silence_findings(
    staged: Staged, contract: MicroModuleContract, named: Iterable[str], tests_seconds: float, pair: Pair
) -> tuple[Finding, ...]:
    """The tests that pass although no module answers them.

    Args:
        staged: Laid out by `stage`.
        contract: The candidate's.
        named: Of `named_tests`.
        tests_seconds: How long the tests took with the module; a test that takes far longer has not passed.
        pair: Of `prepare_silence`; the caller stops it.

    Raises:
        SpecwrightError: the process did not come up.
    """
    run = run_tests(staged, contract, list(named), max(_LEAST_SECONDS, _TIMES * tests_seconds), pair)
    message = "the test passes although no module answered it; assert what the entry point returns, changes or raises"
    return tuple(
        Finding("tests.vacuous", f"tests/{test.name}", message) for test in run.tests if test.result == "PASS"
    )
