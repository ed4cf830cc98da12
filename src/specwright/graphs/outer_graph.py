"""The outer graph: product loop, approval gate, project loop, release (design: overview, approval)."""

from typing import Any, Literal, TypedDict, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from specwright.application.factory import Factory
from specwright.application.stages import product, release
from specwright.domain.tasks.task_board import Outcome
from specwright.graphs.project_graph import project_graph


class OuterState(TypedDict, total=False):
    """JSON primitives; the spec itself lies under `product/`."""

    schema_version: int
    restart: int
    reasons: list[str]
    feedback: list[str]
    amend_count: int
    shown_sha256: str
    refused: str
    outcome: str
    release_id: str
    released: bool


def outer_graph(
    factory: Factory, checkpointer: BaseCheckpointSaver[Any]
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the root graph: the only one with a checkpointer."""
    nodes = _Nodes(factory)
    graph = StateGraph(OuterState)
    for name in ("product_loop", "approval_gate", "project_loop", "release"):
        graph.add_node(name, getattr(nodes, name))
    graph.add_conditional_edges(START, nodes.entry, ["product_loop", "project_loop"])
    graph.add_edge("product_loop", "approval_gate")
    graph.add_edge("project_loop", "release")
    graph.add_edge("release", END)
    return cast(Any, graph.compile(checkpointer=checkpointer, name="outer"))


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._project_graph = project_graph(factory)

    def entry(self, state: OuterState) -> Literal["product_loop", "project_loop"]:
        # a lost checkpoint loses nothing: the approval is in the log (design: journal, projection)
        return "product_loop" if self._factory.projection.awaits_approval else "project_loop"

    def product_loop(self, state: OuterState) -> OuterState:
        restart = state.get("restart", 1)
        product.research(self._factory, restart, state.get("reasons", []), state.get("feedback", []))
        shown = product.shown_hash(self._factory)
        return {"restart": restart, "schema_version": 1, "shown_sha256": shown, "refused": ""}

    def approval_gate(
        self, state: OuterState
    ) -> Command[Literal["product_loop", "approval_gate", "project_loop"]]:
        if not self._factory.projection.awaits_approval:
            return Command(goto="project_loop")  # this node runs again after a crash
        restore_shown(self._factory, state)
        question = product.approval_question(self._factory, state.get("amend_count", 0))
        if refused := state.get("refused"):
            question["refused"] = refused
        answer = cast(dict[str, str], interrupt(question))
        if answer["action"] == "APPROVE":
            if refused := self._refusal(state.get("shown_sha256"), answer.get("sha256")):
                return Command(update={"refused": refused}, goto="approval_gate")
            product.approve(self._factory, answer["by"])
            return Command(update={"amend_count": 0}, goto="project_loop")
        return Command(update=_sent_back(state, answer), goto="product_loop")

    def _refusal(self, shown: str | None, named: str | None) -> str:
        """Why an approval is refused: the spec is not the one that was shown, or not the one that the answer names."""
        now = product.shown_hash(self._factory)
        if shown not in (None, now):
            return "the spec is not the one that was shown: it was changed since"
        if named not in (None, now):
            return f"the spec is not the one that was shown: the approval names {named}, this one has {now}"
        return ""

    def project_loop(self, state: OuterState) -> OuterState:
        result = self._project_graph.invoke(cast(Any, {"schema_version": 1}))
        return {"outcome": result["outcome"]}

    def release(self, state: OuterState) -> OuterState:
        if state["outcome"] != Outcome.COMPLETE:
            return {}
        result = release.release_all(self._factory)
        return {"release_id": result.release_id, "released": result.succeeded}


def restore_shown(factory: Factory, state: OuterState) -> None:
    """Write the spec that waits again if its files are missing or unreadable (design: approval)."""
    product.restore_draft(
        factory, state.get("restart", 1), state.get("reasons", []), state.get("feedback", [])
    )


def _sent_back(state: OuterState, answer: dict[str, str]) -> dict[str, Any]:
    """What the researcher goes on from: an amendment continues, a rejection starts over (design: approval)."""
    if answer["action"] == "AMEND":
        return {
            "feedback": [*state.get("feedback", []), answer["feedback"]],
            "amend_count": state.get("amend_count", 0) + 1,
        }
    return {
        "reasons": [*state.get("reasons", []), answer["reasons"]],
        "feedback": [],
        "amend_count": 0,
        "restart": state.get("restart", 1) + 1,
    }
