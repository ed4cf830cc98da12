"""What a user of a product starts, and how values go in and come out.

`VALUES` says what a caller passes for the clock and how results read as JSON; a test compares it with the shell.
"""

from specwright.domain.interfaces.records import Interfaces

JSON_FORMS = (
    ("a record or a dict", "an object"),
    ("a list, a tuple or an iterator", "an array"),
    ("a set", "a sorted array"),
    ("a member of an Enum", "its value if that is a text, else its name"),
    ("a date, a datetime or a time", "its ISO text"),
    ("a timedelta", "its seconds"),
    ("bytes", "base64"),
    ("a Decimal, a UUID, a Path, NaN, an infinity and the like", "a text"),
)
"""Of values that JSON has no form of its own for: what is printed."""

OF_THE_CLOCK = (
    "`now` is a datetime with the machine's offset from UTC, and with microseconds; `today` is the machine's date. A "
    "datetime that somebody writes without an offset has none."
)

OF_RESULTS = (
    "As JSON, one output is its value, several are an object with their names, none is null; "
    + ", ".join(f"{what} is {form}" for what, form in JSON_FORMS)
    + "."
)

VALUES = f"{OF_THE_CLOCK} {OF_RESULTS}"


def started(interfaces: Interfaces | None) -> str:
    """What a user of the product starts, in a line."""
    if interfaces is None:
        return "nothing; its functions are called from Python. No command was asked for."
    found: list[str] = []
    if command := interfaces.command:
        names = ", ".join(one.name for one in command.subcommands)
        found.append(f"the command {command.name}{f': {names}' if names else ''}")
    if http := interfaces.http:
        found.append(
            f"the HTTP API {http.name}: {', '.join(f'{one.method} {one.template}'.strip() for one in http.routes)}"
        )
    if mcp := interfaces.mcp:
        found.append(f"the MCP server {mcp.name}: {', '.join(one.called for one in mcp.tools)}")
    return "; ".join(found)
