"""Verdicts on the corpus, sound, faulty and hostile, by a kind of sandbox: `python -m gate_testkit.verdicts KIND EVERY`.

Prints JSON, so that another user can be asked for the same.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gate_testkit.corpus_reading import faults, faulty, sound, sound_names
from gate_testkit.hostile import ENTRY, SOURCE, TEST_SOURCE, TESTS
from gate_testkit.judging import candidate
from gate_testkit.static_judging import cases
from ship_gate.ship_gate import SandboxedShipGate

__all__ = ["HOSTILE_TESTS", "attacked", "verdicts"]

HOSTILE_TESTS = cases("hostile_tests.md")
HONEST = TEST_SOURCE[
    TEST_SOURCE.index("def test_case_counts") : TEST_SOURCE.index("@pytest.mark.parametrize")
]
CLAIMS = "tests/obligations.json"


def attacked(name: Any):
    """A wrong module, `tally_words`, whose tests are an attack in place of the test that would show it."""
    wrong = SOURCE.replace("(text.casefold() if fold else text).split()", "text.split()")
    changes = {ENTRY: wrong, TESTS: TEST_SOURCE.replace(HONEST, HOSTILE_TESTS[name] + "\n\n")}
    if "class TestX" in HOSTILE_TESTS[name]:
        claims = candidate("tally_words").files[CLAIMS].decode()
        changes[CLAIMS] = claims.replace("test_case_counts_unless_it_is_folded", "TestX::test_it")
    return changes


def verdicts(kind: Any, every: Any):
    """For each sampled candidate whether it passes, and the codes of its findings.

    Of an attack by tests only the code that it is named for counts: what a thread, or a text written into any open file,
    meets besides is left to chance.

    Args:
        kind: Of sandbox.
        every: One candidate in so many is judged, from the last on: one that writes files, one that asks hosts, an attack.
    """
    chosen = {f"sound: {name}": sound(name) for name in sound_names()[::-every]}
    chosen |= {f"faulty: {fault.title}": faulty(fault) for fault in faults()[::-every]}
    chosen |= {name: candidate("tally_words", attacked(name)) for name in [*HOSTILE_TESTS][::-every]}
    gate = SandboxedShipGate(20, sandbox=kind)
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(chosen, pool.map(gate.judge, chosen.values()), strict=True))
    codes = {name: {str(f.code) for f in one.findings} for name, one in found.items()}
    for name in HOSTILE_TESTS.keys() & codes.keys():
        codes[name] &= {name.partition(":")[0]}
    return {name: [one.passed, sorted(codes[name])] for name, one in found.items()}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(verdicts(sys.argv[1], int(sys.argv[2]))))
