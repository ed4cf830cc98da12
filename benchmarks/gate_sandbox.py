"""What the sandbox costs: 16 tests in it over the same with bare pytest (DESIGN §11, D-S11-07).

`python benchmarks/gate_sandbox.py` prints the ratios of one run; nothing is asserted, since machines differ:

- cold: both processes are started for the run (target: at most 1.3 of bare);
- warm: they were started before, and wait for their job, as they do while the gate reads the source (target: below bare);
- for each kind of sandbox that this machine offers, and without one.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ship_gate.contract.contract import Input, MicroModuleContract, Output
from ship_gate.runs import named_tests, run_tests
from ship_gate.sandbox.kind import Sandbox, fault_of
from ship_gate.sandbox.pair import prepare
from ship_gate.sandbox.process import SandboxKind
from ship_gate.sandbox.staging import lay_out, stage, workspace
from ship_gate.verdict import Candidate

SOURCE = '''import re

__all__ = ["slugify"]


def slugify(text: str) -> str:
    """Turn a title into a URL slug."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
'''
TESTS = "from modules.slugify import slugify\n\n" + "\n\n".join(
    f'def test_title_{n}():\n    assert slugify("Title {n}, and more") == "title-{n}-and-more"'
    for n in range(16)
)
CONTRACT = MicroModuleContract(
    module_id="MM-00000001",
    name="slugify",
    purpose="Turn a title into a URL slug.",
    inputs=[Input(name="text", type="str")],
    outputs=[Output(name="slug", type="str")],
    error_surfaces=[],
    effects=[],
    modes={"sync": True, "async": False},
)
CANDIDATE = Candidate(
    CONTRACT, {"implementation/__init__.py": SOURCE.encode(), "tests/test_slugify.py": TESTS.encode()}
)


def bare() -> float:
    """Seconds of pytest on the same files, without anything around it."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "modules", "slugify")
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(SOURCE)
        Path(folder, "test_slugify.py").write_text(TESTS)
        command = [
            sys.executable,
            "-B",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--disable-plugin-autoload",
        ]
        began = time.perf_counter()
        subprocess.run(
            [
                *command,
                "--import-mode=importlib",
                "-c",
                "/dev/null",
                f"--rootdir={folder}",
                "test_slugify.py",
            ],
            cwd=folder,
            env={"PYTHONPATH": folder},
            capture_output=True,
            check=True,
        )
        return time.perf_counter() - began


def sandboxed(kind: SandboxKind, rest: float | None) -> float:
    """Seconds of the gate's run; with a rest after the start, the start does not count."""
    with workspace() as root:
        began = time.perf_counter()
        with prepare(lay_out(root, Sandbox(kind)), "test_runner") as pair:
            if rest is not None:
                time.sleep(rest)
                began = time.perf_counter()
            staged = stage(root, CANDIDATE, CANDIDATE.files, Sandbox(kind))
            run = run_tests(staged, CONTRACT, named_tests(CANDIDATE.files), 60.0, pair)
            took = time.perf_counter() - began
        assert len(run.tests) == 16
        assert not run.findings, run.findings
        return took


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11)
    rounds = parser.parse_args().rounds
    kinds = [kind for kind in SandboxKind if kind is SandboxKind.NONE or not fault_of(kind)]
    measured: dict[str, list[float]] = {}
    for _ in range(rounds + 1):
        # in turns, so that a busy moment of the machine meets all of them
        measured.setdefault("bare pytest", []).append(bare())
        for kind in kinds:
            measured.setdefault(f"{kind}, cold", []).append(sandboxed(kind, None))
            measured.setdefault(f"{kind}, warm", []).append(sandboxed(kind, 0.5))
    middle = {name: statistics.median(times[1:]) for name, times in measured.items()}
    for name, seconds in middle.items():
        print(f"{name:18} {1000 * seconds:6.0f} ms   {seconds / middle['bare pytest']:.2f} of bare")


if __name__ == "__main__":
    main()
