"""The project graph: initialise, dispatch, engineer, update; again until nothing can run (design: project-loop,
task-states).

A halted or stalled project waits at `escalate`, whichever way it got there: after the task that halted, or from
`dispatch` when the checkpoint that held the halt is gone (design: journal). A person's answer comes by
`Command(resume=...)`, or by `update_state(config, {"resolution": ...}, as_node="update_state_machine")` (design:
escalation); either way `process_human_resolution` takes it, and `dispatch` goes on from the state that it made.
"""

from functools import partial
from typing import Any, Literal, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt
from pydantic import ValidationError

from ship_gate.base.record import validation_messages
from specwright.application import tasks
from specwright.application.change import settle_consumers
from specwright.application.escalation import halt
from specwright.application.escalation.halted import open_escalations
from specwright.application.escalation.offers import recorded_answer, resolve
from specwright.application.factory import Factory
from specwright.domain.escalation import HumanResolution
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import Outcome
from specwright.errors import CorruptionErrors, InputErrors, NonDeterminismError, RefusedErrors
from specwright.graphs.loop_graphs import engineering_graph
from specwright.ports import RunEvent

_MONITORED = 500
"""With more tasks than this the progress reports the depth of the run (design: engineering)."""
_REPORTED_EVERY = 100

_NODES = (
    "init_state_machine",
    "dispatch",
    "engineering",
    "update_state_machine",
    "escalate",
    "process_human_resolution",
)

_RESULT = ("outcome", "escalation", "module_refs", "module_ref")


class ProjectGraphState(TypedDict, total=False):
    """Only what concerns the current task (design: engineering); JSON primitives."""

    schema_version: int
    task_id: str
    recovered: bool
    result: dict[str, Any]
    outcome: str
    resolution: dict[str, Any] | None
    refused: str


def project_graph(
    factory: Factory, engineering: CompiledStateGraph[Any, Any, Any, Any] | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own.

    Args:
        factory: The ports.
        engineering: Another engineering loop than the real one: takes `task_id`, leaves `outcome` and what goes
            with it.
    """
    nodes, loop = _Nodes(factory), engineering or engineering_graph(factory)

    def run_task(state: ProjectGraphState) -> ProjectGraphState:
        # the graph is a free variable of the node, where LangGraph looks for what `get_graph(xray=True)` shows
        return nodes.engineering(state, loop)

    graph = StateGraph(ProjectGraphState)
    for name in _NODES:
        # of a function LangGraph would read the bytecode, for graphs that it might run; of a partial one it does not
        graph.add_node(name, run_task if name == "engineering" else partial(getattr(nodes, name)))
    graph.add_edge(START, "init_state_machine")
    graph.add_edge("init_state_machine", "dispatch")
    graph.add_conditional_edges("dispatch", _after_dispatch, ["engineering", "escalate", END])
    graph.add_edge("engineering", "update_state_machine")
    graph.add_conditional_edges(
        "update_state_machine", _after_update, ["process_human_resolution", "dispatch", "escalate"]
    )
    graph.add_edge("escalate", "process_human_resolution")
    graph.add_conditional_edges("process_human_resolution", _after_answer, ["dispatch", "escalate"])
    return cast(Any, graph.compile(name="project"))


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory

    def init_state_machine(self, state: ProjectGraphState) -> ProjectGraphState:
        tasks.initialise(self._factory)
        return {"schema_version": 1}

    def dispatch(self, state: ProjectGraphState, config: RunnableConfig) -> ProjectGraphState:
        settle_consumers(self._factory)
        task = tasks.next_dispatch(self._factory)
        if task is None:
            outcome = tasks.outcome(self._factory)
            if outcome is Outcome.STALLED:
                halt.raise_stalled(self._factory)
            self._factory.projection.write(now=True)
            return {"task_id": "", "outcome": outcome.value}
        self._report_depth(config, task.entry.spec_task_id)
        began = tasks.begin(self._factory, task)
        return {"task_id": task.task_id, "recovered": not began, "outcome": Outcome.RUNNABLE.value}

    def engineering(
        self, state: ProjectGraphState, loop: CompiledStateGraph[Any, Any, Any, Any]
    ) -> ProjectGraphState:
        begins = {"task_id": state["task_id"], "schema_version": 1}
        try:
            result = loop.invoke(cast(Any, begins))
        except NonDeterminismError as error:
            if not state["recovered"]:
                raise  # the checkpoint is there: an older version or other settings can still go on from it
            task = tasks.task_at(self._factory, state["task_id"])
            escalation = halt.halt_contradicted(self._factory, task, error)
            return {"result": {"outcome": TaskStatus.HALTED.value, "escalation": escalation}}
        return {"result": {key: result[key] for key in _RESULT if key in result}}

    def update_state_machine(self, state: ProjectGraphState) -> ProjectGraphState:
        result = state["result"]
        task = tasks.task_at(self._factory, state["task_id"])
        if result["outcome"] == TaskStatus.SHIPPED:
            tasks.shipped(self._factory, task, result["module_refs"], result["module_ref"])
        return {"outcome": tasks.outcome(self._factory).value}

    def escalate(self, state: ProjectGraphState) -> ProjectGraphState:
        waiting = open_escalations(self._factory)
        if not waiting:
            return {
                "resolution": None
            }  # answered, says the log; a crash took the checkpoint that would say so too
        if (recorded := recorded_answer(self._factory)) and not state.get("refused"):
            return {"resolution": recorded}
        artifact = self._factory.escalations.escalation(waiting[0])
        question: dict[str, Any] = {
            "kind": "escalation",
            "escalations": waiting,
            "escalation": waiting[0],
            "artifact": artifact.to_json(),
        }
        if refused := state.get("refused"):
            question["refused"] = refused
        return {"resolution": interrupt(question)}

    def process_human_resolution(self, state: ProjectGraphState) -> ProjectGraphState:
        if state["resolution"] is None and not open_escalations(self._factory):
            return {"refused": "", "outcome": tasks.outcome(self._factory).value}
        try:
            resolve(self._factory, HumanResolution.model_validate(state["resolution"]))
        except ValidationError as error:
            return {"resolution": None, "refused": "; ".join(validation_messages(error))}
        except (*InputErrors, *RefusedErrors, *CorruptionErrors) as error:
            return {"resolution": None, "refused": str(error)}
        return {"resolution": None, "refused": "", "outcome": tasks.outcome(self._factory).value}

    def _report_depth(self, config: RunnableConfig, spec_task_id: str) -> None:
        """Report the depth of a long run now and then (design: engineering)."""
        board = tasks.task_board(self._factory)
        shipped = board.count(TaskStatus.SHIPPED)
        if len(board) > _MONITORED and shipped % _REPORTED_EVERY == 0:
            step, limit = (
                config.get("metadata", {}).get("langgraph_step", 0),
                config.get("recursion_limit", 0),
            )
            text = f"{shipped:,} of {len(board):,} tasks shipped; step {step:,} of the {limit:,} that a run may take"
            self._factory.progress.note(RunEvent("depth", spec_task_id, text))


def _after_dispatch(state: ProjectGraphState) -> str:
    if state["task_id"]:
        return "engineering"
    return END if state["outcome"] == Outcome.COMPLETE else "escalate"


def _after_update(
    state: ProjectGraphState,
) -> Literal["process_human_resolution", "dispatch", "escalate"]:
    if state.get(
        "resolution"
    ):  # by update_state: this edge is taken anew, a node's own goto would not be (design: escalation)
        return "process_human_resolution"
    # a stall goes back to dispatch, where its escalations are raised
    return "escalate" if state["outcome"] == Outcome.HALTED else "dispatch"


def _after_answer(state: ProjectGraphState) -> Literal["dispatch", "escalate"]:
    return "escalate" if state["refused"] or state["outcome"] == Outcome.HALTED else "dispatch"
