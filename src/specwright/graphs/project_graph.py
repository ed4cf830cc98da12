"""The project graph: initialise, dispatch, engineer, update; again until nothing can run (F§3.3, D8, D24)."""

from typing import Any, Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import interrupt

from specwright.application import project_stage
from specwright.application.factory import Factory
from specwright.domain.dispatch import Outcome
from specwright.domain.project_state import TaskStatus
from specwright.graphs.engineering_graph import engineering_graph

__all__ = ["ProjectGraphState", "project_graph"]


class ProjectGraphState(TypedDict, total=False):
    """Only what concerns the current task (F§19.1); JSON primitives."""

    schema_version: int
    task_id: str
    result: dict[str, Any]
    outcome: str


def project_graph(factory: Factory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own."""
    sub = engineering_graph(factory)

    def init_state_machine(state: ProjectGraphState) -> ProjectGraphState:
        project_stage.initialise(factory)
        return {"schema_version": 1}

    def dispatch(state: ProjectGraphState) -> ProjectGraphState:
        task = project_stage.next_dispatch(factory)
        if task is None:
            return {"task_id": "", "outcome": project_stage.outcome(factory).value}
        project_stage.begin(factory, task)
        return {"task_id": task.task_id, "outcome": Outcome.RUNNABLE.value}

    def engineering(state: ProjectGraphState) -> ProjectGraphState:
        result = sub.invoke(cast(Any, {"task_id": state["task_id"], "schema_version": 1}))
        kept = {
            key: result[key]
            for key in ("outcome", "escalation", "module_refs", "module_ref")
            if key in result
        }
        return {"result": kept}

    def update_state_machine(state: ProjectGraphState) -> ProjectGraphState:
        result = state["result"]
        task = project_stage.task_at(factory, state["task_id"])
        if result["outcome"] == TaskStatus.SHIPPED:
            project_stage.shipped(factory, task, result["module_refs"], result["module_ref"])
        return {"outcome": project_stage.outcome(factory).value}

    def escalate(state: ProjectGraphState) -> ProjectGraphState:
        interrupt({"kind": "escalation", "escalation": state["result"].get("escalation", "")})
        return {"outcome": project_stage.outcome(factory).value}

    graph = StateGraph(ProjectGraphState)
    for name, node in (
        ("init_state_machine", init_state_machine),
        ("dispatch", dispatch),
        ("engineering", engineering),
        ("update_state_machine", update_state_machine),
        ("escalate", escalate),
    ):
        graph.add_node(name, cast(Any, node))
    graph.add_edge(START, "init_state_machine")
    graph.add_edge("init_state_machine", "dispatch")
    graph.add_conditional_edges("dispatch", _after_dispatch, ["engineering", END])
    graph.add_edge("engineering", "update_state_machine")
    graph.add_conditional_edges("update_state_machine", _after_update, ["dispatch", "escalate"])
    graph.add_conditional_edges("escalate", _after_update, ["dispatch", "escalate"])
    return cast(Any, graph.compile(name="project"))


def _after_dispatch(state: ProjectGraphState) -> str:
    return "engineering" if state.get("task_id") else END


def _after_update(state: ProjectGraphState) -> Literal["dispatch", "escalate"]:
    return "escalate" if state["outcome"] == Outcome.HALTED else "dispatch"
