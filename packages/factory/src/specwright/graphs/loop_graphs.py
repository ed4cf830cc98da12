"""The graphs of the two loops, made from their tables: each row is a node, which does its step and goes to the next
(design: engineering, debate).

A node routes by its own Command and has no static edge: the goto of a debate's halt would be added to such an edge and
carry a halted module to `ship`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from specwright.application import loop
from specwright.application.debate.debate import open_debate
from specwright.application.factory import Factory
from specwright.application.loop import Leave, Step
from specwright.application.loop_state import DebateState, EngineeringState
from specwright.application.stages.engineering import Engineering
from specwright.application.tasks import task_at
from specwright.errors import AnswerError, ChangeRaisedError

Graph: TypeAlias = CompiledStateGraph[Any, Any, Any, Any]
_Action: TypeAlias = Callable[[Any], Command[Any]]


def engineering_graph(factory: Factory) -> Graph:
    """Compile the loop of one task; its `debate` node runs the debate graph (design: engineering)."""
    debate = debate_graph(factory)
    hold_debate = partial(held, debate)

    def begin(state: EngineeringState) -> str:
        return loop.begin_task(task_at(factory, state["task_id"]).answer)

    return _graph_of(
        "engineering",
        EngineeringState,
        loop.TASK_LOOP,
        begin,
        loop.choices(loop.begin_task),
        lambda state: Engineering(factory, state, hold_debate),
        {"debate": debate},
    )


def debate_graph(factory: Factory) -> Graph:
    """Compile the loop of one deliverable; a halt leaves it by `Command(graph=Command.PARENT)` (design: engineering)."""
    begin = loop.begin_debate
    return _graph_of(
        "debate",
        DebateState,
        loop.DELIVERABLE_LOOP,
        begin,
        loop.choices(begin),
        lambda state: open_debate(factory, state),
    )


def held(graph: Graph, begins: DebateState) -> DebateState:
    """Run the debate graph; a halt in it does not return but goes to `module_halted`."""
    return cast(DebateState, graph.invoke(cast(Any, begins)))


def _graph_of(
    name: str,
    state: Any,
    rows: Mapping[str, Step[Any, Any] | Leave],
    begin: Callable[[Any], str],
    begins_with: tuple[str, ...],
    work: Callable[[Any], Any],
    below: Mapping[str, Graph] | None = None,
) -> Graph:
    """Compile a loop; the graph has no checkpointer of its own.

    Args:
        name: Of the graph.
        state: Its state, a TypedDict.
        rows: The table of the loop.
        begin: Chooses the first step.
        begins_with: The steps between which it chooses.
        work: Opens what the steps work on, for a state.
        below: The graphs that steps run, by step.
    """
    graph: Any = StateGraph(state)
    for step, row in rows.items():
        run = (below or {}).get(step)
        # no functions of their own: LangGraph would look through the bytecode of each
        action = partial(_do, row, work) if isinstance(row, Step) else partial(_leave, row)
        graph.add_node(step, _showing(run, action) if run else action, destinations=_destinations(row, run))
    graph.add_conditional_edges(START, begin, list(begins_with))
    return graph.compile(name=name)


def _destinations(row: Step[Any, Any] | Leave, run: Graph | None) -> tuple[str, ...]:
    """The nodes that can follow a step, for drawings alone: what it runs may leave for another."""
    if isinstance(row, Leave):
        return ()
    left = [other.to for other in loop.DELIVERABLE_LOOP.values() if run and isinstance(other, Leave)]
    return tuple(_node(to) for to in (*row.destinations, *left))


def _showing(run: Graph, action: _Action) -> _Action:
    """The node of a step that runs a graph: LangGraph looks among the free variables of a node for what
    `get_graph(xray=True)` shows."""

    def do(state: Any) -> Command[Any]:
        _ = run
        return action(state)

    return do


def _leave(row: Leave, state: Any) -> Command[Any]:
    return Command(graph=Command.PARENT, update=row.report(state), goto=row.to)


def _do(step: Step[Any, Any], work: Callable[[Any], Any], state: Any) -> Command[Any]:
    try:
        changes: dict[str, Any] = step.does(work(state), state) if step.does else {}
    except ChangeRaisedError as raised:
        if not step.asks:
            raise
        update = {"halt_reason": raised.what, "exception_id": raised.exception_id}
        return Command(update=update, goto="halt")
    except AnswerError as error:
        if not step.asks:
            raise
        raw_answers = [*state.get("raw_answers", []), *error.raw_answers]
        answers = {"raw_answers": raw_answers, "errors": list(error.problems)}
        update = {"halt_reason": error.what, "confirmed_fault": error.fault, **answers}
        return Command(update=update, goto="halt")
    return Command(update=changes, goto=_node(step.next({**state, **changes})))


def _node(step: str) -> str:
    return END if step == loop.END else step
