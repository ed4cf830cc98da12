"""The engineering graph: plan, contract debate, then module by module (F§3.4, D10, D25).

A run that a person's answer resumed enters where the answer says, which stands in the log: a lost checkpoint changes
nothing (F§17.3, D9).

The debate node has no static edges: what follows it is said by its own Command, or by the debate's halt, whose
PARENT goto would be *added* to static edges and carry a halted module on to `ship`.
"""

from collections.abc import Mapping
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from specwright.application import engineering
from specwright.application.debate.deliverable import CONTRACTS
from specwright.application.engineering_state import EngineeringState, Left
from specwright.application.factory import Factory
from specwright.application.stops import resuming
from specwright.domain.answers import FaultOf
from specwright.graphs.debate_graph import debate_graph

__all__ = ["EngineeringGraphState", "engineering_graph"]


class EngineeringGraphState(EngineeringState, total=False):
    """The stage's state, and what the debate's halt leaves."""

    halted: Left


_DESTINATIONS: Mapping[str, tuple[str, ...]] = {
    "micro_plan": ("debate", "select_module", "finish"),
    "resume": ("debate", "select_module"),
    "debate": ("select_module", "ship", "module_halted"),
    "module_halted": ("select_module", "debate", "finish"),
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
    graph.add_conditional_edges(START, nodes.entrance, ["micro_plan", "resume"])
    return cast(Any, graph.compile(name="engineering"))


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory
        self._debate_graph = debate_graph(factory)

    def entrance(self, state: EngineeringGraphState) -> str:
        return resuming.entrance(self._factory, state)

    def resume(self, state: EngineeringGraphState) -> Command[Any]:
        changes = resuming.go_on(self._factory, state)
        return _go("debate" if "entered" in changes else "select_module", changes)

    def micro_plan(self, state: EngineeringGraphState) -> Command[Any]:
        changes = engineering.make_plan(self._factory, state)
        if "halt_reason" in changes:
            return _go("finish", changes)
        nothing_new = engineering.next_module(self._factory, {**state, **changes}) is None
        return _go("select_module" if nothing_new else "debate", changes)

    def debate(self, state: EngineeringGraphState) -> Command[Any]:
        result = self._debate_graph.invoke(cast(Any, engineering.debate_of(state)))
        held = {**state.get("debates", {}), state["subject"]: result["debate_id"]}
        if state["subject"] == CONTRACTS:
            return _go("select_module", {"debates": held, **engineering.locked(self._factory, state, result)})
        return _go("ship", {"debates": held, "target": result["target"]})

    def module_halted(self, state: EngineeringGraphState) -> Command[Any]:
        left = state["halted"]
        debates = dict(state.get("debates", {}))
        if left["debate_id"]:
            debates[left["subject"]] = left["debate_id"]
        # several modules may halt: what each was told and said is kept
        raw_answers = [*state.get("raw_answers", []), *left["raw_answers"]]
        errors = [*state.get("errors", []), *left["errors"]]
        changes: dict[str, Any] = {"debates": debates, "raw_answers": raw_answers, "errors": errors}
        if left["subject"] == CONTRACTS:
            return _go("finish", {**changes, "halt_reason": left["reason"]})
        if engineering.may_reopen(state, left):
            return _go("debate", {**changes, "subject": CONTRACTS, "reopened_by": left})
        failed = {**state.get("failed", {}), left["subject"]: left["reason"]}
        if left["fault"] == FaultOf.PLAN:
            return _go("finish", {**changes, "failed": failed, "plan_fault": left})
        return _go("select_module", {**changes, "failed": failed})

    def select_module(self, state: EngineeringGraphState) -> Command[Any]:
        name = engineering.next_module(self._factory, state)
        return _go("debate" if name else "finish", {"subject": name or ""})

    def ship(self, state: EngineeringGraphState) -> Command[Any]:
        return _go("select_module", engineering.ship_module(self._factory, state))

    def finish(self, state: EngineeringGraphState) -> Command[Any]:
        return _go(END, engineering.finish(self._factory, state))


def _go(to: str, changes: Mapping[str, Any]) -> Command[Any]:
    return Command(update=dict(changes), goto=to)
