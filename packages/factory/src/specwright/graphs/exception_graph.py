"""The graph of an approved interface change: validate, assess, propose, debate in rounds, finalise (design:
interface-changes).

It has no checkpointer: the log says which approval is to be carried out, and the journal what was answered.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from langgraph.graph import END, START, StateGraph

from specwright.application.factory import Factory
from specwright.application.interface_change import ChangeState, Resolution, approved
from specwright.domain.interface_change import KnownException
from specwright.errors import AnswerError
from specwright.graphs.loop_graphs import Graph, debate_graph, held

_STEPS = ("validate_ice", "assess_impact", "propose_change", "debate_round", "check_resolved")


def resolve_exceptions(factory: Factory) -> None:
    """Carry out the approvals that the log holds, one after the other."""
    while known := approved(factory):
        _resolve(exception_graph(factory, known))


def _resolve(graph: Graph) -> None:
    graph.invoke(cast(Any, {"schema_version": 1}))


def exception_graph(factory: Factory, known: KnownException) -> Graph:
    """Compile the graph of one approval."""
    work = Resolution(factory, known, partial(held, debate_graph(factory)))
    graph: Any = StateGraph(ChangeState)
    for before, name in zip((START, *_STEPS), _STEPS, strict=False):
        graph.add_node(name, _answered(getattr(work, name)))
        graph.add_edge(before, name)
    graph.add_node("finalize", work.finalize)
    graph.add_node("module_halted", work.module_halted)
    graph.add_conditional_edges("check_resolved", _after_check, ["debate_round", "finalize"])
    graph.add_edge("module_halted", END)
    return graph.compile(name="exception")


def _answered(step: Callable[[ChangeState], ChangeState]) -> Callable[[ChangeState], ChangeState]:
    """A step in which a role may give no usable answer; then nothing is agreed, and the later steps have nothing to do."""

    def do(state: ChangeState) -> ChangeState:
        if state.get("reason"):
            return {}
        try:
            return step(state)
        except AnswerError as error:
            return {"reason": error.what}

    return do


def _after_check(state: ChangeState) -> str:
    return "finalize" if state.get("reason") or state.get("agreed") else "debate_round"
