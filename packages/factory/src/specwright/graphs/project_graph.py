"""The project graph: initialise, dispatch, engineer, update; again until nothing can run (design: project-loop,
task-states).

A halted or stalled project waits at `escalate`, whichever way it got there: after the task that halted, or from
`dispatch` when the checkpoint that held the halt is gone (design: journal). A person's answer comes by
`Command(resume=...)`, or by `update_state(config, {"resolution": ...}, as_node="update_state_machine")` (design:
escalation); either way `process_human_resolution` takes it, and `dispatch` goes on from the state that it made.

The outer graph: product loop, approval gate, project loop, release (design: overview, approval).
"""

from typing import Any, Literal, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from ship_gate.base.record import validation_messages
from specwright.application import tasks
from specwright.application.change import settle_consumers
from specwright.application.escalation import answers, halt
from specwright.application.factory import Factory
from specwright.application.stages import product, release
from specwright.application.stages.product import draft_history, note_passed_over, send_back
from specwright.domain.escalation import HumanResolution
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import Outcome
from specwright.errors import InputErrors, NonDeterminismError, RefusedErrors
from specwright.graphs.loop_graphs import engineering_graph
from specwright.ports import Step

_MONITORED = 500
"""With more tasks than this the progress reports the depth of the run (design: graphs)."""
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
    """Only what concerns the current task (design: graphs); JSON primitives."""

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
        graph.add_node(name, run_task if name == "engineering" else getattr(nodes, name))
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
        waiting = halt.open_escalations(self._factory)
        if not waiting:
            return {
                "resolution": None
            }  # answered, says the log; a crash took the checkpoint that would say so too
        if (recorded := answers.recorded_answer(self._factory)) and not state.get("refused"):
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
        if state["resolution"] is None and not halt.open_escalations(self._factory):
            return {"refused": "", "outcome": tasks.outcome(self._factory).value}
        try:
            answers.resolve(self._factory, HumanResolution.model_validate(state["resolution"]))
        except ValidationError as error:
            return {"resolution": None, "refused": "; ".join(validation_messages(error))}
        except (*InputErrors, *RefusedErrors) as error:
            return {"resolution": None, "refused": str(error)}
        return {"resolution": None, "refused": "", "outcome": tasks.outcome(self._factory).value}

    def _report_depth(self, config: RunnableConfig, spec_task_id: str) -> None:
        """Report the depth of a long run now and then (design: graphs)."""
        board = tasks.task_board(self._factory)
        shipped = board.count(TaskStatus.SHIPPED)
        if len(board) > _MONITORED and shipped % _REPORTED_EVERY == 0:
            step, limit = (
                config.get("metadata", {}).get("langgraph_step", 0),
                config.get("recursion_limit", 0),
            )
            text = f"{shipped:,} of {len(board):,} tasks shipped; step {step:,} of the {limit:,} that a run may take"
            self._factory.progress.note(Step("depth", spec_task_id, text))


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


class OuterState(TypedDict, total=False):
    """JSON primitives; the spec itself lies under `product/`."""

    schema_version: int
    shown_sha256: str
    refused: str
    outcome: str
    release_id: str
    released: bool


def outer_graph(
    factory: Factory, checkpointer: BaseCheckpointSaver[Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the root graph: the only one with a checkpointer."""
    nodes, project = _OuterNodes(factory), project_graph(factory)

    def project_loop(state: OuterState) -> OuterState:
        # the graph is a free variable of the node, where LangGraph looks for what `get_graph(xray=True)` shows
        return nodes.run_project(project)

    graph = StateGraph(OuterState)
    graph.add_node("product_loop", nodes.product_loop)
    graph.add_node("approval_gate", nodes.approval_gate)
    graph.add_node("project_loop", project_loop)
    graph.add_node("release", nodes.release)
    graph.add_conditional_edges(START, nodes.entry, ["product_loop", "project_loop"])
    graph.add_edge("product_loop", "approval_gate")
    graph.add_edge("project_loop", "release")
    graph.add_edge("release", END)
    return cast(Any, graph.compile(checkpointer=checkpointer, name="outer"))


class _OuterNodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory

    def entry(self, state: OuterState) -> Literal["product_loop", "project_loop"]:
        # a lost checkpoint loses nothing: the approval is in the log (design: journal, projection)
        return "product_loop" if self._factory.projection.awaits_approval else "project_loop"

    def product_loop(self, state: OuterState) -> OuterState:
        if draft_history(self._factory).is_drafted:  # what sent it back was withdrawn
            product.restore_draft(self._factory)
        else:
            product.research(self._factory)
        shown = product.shown_hash(self._factory)
        return {"schema_version": 1, "shown_sha256": shown, "refused": ""}

    def approval_gate(
        self, state: OuterState
    ) -> Command[Literal["product_loop", "approval_gate", "project_loop"]]:
        if not self._factory.projection.awaits_approval:
            return Command(goto="project_loop")  # this node runs again after a crash
        if not draft_history(self._factory).is_drafted:
            return Command(goto="product_loop")  # an answer is recorded that this draft does not know
        product.restore_draft(self._factory)
        question = product.approval_question(self._factory)
        if refused := state.get("refused"):
            question["refused"] = refused
        answer = cast(dict[str, str], interrupt(question))
        if answer["action"] == "APPROVE" and answer.get("by"):
            if refused := self._refusal(state.get("shown_sha256"), answer.get("sha256")):
                return Command(update={"refused": refused}, goto="approval_gate")
            if edited := answer.get("passed_over"):
                note_passed_over(self._factory, edited)
            product.approve(self._factory, answer["by"])
            return Command(goto="project_loop")
        if (sent_back := self._sent_back(answer)) is None:
            return Command(update={"refused": _NO_ANSWER}, goto="approval_gate")
        send_back(self._factory, sent_back)
        return Command(goto="product_loop")

    def _refusal(self, shown: str | None, named: str | None) -> str:
        """Why an approval is refused: the spec is not the one that was shown, or not the one that the answer names."""
        now = product.shown_hash(self._factory)
        if shown not in (None, now):
            return "the spec is not the one that was shown: it was changed since"
        if named not in (None, now):
            return f"the spec is not the one that was shown: the approval names {named}, this one has {now}"
        return ""

    def _sent_back(self, answer: dict[str, str]) -> GateAnswer | None:
        """An amendment or a rejection, as a program gives it (design: approval); None if it is neither."""
        for action, field in ((GateAction.AMEND, "feedback"), (GateAction.REJECT, "reasons")):
            if answer["action"] == action and (text := str(answer.get(field, "")).strip()):
                return GateAnswer(action=action, text=text)
        return None

    def run_project(self, project: CompiledStateGraph[Any, Any, Any, Any]) -> OuterState:
        result = project.invoke(cast(Any, {"schema_version": 1}))
        return {"outcome": result["outcome"]}

    def release(self, state: OuterState) -> OuterState:
        if state["outcome"] != Outcome.COMPLETE:
            return {}
        result = release.release_all(self._factory)
        return {"release_id": result.release_id, "released": result.succeeded}


_NO_ANSWER = "an answer is APPROVE with `by`, AMEND with `feedback` or REJECT with `reasons`"
