"""The benchmarks run, at their smallest size.

Times are never compared with a target here, because machines differ and are shared. Counts are.
"""

import re
import subprocess
import sys

import pytest

from testkit.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


def printed(name: str, *options: str) -> str:
    """What a benchmark says, run as `make bench` runs it."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / name), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.timeout(420)
def test_the_benchmark_of_kills_counts_no_answered_call_twice():
    """Killed here and there and run again: of all answered calls none is repeated (D-S11-01)."""
    output = printed("kills.py", *SMALLEST["kills.py"])
    (repeated, answered) = re.findall(r"repeated: (\d+) of (\d+)", output)[0]

    assert int(repeated) == 0
    assert int(answered) > 5


SMALLEST: dict[str, tuple[str, ...]] = {
    "acceptance.py": ("--repeat", "1"),
    "acceptance_tokens.py": (),
    "call_depth.py": (),
    "change.py": ("--tasks", "20"),
    "contract_debate.py": (),
    "gate_sandbox.py": ("--rounds", "1"),
    "gate_whole.py": ("--repeat", "1"),
    "index_search.py": ("--sizes", "100", "--times", "2"),
    "kills.py": ("--every", "120"),
    "linkwatch.py": (),
    "mirror.py": ("--wires", "400", "--postgres", ""),
    "model_calls.py": ("--tasks", "4"),
    "project_loop.py": ("--tasks", "20"),
    "provider_cache.py": ("jsonamend",),
    "request_size.py": ("--tasks", "20"),
    "spec_validation.py": ("--rounds", "1"),
    "startup.py": ("--rounds", "1"),
    "studio.py": ("--tasks", "20"),
    "wire_append.py": ("--wires", "400", "--rounds", "1"),
    "wire_throughput.py": ("--wires", "200"),
    "workers.py": ("--projects", "2", "--workers", "1", "2"),
}
"""The options that make each benchmark smallest."""


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(SMALLEST.keys() - {"kills.py"}))
def test_a_benchmark_runs_and_prints_figures(name: str):
    """At its smallest size it ends well and prints its measurements (D-S11-02, D-S11-04, D-S11-05, D-S11-06, D-S11-07,
    D-S11-11)."""
    figures = [line for line in printed(name, *SMALLEST[name]).splitlines() if re.search(r"\d", line)]
    assert figures


def test_every_benchmark_is_run():
    """A new one is added to the table above."""
    assert {path.name for path in BENCHMARKS.glob("*.py")} == {*SMALLEST}
