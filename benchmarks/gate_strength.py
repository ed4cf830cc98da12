"""What the whole gate costs for one module (DESIGN §11: 16 tests, about 44 mutants, fuzz included, at most 3 s on two
cores), stage by stage. Numbers, never a test: `python benchmarks/gate_strength.py [RUNS]`."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from gate.corpus_reading import sound
from specwright.gate import FirstGate
from specwright.gate.fuzz import FuzzBounds
from specwright.gate.static_stage import static_findings
from specwright.ports.gate import Candidate

TESTS = 16
MUTANTS = 44


def module():
    """A parser with 44 mutants or a few more, and exactly 16 tests."""
    whole = sound("evaluate")
    text = whole.files["tests/test_evaluate.py"].decode()
    sums = [(f"{n}+{n}*2-(3-{n})", n + n * 2 - (3 - n)) for n in range(TESTS - 3)]
    for place, (expression, value) in enumerate(sums):
        text += f"\n\ndef test_sum_{place}():\n    assert evaluate({expression!r}) == {value}\n"
    return Candidate(whole.contract, {**whole.files, "tests/test_evaluate.py": text.encode()})


def fastest(what, runs):
    """The fastest of some runs, in seconds, with the last result."""
    best, result = float("inf"), None
    for _ in range(runs):
        began = time.perf_counter()
        result = what()
        best = min(best, time.perf_counter() - began)
    return best, result


def main():
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    candidate = module()
    no_fuzz = FuzzBounds(examples=0)
    static, _ = fastest(lambda: static_findings(candidate), runs)
    preflight, _ = fastest(lambda: FirstGate().judge(candidate, thorough=False), runs)
    strong, _ = fastest(lambda: FirstGate(fuzz=no_fuzz).judge(candidate), runs)
    whole, verdict = fastest(lambda: FirstGate().judge(candidate), runs)
    assert verdict is not None
    print(f"static checks          {static:8.3f} s")
    print(f"preflight              {preflight:8.3f} s")
    print(f"stubs and mutants      {strong - preflight:8.3f} s")
    print(f"contract fuzz          {whole - strong:8.3f} s")
    print(
        f"the whole gate         {whole:8.3f} s   (at most 3 s on two cores for {TESTS} tests, {MUTANTS} mutants)"
    )
    print("; ".join(verdict.notes), "; passed" if verdict.passed else verdict.findings)


if __name__ == "__main__":
    main()
