"""How a product is used from outside Python, as Markdown: for the person who approves it, and for those who install it.

`VALUES` says what a caller passes for the clock and how results read as JSON; a test compares it with the shell.
"""

from collections.abc import Iterator, Mapping, Sequence

from ship_gate.base.markdown_text import inline, printable
from specwright.domain.interfaces.functions import CommandWord, PublicFunction, words_of
from specwright.domain.interfaces.records import (
    OTHER_ERRORS,
    ConsoleCommand,
    FunctionUse,
    HttpApi,
    Interfaces,
    McpServer,
    Route,
)
from specwright.domain.interfaces.rules import (
    exit_condition,
    method_of,
    option_name,
    parameters_of_route,
    parameters_of_tool,
    status_of,
)

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


_CONTENTS = {
    "text": "the text of a file, `-` for stdin",
    "lines": "the lines of a file, `-` for stdin",
    "json": "a JSON file, `-` for stdin",
    "toml": "a TOML file",
}


def synopsis(command: ConsoleCommand, use: FunctionUse, words: Sequence[CommandWord]) -> str:
    """A command or subcommand on one line: `linkwatch scan DIR [--limit INT] [--json]`."""
    order = sorted(words, key=lambda one: ("option", "argument", "stdin").index(one.place))
    arguments = [one.synopsis for one in order if one.place == "argument"]
    options = [one.synopsis for one in order if one.place == "option"]
    stdin = [one.synopsis for one in order if one.place == "stdin"]
    return " ".join((command.line(use), *arguments, *options, "[--json]", *stdin))


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


def interface_guide(
    interfaces: Interfaces,
    functions: Mapping[str, PublicFunction],
    distribution: str,
) -> str:
    """All interfaces, as far as their functions are known.

    Args:
        interfaces: As they are approved.
        functions: By name.
        distribution: As the product is installed.
    """
    parts: list[str] = []
    if interfaces.command:
        parts.append(command_guide(interfaces.command, functions))
    if interfaces.http:
        parts.append(_http_guide(interfaces.http, functions, distribution))
    if interfaces.mcp:
        parts.append(_mcp_guide(interfaces.mcp, functions, distribution))
    parts.append(f"## What goes in and comes out\n\n{VALUES}\n")
    return "\n".join(parts)


def _http_guide(api: HttpApi, functions: Mapping[str, PublicFunction], distribution: str) -> str:
    served = (
        f"`pip install '{distribution}[interfaces]'`, then `{api.name}` serves it at http://127.0.0.1:8000, "
        "for this machine alone unless `--host` says otherwise."
    )
    lines = _server(f"## The HTTP API `{api.name}`", api, served, functions)
    for route in api.routes:
        if route.calls in functions:
            lines += ["", *_route(route, functions[route.calls], api.options)]
    lines += [
        "",
        "A body is a JSON object with a member for each parameter; results are JSON. An error is an object with `error` and "
        "`message`: 404 an unknown path, 413 a body of more than 1 MiB, 422 wrong values, 500 a fault with its id. Write a "
        "Decimal as a text where every digit counts. `GET /openapi.json` describes it all.",
    ]
    return "\n".join((*lines, ""))


def _server(
    heading: str, server: HttpApi | McpServer, served: str, functions: Mapping[str, PublicFunction]
) -> list[str]:
    """What a server is, how it is started, and what no request says, but the person who starts it."""
    lines = [heading, "", *([inline(server.help), ""] if server.help else []), served]
    if server.options:
        lines += ["", "What no request can say, but the person who starts it:", ""]
    called = [functions[one.calls] for one in server.uses if one.calls in functions]
    for name, default in server.options.items():
        types = [one.type for function in called for one in function.parameters if one.name == name]
        typed = f"`{printable(name)}: {printable(types[0])}`" if types else f"`{printable(name)}`"
        clock = {"now": "the clock at each request", "today": "the day of each request"}.get(default)
        lines.append(f"- `--{option_name(name)}`: {typed}, default {clock or f'`{printable(default)}`'}")
    return lines


def _route(route: Route, function: PublicFunction, options: Mapping[str, str]) -> Iterator[str]:
    yield f"### `{method_of(route, function)} {route.template}`"
    told = route.help or function.purpose
    yield from ("", inline(f"{told} (`{route.calls}`)" if told else f"Calls `{route.calls}`."))
    parameters = [one for one in parameters_of_route(route, function, options) if one.is_in_requests]
    yield from [""] if parameters else []
    for one in parameters:
        default = one.default or one.parameter.default
        given = f", default `{printable(default)}`" if default not in (None, "None") else ""
        typed = f"`{printable(one.parameter.name)}: {printable(one.parameter.type)}`"
        about = "; ".join(one.parameter.about)
        left_out = "" if one.needed else ", may be left out"
        yield f"- {one.place} {typed}{left_out}{given}{'; ' if about else ''}{inline(about)}"
    names = function.errors or [name for name in route.errors if name != OTHER_ERRORS]
    codes = [f"- status {status_of(route, name)} on {name}" for name in names]
    yield from ("", *codes) if codes else ()


def _mcp_guide(server: McpServer, functions: Mapping[str, PublicFunction], distribution: str) -> str:
    served = f"`pip install '{distribution}[interfaces]'`; a client starts `{server.name}` over standard input and output."
    lines = [*_server(f"## The MCP server `{server.name}`", server, served, functions), ""]
    for tool in server.tools:
        if tool.calls in functions:
            function = functions[tool.calls]
            parameters = parameters_of_tool(tool.defaults, function, server.options)
            names = [one.parameter for one in parameters if one.is_in_requests]
            typed = ", ".join(f"{printable(one.name)}: {printable(one.type)}" for one in names)
            told = tool.help or function.purpose
            lines.append(inline(f"- `{tool.called}({typed})`{f': {told}' if told else ''} (`{tool.calls}`)"))
    return "\n".join((*lines, ""))


def command_guide(
    command: ConsoleCommand,
    functions: Mapping[str, PublicFunction],
) -> str:
    """The command with its subcommands, as far as their functions are known.

    Args:
        command: As it is approved.
        functions: By name.
    """
    lines = [f"## The command `{command.name}`"]
    if command.help:
        lines += ["", inline(command.help)]
    for one in command.uses:
        if one.calls in functions:
            lines += ["", *_use(command, one, functions[one.calls])]
    lines += [
        "",
        "Wrong usage or input ends with exit code 2, an interruption with 130; `--json` prints the result as JSON.",
    ]
    return "\n".join((*lines, ""))


def _use(command: ConsoleCommand, one: FunctionUse, function: PublicFunction) -> Iterator[str]:
    words = words_of(one, function)
    yield f"### `{synopsis(command, one, words)}`"
    told = one.help or function.purpose
    yield from ("", inline(f"{told} (`{one.calls}`)" if told else f"Calls `{one.calls}`."))
    if words:
        yield ""
    yield from (_word(word) for word in words)
    if codes := list(_codes(one, function)):
        yield from ("", *codes)


def _word(word: CommandWord) -> str:
    option = f"-{word.short}, --{word.name}" if word.short else f"--{word.name}"
    shown = {"argument": word.name.upper(), "option": option, "stdin": "stdin"}[word.place]
    parts = [f"`{printable(word.parameter.name)}: {printable(word.parameter.type)}`"]
    if word.content != "value":
        parts.append(_CONTENTS[word.content] if word.place != "stdin" else f"as {word.content}")
    default = word.default or word.parameter.default
    if default not in (None, "None", "False"):
        parts.append(f"default `{printable(default)}`")
    return f"- `{shown}`: {', '.join(parts)}{'; ' if word.help else ''}{inline(word.help)}"


def _codes(one: FunctionUse, function: PublicFunction) -> Iterator[str]:
    yield from (f"- exit code {rule.code} if {exit_condition(rule)}" for rule in one.exits)
    errors = {name: one.error_code(name) for name in function.errors} or {
        name: code for name, code in one.errors.items() if name != OTHER_ERRORS
    }
    yield from (f"- exit code {code} on {name}, with its message on stderr" for name, code in errors.items())
    if function.returns is None:
        other = "any other error" if errors else "an error"
        yield f"- exit code {one.other_errors} on {other} that its contract declares"
