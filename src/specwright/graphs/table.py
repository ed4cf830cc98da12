"""Makes a graph of a loop's table: each row is a node, which does its step and goes to the next (design: graphs).

A node routes by its own Command and has no static edge: the goto of a debate's halt would be added to such an edge and
carry a halted module to `ship`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from specwright.application import loop
from specwright.application.loop import Leave, Step
from specwright.errors import AnswerError


def graph_of(
    name: str,
    state: Any,
    rows: Mapping[str, Step[Any, Any] | Leave],
    begin: Callable[[Any], str],
    begins_with: tuple[str, ...],
    work: Callable[[Any], Any],
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile a loop; the graph has no checkpointer of its own.

    Args:
        name: Of the graph.
        state: Its state, a TypedDict.
        rows: The table of the loop.
        begin: Chooses the first step.
        begins_with: The steps between which it chooses.
        work: Opens what the steps work on, for a state.
    """
    graph: Any = StateGraph(state)
    for step, row in rows.items():
        destinations = tuple(_node(to) for to in row.destinations) if isinstance(row, Step) else ()
        graph.add_node(step, _action(row, work), destinations=destinations)
    graph.add_conditional_edges(START, begin, list(begins_with))
    return graph.compile(name=name)


def _action(row: Step[Any, Any] | Leave, work: Callable[[Any], Any]) -> Callable[[Any], Command[Any]]:
    return _leaving(row) if isinstance(row, Leave) else _doing(row, work)


def _leaving(row: Leave) -> Callable[[Any], Command[Any]]:
    def leave(state: Any) -> Command[Any]:
        return Command(graph=Command.PARENT, update=row.report(state), goto=row.to)

    return leave


def _doing(step: Step[Any, Any], work: Callable[[Any], Any]) -> Callable[[Any], Command[Any]]:
    def do(state: Any) -> Command[Any]:
        try:
            changes: dict[str, Any] = step.does(work(state), state) if step.does else {}
        except AnswerError as error:
            if not step.asks:
                raise
            answers = {"raw_answers": list(error.raw_answers), "errors": list(error.problems)}
            return Command(update={"halt_reason": error.what, **answers}, goto="halt")
        return Command(update=changes, goto=_node(step.next({**state, **changes})))

    return do


def _node(step: str) -> str:
    return END if step == loop.END else step
