"""The benchmarks of DESIGN §11 run, at their smallest size, and print the figure that their target is about.

Times are never held against a target here: machines differ, and are shared. Counts are.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_the_benchmark_of_kills_counts_no_answered_call_twice():
    """Killed here and there and run again: of all answered calls none is repeated (D-S11-01)."""
    told = printed("kills.py", "--every", "120")

    kills = re.search(r"^(\d+) kills: .*^ended all the same: (\d+) of (\d+)$", told, re.MULTILINE | re.DOTALL)
    assert kills
    assert int(kills[1]) == int(kills[2]) == int(kills[3]) >= 2
    counted = re.search(r"^answered calls repeated: (\d+) of (\d+) \(target 0: met\)$", told, re.MULTILINE)
    assert counted
    assert counted[1] == "0"
    assert int(counted[2]) > 5


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_the_benchmark_of_model_calls_tells_overhead_and_flatness():
    """The median of a call against its target, and the last tasks over the first, by both clocks (D-S11-02)."""
    told = printed("model_calls.py", "--tasks", "4")

    assert re.search(r"^4 tasks: COMPLETE in [\d.]+ s, 28 model calls$", told, re.MULTILINE)
    overhead = r"^  a model call, (wall clock|processor) +p50 +[\d.]+ ms \([\d.]+ of the target of 15 ms\)"
    assert re.findall(overhead, told, re.MULTILINE) == ["wall clock", "processor"]
    flat = r"^    last 2 tasks over first 2: [\d.]+ / [\d.]+ ms = [\d.]+ of 1 \(target 1.2: (?:met|MISSED)\)$"
    assert len(re.findall(flat, told, re.MULTILINE)) == 2


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_the_benchmark_of_the_sandbox_tells_its_cost_over_bare_pytest():
    """Cold and warm, for each kind of sandbox that this machine has, over the same sixteen tests bare (D-S11-07)."""
    told = printed("gate_sandbox.py", "--rounds", "1")

    ratios = re.findall(r"^(.+?) +\d+ ms   ([\d.]+) of bare$", told, re.MULTILINE)
    names = [name for name, _ in ratios]
    assert names[0] == "bare pytest"
    assert ratios[0][1] == "1.00"
    assert {"none, cold", "none, warm"} <= set(names)
    assert all((f"{name.split(',')[0]}, warm" in names) for name in names[1:])


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_the_benchmark_of_validation_and_replay_tells_both_rates():
    """Over the parser alone on the same bytes (D-S11-04), and of stored Wires of 900 bytes (D-S11-06)."""
    told = printed("wire_throughput.py", "--wires", "200")

    share = r"^schema validation +[\d,]+ /s   [\d.]+ of orjson.loads \(>= 0.25\)$"
    assert re.search(share, told, re.MULTILINE)
    assert re.search(r"^plain validator +[\d,]+ /s   \d+ times slower$", told, re.MULTILINE)
    assert re.search(r"^replay and reduce +[\d,]+ /s   of 900 bytes each \(>= 100,000\)$", told, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.timeout(420)
def test_the_benchmark_of_appends_tells_each_shape_over_two_peers():
    """Every Wire is taken in all three shapes, over a bare and a keyed insert on the same disk (D-S11-05)."""
    told = printed("wire_append.py", "--wires", "400", "--rounds", "1")

    ratios = r"^(.+?) +[\d.]+ of a bare insert \(<= 1.3\), [\d.]+ without validation; of a keyed insert [\d.]+, [\d.]+$"
    shapes = ["one a commit", "a hundred a commit", "16 threads, one each"]
    assert re.findall(ratios, told, re.MULTILINE) == shapes
    for kind in ("bare", "keyed", "log without validation", "whole"):
        assert len(re.findall(rf"\b{kind} \d+ \(\d+\)", told)) == 3


def test_every_benchmark_says_which_target_it_measures():
    """`make bench` runs them all; each begins with what it is for and the section or requirement it stands on."""
    paths = sorted(BENCHMARKS.glob("*.py"))
    assert {"kills.py", "model_calls.py", "gate_sandbox.py"} <= {path.name for path in paths}
    for path in paths:
        head = path.read_text(encoding="utf-8").split('"""')[1]
        assert re.search(r"DESIGN §11|D-S11-0\d", head), path.name
