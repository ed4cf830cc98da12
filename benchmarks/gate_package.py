"""How long `gate --package` takes for 200 functions, and again when nothing and when one has changed (D-50-03).

Its place among the benchmarks is docs/design.md#benchmarks.

The package is made anew: ten functions in each file, each with a docstring, two documented examples and a test in `tests`.
The first run judges all; the second finds each as it was; the third judges the one whose body has changed. What is
compared is the ratio, since both are measured on the same machine.

    python benchmarks/gate_package.py [--functions N] [--jobs N]
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from specwright.bootstrap.gate.batch import BatchLimits
from specwright.bootstrap.gate.package import judge_package

PER_FILE = 10

FUNCTION = '''
def scale_{n}(number: int) -> int:
    """Multiply a number by {factor} and add {n}.

    >>> scale_{n}(1)
    {one}
    >>> scale_{n}(-2)
    {minus}
    """
    return number * {factor} + {n}
'''
TEST = """
def test_scale_{n}():
    assert numbers_of.part_{part}.scale_{n}(10) == {ten}
"""


def make_package(folder: Path, functions: int) -> None:
    """Write a package and its tests."""
    package = folder / "numbers_of"
    (folder / "tests").mkdir()
    package.mkdir()
    (package / "__init__.py").write_text('"""Numbers."""\n')
    for part in range(0, functions, PER_FILE):
        numbers = range(part, min(part + PER_FILE, functions))
        texts = [FUNCTION.format(n=n, factor=n + 2, one=n + 2 + n, minus=-2 * (n + 2) + n) for n in numbers]
        (package / f"part_{part}.py").write_text("\n".join(texts))
        tests = [TEST.format(n=n, part=part, ten=10 * (n + 2) + n) for n in numbers]
        head = f"import numbers_of\nimport numbers_of.part_{part}\n"
        (folder / f"tests/test_part_{part}.py").write_text(head + "\n".join(tests))


def judged(folder: Path, jobs: int) -> tuple[float, int, dict[str, int]]:
    """The seconds of a run, how many functions it judged, and what came of all."""
    began = time.perf_counter()
    limits = BatchLimits(jobs=jobs, passed=folder / "known.json")
    functions = judge_package(folder, limits).verdict
    new = sum(not one.is_unchanged for one in functions.functions)
    return time.perf_counter() - began, new, {k: v for k, v in functions.counts().items() if v}


def main() -> None:
    """Judge a package three times and print what it took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--functions", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_package(folder, options.functions)
        first = judged(folder, options.jobs)
        second = judged(folder, options.jobs)
        path = folder / "numbers_of/part_0.py"
        path.write_text(path.read_text().replace("return number * 2 + 0", "return 0 + number * 2"))
        third = judged(folder, options.jobs)
    for what, (seconds, new, counts) in (
        ("first", first),
        ("unchanged", second),
        ("one changed", third),
    ):
        print(f"{what:12} {seconds:8.1f} s  judged {new:4} of {options.functions}  {json.dumps(counts)}")
    print(f"unchanged / first: {second[0] / first[0]:.4f}, one changed / first: {third[0] / first[0]:.4f}")
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
