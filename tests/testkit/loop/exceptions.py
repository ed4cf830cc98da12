"""A product of three tasks in a row, whose second finds the contract of the first one's module wrong."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langchain_core.messages import BaseMessage

from specwright.ports import Answered, Assignment, Files, Place
from testkit.loop.debate_workbench import DebateWorkbench, modelled, script
from testkit.loop.role_answers import Turn, plan, planned
from testkit.model.script import R, ScriptedRoles

__all__ = ["CHAIN", "RAISE", "STEP", "Overheard", "Raising", "Story", "asked", "raising"]

RAISE = "raise_interface_change_exception"

CHAIN: Any = ([], [0], [1])
"""Each task waits for the one before."""

PLANS = {
    "TSK-001": plan(planned("double")),
    "TSK-002": plan(planned("triple", "double")),
    "TSK-003": plan(planned("six", "triple")),
}

STEP = {"name": "step", "type": "int", "constraints": ["is not zero", "defaults to 1"]}


def asked(ref: str, **changes: Any) -> dict[str, Any]:
    """The arguments of a call that raises an exception against a module."""
    return {
        "type": "CANNOT_SUPPORT",
        "target_module": ref,
        "reason": "A step other than one cannot be asked for.",
        "evidence": ["Criterion 2 asks for every third number."],
        "proposed_delta": {"added_inputs": [STEP]},
        "compatibility": "BACKWARD_COMPATIBLE",
        "urgency": "BLOCKING",
        **changes,
    }


class Overheard:
    """The requests of a run: places, tools offered, and the last message."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, set[str], str]] = []

    def __call__(self, place: Place, messages: list[BaseMessage], tools: Any) -> None:
        offered = {tool["function"]["name"] for tool in tools}
        self.requests.append((place.run_id, offered, messages[-1].text))

    @property
    def places(self) -> list[str]:
        """Where, in order."""
        return [place for place, _, _ in self.requests]

    def offered(self, place: str) -> set[str]:
        """The tools of the last request at a place."""
        return next(tools for where, tools, _ in reversed(self.requests) if where == place)


Said = Callable[["Story", Place, int], Turn | None]


class Raising:
    """A script for the three tasks; where a story has a turn for a `run_id`, that is answered instead."""

    def __init__(self, story: "Story") -> None:
        self._story = story
        self._sound = script()

    def answer(self, place: Place, ordinal: int) -> Turn:
        """The answer of an invocation that has answered so often."""
        said = self._story.turns.get(place.run_id)
        turn = said(self._story, place, ordinal) if said else None
        if turn is not None:
            return turn
        return self._sound._replace(plan=self._story.plans[place.task]).answer(place, ordinal)


class FewAgents(ScriptedRoles):
    """The port `Roles`: agents where a story has a turn, which may call tools, and scripted answers elsewhere."""

    def __init__(self, story: "Story", said: Raising, agents: Any) -> None:
        super().__init__(said.answer, [])
        self._story, self._agents = story, agents

    def ask(self, assignment: Assignment[R], check: Callable[[R, Files], Sequence[str]]) -> Answered[R]:
        """The answer of an agent or of the script."""
        if assignment.place.run_id in self._story.turns:
            return self._agents.ask(assignment, check)
        self._story.heard.requests.append((assignment.place.run_id, set(), assignment.message))
        return super().ask(assignment, check)


class Story:
    """The project of one directory; opened again it goes on.

    Args:
        directory: The project.
        turns: What is answered at which `run_id`.
        plans: The planner's answers, by task.
        agents: Whether all roles are agents with tools, or only those that have a turn.
    """

    def __init__(
        self,
        directory: Path,
        turns: Mapping[str, Said],
        plans: Mapping[str, Any] = MappingProxyType(PLANS),
        *,
        agents: bool = False,
    ) -> None:
        self.heard, self.plans = Overheard(), dict(plans)
        self.turns: dict[str, Said] = dict(turns)
        said = Raising(self)
        real = modelled(said, self.heard)
        self.bench = DebateWorkbench(
            directory, script(), roles=real if agents else lambda bench: FewAgents(self, said, real(bench))
        )

    def ref(self, name: str) -> str:
        """The newest sealed version of a module."""
        entries = [entry for entry in self.bench.index.entries() if entry.name == name]
        return entries[-1].ref

    def record(self) -> dict[str, Any]:
        """The one exception."""
        (path,) = (self.bench.base / "exceptions").glob("ICE-????????.json")
        return self.bench.read(path)


def raising(more: tuple[tuple[str, dict[str, Any]], ...] = (), **changes: Any) -> Said:
    """A turn that raises an exception against `double`, and calls what else is given after that."""

    def said(story: Story, place: Place, ordinal: int) -> Turn:
        return Turn(None, calls=((RAISE, asked(story.ref("double"), **changes)), *more))

    return said
