"""The graph of an approved interface change: validate, assess, propose, debate in rounds, finalise (design:
interface-changes).

It has no checkpointer: the log says which approval is to be carried out, and the journal what was answered.
"""

from collections.abc import Callable
from typing import Any, Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph

from specwright.application.factory import Factory
from specwright.application.interface_change import Impact, Resolution, approved
from specwright.application.loop_state import DebateState, HaltedDebate
from specwright.errors import AnswerError
from specwright.graphs.loop_graphs import Graph, debate_graph


class ChangeState(TypedDict, total=False):
    """JSON primitives; what is said is in the records of the debate."""

    schema_version: int
    impact: list[Any]
    debate: DebateState
    halted: HaltedDebate
    reason: str


_After = Literal["debate_round", "finalize"]


def resolve_exceptions(factory: Factory) -> None:
    """Carry out the approvals that the log holds, one after the other."""
    while known := approved(factory):
        _resolve(factory, Resolution(factory, known))


def _resolve(factory: Factory, work: Resolution) -> None:
    exception_graph(factory, work).invoke(cast(Any, {"schema_version": 1}))


def exception_graph(factory: Factory, work: Resolution) -> Graph:
    """Compile the graph of one approval."""
    nodes = _Nodes(factory, work)
    graph: Any = StateGraph(ChangeState)
    for name in ("validate_ice", "assess_impact", "propose_change", "debate_round", "check_resolved"):
        graph.add_node(name, _answered(getattr(nodes, name)))
    graph.add_node("finalize", nodes.finalize)
    graph.add_node("module_halted", nodes.module_halted)
    graph.add_edge(START, "validate_ice")
    graph.add_conditional_edges(
        "validate_ice", _unless_rejected("assess_impact"), ["assess_impact", "finalize"]
    )
    graph.add_edge("assess_impact", "propose_change")
    graph.add_conditional_edges(
        "propose_change", _unless_rejected("debate_round"), ["debate_round", "finalize"]
    )
    graph.add_edge("debate_round", "check_resolved")
    graph.add_conditional_edges("check_resolved", _after_check, ["debate_round", "finalize"])
    graph.add_edge("module_halted", END)
    return graph.compile(name="exception")


def _answered(step: Callable[[ChangeState], ChangeState]) -> Callable[[ChangeState], ChangeState]:
    """A step in which a role may give no usable answer; then nothing is agreed."""

    def do(state: ChangeState) -> ChangeState:
        if state.get("reason"):
            return {}
        try:
            return step(state)
        except AnswerError as error:
            return {"reason": error.what}

    return do


def _unless_rejected(following: str) -> Callable[[ChangeState], str]:
    return lambda state: "finalize" if state.get("reason") else following


def _after_check(state: ChangeState) -> _After:
    return (
        "finalize"
        if state.get("reason") or "again" not in state["debate"].get("enter", "")
        else "debate_round"
    )


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory, work: Resolution) -> None:
        self._debate_graph = debate_graph(factory)
        self._work = work

    def validate_ice(self, state: ChangeState) -> ChangeState:
        return {"reason": self._work.validate()}

    def assess_impact(self, state: ChangeState) -> ChangeState:
        return {"impact": list(self._work.impact())}

    def propose_change(self, state: ChangeState) -> ChangeState:
        return {"debate": self._work.propose(Impact(*state["impact"]))}

    def debate_round(self, state: ChangeState) -> ChangeState:
        return {"debate": self._work.debate_round(state["debate"])}

    def check_resolved(self, state: ChangeState) -> ChangeState:
        debate, following = state["debate"], self._work.next_step(state["debate"])
        if following == "rejected":
            return {"reason": debate.get("halt_reason") or "the contract was not agreed on within its rounds"}
        return {"debate": {**debate, "enter": following}}

    def finalize(self, state: ChangeState) -> ChangeState:
        debate = state.get("debate", {})
        try:
            reason = state.get("reason") or self._carry_out(debate)
        except AnswerError as error:
            reason = error.what
        if reason:
            self._work.reject(reason, debate.get("debate_id", ""))
        return {"reason": reason}

    def module_halted(self, state: ChangeState) -> ChangeState:
        """The debate over the implementation halted: it leaves for here (design: graphs)."""
        halted = state["halted"]
        reason = f"the new version could not be made: {halted['reason']}"
        self._work.reject(reason, halted["debate_id"])
        return {"reason": reason}

    def _carry_out(self, debate: DebateState) -> str:
        """Lock, implement and seal; returns why that failed."""
        locked = self._work.lock(debate)
        if locked["halt_reason"]:
            return locked["halt_reason"]
        plan_id = locked["version_id"]
        made = self._debate_graph.invoke(cast(Any, self._work.implementation(plan_id)))
        self._work.seal(plan_id, cast(DebateState, made))
        return ""
