"""The debate graph: the loop of one deliverable (design: engineering, debate)."""

from typing import Any

from langgraph.graph.state import CompiledStateGraph

from specwright.application import loop
from specwright.application.debate.debate import open_debate
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState
from specwright.graphs.table import graph_of


def debate_graph(factory: Factory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; a halt leaves it by `Command(graph=Command.PARENT)` (design: graphs)."""
    begin = loop.begin_debate
    return graph_of(
        "debate",
        DebateState,
        loop.DELIVERABLE_LOOP,
        begin,
        loop.choices(begin),
        lambda state: open_debate(factory, state),
    )
