"""The graphs of a run, from the outside in (design: overview, engineering).

    outer graph      product loop -> approval gate -> project graph -> release
    project graph    initialise -> dispatch -> engineer -> update, until nothing can run
    loop graphs      one for each table in `application.loop`: a row is a node, which does its step and goes to the next
    exception graph  of an approved interface change: validate -> assess -> propose -> debate -> finalise

`Driver` drives the outer graph from stop to stop. A halted or stalled project waits at `escalate`, whichever way it got
there: after the task that halted, or from `dispatch` when the checkpoint that held the halt is gone (design: journal). A
person's answer comes by `Command(resume=...)`, or by `update_state(config, {"resolution": ...},
as_node="update_state_machine")`; either way `process_human_resolution` takes it, and `dispatch` goes on from the state
that it made.

A node routes by its own Command and has no static edge: the goto of a debate's halt would be added to such an edge and
carry a halted module to `ship`. The exception graph has no checkpointer: the log says which approval is to be carried
out, and the journal what was answered.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias, TypedDict, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt
from pydantic import ValidationError

from ship_gate.base.record import validation_messages
from specwright.application import loop, scopes, tasks
from specwright.application.change import settle_consumers
from specwright.application.debate.debate import open_debate
from specwright.application.escalation import halt
from specwright.application.escalation.halted import open_escalations
from specwright.application.escalation.offers import recorded_answer, resolve
from specwright.application.factory import Factory
from specwright.application.interface_change import ChangeState, Resolution, approved
from specwright.application.loop import Leave, Step
from specwright.application.loop_state import DebateState, EngineeringState
from specwright.application.stages import product, release
from specwright.application.stages.engineering import Engineering
from specwright.application.stages.product import (
    draft_history,
    note_passed_over,
    restore_draft,
    send_back,
    tasks_in_draft,
)
from specwright.application.tasks import task_at
from specwright.domain.escalation import OPERATOR, HumanResolution
from specwright.domain.interface_change import KnownException
from specwright.domain.spec.draft_history import GateAction, GateAnswer
from specwright.domain.tasks.project_state import TaskStatus
from specwright.domain.tasks.task_board import Outcome
from specwright.errors import (
    AnswerError,
    ChangeRaisedError,
    CorruptionErrors,
    InputErrors,
    NonDeterminismError,
    RefusedErrors,
)
from specwright.graphs.checkpoints import Saver
from specwright.ports import RunEvent

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


_MONITORED = 500
"""With more tasks than this the progress reports the depth of the run (design: engineering)."""
_REPORTED_EVERY = 100

_NODES = (
    "init_state_machine",
    "dispatch",
    "engineering",
    "update_state_machine",
    "escalate",
    "process_human_resolution",
)

_RESULT = ("outcome", "escalation", "module_refs", "module_ref")


class ProjectGraphState(TypedDict, total=False):
    """Only what concerns the current task (design: engineering); JSON primitives."""

    schema_version: int
    task_id: str
    recovered: bool
    result: dict[str, Any]
    outcome: str
    resolution: dict[str, Any] | None
    refused: str


def project_graph(
    factory: Factory, engineering: CompiledStateGraph[Any, Any, Any, Any] | None = None
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Compile the graph; it has no checkpointer of its own.

    Args:
        factory: The ports.
        engineering: Another engineering loop than the real one: takes `task_id`, leaves `outcome` and what goes
            with it.
    """
    nodes, loop = _Nodes(factory), engineering or engineering_graph(factory)

    def run_task(state: ProjectGraphState) -> ProjectGraphState:
        # the graph is a free variable of the node, where LangGraph looks for what `get_graph(xray=True)` shows
        return nodes.engineering(state, loop)

    graph = StateGraph(ProjectGraphState)
    for name in _NODES:
        # of a function LangGraph would read the bytecode, for graphs that it might run; of a partial one it does not
        graph.add_node(name, run_task if name == "engineering" else partial(getattr(nodes, name)))
    graph.add_edge(START, "init_state_machine")
    graph.add_edge("init_state_machine", "dispatch")
    graph.add_conditional_edges("dispatch", _after_dispatch, ["engineering", "escalate", END])
    graph.add_edge("engineering", "update_state_machine")
    graph.add_conditional_edges(
        "update_state_machine", _after_update, ["process_human_resolution", "dispatch", "escalate"]
    )
    graph.add_edge("escalate", "process_human_resolution")
    graph.add_conditional_edges("process_human_resolution", _after_answer, ["dispatch", "escalate"])
    return cast(Any, graph.compile(name="project"))


class _Nodes:
    """The nodes, by their names in the graph."""

    def __init__(self, factory: Factory) -> None:
        self._factory = factory

    def init_state_machine(self, state: ProjectGraphState) -> ProjectGraphState:
        tasks.initialise(self._factory)
        return {"schema_version": 1}

    def dispatch(self, state: ProjectGraphState, config: RunnableConfig) -> ProjectGraphState:
        settle_consumers(self._factory)
        task = tasks.next_dispatch(self._factory)
        if task is None:
            outcome = tasks.outcome(self._factory)
            if outcome is Outcome.STALLED:
                halt.raise_stalled(self._factory)
            self._factory.projection.write(now=True)
            return {"task_id": "", "outcome": outcome.value}
        self._report_depth(config, task.entry.spec_task_id)
        began = tasks.begin(self._factory, task)
        return {"task_id": task.task_id, "recovered": not began, "outcome": Outcome.RUNNABLE.value}

    def engineering(
        self, state: ProjectGraphState, loop: CompiledStateGraph[Any, Any, Any, Any]
    ) -> ProjectGraphState:
        begins = {"task_id": state["task_id"], "schema_version": 1}
        try:
            result = loop.invoke(cast(Any, begins))
        except NonDeterminismError as error:
            if not state["recovered"]:
                raise  # the checkpoint is there: an older version or other settings can still go on from it
            task = tasks.task_at(self._factory, state["task_id"])
            escalation = halt.halt_contradicted(self._factory, task, error)
            return {"result": {"outcome": TaskStatus.HALTED.value, "escalation": escalation}}
        return {"result": {key: result[key] for key in _RESULT if key in result}}

    def update_state_machine(self, state: ProjectGraphState) -> ProjectGraphState:
        result = state["result"]
        task = tasks.task_at(self._factory, state["task_id"])
        if result["outcome"] == TaskStatus.SHIPPED:
            tasks.shipped(self._factory, task, result["module_refs"], result["module_ref"])
        return {"outcome": tasks.outcome(self._factory).value}

    def escalate(self, state: ProjectGraphState) -> ProjectGraphState:
        waiting = open_escalations(self._factory)
        if not waiting:
            return {
                "resolution": None
            }  # answered, says the log; a crash took the checkpoint that would say so too
        if (recorded := recorded_answer(self._factory)) and not state.get("refused"):
            return {"resolution": recorded}
        artifact = self._factory.escalations.escalation(waiting[0])
        question: dict[str, Any] = {
            "kind": "escalation",
            "escalations": waiting,
            "escalation": waiting[0],
            "artifact": artifact.to_json(),
        }
        if refused := state.get("refused"):
            question["refused"] = refused
        return {"resolution": interrupt(question)}

    def process_human_resolution(self, state: ProjectGraphState) -> ProjectGraphState:
        if state["resolution"] is None and not open_escalations(self._factory):
            return {"refused": "", "outcome": tasks.outcome(self._factory).value}
        try:
            resolve(self._factory, HumanResolution.model_validate(state["resolution"]))
        except ValidationError as error:
            return {"resolution": None, "refused": "; ".join(validation_messages(error))}
        except (*InputErrors, *RefusedErrors, *CorruptionErrors) as error:
            return {"resolution": None, "refused": str(error)}
        return {"resolution": None, "refused": "", "outcome": tasks.outcome(self._factory).value}

    def _report_depth(self, config: RunnableConfig, spec_task_id: str) -> None:
        """Report the depth of a long run now and then (design: engineering)."""
        board = tasks.task_board(self._factory)
        shipped = board.count(TaskStatus.SHIPPED)
        if len(board) > _MONITORED and shipped % _REPORTED_EVERY == 0:
            step, limit = (
                config.get("metadata", {}).get("langgraph_step", 0),
                config.get("recursion_limit", 0),
            )
            text = f"{shipped:,} of {len(board):,} tasks shipped; step {step:,} of the {limit:,} that a run may take"
            self._factory.progress.note(RunEvent("depth", spec_task_id, text))


def _after_dispatch(state: ProjectGraphState) -> str:
    if state["task_id"]:
        return "engineering"
    return END if state["outcome"] == Outcome.COMPLETE else "escalate"


def _after_update(
    state: ProjectGraphState,
) -> Literal["process_human_resolution", "dispatch", "escalate"]:
    if state.get(
        "resolution"
    ):  # by update_state: this edge is taken anew, a node's own goto would not be (design: escalation)
        return "process_human_resolution"
    # a stall goes back to dispatch, where its escalations are raised
    return "escalate" if state["outcome"] == Outcome.HALTED else "dispatch"


def _after_answer(state: ProjectGraphState) -> Literal["dispatch", "escalate"]:
    return "escalate" if state["refused"] or state["outcome"] == Outcome.HALTED else "dispatch"


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
    nodes, project = _OuterNodes(factory), project_graph(factory)

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


class _OuterNodes:
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


_THREAD = "project"
_OF_ANOTHER_SHAPE = (ValueError, TypeError, LookupError, AttributeError)
"""What a checkpoint raises that this program did not write; without it, what is raised is a fault of the program."""
_STEPS_PER_TASK = 4  # dispatch, engineering, update, and one to spare


def recursion_limit(tasks: int) -> int:
    """How many super-steps one run of a graph may take; a subgraph counts its own (design: engineering)."""
    return max(1000, _STEPS_PER_TASK * tasks + 100)


class Driver:
    """The checkpointed outer graph of one project."""

    def __init__(self, factory: Factory, saver: Saver) -> None:
        self.graph = outer_graph(factory, saver)
        """For programs that answer through LangGraph: `Command(resume=...)` with `config`."""
        self._factory = factory
        self._saver = saver
        self._resumed = False

    def advance(self, answer: dict[str, str] | None = None) -> dict[str, Any] | None:
        """Run to the next stop: begin, go on after a crash, or answer what the graph waits for.

        Returns:
            What it waits for then; None where it ended.
        """
        try:
            return self._advance(answer)
        except _OF_ANOTHER_SHAPE as error:  # what a step was given by a checkpoint, or that of a graph below
            if not self._resumed:
                raise
            self._discard(error)
            return self._advance(answer if self.waiting() else None)

    def _advance(self, answer: dict[str, str] | None) -> dict[str, Any] | None:
        config, before = self.config, self._state()
        self._resumed = before.created_at is not None
        waits = self._interrupt(before)
        if waits is not None and waits["kind"] == "approval":
            restore_draft(self._factory)
        if waits is not None and answer is None:
            return waits
        if waits is not None:
            given: Any = Command(resume=answer)
        elif before.created_at is None:
            given = {"schema_version": 1}
        elif before.tasks:  # not `next`, which is empty after a crash right behind the first checkpoint
            given = None
        else:
            return None
        self.graph.invoke(given, config, durability="sync")
        return self.waiting()

    def waiting(self) -> dict[str, Any] | None:
        """What the graph waits for."""
        return self._interrupt(self._state())

    def _state(self) -> Any:
        """The state of the graph; a checkpoint that cannot be read, or whose question is none of ours, is discarded."""
        try:
            state = self.graph.get_state(self.config)
            self._interrupt(state)
        except _OF_ANOTHER_SHAPE as error:
            self._discard(error)
            state = self.graph.get_state(self.config)
        return state

    def _discard(self, error: Exception) -> None:
        """Delete the checkpoints of this thread: the run continues from the journal and the log (design: journal)."""
        self._saver.delete_thread(self.config["configurable"]["thread_id"])
        why = (
            f"a checkpoint was discarded: {str(error)[:200]}; the run continues from the journal and the log"
        )
        self._factory.progress.note(RunEvent("checkpoint", "", why))

    @property
    def config(self) -> Any:
        """The configuration by which the graph is invoked."""
        tasks = len(self._factory.projection.definitions)
        spec = self._factory.projection.spec
        if not tasks and spec is None:
            tasks = tasks_in_draft(self._factory)
        change = self._factory.projection.change_number
        thread = (
            f"{_THREAD}/{scopes.product_change(change)}" if change else _THREAD
        )  # each goes through the graph anew
        return {"configurable": {"thread_id": thread}, "recursion_limit": recursion_limit(tasks)}

    def _interrupt(self, state: Any) -> dict[str, Any] | None:
        waits = cast(dict[str, Any], state.interrupts[0].value) if state.interrupts else None
        if waits and waits["kind"] == "approval" and not self._factory.projection.awaits_approval:
            return None  # the log says approved; a crash took the checkpoint that would say so too
        if waits and waits["kind"] == "approval" and not draft_history(self._factory).is_drafted:
            return None  # an answer is recorded that the draft does not know
        if (
            waits
            and (asked := waits.get("escalations"))
            and not {*asked} <= {*open_escalations(self._factory)}
        ):
            return None  # so is one of these answered, or its exception decided
        if waits and waits["kind"] == "escalation" and not waits.get("refused"):
            return (
                None if recorded_answer(self._factory) else waits
            )  # an answer is recorded, and not in the log yet
        return waits
