"""Driving the outer graph from stop to stop (design: engineering)."""

from typing import Any, cast

from langgraph.types import Command

from specwright.application import scopes
from specwright.application.escalation.halted import open_escalations
from specwright.application.escalation.offers import recorded_answer
from specwright.application.factory import Factory
from specwright.application.stages.product import draft_history, restore_draft, tasks_in_draft
from specwright.graphs.checkpoints import Saver
from specwright.graphs.outer_graph import outer_graph
from specwright.ports import RunEvent

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
