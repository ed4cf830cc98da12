"""The outer graph: product loop, approval gate, project loop, release (design: overview, approval)."""

from typing import Any, Literal, TypedDict, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from specwright.application.factory import Factory
from specwright.application.stages import product, release
from specwright.application.stages.product import draft_history, note_passed_over, send_back
from specwright.domain.escalation import OPERATOR
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.domain.tasks.task_board import Outcome
from specwright.graphs.project_graph import project_graph


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
    nodes, project = _Nodes(factory), project_graph(factory)

    def project_loop(state: OuterState) -> OuterState:
        # the graph is a free variable of the node, where LangGraph looks for what `get_graph(xray=True)` shows
        return {"outcome": project.invoke(cast(Any, {"schema_version": 1}))["outcome"]}

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


class _Nodes:
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
        if answer["action"] == "APPROVE":
            if refused := self._refusal(state.get("shown_sha256"), answer.get("sha256")):
                return Command(update={"refused": refused}, goto="approval_gate")
            if edited := answer.get("passed_over"):
                note_passed_over(self._factory, edited)
            product.approve(self._factory, answer.get("by") or OPERATOR)
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

    def release(self, state: OuterState) -> OuterState:
        if state["outcome"] != Outcome.COMPLETE:
            return {}
        result = release.release_all(self._factory)
        return {"release_id": result.release_id, "released": result.succeeded}


_NO_ANSWER = "an answer is APPROVE, AMEND with `feedback` or REJECT with `reasons`"
