"""What a change of one task takes in a product of many tasks, over what the product took (D-S11-11).

`python benchmarks/change.py [--tasks N]` builds a small product and a large one whose tasks each call the module of the
one before, in chains of five, and changes the first task of a chain: it runs again, and the four that follow are judged
again. The roles answer at once, the gate is a script, and the wheel is empty; the rest is real: graphs, log, journal, store,
Code Index. It prints time and written bytes of the full build and of the change, without the release, which holds every
module, and the time of reading the log. What an untouched task adds to a change is set against what a task of the build
takes: the approved spec and the state of the project name every task, nothing else may; it ends with 1 if the bytes are
more than a fiftieth.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from request_size import OneModuleEach

from specwright.application.change import approve_change, begin_change
from specwright.application.projection import Projection
from specwright.application.stages.release import release_all
from specwright.domain.escalation import OPERATOR
from specwright.domain.spec.product_spec import ProductSpec
from specwright.ports import BuiltWheel, ExerciseReport, Place, ProductPackage, Role
from testkit.loop.debate_workbench import DebateWorkbench
from testkit.loop.project_workbench import chain_spec
from testkit.loop.role_answers import Turn, plan, planned
from testkit.model.script import Script

SMALL = 60
CHANGED = 11
"""The number of the changed task: the first of the third chain."""
SPEC_BEFORE, SPEC_AFTER = "# Doubles\n\nAs they are.\n", "# Doubles\n\nZero is doubled, too.\n"
SHARE = 1 / 50


class Taken(NamedTuple):
    """Seconds, and bytes that were written."""

    seconds: float
    written: int


class EmptyWheel:
    """The port `Packager`, without a wheel that could be installed."""

    def build(self, product: ProductPackage) -> BuiltWheel:
        """Nothing."""
        return BuiltWheel(f"{product.import_name}-{product.version}-py3-none-any.whl", b"", "0" * 64, ())

    def exercise(self, wheel: BuiltWheel, product: ProductPackage) -> ExerciseReport:
        """It passes."""
        return ExerciseReport("PASS", "not tried", ())


class ChangedModule(OneModuleEach):
    """Plans the changed task again under its old name, with an invariant more."""

    def answer(self, place: Place, ordinal: int) -> Turn:
        """The plan of the changed task, or what the script says."""
        if place.role is not Role.PLANNER:
            return self._sound.answer(place, ordinal)
        invariants = ["is the number twice", "is zero for zero"]
        outputs = [{"name": "result", "type": "int", "invariants": invariants}]
        return Turn(plan(planned(f"double_{CHANGED:04}", outputs=outputs)))


def measure(tasks: int, directory: Path) -> tuple[Taken, Taken]:
    """Build a product and change it; prints and returns both."""
    with DebateWorkbench(directory / "project", Script({}, {})) as bench:
        projection = Projection(bench.log, bench.store, _counted_time())
        bench.factory = replace(
            bench.factory, packager=EmptyWheel(), spec_text=SPEC_BEFORE, projection=projection
        )
        bench.follow(OneModuleEach(bench.index))
        spec = chain_spec(tasks, back=(1,))
        with _taken() as build:
            bench.approve(spec)
            assert bench.run() == "COMPLETE", bench.state.outcome()
        release_all(bench.factory)
        begin_change(bench.factory, "", SPEC_BEFORE, SPEC_AFTER)
        bench.follow(ChangedModule(bench.index))
        with _taken() as change:
            approve_change(bench.factory, _changed(spec), OPERATOR)
            assert bench.run() == "COMPLETE"
        release_all(bench.factory)
        began = time.perf_counter()
        Projection(bench.log, bench.store, time.monotonic).catch_up()
        opened = time.perf_counter() - began
    (full,), (later,) = build, change
    print(f"{tasks} tasks: build {full.seconds:.2f} s, {full.written:,} bytes; ", end="")
    print(f"change {later.seconds:.2f} s, {later.written:,} bytes; log read in {opened:.2f} s")
    return full, later


def _changed(spec: ProductSpec) -> ProductSpec:
    """One criterion more."""
    data = spec.to_json()
    tasks = [
        task
        for pillar in data["pillars"]
        for epic in pillar["epics"]
        for story in epic["stories"]
        for task in story["tasks"]
    ]
    tasks[CHANGED - 1]["acceptance_criteria"].append("It returns 0 for 0.")
    return ProductSpec.model_validate({**data, "spec_version": "1.1.0"})


def _counted_time() -> Callable[[], float]:
    """A clock that goes by how often it is read: the state is written after each event, on an idle machine as on a busy
    one, where it is written once a second at most."""
    readings = count()
    return lambda: float(next(readings))


@contextmanager
def _taken() -> Iterator[list[Taken]]:
    """The time of a block, and the bytes that it wrote."""
    taken: list[Taken] = []
    before, began = _written(), time.perf_counter()
    yield taken
    taken.append(Taken(time.perf_counter() - began, _written() - before))


def _written() -> int:
    """The bytes that this process has written so far, to whatever file and however often."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=300)
    tasks = parser.parse_args().tasks
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        (_, few), (build, many) = measure(SMALL, Path(small)), measure(tasks, Path(large))
    added = tasks - SMALL
    written = (many.written - few.written) / added * tasks / build.written
    seconds = (many.seconds - few.seconds) / added * tasks / build.seconds
    print(
        f"an untouched task adds {written:.4f} of the bytes and {seconds:.4f} of the time of a task that is built"
    )
    sys.exit(0 if written <= SHARE else 1)


if __name__ == "__main__":
    main()
