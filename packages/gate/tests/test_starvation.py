"""A busy machine: what a sound module waits for a processor is not held against it, and what hangs is refused as ever."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gate_testkit.fuzzing import Planted, fuzzed
from gate_testkit.judging import candidate
from gate_testkit.running import run
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.errors import ShipGateError
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.sandbox.staging import stage
from ship_gate.sandbox.starvation import OwnTime
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.strength.check import Variant, examine_strength, run_variants, start_runner
from ship_gate.verdict import Trial
from testkit.sampling import slow

ENTRY = "implementation/__init__.py"
TESTS = "tests/test_shorten.py"
BUSY = "    for turn in range({}):\n        turn * turn\n"
ONE_SECOND = BUSY.format(15_000_000)
HALF_A_SECOND = BUSY.format(7_000_000)
LIMIT = 4.0
"""Seconds. A twentieth of a processor takes longer for half a second of work, a slow machine's whole one much less."""
LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the kernel counts what is waited for"
)


@contextmanager
def crowded(others: int) -> Generator[None, None, None]:
    """One processor, for this process and those that it starts, and so many endless loops beside them."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(others)
    ]
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        for loop in loops:
            loop.kill()
            loop.wait()


def tried(line: str, body: str, seconds: float = 60.0) -> Trial:
    """What becomes of one falsifying test of a changed `shorten`."""
    source = candidate("shorten").files[ENTRY].decode()
    changed = source.replace("    if limit < 1:", f"    {line}\n    if limit < 1:")
    text = f"from modules.shorten import shorten\n\n\ndef test_it():\n{body}"
    test = FalsifyingTest(name="test_it", obligation="", source=text)
    return SandboxedShipGate(seconds).falsify(candidate("shorten", {ENTRY: changed}), [test])[0]


@pytest.mark.slow
@LINUX
def test_tests_that_wait_for_a_processor_pass_although_the_clock_is_over():
    """D-S8-11, D-S8-12: the limit is for what sleeps and what runs; the same verdict on a busy machine."""
    text = candidate("shorten").files[TESTS].decode()
    long = f"\n\ndef test_long():\n{HALF_A_SECOND}    assert shorten('abc', 2) == ('ab', 'E_CUT')\n"
    with crowded(20):
        seen = run({TESTS: text + long}, name="shorten", timeout_seconds=LIMIT)
    assert seen.findings == ()


@LINUX
def test_a_module_that_sleeps_on_a_busy_machine_is_stopped_all_the_same():
    """Rule 4: to sleep is no waiting for a processor."""
    source = candidate("shorten").files[ENTRY].decode()
    asleep = source.replace(
        "    if limit < 1:", "    import select; select.select((), (), (), 600)\n    if limit < 1:"
    )
    with crowded(1):
        seen = run({ENTRY: asleep}, name="shorten", timeout_seconds=1.0)
    assert "tests.timeout" in {finding.code for finding in seen.findings}


@pytest.mark.nightly
@LINUX
def test_a_falsifying_test_that_waits_for_a_processor_is_no_counterexample():
    """D-13-02, D-S8-12: a heavy and sound test of a sound module."""
    with crowded(20):
        trial = tried("pass", f"{HALF_A_SECOND}    assert shorten('abc', 2) == ('ab', 'E_CUT')\n", LIMIT)
    assert trial == Trial("test_it", passed=True)


@pytest.mark.nightly
def test_a_falsifying_test_that_never_ends_by_itself_shows_nothing():
    """D-13-01: the time was the test's own, and its author is told; where many wait for a processor, by its limit."""
    trial = tried("pass", "    assert shorten('abc', 2)\n    while True:\n        pass\n")
    assert not trial.passed
    assert re.search(
        r"a test did not come to its end within 10 seconds|15 s of processor time", trial.problems[0]
    )


@pytest.mark.nightly
@LINUX
def test_a_call_of_the_fuzz_that_waits_for_a_processor_is_no_counterexample():
    """D-S8-14, D-S8-12: it is made again, with more patience."""
    slow = Planted({"a: int": [], "b: int": []}, "int", f"{BUSY.format(700_000).strip()}\nreturn a + b")
    with crowded(5):
        found = fuzzed(slow, FuzzBounds(examples=5, seconds=0.2, call_seconds=0.25))
    assert found == ()


@pytest.mark.slow
@LINUX
def test_a_machine_that_gives_no_time_is_no_fault_of_the_module():
    """Rule 4: the gate breaks off and says that the machine is too busy."""
    with crowded(30):
        own_time = OwnTime([os.getpid()])
        with pytest.raises(ShipGateError, match="too busy"):
            _work_until_over(own_time)


@LINUX
def test_a_process_that_has_ended_waited_what_it_waited():
    """D-S8-12: else a run whose last word is being read would seem to have run all the time."""
    with crowded(20):
        child = subprocess.Popen([sys.executable, "-c", "for turn in range(1_000_000):\n    turn * turn"])
        own_time, began, waited = OwnTime([child.pid]), time.monotonic(), 0.0
        while child.poll() is None:
            waited = time.monotonic() - began - own_time.seconds()
            time.sleep(0.02)
        # the clocks are not read at one moment
        assert time.monotonic() - began - own_time.seconds() > waited / 2 > 0


def _work_until_over(own_time: OwnTime) -> None:
    # half a second: what a hypervisor gives to others counts as the process's own, and is seldom so long
    while not own_time.is_over(0.5):
        sum(range(100_000))


@pytest.mark.slow
@LINUX
def test_a_mutant_that_waits_for_a_processor_is_not_taken_for_noticed(tmp_path: Path):
    """D-S8-08, D-S8-12: else weak tests would pass the gate on a busy machine."""
    whole = candidate("shorten")
    source = whole.files[ENTRY].decode()
    heavy = source.replace("    if limit < 1:", f"{BUSY.format(500_000)}    if limit < 1:")
    staged = stage(tmp_path, whole, whole.files)
    variants = [Variant(ENTRY, source, whole=True), Variant(ENTRY, heavy, whole=True)]
    with crowded(25), start_runner(staged, draws=False) as runner:
        runs = run_variants(staged, "shorten", variants, runner, seconds=5)
    assert [run.outcome for run in runs] == ["passed", "passed"]


@pytest.mark.slow
@LINUX
def test_a_mutant_that_sleeps_is_stopped(tmp_path: Path):
    """Rule 4: it uses no processor time and stands still."""
    whole = candidate("shorten")
    source = whole.files[ENTRY].decode()
    asleep = source.replace(
        "    if limit < 1:", "    import select; select.select((), (), (), 600)\n    if limit < 1:"
    )
    staged = stage(tmp_path, whole, whole.files)
    variants = [Variant(ENTRY, source, whole=True), Variant(ENTRY, asleep, whole=True)]
    with start_runner(staged, draws=False) as runner:
        runs = run_variants(staged, "shorten", variants, runner, seconds=5)
    assert [run.outcome for run in runs] == ["passed", "stopped"]


@pytest.mark.slow
def test_tests_that_are_too_slow_for_any_mutants_are_told_what_to_change(tmp_path: Path):
    """D-S8-08: one finding, and no error of the gate's own."""
    text = candidate("shorten").files[TESTS].decode()
    long = f"\n\ndef test_long():\n{ONE_SECOND}    assert shorten('abc', 2) == ('ab', 'E_CUT')\n"
    whole = candidate("shorten", {TESTS: text + long})
    staged = stage(tmp_path, whole, whole.files)
    seen = examine_strength(staged, whole.contract, whole.files, budget=0.5)
    assert [finding.code for finding in seen.findings] == ["strength.slow"]
    assert "draw fewer examples" in seen.findings[0].message


@pytest.mark.parametrize(("budget", "kept"), [(1000.0, 60), (0.0, 0)])
def test_the_highest_tier_that_can_be_is_run(tmp_path: Path, budget: Any, kept: Any):
    """D-S8-08: the choice follows the time that the module's own tests took."""
    whole = candidate("shorten")
    source = whole.files[ENTRY].decode()
    staged = stage(tmp_path, whole, whole.files)
    tiers = (0, 0, 60, 30, 60)
    with start_runner(staged, draws=False) as runner:
        variants = [Variant(ENTRY, source, tier=tier) for tier in tiers]
        runs = run_variants(staged, "shorten", variants, runner, seconds=20, budget=budget)
    assert [run.outcome for run in runs] == ["passed" if tier <= kept else "left_out" for tier in tiers]


@pytest.mark.parametrize("parameter", ["path: Path", slow("n: int")])
@pytest.mark.parametrize(("seconds", "codes"), [(5, []), (3600, ["fuzz.counterexample"])])
def test_a_call_hangs_if_it_hangs_again(parameter: Any, seconds: Any, codes: Any):
    """What a disk or a stopped machine lets a call wait is no fault of the module, and one that never ends is refused as
    ever (D-S8-14)."""
    until = time.time() + seconds
    wait = 2 if seconds < 60 else 3600
    waits = f"import select, time\nif time.time() < {until}:\n    select.select((), (), (), {wait})\nreturn 1"
    found = fuzzed(Planted({parameter: []}, "int", waits), FuzzBounds(call_seconds=0.6))
    assert [finding.code for finding in found] == codes
