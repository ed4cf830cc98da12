"""The engineering graph: the loop of one task; its `debate` node runs the debate graph (design: engineering)."""

from functools import partial
from typing import Any, cast

from langgraph.graph.state import CompiledStateGraph

from specwright.application import loop
from specwright.application.factory import Factory
from specwright.application.loop_state import DebateState, EngineeringState
from specwright.application.stages.engineering import Engineering
from specwright.application.tasks import task_at
from specwright.graphs.debate_graph import debate_graph
from specwright.graphs.table import graph_of


def engineering_graph(factory: Factory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own."""
    hold_debate = partial(debate, debate_graph(factory))

    def begin(state: EngineeringState) -> str:
        return loop.begin_task(task_at(factory, state["task_id"]).answer)

    return graph_of(
        "engineering",
        EngineeringState,
        loop.TASK_LOOP,
        begin,
        loop.choices(loop.begin_task),
        lambda state: Engineering(factory, state, hold_debate),
    )


def debate(graph: CompiledStateGraph[Any, Any, Any, Any], begins: DebateState) -> DebateState:
    """Run the debate graph; a halt in it does not return but goes to `module_halted`."""
    return cast(DebateState, graph.invoke(cast(Any, begins)))
