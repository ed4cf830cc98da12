"""Who runs the gate, and in which kind of sandbox, makes no difference: attacks and verdicts once more as nobody."""

import json
import sys

import pytest

from gate_testkit.verdicts import verdicts
from ship_gate.sandbox.kind import fault_of
from ship_gate.sandbox.process import SandboxKind
from testkit.sampling import nightly, slow
from testkit.unprivileged import another_user


@pytest.mark.parametrize(
    ("topic", "which"),
    [
        slow("files", "not slow", timeout=900),
        *(nightly(topic, "", timeout=900) for topic in ("files", "processes", "limits", "reports")),
    ],
)
def test_the_attacks_end_the_same_for_an_unprivileged_user(topic, which):
    """D-S8-11: the attacks once more, as nobody; what the source shows does not depend on the user. By day the fast ones."""
    with another_user() as python:
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "2",
            "--basetemp=../home/tmp",
            "-k",
            "not unprivileged",
            "-m",
            which,
        ]
        done = python("-m", "pytest", *options, f"packages/gate/tests/test_attacks_{topic}.py", timeout=800)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("every", [slow(400, timeout=900), nightly(1, timeout=20000)])
def test_the_verdicts_are_the_same_in_each_sandbox_and_for_each_user(every, capsys):
    """Issue 13: sound, faulty and hostile candidates under bubblewrap and Landlock, as root and as nobody (D-60-03)."""
    seen = {}
    with another_user() as python:
        for kind in ("bubblewrap", "landlock"):
            if fault := fault_of(SandboxKind(kind)):
                pytest.skip(fault)
            seen[kind, "root"] = verdicts(kind, every)
            done = python("-m", "gate_testkit.verdicts", kind, str(every), timeout=8000)
            assert done.returncode == 0, done.stderr[-3000:]
            seen[kind, "nobody"] = json.loads(done.stdout)
    first = seen["bubblewrap", "root"]
    with capsys.disabled():
        sys.stdout.write(f"\n{len(first)} candidates, {sum(passed for passed, _ in first.values())} pass\n")
    for which, found in seen.items():
        assert found == first, which
