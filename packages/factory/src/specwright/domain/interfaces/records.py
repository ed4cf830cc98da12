"""The interfaces of a product, as its spec names them (design: release).

An interface maps public functions by name. What is not stated follows from the function: a parameter without a default is
an argument, one with a default an option, a bool a flag. What a record knows of itself is checked here; what needs the
functions: `rules`.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ship_gate.base.record import OmittedIfEmpty, Text

USAGE_ERROR = 2
"""The exit code of a command that was called wrongly; no other meaning is allowed for it."""

MOST_EXIT_CODE = 125
OTHER_ERRORS = "*"
"""Stands for every error that is not named."""

Content = Literal["value", "text", "lines", "json", "toml"]
"""What of the command line is the value: the word itself, or what the file holds that it names."""

FunctionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$", description="A public function.")]
CommandName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=40)]
ExitCode = Annotated[int, Field(ge=1, le=MOST_EXIT_CODE)]


Defaults = Annotated[
    dict[str, str],
    Field(description="Values of parameters that are not given, as words; `today` or `now` from the clock."),
]


ServerOptions = Annotated[
    dict[str, str],
    Field(
        description="Parameters that no request has: options of the program, each with its default as a word; `today` or "
        "`now` from the clock at each request."
    ),
]


class ParameterMapping(OmittedIfEmpty):
    """Where a parameter of a function comes from."""

    omitted = ("name", "short", "default", "help")

    parameter: str
    place: Annotated[
        Literal["", "argument", "option", "stdin"], Field(description="Empty: as the default says.")
    ] = ""
    name: Annotated[
        str,
        Field(
            pattern=r"^([A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*)?$",
            description="`DIR`, or `limit` for `--limit`.",
        ),
    ] = ""
    short: Annotated[str, Field(pattern=r"^[A-Za-gi-z]?$", description="`n` for `-n` of an option.")] = ""
    content: Content = "value"
    default: Annotated[
        str, Field(description="As the user would write it; `today` or `now` for a date or a datetime.")
    ] = ""
    help: str = ""

    @model_validator(mode="after")
    def _stdin_holds_a_document(self) -> "ParameterMapping":
        if self.place == "stdin" and self.content in ("value", "toml"):
            raise ValueError("stdin has no words; `content` is text, lines or json")
        return self


class ExitRule(OmittedIfEmpty):
    """An exit code that says something of the result."""

    omitted = ("of",)

    code: ExitCode
    when: Annotated[
        Literal["filled", "empty"], Field(description="Empty: no element, no text, 0, False or None.")
    ]
    of: Annotated[str, Field(description="An output, or a field of the result; empty: the result.")] = ""


class FunctionUse(OmittedIfEmpty):
    """What of a command calls one function: a subcommand, or the whole command."""

    omitted: ClassVar[tuple[str, ...]] = ("help", "parameters", "shows", "exits", "errors")

    calls: FunctionName
    help: Annotated[str, Field(description="Empty: the purpose of the function.")] = ""
    parameters: Annotated[
        list[ParameterMapping], Field(description="Only of those that are not as their defaults say.")
    ] = Field(default_factory=list)
    shows: Annotated[
        list[str], Field(description="Outputs or fields of the result that are printed; all if empty.")
    ] = Field(default_factory=list)
    exits: list[ExitRule] = Field(default_factory=list)
    errors: Annotated[
        dict[str, ExitCode],
        Field(
            description="Exit codes of errors, `*` of the others; else the first of 1, 3, 4 that no result has."
        ),
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _codes(self) -> Self:
        codes = [*(rule.code for rule in self.exits), *self.errors.values()]
        if USAGE_ERROR in codes:
            raise ValueError(f"{USAGE_ERROR} is the exit code of wrong usage; choose another")
        return self

    @property
    def other_errors(self) -> int:
        """The exit code of an error of which nothing is said; no result has it unless the spec says so."""
        results = {rule.code for rule in self.exits}
        free = (code for code in range(1, MOST_EXIT_CODE) if code != USAGE_ERROR and code not in results)
        return self.errors.get(OTHER_ERRORS) or next(free)

    def error_code(self, name: str) -> int:
        """The exit code of a declared error."""
        return self.errors.get(name, self.other_errors)


class Subcommand(FunctionUse):
    """A subcommand, which calls one function."""

    name: CommandName


class ConsoleCommand(FunctionUse):
    """A command with subcommands, or one that calls a function itself."""

    omitted = ("calls", *FunctionUse.omitted, "subcommands")

    name: CommandName
    calls: Annotated[
        str, Field(pattern=r"^([a-z][a-z0-9_]{0,63})?$", description="Its function, without subcommands.")
    ] = ""
    help: Annotated[str, Field(description="Empty: the description of the product.")] = ""
    subcommands: list[Subcommand] = Field(default_factory=list)

    @model_validator(mode="after")
    def _calls_something(self) -> Self:
        if bool(self.calls) == bool(self.subcommands):
            raise ValueError("a command either `calls` one function, or has `subcommands`")
        if self.subcommands and (self.parameters or self.shows or self.exits or self.errors):
            raise ValueError("parameters, shows, exits and errors belong into the subcommands")
        return self

    @property
    def uses(self) -> list[FunctionUse]:
        """Its subcommands, or itself where it has none."""
        return [*self.subcommands] or [self]

    def line(self, use: FunctionUse) -> str:
        """The words that call a function: `linkwatch scan`, or `rota`."""
        return f"{self.name} {use.name}" if isinstance(use, Subcommand) else self.name


class Route(OmittedIfEmpty):
    """A route of an HTTP API, which calls one function."""

    omitted = ("method", "path", "help", "defaults", "errors")

    calls: FunctionName
    method: Annotated[
        Literal["", "GET", "POST", "PUT", "PATCH", "DELETE"],
        Field(description="Empty: GET if each parameter is a word or several, else POST."),
    ] = ""
    path: Annotated[
        str,
        Field(
            pattern=r"^((/([A-Za-z0-9._~-]+|\{[a-z][a-z0-9_]*\}))+)?$",
            max_length=200,
            description="`/lists/{name}`, with parameters in braces; empty: `/` and the function.",
        ),
    ] = ""
    help: Annotated[str, Field(description="Empty: the purpose of the function.")] = ""
    defaults: Defaults = Field(default_factory=dict)
    errors: Annotated[
        dict[str, Annotated[int, Field(ge=400, le=599)]],
        Field(description="Status codes of errors that are not as the table says, `*` of the others."),
    ] = Field(default_factory=dict)

    @property
    def template(self) -> str:
        """Its path."""
        return self.path or f"/{self.calls}"


class Server(OmittedIfEmpty):
    """A program that calls functions as it is asked to."""

    omitted = ("help", "options")

    name: Annotated[CommandName, Field(description="Of the program that serves it.")]
    help: Annotated[str, Field(description="Empty: the description of the product.")] = ""
    options: ServerOptions = Field(default_factory=dict)


class HttpApi(Server):
    """An HTTP API with JSON in and out."""

    routes: Annotated[list[Route], Field(min_length=1)]

    @property
    def uses(self) -> list[Route]:
        """What calls a function."""
        return self.routes


class Tool(OmittedIfEmpty):
    """A tool of an MCP server, which calls one function."""

    omitted = ("name", "help", "defaults")

    calls: FunctionName
    name: Annotated[
        str, Field(pattern=r"^([A-Za-z0-9_-]{1,64})?$", description="Empty: that of the function.")
    ] = ""
    help: Annotated[str, Field(description="Empty: the purpose of the function.")] = ""
    defaults: Defaults = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """Its name."""
        return self.name or self.calls


class McpServer(Server):
    """An MCP server over standard input and output."""

    tools: Annotated[list[Tool], Field(min_length=1)]

    @property
    def uses(self) -> list[Tool]:
        """What calls a function."""
        return self.tools


class Interfaces(OmittedIfEmpty):
    """How a product is used from outside Python."""

    omitted = ("command", "http", "mcp")

    command: ConsoleCommand | None = None
    http: HttpApi | None = None
    mcp: McpServer | None = None

    @model_validator(mode="after")
    def _programs_differ(self) -> Self:
        names = [one.name for one in (self.command, self.http, self.mcp) if one]
        if not names:
            raise ValueError("name a `command`, `http` or `mcp`, or leave `interfaces` out")
        if len(set(names)) < len(names):
            raise ValueError(f"two programs are called {', '.join(names)}; give each its own `name`")
        return self


class OutsideScope(OmittedIfEmpty):
    """Something that SPEC.md asks for and that is not built, or not shown, as it says."""

    omitted = ("instead",)

    quote: Annotated[Text, Field(description="The sentence of SPEC.md that it comes from, exactly.")]
    why: Annotated[Text, Field(description="Why it is not built, or not shown, as it says.")]
    instead: Annotated[
        str, Field(description="What is built of it, or in its place; empty where nothing is.")
    ] = ""
