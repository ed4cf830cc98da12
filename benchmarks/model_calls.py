"""What the factory adds to a model call (D-S11-02; DESIGN §11: p50 under 15 ms, flat from 10 to 10,000 tasks).

`python benchmarks/model_calls.py [--tasks N ...] [--directory DIR]` drives the real graphs, roles, agents, journal, log,
store, Code Index, projection and checkpoints (SQLite, sync) over a model that answers at once and a gate that finds
nothing. A task is one module: a search, a plan and two debates, seven model calls. It prints the figures of one run;
nothing is asserted, since machines differ:

- the overhead of a call: from the end of one answer to the beginning of the next request, by the clock on the wall and
  by the processor, which other work on the machine does not disturb;
- the median of the calls of the last hundred tasks over that of the first hundred (target: at most 1.2);
- beside them what a bare agent of the library costs, made and asked once, with a tool and no factory around it.

Times depend on the disk: `--directory /dev/shm` leaves its waits out. Ten thousand tasks take an hour or more.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from specwright.ports import Place, Role
from specwright.roles.agent.tools import NoSearch
from specwright.roles.team import ModelRoles
from specwright.storage.context_pack import ContextPackBackend
from testkit.loop.debate_workbench import DebateWorkbench
from testkit.loop.project_workbench import chain_spec
from testkit.loop.role_answers import Turn, plan, planned
from testkit.model.fake_model import FakeModel
from testkit.model.script import Script, key, script_replies

TARGET_MS = 15.0
TARGET_RATIO = 1.2
WINDOW = 100


class Moment(NamedTuple):
    """A moment by the clock on the wall and by this process's use of the processor, in seconds."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> "Moment":
        """This moment."""
        return cls(time.perf_counter(), time.process_time())


class Clock:
    """Notes when each call of a model begins and ends, and for which task."""

    def __init__(self) -> None:
        self.tasks: list[str] = []
        self.begins: list[Moment] = []
        self.ends: list[Moment] = []

    def overheads(self) -> list[tuple[str, Moment]]:
        """What passed before each call but the first since the answer before it, in milliseconds, with its task."""
        pairs = zip(self.tasks[1:], self.ends, self.begins[1:], strict=False)
        return [
            (task, Moment((begin.wall - end.wall) * 1000, (begin.cpu - end.cpu) * 1000))
            for task, end, begin in pairs
        ]


class InstantChatModel(FakeModel):
    """Answers at once."""

    clock: Any

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        self.clock.tasks.append(self.place.task)
        self.clock.begins.append(Moment.now())
        answer = super()._generate(*args, **kwargs)
        self.clock.ends.append(Moment.now())
        return answer


class Scripted:
    """A script of one module a task, and the models that play it."""

    scripted = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def model(self, place: Place) -> InstantChatModel:
        """The model of an invocation."""
        return InstantChatModel(place=place, reply=script_replies(self), clock=self._clock)

    def answer(self, place: Place, ordinal: int) -> Turn:
        """A planner searches first; the others hand in what is sound."""
        name = "number_" + place.task.partition("-")[2]
        if place.role is Role.PLANNER and ordinal == 0:
            return Turn(None, calls=(("search_code_index", {"query": f"the {name} of a number"}),))
        return Script(plan(planned(name)), {}).answer(place, ordinal)


def bare() -> Moment:
    """The median cost of a bare agent that is made and answers once, in milliseconds."""
    place = Place("TSK-001", 1, "", "round-1", Role.CHALLENGER)
    taken: list[Moment] = []
    for _ in range(30):
        began, clock = Moment.now(), Clock()
        script = Script({}, {key(place): [Turn("Done.")]})
        model = InstantChatModel(place=place, reply=script_replies(script), clock=clock)
        agent: Any = create_agent(model, [look_up], system_prompt="Answer.")
        agent.invoke({"messages": [HumanMessage("Go.")]})
        ended = Moment.now()
        taken.append(Moment((ended.wall - began.wall) * 1000, (ended.cpu - began.cpu) * 1000))
    return Moment(*(statistics.median(values) for values in zip(*taken, strict=True)))


@tool
def look_up(name: str) -> str:
    """Look something up."""
    return name


def measure(count: int, directory: Path) -> None:
    """Run a project of many tasks and print its figures."""
    clock = Clock()
    script = Scripted(clock)

    def roles(bench: DebateWorkbench) -> ModelRoles:
        models, work = dict.fromkeys(Role, script), bench.runtime / "work"
        return ModelRoles(
            models, bench.journal, bench.index, NoSearch(), work, bench.notes, ContextPackBackend
        )

    with DebateWorkbench(directory, script, roles=roles) as bench:
        bench.approve(chain_spec(count))
        began = time.perf_counter()
        outcome = bench.run()
        took = time.perf_counter() - began
    print(f"{count:,} tasks: {outcome} in {took:.1f} s, {len(clock.begins):,} model calls")
    overheads = clock.overheads()
    for field in Moment._fields:
        _tell(field, [(task, getattr(span, field)) for task, span in overheads], count)


def _tell(field: str, taken: Sequence[tuple[str, float]], count: int) -> None:
    window = min(WINDOW, count // 2)
    order = list(dict.fromkeys(task for task, _ in taken))
    first, last = set(order[:window]), set(order[-window:])
    every = [span for _, span in taken]
    early, late = (
        statistics.median(span for task, span in taken if task in tasks) for tasks in (first, last)
    )
    middle, ratio = statistics.median(every), late / early
    deciles = statistics.quantiles(every, n=10)
    name = {"wall": "wall clock", "cpu": "processor"}[field]
    print(
        f"  a model call, {name:<10}  p50 {middle:6.2f} ms ({middle / TARGET_MS:.2f} of the target of {TARGET_MS:g} ms),"
        f" p90 {deciles[-1]:6.2f}, mean {statistics.mean(every):6.2f}"
    )
    print(
        f"    last {window} tasks over first {window}: {late:.2f} / {early:.2f} ms = {ratio:.2f} of 1"
        f" (target {TARGET_RATIO:g}: {'met' if ratio <= TARGET_RATIO else 'MISSED'})"
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, nargs="+", default=[300])
    parser.add_argument("--directory", type=Path, help="where the project lies; by default a temporary one")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    floor = bare()
    print(
        f"a bare agent of the library: {floor.wall:.2f} ms by the clock, {floor.cpu:.2f} ms of the processor"
    )
    for count in options.tasks:
        with tempfile.TemporaryDirectory(dir=options.directory) as directory:
            measure(count, Path(directory))


if __name__ == "__main__":
    main()
