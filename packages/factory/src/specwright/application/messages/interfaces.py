"""What a planner is told of functions that a command, an API or a tool calls, where there is one (design: shell)."""

from collections.abc import Collection, Mapping

from specwright.domain.interfaces.functions import CLOCK_TYPES
from specwright.domain.interfaces.guide import VALUES
from specwright.domain.interfaces.records import Interfaces
from specwright.domain.interfaces.rules import uses_of


def callers_of(interfaces: Interfaces | None, functions: Mapping[str, Collection[str]]) -> list[str]:
    """What calls these functions, and what it passes for the clock; nothing if nothing does.

    Args:
        interfaces: Of the product.
        functions: That are planned, each with the names of its parameters.
    """
    lines: list[str] = []
    for one in uses_of(interfaces) if interfaces else ():
        if one.calls in functions:
            known = functions[one.calls]
            passed = [
                f"`{name}` is `{word}`"
                for name, word in one.defaults.items()
                if word in CLOCK_TYPES and name in known
            ]
            unless = f"; unless it is given, {', '.join(passed)}" if passed else ""
            lines.append(f"- {one.shown} calls `{one.calls}`{unless}")
    if not lines:
        return []
    return ["\n\n".join(["# What calls it", "Code makes this, no module:", "\n".join(lines), VALUES])]
