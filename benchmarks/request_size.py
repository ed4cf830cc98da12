"""What a request holds, and what a task takes, at the fifth and at the last task of one product (D51, DESIGN §11).

`python benchmarks/request_size.py [--tasks N]` runs one product whose tasks each call the module of the one before, in
chains of five: what the gate is given grows with what a module calls at all removes, which is no matter of the product's
size. The roles answer at once and the gate is a script; the rest is real: graphs, log, journal, store, Code Index, requests.
It prints the bytes of each role's request and the time of a task, the last five over the fifth to the ninth, and
ends with 1 if a request has grown by more than a fifth.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.ports import Place, Role
from testkit.loop.debate_workbench import DebateWorkbench, script
from testkit.loop.project_workbench import chain_spec
from testkit.loop.role_answers import Turn, plan, planned
from testkit.model.script import Script

WINDOW = 5
GROWTH = 1.2


class OneModuleEach:
    """Each task is one module of its own name that calls the one before; everything else is sound at once."""

    def __init__(self, index: SqliteCodeIndex) -> None:
        self._index = index
        self._sound = script()
        self.begun: list[float] = []

    def answer(self, place: Place, ordinal: int) -> Turn:
        """The plan of a task, or what the script says."""
        if place.role is not Role.PLANNER:
            return self._sound.answer(place, ordinal)
        self.begun.append(time.perf_counter())
        name = f"double_{len(self.begun):04}"
        before = f"double_{len(self.begun) - 1:04}" if len(self.begun) % WINDOW != 1 else ""
        calls = [entry.ref for entry in self._index.entries() if entry.name == before]
        return Turn(plan(planned(name, *calls)))


def measure(count: int, directory: Path) -> bool:
    """Run a product, print what it took; whether no request has grown by more than a fifth."""
    with DebateWorkbench(directory / "project", Script({}, {})) as bench:
        roles = OneModuleEach(bench.index)
        bench.follow(roles)
        bench.approve(chain_spec(count, back=(1,)))
        outcome = bench.run()
        sizes: dict[Role, list[int]] = defaultdict(list)
        for asked in bench.roles.asked:
            sizes[asked.place.role].append(len(asked.message.encode()) + sum(map(len, asked.pack.values())))
    print(f"{count} tasks: {outcome}, {sum(map(len, sizes.values()))} requests")
    level = True
    for role, held in sizes.items():
        per_task = len(held) // count
        first, last = _ends(held, per_task)
        level = level and last / first <= GROWTH
        print(f"  {role:<12}{first:10,.0f} bytes, then {last:10,.0f}: {last / first:.2f}")
    taken = [after - before for before, after in zip(roles.begun, roles.begun[1:], strict=False)]
    first, last = _ends(taken, 1)
    print(f"  a task      {first:10.3f} s,     then {last:10.3f}: {last / first:.2f}")
    return level


def _ends(values: list[float] | list[int], per_task: int) -> tuple[float, float]:
    """The median of the fifth to the ninth task, and of the last five."""
    width = WINDOW * per_task
    return statistics.median(values[width - per_task :][:width]), statistics.median(values[-width:])


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=300)
    with tempfile.TemporaryDirectory() as directory:
        sys.exit(0 if measure(parser.parse_args().tasks, Path(directory)) else 1)


if __name__ == "__main__":
    main()
