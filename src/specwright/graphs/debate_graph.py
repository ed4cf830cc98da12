"""The debate graph: propose, challenge, revise or adjudicate, ship or halt (F§3.4, F§9, D10, D25).

Routing is `Command(goto=...)`; every decision is a pure method of `application.debating.Debate`. A halt leaves the
graph by `Command(graph=Command.PARENT)`, so that the parent cannot take it for a result.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from specwright.application.debate.steps import Debate, DebateState
from specwright.application.engineering import deliverable
from specwright.application.factory import Factory
from specwright.errors import AnswerError

__all__ = ["DebateGraphState", "debate_graph"]


class DebateGraphState(DebateState, total=False):
    """The debate's state, with the plan that its deliverable comes from, what is sealed of it, and where it begins if a
    person's answer says so."""

    plan_id: str
    sealed: dict[str, str]
    enter: str
    raw_answers: list[str]
    errors: list[str]


_DESTINATIONS: Mapping[str, tuple[str, ...]] = {
    "propose": ("challenge", "halt"),
    "challenge": ("route", "halt"),
    "route": ("revise", "adjudicate"),
    "revise": ("challenge", "halt"),
    "adjudicate": ("ship", "apply_amendments", "revise", "halt"),
    "apply_amendments": ("validate_amendments", "halt"),
    "validate_amendments": ("ship", "halt"),
    "ship": (END, "revise", "halt"),
    "halt": (),
}
"""Where each node may go; the graph is made from it."""


def debate_graph(factory: Factory) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own (DESIGN §5)."""
    nodes = _Nodes(factory)
    graph = StateGraph(DebateGraphState)
    for name, destinations in _DESTINATIONS.items():
        graph.add_node(name, getattr(nodes, name), destinations=destinations)
    graph.add_conditional_edges(START, _begin, ["propose", "revise", "challenge", "ship"])
    return cast(Any, graph.compile(name="debate"))


def _begin(state: DebateGraphState) -> str:
    """A debate that was left because of its contract, or that is opened again for it, goes on (D10); a person's fix is
    challenged, and what a person approves goes to the gate (F§17.2)."""
    return state.get("enter") or ("revise" if "debate_id" in state else "propose")


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory

    def propose(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        return _answered(lambda: debate.propose(state), "challenge")

    def challenge(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        return _answered(lambda: debate.challenge(state), "route")

    def route(self, state: DebateGraphState) -> Command[Any]:
        return _go(self._debate(state).after_challenge(state))

    def revise(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        return _answered(lambda: debate.revise(state), "challenge")

    def adjudicate(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        try:
            changes = debate.adjudicate(state)
        except AnswerError as error:
            return _unanswered(error)
        goto = debate.after_adjudication({**state, **changes})
        if goto == "halt":
            changes["halt_reason"] = debate.why_left({**state, **changes})
        return _go(goto, changes)

    def apply_amendments(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        return _answered(lambda: debate.apply_amendments(state), "validate_amendments")

    def validate_amendments(self, state: DebateGraphState) -> Command[Any]:
        changes = self._debate(state).validate_amendments(state)
        return _go("halt" if changes["halt_reason"] else "ship", changes)

    def ship(self, state: DebateGraphState) -> Command[Any]:
        debate = self._debate(state)
        changes = debate.ship(state)
        goto = debate.after_ship({**state, **changes})
        return _go(END if goto == "shipped" else goto, changes)

    def halt(self, state: DebateGraphState) -> Command[Any]:
        halted = {
            "subject": state["subject"],
            "reason": state["halt_reason"],
            "debate_id": state.get("debate_id", ""),
            "target": state.get("target", ""),
            "round": state.get("round", 0),
            "retry_count": state.get("retry_count", 0),
            "fault": state.get("confirmed_fault", ""),
            "raw_answers": state.get("raw_answers", []),
            "errors": state.get("errors", []),
        }
        return Command(graph=Command.PARENT, update={"halted": halted}, goto="module_halted")

    def _debate(self, state: DebateGraphState) -> Debate:
        return Debate(
            self._factory,
            deliverable(
                self._factory, state["task_id"], state["subject"], state["plan_id"], state.get("sealed")
            ),
        )


def _answered(step: Callable[[], DebateState], then: str) -> Command[Any]:
    """Go on with what a role answered; a role that gave no usable answer halts the deliverable (D11)."""
    try:
        return _go(then, step())
    except AnswerError as error:
        return _unanswered(error)


def _unanswered(error: AnswerError) -> Command[Any]:
    said = {"raw_answers": list(error.raw_answers), "errors": list(error.problems)}
    return Command(update={"halt_reason": error.what, **said}, goto="halt")


def _go(to: str, changes: Mapping[str, Any] | None = None) -> Command[Any]:
    return Command(update=dict(changes or {}), goto=to)
