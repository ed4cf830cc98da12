"""How long the validation of a product spec takes, by its number of tasks (docs/design.md#testing).

Prints the median of several rounds for specs of 1, 100 and 5,000 tasks, in all and for each task, beside reading the same
spec from JSON, and the ratio of both. The largest one also has a chain of dependencies through all its tasks, and once
more a circle. Times double on a busy machine; ratios hardly do. It asserts nothing.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from specwright.domain.spec.completeness import validate

SIZES = (1, 100, 5_000)
TASKS_PER_STORY = 25


def task(number: int, before: int) -> dict[str, Any]:
    """A complete task, which depends on another one, or on none (0)."""
    return {
        "task_id": f"TSK-{number:03d}",
        "name": f"Parse part {number}",
        "description": f"Reads part {number} of the file into values of its own.",
        "subtasks": [f"Read the bytes of part {number}", "Refuse a part that is cut off"],
        "acceptance_criteria": ["Returns the values in order", "Raises ValueError for an empty part"],
        "depends_on": [f"TSK-{before:03d}"] if before else [],
        "io_contract_sketch": {
            "inputs": "text: str, the whole part",
            "outputs": "values: list[str], in the order of the part",
            "error_surfaces": "ValueError if the part is empty",
            "effects": "none: pure",
            "modes": "sync, because nothing waits",
        },
    }


def spec(size: int, *, circle: bool = False) -> dict[str, Any]:
    """A complete spec of so many tasks, each after the one before; in a circle the first is after the last."""
    tasks = [task(number, number - 1 if number > 1 else size * circle) for number in range(1, size + 1)]
    stories = [
        {
            "story_id": f"STR-{begin // TASKS_PER_STORY + 1:03d}",
            "name": f"Parts from {begin + 1}",
            "description": "The user brings a file in parts.",
            "user_facing_behavior": "The values of the parts appear.",
            "tasks": tasks[begin : begin + TASKS_PER_STORY],
        }
        for begin in range(0, size, TASKS_PER_STORY)
    ]
    epic = {
        "epic_id": "EPC-001", "name": "Parts", "description": "Everything that is done with one part.",
        "success_criteria": ["A file of a million parts opens"], "stories": stories,
    }  # fmt: skip
    pillar = {
        "pillar_id": "PIL-001", "name": "Core", "description": "What every other part builds on.",
        "rationale": "Without parts there is nothing to show.", "epics": [epic],
    }  # fmt: skip
    return {
        "spec_id": "SPEC-001", "spec_version": "1.0.0", "title": "Part keeper",
        "description": "Keeps parts in plain files and sorts them.", "pillars": [pillar],
    }  # fmt: skip


def median_seconds(work: Callable[[], object], rounds: int) -> float:
    """The median of several rounds."""
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def measure(name: str, data: dict[str, Any], size: int, rounds: int) -> None:
    """Measure a spec and print a line."""
    text = json.dumps(data)
    found = len(validate(data).errors)
    taken = median_seconds(lambda: validate(data), rounds)
    read = median_seconds(lambda: json.loads(text), rounds)
    print(
        f"{name:<24} {taken * 1000:9.2f} ms  {taken / size * 1e6:7.1f} us a task  x{taken / read:5.1f} of reading it"
        f"  {len(text):>9,} characters  {found} errors"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for size in SIZES:
        measure(f"{size:,} tasks", spec(size), size, rounds)
    largest = SIZES[-1]
    measure(f"{largest:,} tasks in a circle", spec(largest, circle=True), largest, rounds)


if __name__ == "__main__":
    main()
