"""How long the whole gate takes for a module of 16 tests and 44 mutants (D-S11-07; DESIGN §11: at most 3 s on two cores).

It binds itself to two cores where the system can. Each line is the gate with one stage more than the line before it;
strength and fuzz run side by side, so that the last lines are no sum. Beside the wall-clock time stands the processor
time of all processes, which another program's load changes less, and the load at the time.

    python benchmarks/gate_whole.py [--repeat N] [--sandbox KIND]
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ship_gate.contract.contract import ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.strength.mutants import mutants_of
from ship_gate.verdict import Candidate

TARGET_SECONDS = 3.0
MUTANTS = 44
CORES = 2

CONTRACT = MicroModuleContract(
    module_id="MM-000000be",
    name="slugify",
    purpose="Turn a title into a slug of lower-case words.",
    inputs=[
        Input(name="text", type="str", constraints=["at most 1000 characters"]),
        Input(name="sep", type="str", constraints=["one of '-', '_'", "defaults to '-'"]),
        Input(name="most", type="int", constraints=["between 1 and 200", "defaults to 60"]),
    ],
    outputs=[Output(name="slug", type="str", invariants=["letters a to z, digits and sep"])],
    error_surfaces=[
        ErrorSurface(name="ValueError", when="an input is out of its range", surface="exception")
    ],
    effects=[],
    modes=Modes(sync=True, async_=False),
)

SOURCE = """
__all__ = ["slugify"]

_KEPT = "abcdefghijklmnopqrstuvwxyz0123456789"


def slugify(text: str, sep: str = "-", most: int = 60) -> str:
    if len(text) > 1000:
        raise ValueError("an input is out of its range")
    if sep not in ("-", "_"):
        raise ValueError("an input is out of its range")
    if not 1 <= most <= 200:
        raise ValueError("an input is out of its range")
    words = _words(text)
    slug = ""
    for word in words:
        longer = slug + sep + word if slug else word
        if len(longer) > most:
            break
        slug = longer
    return slug or words[0][:most] if words else ""


def _words(text: str) -> list[str]:
    words = [""]
    spelt = text.lower().replace("&", " and ").replace("@", " at ").replace("%", " percent ")
    for letter in spelt:
        if letter in _KEPT:
            words[-1] += letter
        elif words[-1]:
            words.append("")
    return [word for word in words if word]
"""

CASES = {
    "one_word": ("slugify('Title')", "'title'", [""]),
    "two_words": ("slugify('Two Words')", "'two-words'", ["/outputs/0/invariants/0"]),
    "another_separator": ("slugify('a b', '_')", "'a_b'", ["/inputs/1/constraints/0"]),
    "default_separator": ("slugify('a b')", "'a-b'", ["/inputs/1/constraints/1"]),
    "default_length": ("len(slugify('ab ' * 40))", "59", ["/inputs/2/constraints/1"]),
    "digits": ("slugify('7 of 9')", "'7-of-9'", []),
    "punctuation": ("slugify('--a!!b--')", "'a-b'", []),
    "nothing": ("slugify('')", "''", []),
    "signs_are_words": ("slugify('5% a@b & c')", "'5-percent-a-at-b-and-c'", []),
    "cut_between_words": ("slugify('abc def', most=6)", "'abc'", []),
    "just_fits": ("slugify('abc def', most=7)", "'abc-def'", []),
    "cut_within_a_word": ("slugify('abcdef', most=1)", "'a'", ["/inputs/2/constraints/0"]),
    "longest": ("slugify('a' * 1000, most=200)", "'a' * 200", []),
}
REFUSED = {
    "too_long": ("slugify('a' * 1001)", ["/inputs/0/constraints/0", "/error_surfaces/0"]),
    "no_such_separator": ("slugify('a', '+')", []),
    "out_of_range": ("slugify('a', most=201)", ["/inputs/2/constraints/0"]),
}

EXAMPLES = """## A title

Words are joined.

```python
from modules.slugify import slugify

slugify("Two Words")
```

```text
'two-words'
```

## Too long

It is refused.

```python
from modules.slugify import slugify

slugify("a" * 1001)
```

```text
ValueError: an input is out of its range
```
"""


def module() -> Candidate:
    """The module under the gate."""
    tests = "import pytest\nfrom modules.slugify import slugify\n"
    for name, (call, result, _) in CASES.items():
        tests += f"\n\ndef test_{name}():\n    assert {call} == {result}\n"
    for name, (call, _) in REFUSED.items():
        tests += f"\n\ndef test_{name}():\n    with pytest.raises(ValueError):\n        {call}\n"
    claims = {f"test_{name}": case[-1] for name, case in {**CASES, **REFUSED}.items()}
    files = {
        "implementation/__init__.py": SOURCE,
        "tests/test_slugify.py": tests,
        "tests/obligations.json": json.dumps(claims),
        "examples.md": EXAMPLES,
    }
    return Candidate(CONTRACT, {path: text.encode() for path, text in files.items()})


def bare(candidate: Candidate) -> Callable[[], None]:
    """The same tests by pytest alone, in a process of its own."""
    root = Path(tempfile.mkdtemp(prefix="bench-"))
    package = root / "modules" / "slugify"
    package.mkdir(parents=True)
    (package / "__init__.py").write_bytes(candidate.files["implementation/__init__.py"])
    (root / "test_slugify.py").write_bytes(candidate.files["tests/test_slugify.py"])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--disable-plugin-autoload",
        "-p",
        "no:cacheprovider",
        ".",
    ]
    environment = {"PYTHONPATH": str(root), "PATH": ""}
    return lambda: (
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True) and None
    )


def gate(candidate: Candidate, made: SandboxedShipGate, *, thorough: bool) -> Callable[[], None]:
    """One judgement, which must pass."""

    def judge() -> None:
        verdict = made.judge(candidate, thorough=thorough)
        assert verdict.passed, verdict.findings
        assert len(verdict.tests) == 16

    return judge


def seconds(work: Callable[[], None], repeat: int) -> tuple[float, float]:
    """The medians of some runs: wall-clock time, and processor time of this process and its children."""
    taken: list[tuple[float, float]] = []
    for _ in range(repeat):
        began, used = time.perf_counter(), _processor()
        work()
        taken.append((time.perf_counter() - began, _processor() - used))
    return statistics.median(wall for wall, _ in taken), statistics.median(cpu for _, cpu in taken)


def _processor() -> float:
    who = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in who)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    # a namespace's processes are no children of ours when they end: without one, all processor time is seen
    parser.add_argument("--sandbox", default="landlock")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-CORES:])
    candidate, none, kind = module(), FuzzBounds(examples=0), given.sandbox
    assert len(mutants_of(candidate.files)) == MUTANTS
    stages = {
        "bare pytest, 16 tests": bare(candidate),
        "surface, tests, examples": gate(
            candidate, SandboxedShipGate(static=False, sandbox=kind), thorough=False
        ),
        "+ static checks (preflight)": gate(candidate, SandboxedShipGate(sandbox=kind), thorough=False),
        "preflight and contract fuzz": gate(
            candidate, SandboxedShipGate(strength=0, sandbox=kind), thorough=True
        ),
        "preflight and strength": gate(candidate, SandboxedShipGate(fuzz=none, sandbox=kind), thorough=True),
        "the whole gate": gate(candidate, SandboxedShipGate(sandbox=kind), thorough=True),
    }
    wall = 0.0
    for name, work in stages.items():
        work()  # what is loaded once is not counted
        wall, used = seconds(work, given.repeat)
        print(
            f"{name:<30}{wall:8.3f} s   {used:6.2f} s of processor time   {wall / TARGET_SECONDS:5.2f} of the limit"
        )
    print("; ".join(SandboxedShipGate(sandbox=kind).judge(candidate).notes))
    print(
        f"limit {TARGET_SECONDS:g} s: {'met' if wall <= TARGET_SECONDS else 'MISSED'}; load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
