"""How fast the command line answers when nothing is driven (DESIGN §11: `--help` under 0.25 s).

`python benchmarks/startup.py [--rounds N]` prints the median wall-clock and processor time of each command beside
`python -c pass` on the same interpreter, and their ratio: `--help`, and the commands that look at a project that a playbook
has finished. Wall-clock time doubles on a busy machine; processor time hardly does. It asserts nothing.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

TARGET_SECONDS = 0.25
PROGRAM = ["-c", "from specwright.cli.main import run; run()"]
PRODUCT = Path(__file__).parents[1] / "examples/nameplate"
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "specwright --help": [*PROGRAM, "--help"],
    "specwright --version": [*PROGRAM, "--version"],
    "specwright status": [*PROGRAM, "status", "."],
    "specwright tasks": [*PROGRAM, "tasks", "."],
    "specwright modules": [*PROGRAM, "modules", "."],
    "specwright wire verify": [*PROGRAM, "wire", "verify", "."],
    "specwright verify": [*PROGRAM, "verify", "."],
}


class Taken(NamedTuple):
    """Seconds of one process."""

    wall: float
    processor: float


def taken(arguments: list[str], project: str) -> Taken:
    """What one process takes."""
    began, used = time.perf_counter(), _children()
    subprocess.run([sys.executable, *arguments], cwd=project, check=True, stdout=subprocess.DEVNULL)
    return Taken(time.perf_counter() - began, _children() - used)


def finish_a_project(project: str) -> None:
    """A small product, from its playbook to its wheel."""
    told = ["run", project, "--spec", str(PRODUCT / "SPEC.md"), "--approve"]
    model = ["--model", f"playbook:{PRODUCT / 'playbook'}"]
    subprocess.run([sys.executable, *PROGRAM, *told, *model], check=True, capture_output=True)


def measure(project: str, rounds: int) -> dict[str, list[Taken]]:
    """All commands in turn, so that a change of load meets all alike."""
    times: dict[str, list[Taken]] = {name: [] for name in COMMANDS}
    for arguments in COMMANDS.values():
        taken(arguments, project)  # bytecode is compiled and the disk is warm
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            times[name].append(taken(arguments, project))
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as project:
        finish_a_project(project)
        times = measure(project, rounds)
    bare = statistics.median(one.processor for one in times["python -c pass"])
    for name, measured in times.items():
        wall = statistics.median(one.wall for one in measured)
        processor = statistics.median(one.processor for one in measured)
        print(
            f"{name:<24} wall {wall * 1000:6.0f} ms  processor {processor * 1000:6.0f} ms  x{processor / bare:.1f}"
        )
    print(f"target: specwright --help under {TARGET_SECONDS * 1000:.0f} ms")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
