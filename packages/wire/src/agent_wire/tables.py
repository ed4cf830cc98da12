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
    """One contract by its name.

    Args:
        name: `task-state-machine`, `event-state-map` or `a2a-task-state-map`.
    """
    return canonical_json.loads(_directory("contracts").joinpath(f"{name}.json").read_bytes())


@cache
def schemas() -> dict[str, JsonObject]:
    """Every JSON Schema by its file name, `envelope.schema.json` and so on."""
    return {
        entry.name: canonical_json.loads(entry.read_bytes())
        for entry in sorted(_directory("schemas").iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".schema.json")
    }


def fixtures() -> dict[str, bytes]:
    """Every fixture by its file name, as bytes, since some are not JSON; `expectations.json` describes the others."""
    files = sorted(_directory("fixtures").iterdir(), key=lambda entry: entry.name)
    return {entry.name: entry.read_bytes() for entry in files if entry.name.endswith(".json")}


def _directory(kind: str) -> Traversable:
    return files("agent_wire") / "data" / kind / _VERSION


class Transition(NamedTuple):
    """One legal step of a task.

    Args:
        to: The state after it.
        claimed_is: Whether the task must be claimed; None if it does not matter.
        claimed_becomes: Whether it is claimed afterwards; None if that does not change.
    """

    to: str
    claimed_is: bool | None
    claimed_becomes: bool | None


class EventRule(NamedTuple):
    """The rule for one event type.

    Args:
        category: The normalised state category; `none` if it is not a task event.
        streams: The kinds of stream that it may be on.
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
        """Index the documents `task-state-machine` and `event-state-map`.

        Raises:
            KeyError: a document lacks a field, or names an undeclared state.
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
        """The legal step of a task in a state, claimed or not, by an event; None if there is none."""
        step = self.transitions.get((state, event))
        return step if step is not None and step.claimed_is in (None, claimed) else None

    def state_of(self, event: str) -> "JsonObject | None":
        """The `state` that a Wire of this type carries; None if it is not a task event."""
        rule = self.events.get(event)
        if rule is None or not rule.is_task_event:
            return None
        return {"category": rule.category, "terminal": rule.terminal}


@cache
def default_tables() -> Tables:
    """The tables of Agent Wire 1.1 as they ship."""
    return Tables.of(contract("task-state-machine"), contract("event-state-map"))
