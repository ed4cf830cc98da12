"""The contracts, schemas and fixtures that ship, and the state machine and event map as indexed tables (design: wire).

The contracts are the only source of transitions and categories. What an event changes in a stream besides its state is
in `agent_wire.stream`. The specification places all these files at the repository root. Links in `data/` point there; a
build follows them, so that a wheel and a source distribution hold copies.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from agent_wire import canonical_json
from agent_wire.canonical_json import JsonObject

_VERSION = "v1.1"


@cache
def contract(name: str) -> JsonObject:
    """Return a contract by name.

    Args:
        name: `task-state-machine`, `event-state-map` or `a2a-task-state-map`.
    """
    return canonical_json.loads(_directory("contracts").joinpath(f"{name}.json").read_bytes())


@cache
def schemas() -> dict[str, JsonObject]:
    """Return every JSON Schema by its file name, such as `envelope.schema.json`."""
    return {
        entry.name: canonical_json.loads(entry.read_bytes())
        for entry in sorted(_directory("schemas").iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".schema.json")
    }


def fixtures() -> dict[str, bytes]:
    """Return every fixture as bytes, since some are not JSON, by file name; `expectations.json` describes the others."""
    files = sorted(_directory("fixtures").iterdir(), key=lambda entry: entry.name)
    return {entry.name: entry.read_bytes() for entry in files if entry.name.endswith(".json")}


def _directory(kind: str) -> Traversable:
    return files("agent_wire") / "data" / kind / _VERSION


class Transition(NamedTuple):
    """A legal step of a task.

    Args:
        to: The state after the step.
        claimed_is: Whether the task must be claimed; None if either is legal.
        claimed_becomes: Whether the task is claimed afterwards; None if the step does not change that.
    """

    to: str
    claimed_is: bool | None
    claimed_becomes: bool | None


class EventRule(NamedTuple):
    """The rule for one event type.

    Args:
        category: The normalised state category; `none` for events outside tasks.
        streams: The kinds of stream on which the event is allowed.
        schema: The file name of its JSON Schema.
        terminal: The event leads to a terminal state.
        is_task_event: The event changes the state of a task.
    """

    category: str
    streams: frozenset[str]
    schema: str
    terminal: bool
    is_task_event: bool


class Tables(NamedTuple):
    """The state machine and the event map, indexed.

    Args:
        initial: The state of a task before its first Wire.
        terminal: State -> whether it is terminal.
        transitions: (state, event) -> the legal step.
        events: Event type -> its rule.
    """

    initial: str
    terminal: Mapping[str, bool]
    transitions: Mapping[tuple[str, str], Transition]
    events: Mapping[str, EventRule]

    @classmethod
    def of(cls, machine: JsonObject, event_map: JsonObject) -> "Tables":
        """Index the documents `task-state-machine` and `event-state-map`.

        Raises:
            KeyError: a document lacks a field or names an undeclared state.
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
        """Return the legal step for an event in a state, claimed or not; None if the event is not legal there."""
        step = self.transitions.get((state, event))
        return step if step is not None and step.claimed_is in (None, claimed) else None

    def state_of(self, event: str) -> "JsonObject | None":
        """Return the `state` object for a Wire of this type; None if it is not a task event."""
        rule = self.events.get(event)
        if rule is None or not rule.is_task_event:
            return None
        return {"category": rule.category, "terminal": rule.terminal}


@cache
def default_tables() -> Tables:
    """Return the tables of Agent Wire 1.1 that ship."""
    return Tables.of(contract("task-state-machine"), contract("event-state-map"))
