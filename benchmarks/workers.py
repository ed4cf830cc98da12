"""Measures workers: projects an hour with 1, 2, 4 and 6 of them, on a model that answers at once.

    python benchmarks/workers.py [--projects 12] [--workers 1 2 4 6]

Needs a Postgres server, `SPECWRIGHT_TEST_POSTGRES` names another one than 127.0.0.1:5432. Each project is a nameplate, one
task with one module, from its queued `run` to the wheel. What is measured is the whole: claims, processes, gate, release.
So with an instant model the cores are the limit, and more workers than cores gain nothing; a model that takes its time
leaves the cores to others. `--projects 300` takes an hour or so on two cores. See docs/design.md#testing; there is no
target.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from testkit.loop.products import NAMEPLATE, NAMEPLATE_SPEC  # noqa: E402  # found by the line above
from testkit.postgres import own_database  # noqa: E402
from testkit.workers import queued  # noqa: E402

_WORKER = "from specwright.cli.main import run; run()"


def measure(projects: int, workers: int) -> float:
    """Seconds from the first worker to the last release."""
    with ExitStack() as stack:
        database = stack.enter_context(own_database())
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = [
            queued(
                directory / f"p{number}",
                f"{database}?project=p{number}",
                *("--spec", NAMEPLATE_SPEC, "--model", NAMEPLATE, "--approve"),
            )
            for number in range(projects)
        ]
        words = [sys.executable, "-c", _WORKER, "worker", "--store", database, "--until-idle", "--json"]
        began = time.monotonic()
        running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
        events = [json.loads(line) for each in running for line in each.communicate()[0].splitlines()]
        seconds = time.monotonic() - began
        released = sum(event.get("where") == "released" for event in events)
        assert released == len(made), f"{released} of {len(made)} were released"
        return seconds


def main() -> None:
    """Print a line for each number of workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--projects", type=int, default=12)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 6])
    options = parser.parse_args()
    print(f"{options.projects} projects, {os.cpu_count()} cores")
    for workers in options.workers:
        seconds = measure(options.projects, workers)
        rate = 3600 * options.projects / seconds
        print(f"{workers} workers: {seconds:.1f} s, {rate:.0f} projects an hour")


if __name__ == "__main__":
    main()
