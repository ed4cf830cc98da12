"""The project loop on real adapters, with a stub where the engineering loop would be.

Log, journal, store, projection, checkpoints and the project graph are those of the product. The stub publishes a
contract and examples for each task and says so by an `artifact.ready`, or halts the task. Test and benchmark
alike use it.
"""

import hashlib
import itertools
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from agent_wire.log import SqliteWireLog
from ship_gate.contract.contract import MicroModuleContract, Modes, Output
from specwright.application import tasks
from specwright.application.announce import announce, review, task_event
from specwright.application.escalation.halt import halt
from specwright.application.factory import Factory
from specwright.application.projection import Projection
from specwright.application.raising import Halt
from specwright.application.tasks import Task
from specwright.domain.escalation import Action
from specwright.domain.spec.product_spec import ProductSpec
from specwright.graphs.checkpoints import JsonSerializer
from specwright.graphs.graphs import project_graph, recursion_limit
from specwright.index.sqlite_index import SqliteCodeIndex
from specwright.journal import FileJournal
from specwright.storage import DiskStateStore, DiskTree
from testkit.domain.product_specs import epic_data, pillar_data, spec_data, story_data, task_data
from testkit.word_embedder import WordEmbedder

__all__ = [
    "GRAPH",
    "ProjectWorkbench",
    "chain_spec",
    "halt_first",
    "many_stories_spec",
    "order_of",
    "seal_stub",
]

THREAD: Any = {"configurable": {"thread_id": "project"}}


def chain_spec(count: int, back: tuple[int, ...] = (1, 7), story_size: int = 500) -> ProductSpec:
    """A spec of many tasks in stories, each waiting for those that stand so many places before it."""
    graph = [[n - step for step in back if n >= step] for n in range(count)]
    return many_stories_spec(graph, story_size)


def many_stories_spec(graph: Sequence[Sequence[int]], story_size: int = 500) -> ProductSpec:
    """A spec of many tasks in stories, each with the places of those that it waits for."""
    tasks = [
        task_data(n, f"Task {n}", [f"TSK-{place + 1:03d}" for place in waits])
        for n, waits in enumerate(graph, start=1)
    ]
    stories = [
        story_data(tasks[start : start + story_size], f"Story {start // story_size}", 1 + start // story_size)
        for start in range(0, len(tasks), story_size)
    ]
    return ProductSpec.model_validate(spec_data([pillar_data([epic_data(stories)])]))


def seal_stub(factory: Factory, task: Task) -> dict[str, Any]:
    """What an engineering loop leaves behind, without any debate: a contract, examples, and their Wire."""
    module = "MM-" + hashlib.sha256(task.run.encode()).hexdigest()[:8]
    contract = MicroModuleContract(
        module_id=module,
        name=f"module_{module[3:]}",
        purpose="Stands for what a debate would have made.",
        inputs=[],
        outputs=[Output(name="number", type="int")],
        error_surfaces=[],
        effects=[],
        modes=Modes.model_validate({"sync": True, "async": False}),
    )
    data = contract.to_bytes()
    base = f"modules/{module}/1.0.0"
    factory.store.publish(f"{base}/contract.json", data)
    factory.store.publish(f"{base}/examples.md", b"## It answers\n\nAlways the same.\n")
    payload: dict[str, Any] = {
        "artifact_id": module,
        "name": contract.name,
        "media_type": "application/vnd.specwright.module",
        "uri": f"state_store/{base}",
        "sha256": hashlib.sha256(data).hexdigest(),
        "version": "1.0.0",
        "size_bytes": len(data),
        "lineage": {"task": task.entry.spec_task_id, "attempt": task.entry.attempt, "inputs": []},
    }
    event = task_event("artifact.ready", task.entry.spec_task_id, task.entry.attempt, payload)
    announce(factory, factory.journal.scope(f"{task.run}/seal"), [event])
    return {"outcome": "SHIPPED", "module_refs": [contract.ref], "module_ref": contract.ref}


def halt_stub(factory: Factory, task: Task) -> dict[str, Any]:
    """What an engineering loop leaves behind that came to no end."""
    why = Halt("planning", "no plan", f"Decide what becomes of {task.task_id}", Action.AMEND_SPEC, "none")
    return {"outcome": "HALTED", "escalation": halt(factory, task, why)}


class _TaskState(TypedDict, total=False):
    task_id: str
    schema_version: int
    outcome: str
    escalation: str
    module_refs: list[str]
    module_ref: str


class _RootState(TypedDict, total=False):
    schema_version: int
    outcome: str


class Notes:
    """A progress port that remembers, with the time."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.times: list[float] = []

    def note(self, event: Any) -> None:
        self.events.append(event)
        self.times.append(time.perf_counter())

    def of(self, kind: str) -> list[Any]:
        """The steps of a kind."""
        return [event for event in self.events if getattr(event, "kind", "") == kind]


class ProjectWorkbench:
    """A project in a directory, as one process holds it open.

    Args:
        directory: The project.
        work: What becomes of a task; by default all ship.
        wrap: What to put around the two file trees.
    """

    def __init__(
        self,
        directory: Path,
        work: Callable[[Factory, Task], dict[str, Any]] = seal_stub,
        wrap: Callable[[Any], Any] = lambda tree: tree,
    ) -> None:
        self.directory = directory
        self.runtime = directory / ".specwright"
        self.work = work
        self.notes = Notes()
        self._events = itertools.count()
        self.log = SqliteWireLog(self.runtime / "wire.db", "0.0.1001", time.time_ns)
        self.journal = FileJournal(self.runtime / "journal.jsonl")
        self.store = wrap(DiskStateStore(directory / "state_store"))
        self.folder = wrap(DiskTree(directory))
        absent: Any = None
        self.index = SqliteCodeIndex(directory / "state_store/code_index", WordEmbedder())
        self.factory = Factory(
            store=self.store,
            folder=self.folder,
            log=self.log,
            projection=Projection(self.log, self.store, time.monotonic),
            journal=self.journal,
            index=self.index,
            gate=absent,
            roles=absent,
            packager=absent,
            progress=self.notes,
            environment=absent,
            spec_text="",
        )
        self.projection.catch_up()

    @property
    def projection(self) -> Projection:
        return self.factory.projection

    @property
    def state(self):
        return tasks.project_state(self.factory)

    def close(self) -> None:
        self.index.close()
        self.journal.close()
        self.log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def approve(self, spec: ProductSpec) -> None:
        """The spec is in the log, as after the approval gate."""
        sha256 = self.store.define(spec.to_bytes())
        scope = self.journal.scope("product/approval")
        announce(self.factory, scope, [review("spec.approved", sha256, "x")], "keeper-1a2b3c4d")

    def tell(self, *events: Any, scope: str = "told") -> None:
        """Append events that a person's decision would, each in a scope of its own."""
        for event in events:
            place = f"{scope}/{next(self._events)}-{len(self.journal.records('step'))}"
            announce(self.factory, self.journal.scope(place), [event])

    def run(self, limit: int | None = None, answer: Any = None) -> str | None:
        """Drive the graph to its next stop.

        Args:
            limit: Another recursion limit.
            answer: To what the graph waits for.

        Returns:
            The outcome, None if it waits for a person.
        """
        spec: Any = self.projection.spec
        tasks = len(self.projection.definitions) or sum(1 for _ in spec.tasks())
        config: Any = {**THREAD, "recursion_limit": limit or recursion_limit(tasks)}
        with closing(sqlite3.connect(self.runtime / "checkpoints.db", check_same_thread=False)) as connection:
            root = self.root(SqliteSaver(connection, serde=JsonSerializer()))
            before = root.get_state(config)
            start: Any = None if before.next else {"schema_version": 1}
            inputs = start if answer is None else Command(resume=answer)
            return root.invoke(inputs, config, durability="sync").get("outcome")

    def waiting(self) -> dict[str, Any] | None:
        """What the graph waits for."""
        with closing(sqlite3.connect(self.runtime / "checkpoints.db", check_same_thread=False)) as connection:
            interrupts = (
                self.root(SqliteSaver(connection, serde=JsonSerializer())).get_state(THREAD).interrupts
            )
        return interrupts[0].value if interrupts else None

    def root(self, saver: SqliteSaver):
        sub = project_graph(self.factory, self.stub())

        def project_loop(state: _RootState) -> _RootState:
            return {"outcome": sub.invoke({"schema_version": 1})["outcome"]}

        graph = StateGraph(_RootState)
        graph.add_node("project_loop", project_loop)
        graph.add_edge(START, "project_loop")
        graph.add_edge("project_loop", END)
        return graph.compile(checkpointer=saver, name="outer")

    def stub(self):
        def engineer(state: _TaskState) -> Any:
            return self.work(self.factory, tasks.task_at(self.factory, state["task_id"]))

        graph = StateGraph(_TaskState)
        graph.add_node("work", engineer)
        graph.add_edge(START, "work")
        graph.add_edge("work", END)
        return graph.compile(name="engineering")


def order_of(bench: Any, kind: Any = "task"):
    """The spec ids of the tasks in the order in which something happened to them."""
    return [step.task for step in bench.notes.of(kind)]


GRAPH = [[], [0], [0, 4], [1], []]
"""Tasks 2 and 3 wait for 1, 4 for 2, and 3 for 5 as well, which is free."""


def halt_first(factory: Any, task: Any):
    """The first task halts, the others ship."""
    return (halt_stub if task.entry.spec_task_id == "TSK-001" else seal_stub)(factory, task)


def lose_checkpoints(directory: Path) -> None:
    """Leave the graph of a project without its checkpoints, whose answers the journal has."""
    for file in (directory / ".specwright").glob("checkpoints*"):
        file.unlink()
