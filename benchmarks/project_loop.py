"""What the project loop costs beside the work itself, at ten thousand tasks (DESIGN §11, D29, F§19.1).

`python benchmarks/project_loop.py [--tasks N] [--directory DIR]` drives the real project graph with real log,
journal, store, projection and checkpoints; in the place of the engineering loop stands a stub that publishes a
contract and examples. It prints the figures of one run; nothing is asserted, since machines differ:

- the decision what runs next (target: under 10 ms), at the start, in the middle and at the end: the board's, that of a
  board made anew from the whole state, and their agreement;
- what a task costs between two stubs, the last hundred over the first hundred (target: at most 1.2), by the clock
  and by the processor, which other work on the machine does not disturb;
- the same over the sizes of the projects, where several are given: `--tasks 10 100 1000 10000`;
- bytes written, by file, and at one of how many changes the whole state was written (once a second at most);
- memory; what another process needs to read the project back from the log, and `status` and `tasks` as a person runs
  them: processor time of the whole process, the least of three.

Times depend on the disk: a task is about sixteen fsyncs. `--directory /dev/shm` leaves them out.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from specwright.application import tasks
from specwright.application.factory import Factory
from specwright.application.tasks import Task
from specwright.domain.tasks.task_board import TaskBoard, why_each
from testkit.loop.project_workbench import ProjectWorkbench, chain_spec, seal_stub

WINDOW = 100


class Counted:
    """A file tree that counts what is written to it."""

    def __init__(self, tree: Any, written: Counter[str], files: Counter[str]) -> None:
        self._tree, self._written, self._files = tree, written, files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)

    def _count(self, path: str, data: bytes) -> None:
        kind = _kind(path)
        self._written[kind] += len(data)
        self._files[kind] += 1

    def publish(self, path: str, data: bytes) -> None:
        """Write a file once."""
        self._count(path, data)
        self._tree.publish(path, data)

    def replace(self, path: str, data: bytes) -> None:
        """Write a file in place of an older one."""
        self._count(path, data)
        self._tree.replace(path, data)

    def define(self, data: bytes) -> str:
        """Publish bytes under their SHA-256."""
        self._count("definitions/x", data)
        return self._tree.define(data)


def _kind(path: str) -> str:
    if path.endswith("state_machine.json"):
        return "state_machine.json"
    return {"project": "task files", "definitions": "definitions", "modules": "modules (stub)"}.get(
        path.split("/")[0], "other"
    )


class Span(NamedTuple):
    """A moment by the clock on the wall and by this process's use of the processor, in seconds."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "Span":
        """This moment."""
        return cls(time.perf_counter(), time.process_time())


class Clock:
    """Notes when each stub begins and ends; now and then a decision is timed meanwhile."""

    def __init__(self, tasks: int) -> None:
        self._probes = {1, tasks // 2, tasks - 1}
        self.begins: list[Span] = []
        self.ends: list[Span] = []
        self.decisions: list[tuple[int, float, float, bool]] = []

    def work(self, factory: Factory, task: Task) -> dict[str, Any]:
        """The stub in the place of the engineering loop."""
        self.begins.append(Span.now())
        result = seal_stub(factory, task)
        if len(self.begins) in self._probes:
            self.decisions.append((len(self.begins), *_decide(factory)))
        self.ends.append(Span.now())
        return result

    def between(self) -> list[Span]:
        """What the loop took from the end of each stub to the beginning of the next, in milliseconds."""
        pairs = zip(self.ends, self.begins[1:], strict=False)
        return [Span((begin.wall - end.wall) * 1000, (begin.cpu - end.cpu) * 1000) for end, begin in pairs]


def _decide(factory: Factory) -> tuple[float, float, bool]:
    board, state = tasks.task_board(factory), tasks.project_state(factory)
    kept, first = milliseconds(lambda: _decision(board), 200)
    anew, second = milliseconds(lambda: _decision(TaskBoard(state)), 10)
    return kept, anew, first == second


def _decision(board: TaskBoard) -> tuple[str, str | None]:
    return board.outcome(), board.in_progress() or board.next_task()


def milliseconds(action: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The median time of an action, and what it returned."""
    taken: list[float] = []
    result: Any = None
    for _ in range(times):
        start = time.perf_counter()
        result = action()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken), result


def peak_mebibytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def measure(count: int, directory: Path) -> Span:
    """Run a project of many tasks and print its figures; returns what a task took in the middle, in milliseconds."""
    written: Counter[str] = Counter()
    files: Counter[str] = Counter()
    clock = Clock(count)
    before = peak_mebibytes()
    with ProjectWorkbench(directory, clock.work, lambda tree: Counted(tree, written, files)) as bench:
        bench.approve(chain_spec(count))
        start = time.perf_counter()
        outcome = bench.run()
        total = time.perf_counter() - start
        first = bench.notes.times[0] - start
    print(f"{count:,} tasks: {outcome} in {total:.1f} s, of which {first:.1f} s laid out files and Wires")
    _tell_times(clock)
    _tell_bytes(directory, written, files, count)
    print(f"  memory, at most            {peak_mebibytes():10.0f} MiB (before the run {before:.0f})")
    print(f"  the whole state was written at one change of {2 * count / files['state_machine.json']:.0f}")
    _tell_reading(directory)
    own = clock.between()
    return Span(*(statistics.median(span[index] for span in own) for index in (0, 1)))


def _tell_times(clock: Clock) -> None:
    for number, kept, anew, same in clock.decisions:
        agree = "agreed" if same else "DISAGREED"
        print(f"  decision at task {number:>6,}    {kept:10.4f} ms; a board made anew {anew:.2f} ms, {agree}")
    own = clock.between()
    window = min(WINDOW, len(own) // 2)
    for name, index in (("wall clock", 0), ("processor", 1)):
        taken = [span[index] for span in own]
        first, last = statistics.median(taken[:window]), statistics.median(taken[-window:])
        print(
            f"  a task, {name:<10}         {statistics.median(taken):10.2f} ms;"
            f" first {window} {first:.2f}, last {window} {last:.2f}: {last / first:.2f}"
        )


def _tell_bytes(directory: Path, written: Counter[str], files: Counter[str], count: int) -> None:
    for kind, size in written.most_common():
        print(f"  written: {kind:<18}{size / 2**20:10.1f} MiB in {files[kind]:,} writes")
    for name in ("wire.db", "journal.jsonl", "checkpoints.db"):
        size = sum(path.stat().st_size for path in (directory / ".specwright").glob(f"{name}*"))
        print(f"  on disk: {name:<18}{size / 2**20:10.1f} MiB, {size / count / 1024:.1f} KiB a task")


def _tell_reading(directory: Path) -> None:
    start = time.perf_counter()
    with ProjectWorkbench(directory) as bench:
        state = bench.state
        read = time.perf_counter() - start
        seen, _ = milliseconds(lambda: TaskBoard(state).outcome(), 5)
        why, _ = milliseconds(lambda: why_each(state), 3)
    print(
        f"  read back from the log     {read:10.2f} s; outcome {seen:.1f} ms, reasons of all tasks {why:.0f} ms"
    )

    for command in ("status", "tasks"):
        taken = min(_process_seconds(command, directory) for _ in range(3))
        print(f"  specwright {command:<15} {taken:10.2f} s of the processor")


def _process_seconds(command: str, directory: Path) -> float:
    """The processor time of a command as a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "specwright.cli", command, str(directory)]
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, nargs="+", default=[10_000])
    parser.add_argument("--directory", type=Path, help="where the project lies; by default a temporary one")
    options = parser.parse_args()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load}")
    taken: list[Span] = []
    for count in options.tasks:
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            taken.append(measure(count, Path(directory)))
    for count, span in zip(options.tasks[1:], taken[1:], strict=True):
        ratio = span.cpu / taken[0].cpu
        print(f"a task of {count:,} over one of {options.tasks[0]:,}: {ratio:.2f} of the processor")


if __name__ == "__main__":
    main()
