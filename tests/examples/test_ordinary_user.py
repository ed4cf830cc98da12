"""The examples once more as nobody, under each kind of sandbox: who builds a product makes no difference."""

import pytest

from ship_gate.sandbox.kind import fault_of
from ship_gate.sandbox.process import SandboxKind
from testkit.sampling import nightly
from testkit.unprivileged import another_user

BUILDS = {
    "nameplate": "tests/docs/test_demo.py",
    "one function per task": "tests/examples/test_shipped_again.py",
    "linkwatch": "tests/examples/test_linkwatch.py",
    "tabkeeper": "tests/examples/test_tabkeeper_changes.py",
}
"""The tests that build an example with the real gate and use its wheel."""


@pytest.mark.parametrize("build", [nightly(name, timeout=3600) for name in BUILDS])
@pytest.mark.parametrize("kind", [SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK])
def test_the_examples_pass_for_an_ordinary_user(kind: SandboxKind, build: str):
    """D-S8-11: every test of the examples passes, and none is skipped."""
    if fault := fault_of(kind):
        pytest.skip(fault)
    with another_user(SPECWRIGHT_SANDBOX=kind) as python:
        options = ["-q", "-p", "no:cacheprovider", "-m", "", "--timeout=1500", "--basetemp=../home/tmp"]
        done = python("-m", "pytest", *options, BUILDS[build], timeout=3500)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
