"""The interfaces in a product's spec, and the public functions behind them (design: release).

An interface refers to public functions by name. Unless it says otherwise, a parameter without a default is an argument,
one with a default an option, a bool a flag. The records check themselves; `rules` checks them against the functions.
`VALUES` describes the values from the clock and the JSON form of results.
"""

import ast
import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from ship_gate.base.boundary_values import SCALARS
from ship_gate.base.record import OmittedIfEmpty, Text
from ship_gate.contract.class_statement import ClassStatement
from ship_gate.contract.contract import MicroModuleContract, SurfaceKind
from ship_gate.contract.docstring import entry_points
from ship_gate.contract.rules import adds_to_code, default_of, is_any_number, own_statements
from ship_gate.contract.types import class_names, is_class_name, named, normal_type, union_parts
from ship_gate.syntax_tree import parse_expression
from specwright.domain.acceptance.records import name_of, signature_of

USAGE_ERROR = 2
"""The exit code for wrong usage of a command; it may have no other meaning."""

MOST_EXIT_CODE = 125
OTHER_ERRORS = "*"
"""The key for all errors that are not named."""

Content = Literal["value", "text", "lines", "json", "toml"]
"""The source of a value: the word itself, or the content of the file that it names."""

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
    """A command or subcommand that calls one function."""

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
        """The exit code of errors without a code of their own; no result has it unless the spec says so."""
        results = {rule.code for rule in self.exits}
        free = (code for code in range(1, MOST_EXIT_CODE) if code != USAGE_ERROR and code not in results)
        return self.errors.get(OTHER_ERRORS) or next(free)

    def error_code(self, name: str) -> int:
        """Return the exit code of a declared error."""
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
        """The subcommands, or the command itself if it has none."""
        return [*self.subcommands] or [self]

    def line(self, use: FunctionUse) -> str:
        """Return the words that call a function: `linkwatch scan`, or `rota`."""
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
        """The path, by default that of the function."""
        return self.path or f"/{self.calls}"


class Server(OmittedIfEmpty):
    """A program that calls functions on request."""

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
        """The tool's name, by default that of the function."""
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


class FunctionParameter(NamedTuple):
    """A parameter of a function.

    Args:
        name: Its name.
        type: Its type in normal form; empty if none is stated.
        default: The source of its default; None if it is required.
        about: Its constraints in the contract.
        is_any_number: Whether it takes any number of arguments, `*args`.
    """

    name: str
    type: str
    default: str | None
    about: tuple[str, ...] = ()
    is_any_number: bool = False


class StatedClass(NamedTuple):
    """A class and the module that exports it."""

    module: str
    statement: ClassStatement


class PublicFunction(NamedTuple):
    """A function that an interface calls.

    Args:
        name: Its name.
        parameters: Its parameters, in order.
        returns: The types of its outputs, by name; None before there is a contract.
        purpose: The purpose in its contract.
        errors: The names of its exceptions, each with its condition.
        classes: The classes in its types, directly or indirectly; None before there is a contract.
        is_async: Whether it must be awaited.
        effects: The types of its effects.
    """

    name: str
    parameters: tuple[FunctionParameter, ...]
    returns: Mapping[str, str] | None = None
    purpose: str = ""
    errors: Mapping[str, str] = {}
    classes: Mapping[str, StatedClass] | None = None
    is_async: bool = False
    effects: tuple[str, ...] = ()


def function_of_signature(public: str) -> PublicFunction | None:
    """Build a function from a public name of a task; None for a class."""
    if (signature := signature_of(public)) is None:
        return None
    return PublicFunction(
        name_of(public),
        tuple(
            FunctionParameter(
                one.name,
                normal_type(one.annotation) if one.annotation else "",
                None if one.default is inspect.Parameter.empty else one.default,
                is_any_number=one.kind is inspect.Parameter.VAR_POSITIONAL,
            )
            for one in signature.parameters.values()
        ),
    )


def function_of_contract(
    contract: MicroModuleContract, others: Sequence[MicroModuleContract] = ()
) -> PublicFunction:
    """Build a function from its contract.

    Args:
        contract: The contract of its module.
        others: The contracts of modules whose classes its types may name.
    """
    exceptions: dict[str, str] = {}
    for error in contract.error_surfaces:
        if error.surface is SurfaceKind.EXCEPTION:
            exceptions.setdefault(error.name, error.when)
    return PublicFunction(
        contract.name,
        tuple(
            FunctionParameter(
                one.name,
                one.type,
                default_of(one),
                tuple(filter(adds_to_code, one.constraints)),
                is_any_number(one),
            )
            for one in contract.inputs
        ),
        {one.name: one.type for one in contract.outputs},
        contract.purpose,
        exceptions,
        _classes(contract, others),
        is_async=entry_points(contract)[0].is_async,
        effects=tuple(one.type.value for one in contract.effects),
    )


def _classes(contract: MicroModuleContract, others: Sequence[MicroModuleContract]) -> dict[str, StatedClass]:
    known = {
        name: StatedClass(one.name, statement)
        for one in (*reversed(others), contract)
        for name, statement in own_statements(one).items()
    }
    found: dict[str, StatedClass] = {}
    queue = [name for slot in (*contract.inputs, *contract.outputs) for name in class_names(slot.type)]
    while queue:
        name = queue.pop()
        if name in known and name not in found:
            found[name] = known[name]
            queue += known[name].statement.names()
    return found


RESERVED = ("help", "json", "version")
"""Options that every command has."""

_WORDS = {row.name for row in SCALARS if row.is_word}
_ARRAYS = {"list", "tuple", "set", "frozenset", "Sequence", "Collection", "Iterable", "Iterator"}
_IN_DOCUMENTS = {*_WORDS, *_ARRAYS, "bytes", "dict", "Mapping", "Literal", "None"}
CLOCK_TYPES = {"today": "date", "now": "datetime"}
"""The defaults that come from the clock, each with the type of its parameter."""


class CommandWord(NamedTuple):
    """A parameter on the command line.

    Args:
        parameter: The function's parameter.
        place: The kind of word: argument, option or stdin.
        name: The name of the option without `--`, or that of the argument in the help.
        content: The source of the value.
        default: The default as the user would write it; empty if nothing is passed by default.
        help: The help text.
        needed: Whether it is required.
        many: Whether the value consists of several words.
        flag: Whether it is a flag: `--quiet`, `--no-quiet`.
        short: The letter of an option, without `-`; empty if it has none.
    """

    parameter: FunctionParameter
    place: Literal["argument", "option", "stdin"]
    name: str
    content: Content
    default: str
    help: str
    needed: bool
    many: bool
    flag: bool
    short: str = ""

    @property
    def option(self) -> str:
        """The option as written, by its letter if it has one."""
        return f"-{self.short}" if self.short else f"--{self.name}"

    @property
    def synopsis(self) -> str:
        """The word in the usage line: `DIR`, `[--limit INT]`."""
        if self.place == "stdin":
            return "< INPUT"
        if self.place == "argument":
            shown = self.name.upper() + (" ..." if self.many else "")
        elif self.flag:
            shown = self.option
        else:
            shown = f"{self.option} {self.metavar}"
        shown = shown if self.needed else f"[{shown}]"
        return f"{shown}..." if self.many and self.place == "option" else shown

    @property
    def metavar(self) -> str:
        """The placeholder for an option's value."""
        return "FILE" if self.content != "value" else _metavar(self.parameter.type)


def _metavar(text: str) -> str:
    names = [one.id for one in ast.walk(_parse(text)) if isinstance(one, ast.Name)] if text else []
    names = [one for one in names if one not in _ARRAYS]
    return "TEXT" if not names or names[0] == "str" else names[0].upper()


def _parse(text: str) -> ast.expr:
    return parse_expression(text).body


def words_of(use: FunctionUse, function: PublicFunction) -> list[CommandWord]:
    """Return the parameters of a function on the command line, in the function's order."""
    stated = {one.parameter: one for one in use.parameters}
    return [
        _word(one, stated.get(one.name, ParameterMapping(parameter=one.name))) for one in function.parameters
    ]


def _word(parameter: FunctionParameter, stated: ParameterMapping) -> CommandWord:
    has_default = parameter.default is not None or bool(stated.default)
    is_flag = stated.content == "value" and parameter.type == "bool"
    place = stated.place or ("option" if has_default or is_flag else "argument")
    name = stated.name or parameter.name.replace("_", "-")
    one_letter = name.lower() if place == "option" and len(name) == 1 and name.lower() != "h" else ""
    return CommandWord(
        parameter,
        place,
        name if place == "argument" else name.lower(),
        stated.content,
        stated.default,
        stated.help or "; ".join(parameter.about),
        needed=not has_default and not (place == "option" and is_flag),
        many=stated.content == "value" and is_array(parameter.type),
        flag=is_flag and place == "option",
        short=stated.short or one_letter,
    )


def is_array(text: str) -> bool:
    """Whether a value of this type consists of several words."""
    return bool(text) and any(_base(one) in _ARRAYS for one in union_parts(_parse(text)))


def _base(node: ast.expr) -> str:
    return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)


def word_problem(word: CommandWord, classes: Mapping[str, StatedClass] | None) -> str:
    """Return why a word cannot give a value of its parameter's type, and what to do; empty if it can.

    Args:
        word: The word.
        classes: The known classes; None if only their names are known.
    """
    kind = word.parameter.type
    if not kind:
        return "it has no type; state it in `provides`"
    parts = _parts(kind)
    names = [*map(ast.unparse, parts)]
    match word.content:
        case "text":
            fits, wanted = names in (["str"], ["bytes"]), "str or bytes"
        case "lines":
            fits, wanted = names == ["list[str]"], "list[str]"
        case "toml":
            fits, wanted = len(parts) == 1 and _is_object(parts[0], classes), "a record or a dict"
        case "json":
            fits, wanted = True, ""
        case "value":
            if kind != "bool" and names == ["bool"]:
                return f"a flag is there or not, so {kind} cannot be told; give it `bool` with a default"
            return value_problem(kind, word.default, classes)
    if not fits:
        return f"{kind} is not what `content` {word.content} gives; it takes {wanted}"
    if name := foreign_to_documents(kind, classes or {}):
        return f"{name} has no form in a document; take a type that JSON has, or a text of it"
    return ""


def foreign_to_documents(
    kind: str, classes: Mapping[str, StatedClass], within: frozenset[str] = frozenset(), *, paths: bool = True
) -> str:
    """Return the first part of a type, fields included, that a JSON document cannot represent; empty if there is none.

    Args:
        kind: The type.
        classes: The known classes.
        within: The classes whose fields are being checked.
        paths: Whether a document may contain file paths.
    """
    for name in named(kind):
        if name == "Path" and not paths:
            return name
        if name not in _IN_DOCUMENTS and not is_class_name(name):
            return name
        if name in classes and name not in within and not classes[name].statement.is_enum:
            for field in classes[name].statement.fields:
                if found := foreign_to_documents(field.type, classes, within | {name}, paths=paths):
                    return found
    return ""


def _is_object(node: ast.expr, classes: Mapping[str, StatedClass] | None) -> bool:
    name = _base(node)
    if name in ("dict", "Mapping"):
        return True
    if not is_class_name(name):
        return False
    return classes is None or (name in classes and not classes[name].statement.is_enum)


def value_problem(kind: str, default: str, classes: Mapping[str, StatedClass] | None) -> str:
    """Return why words cannot give a value of a type, and what to do; empty if they can.

    Args:
        kind: The type.
        default: The default that the interface states.
        classes: The known classes; None if only their names are known.
    """
    parts = _parts(kind)
    if len(parts) != 1:
        return f"a word cannot say which of {kind} it is; give it one type, or `content` json"
    if default in CLOCK_TYPES and CLOCK_TYPES[default] == kind:
        return ""
    node = parts[0]
    if _base(node) in _ARRAYS and isinstance(node, ast.Subscript):
        elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if _base(node) == "tuple" and not (len(elements) == 2 and ast.unparse(elements[1]) == "..."):
            return f"{kind} has a fixed number of words; give it one parameter for each, or `content` json"
        node = elements[0]
    name = _base(node)
    is_enum = is_class_name(name) and (
        classes is None or (name in classes and classes[name].statement.is_enum)
    )
    if name in _WORDS or name == "Literal" or is_enum:
        return ""
    if name == "bytes":
        return f"{kind} is no word; use `content` text, which reads a file"
    if is_class_name(name) or name in ("dict", "Mapping"):
        return f"{kind} has fields, which one word cannot carry; use `content` toml for settings, or json"
    return f"{kind} cannot be written as words; use `content` json"


def _parts(kind: str) -> list[ast.expr]:
    """Return the members of a union type, without None."""
    return [one for one in union_parts(_parse(kind)) if ast.unparse(one) != "None"]


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
"""The JSON forms of values that have none of their own."""

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
    """Describe the programs of a product, in one line."""
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
