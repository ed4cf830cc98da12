"""The engineering graph: plan, contract debate, then module by module (F§3.4, D10, D25).

The debate node has no static edges: what follows it is said by its own Command, or by the debate's halt, whose
PARENT goto would be *added* to static edges and carry a halted module on to `ship`.
"""

from collections.abc import Mapping
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from specwright.application import engineering
from specwright.application.deliverable import CONTRACTS
from specwright.application.engineering import EngineeringState
from specwright.application.factory import Factory
from specwright.graphs.debate_graph import debate_graph

__all__ = ["EngineeringGraphState", "engineering_graph"]


class EngineeringGraphState(EngineeringState, total=False):
    """The stage's state, and what the debate's halt leaves."""

    halted: dict[str, str]


_DESTINATIONS: Mapping[str, tuple[str, ...]] = {
    "micro_plan": ("debate", "select_module", "finish"),
    "debate": ("select_module", "ship", "module_halted"),
    "module_halted": ("select_module", "finish"),
    "select_module": ("debate", "finish"),
    "ship": ("select_module",),
    "finish": (END,),
}
"""Where each node may go; the graph is made from it."""


def engineering_graph(factory: Factory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own."""
    nodes = _Nodes(factory)
    graph = StateGraph(EngineeringGraphState)
    for name, destinations in _DESTINATIONS.items():
        graph.add_node(name, getattr(nodes, name), destinations=destinations)
    graph.add_edge(START, "micro_plan")
    return cast(Any, graph.compile(name="engineering"))


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._debate_graph = debate_graph(factory)

    def micro_plan(self, state: EngineeringGraphState) -> Command[Any]:
        changes = engineering.make_plan(self._factory, state)
        if "halt_reason" in changes:
            return _go("finish", changes)
        nothing_new = engineering.next_module(self._factory, {**state, **changes}) is None
        return _go("select_module" if nothing_new else "debate", changes)

    def debate(self, state: EngineeringGraphState) -> Command[Any]:
        asked = {key: state[key] for key in ("task_id", "subject", "plan_id", "schema_version")}
        result = self._debate_graph.invoke(cast(Any, asked))
        held = {**state.get("debates", {}), state["subject"]: result["debate_id"]}
        if state["subject"] == CONTRACTS:
            return _go("select_module", {"debates": held, "plan_id": result["target"]})
        return _go("ship", {"debates": held, "target": result["target"]})

    def module_halted(self, state: EngineeringGraphState) -> Command[Any]:
        halted = state["halted"]
        debates = dict(state.get("debates", {}))
        if halted["debate_id"]:
            debates[halted["subject"]] = halted["debate_id"]
        if halted["subject"] == CONTRACTS:
            return _go("finish", {"debates": debates, "halt_reason": halted["reason"]})
        failed = {**state.get("failed", {}), halted["subject"]: halted["reason"]}
        return _go("select_module", {"debates": debates, "failed": failed})

    def select_module(self, state: EngineeringGraphState) -> Command[Any]:
        name = engineering.next_module(self._factory, state)
        return _go("debate" if name else "finish", {"subject": name or ""})

    def ship(self, state: EngineeringGraphState) -> Command[Any]:
        return _go("select_module", engineering.ship_module(self._factory, state))

    def finish(self, state: EngineeringGraphState) -> Command[Any]:
        return _go(END, engineering.finish(self._factory, state))


def _go(to: str, changes: Mapping[str, Any]) -> Command[Any]:
    return Command(update=dict(changes), goto=to)
