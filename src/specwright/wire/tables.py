"""The state machine and the event map as code reads them (D33, D34).

The contracts under `contracts/agent-wire/v1.1/` are the source; nothing here or elsewhere repeats a
transition or a category. Leaves out: what an event does to a stream besides its state
(`specwright.wire.stream`).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from specwright.canonical_json import JsonObject
from specwright.wire import data

__all__ = ["EventRule", "Tables", "Transition", "default_tables"]


class Transition(NamedTuple):
    """One legal step of a task.

    Args:
        to: The state after it.
        claimed_is: What the stream must remember about being claimed; None if it does not matter.
        claimed_becomes: What it remembers afterwards; None if that stays.
    """

    to: str
    claimed_is: bool | None
    claimed_becomes: bool | None


class EventRule(NamedTuple):
    """What the event map says about one event type.

    Args:
        category: The one normalised state category (D34); `none` if the event is not of a task.
        streams: The kinds of stream that it may stand on.
        schema: The file name of its JSON Schema.
        terminal: Whether the state that it leads to is terminal.
        is_task_event: Whether it moves a task stream.
    """

    category: str
    streams: frozenset[str]
    schema: str
    terminal: bool
    is_task_event: bool


class Tables(NamedTuple):
    """The two contracts, indexed.

    Args:
        initial: The state of a stream without Wires.
        terminal: State -> whether nothing may follow.
        transitions: (state, event) -> the legal step.
        events: Event type -> its rule.
    """

    initial: str
    terminal: Mapping[str, bool]
    transitions: Mapping[tuple[str, str], Transition]
    events: Mapping[str, EventRule]

    @classmethod
    def of(cls, machine: JsonObject, event_map: JsonObject) -> "Tables":
        """Read the documents `task-state-machine` and `event-state-map`.

        Raises:
            KeyError: a document lacks a field, or names a state that it does not declare.
        """
        states: Any = machine["states"]
        rows: Any = machine["transitions"]
        entries: Any = event_map["events"]
        terminal = {row["state"]: row["terminal"] for row in states}
        transitions = {
            (row["from"], row["event"]): Transition(
                row["to"], row.get("when", {}).get("claimed"), row.get("sets", {}).get("claimed")
            )
            for row in rows
        }
        targets = {event: terminal[step.to] for (_, event), step in transitions.items()}
        events = {
            row["event"]: EventRule(
                row["category"],
                frozenset(row["streams"]),
                row["schema"],
                targets.get(row["event"], False),
                row["event"] in targets,
            )
            for row in entries
        }
        return cls(str(machine["initial"]), terminal, transitions, events)

    def step(self, state: str, event: str, *, claimed: bool) -> Transition | None:
        """The legal step from a state by an event, None if there is none.

        Args:
            state: The task's state.
            event: The event type.
            claimed: Whether the stream remembers a claim.
        """
        found = self.transitions.get((state, event))
        if found is None or found.claimed_is not in (None, claimed):
            return None
        return found

    def state_of(self, event: str) -> "JsonObject | None":
        """The `state` that a Wire of this type carries; None for an event of no task."""
        rule = self.events.get(event)
        if rule is None or not rule.is_task_event:
            return None
        return {"category": rule.category, "terminal": rule.terminal}


@cache
def default_tables() -> Tables:
    """The tables of Agent Wire 1.1 as they ship."""
    return Tables.of(data.contract("task-state-machine"), data.contract("event-state-map"))
