"""The task state machine drawn from its contract, so that no diagram can say otherwise (D33)."""

from specwright.wire.tables import Tables

__all__ = ["state_diagram", "transition_table"]


def state_diagram(tables: Tables) -> str:
    """The state machine as a Mermaid `stateDiagram-v2`, one arrow for each legal pair."""
    lines = ["stateDiagram-v2"]
    for (source, event), step in tables.transitions.items():
        guard = "" if step.claimed_is is None else f" [{'claimed' if step.claimed_is else 'unclaimed'}]"
        start = "[*]" if source == tables.initial else source
        lines.append(f"    {start} --> {step.to}: {event}{guard}")
    lines += [f"    {state} --> [*]" for state, terminal in tables.terminal.items() if terminal]
    return "\n".join(lines) + "\n"


def transition_table(tables: Tables) -> str:
    """All pairs of state and event as a Markdown table; an empty cell is refused."""
    events = [event for event, rule in tables.events.items() if rule.is_task_event]
    rows = [["state", *events], ["---"] * (len(events) + 1)]
    for state in tables.terminal:
        steps = [tables.transitions.get((state, event)) for event in events]
        rows.append([state, *[step.to if step is not None else "" for step in steps]])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
