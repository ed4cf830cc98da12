"""Writes the generated parts of docs/agent-wire.md from the contracts below contracts/agent-wire/v1.1.

Run by `make pages` after a change of a contract. The text between `<!-- name -->` and `<!-- end of name -->` is
replaced; the prose around it stays.
"""

import re
from pathlib import Path
from typing import Any

from agent_wire import tables
from agent_wire.tables import Tables, default_tables

PAGE = Path(__file__).parent / "agent-wire.md"


def parts() -> dict[str, str]:
    """Each drawn part by its name."""
    return {
        "transitions": transition_table(default_tables()),
        "events": _events(),
        "a2a": _a2a(),
    }


def page(written: str) -> str:
    """The page as it should stand, from the page as it stands."""
    for name, drawn in parts().items():
        block = re.compile(rf"(<!-- {name} -->\n\n).*?(\n<!-- end of {name} -->)", re.DOTALL)
        written, found = block.subn(lambda match, drawn=drawn: match[1] + drawn + match[2], written)
        if found != 1:
            raise ValueError(f"docs/agent-wire.md has {found} places for {name}")
    return written


def transition_table(tables: Tables) -> str:
    """All pairs of state and event as a Markdown table; an empty cell is refused."""
    events = [event for event, rule in tables.events.items() if rule.is_task_event]
    rows = [["state", *events], ["---"] * (len(events) + 1)]
    for state in tables.terminal:
        steps = [tables.transitions.get((state, event)) for event in events]
        rows.append([state, *[step.to if step is not None else "" for step in steps]])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _events() -> str:
    rows: Any = tables.contract("event-state-map")["events"]
    schemas: Any = tables.schemas()
    cells = [
        (
            f"`{row['event']}`",
            row["category"],
            ", ".join(row["streams"]),
            schemas[row["schema"]]["description"],
        )
        for row in rows
    ]
    return _table(("event", "category", "stream", "says"), cells)


def _a2a() -> str:
    rows: Any = tables.contract("a2a-task-state-map")["rows"]
    cells = [(f"`{row['event']}`", _when(row.get("when", {})), _seen(row)) for row in rows]
    return _table(("event", "when", "A2A 1.0"), cells)


def _when(guard: dict[str, Any]) -> str:
    words = {("claimed", True): "claimed", ("claimed", False): "unclaimed"}
    return ", ".join(words.get((key, value), f"{key} = {value}") for key, value in guard.items())


def _seen(row: dict[str, Any]) -> str:
    if row["update"] == "artifact":
        flags = f"append={row['append']}, lastChunk={row['last_chunk']}".lower().replace("chunk", "Chunk")
        return f"artifact update, {flags}"
    return row["state"].removeprefix("TASK_STATE_")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
