"""What the lane `one-shot` saves on the recorded examples: requests, and characters in and out (D51, DESIGN §11).

`python benchmarks/one_shot.py` makes each example again in both lanes, from the answers that were recorded of it; the gate
is a script, the rest is real. Characters in are those of the requests, with prompts and tools; characters out those of the
answers, which are the same but for the names of modules around them. It prints a row for each example with the ratios of the
two lanes, and ends with 1 if the lane takes more than three quarters of the requests of an example.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from testkit.examples.recorded_answers import Asked, run_again
from testkit.loop.scripted_gate import ScriptedGate

EXAMPLES = ("dueplan", "fieldtext", "jsonamend")
MOST_REQUESTS = 0.75


def measure(example: str) -> tuple[Asked, Asked]:
    """What an example asks in both lanes."""
    with tempfile.TemporaryDirectory() as directory:
        task = run_again(example, "task", Path(directory) / "task", ScriptedGate([]))
        return task, run_again(example, "one-shot", Path(directory) / "one-shot", ScriptedGate([]))


def main() -> None:
    """Measure."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(
        f"{'':12}{'requests':>16}{'ratio':>8}{'characters in':>22}{'ratio':>8}{'characters out':>20}{'ratio':>8}"
    )
    saved = True
    for example in EXAMPLES:
        task, one_shot = measure(example)
        saved = saved and one_shot.total <= MOST_REQUESTS * task.total
        print(
            f"{example:12}{f'{task.total} -> {one_shot.total}':>16}{one_shot.total / task.total:8.2f}"
            f"{f'{task.characters_in:,} -> {one_shot.characters_in:,}':>22}"
            f"{one_shot.characters_in / task.characters_in:8.2f}"
            f"{f'{task.characters_out:,} -> {one_shot.characters_out:,}':>20}"
            f"{one_shot.characters_out / task.characters_out:8.2f}"
        )
    sys.exit(0 if saved else 1)


if __name__ == "__main__":
    main()
