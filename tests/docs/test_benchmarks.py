"""The benchmarks run, at their smallest size.

Times are never compared with a target here, because machines differ and are shared. Counts are.
"""

import re
import subprocess
import sys

import pytest

from testkit.paths import ROOT
from testkit.sampling import nightly, slow

BENCHMARKS = ROOT / "benchmarks"


def printed(name: str, *options: str) -> str:
    """What a benchmark says, run as `make bench` runs it."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / name), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.timeout(420)
def test_the_benchmark_of_kills_counts_no_answered_call_twice():
    """Killed here and there and run again: of all answered calls none is repeated (D-S11-01)."""
    (repeated, answered) = re.findall(r"repeated: (\d+) of (\d+)", printed("kills.py", "--every", "120"))[0]

    assert int(repeated) == 0
    assert int(answered) > 5


@pytest.mark.timeout(420)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        slow("spec_validation.py", ("--rounds", "1"), timeout=420),
        slow("change.py", ("--tasks", "20"), timeout=420),
        slow("mirror.py", ("--wires", "400", "--postgres", ""), timeout=420),
        slow("wire_throughput.py", ("--wires", "200"), timeout=420),
        nightly("wire_append.py", ("--wires", "400", "--rounds", "1"), timeout=420),
        slow("contract_debate.py", (), timeout=420),
        nightly("model_calls.py", ("--tasks", "4"), timeout=420),
        nightly("provider_cache.py", ("jsonamend",), timeout=420),
        nightly("gate_sandbox.py", ("--rounds", "1"), timeout=420),
        nightly("gate_package.py", ("--functions", "2"), timeout=420),
        nightly("workers.py", ("--projects", "2", "--workers", "1", "2"), timeout=420),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_benchmark_runs_and_prints_figures(name: str, options: tuple[str, ...]):
    """At its smallest size it ends well and prints its measurements (D-S11-02, D-S11-04, D-S11-05, D-S11-06, D-S11-07,
    D-S11-11)."""
    figures = [line for line in printed(name, *options).splitlines() if re.search(r"\d", line)]
    assert len(figures) >= 3, figures


def test_every_benchmark_says_which_target_it_measures():
    """`make bench` runs them all; each begins with what it is for and the section or requirement it stands on."""
    paths = sorted(BENCHMARKS.glob("*.py"))
    assert {"kills.py", "model_calls.py", "gate_sandbox.py"} <= {path.name for path in paths}
    for path in paths:
        head = path.read_text(encoding="utf-8").split('"""')[1]
        assert re.search(r"DESIGN §11|D-S11-\d\d|design\.md#benchmarks", head), path.name
