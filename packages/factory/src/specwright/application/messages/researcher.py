"""What a researcher reads of examples, of what cannot be built, and of interfaces (design: executable-spec, shell,
outside)."""

from specwright.application.messages.parts import FOR_SPEC, OF_LOCKS
from specwright.domain.acceptance.rules import EXAMPLE_IMPORTS
from specwright.domain.interfaces.guide import VALUES

OUTSIDE = """# What cannot be built as it says

A sentence of SPEC.md that is not built, or not shown by examples and tests, as it says has an entry in `outside[]`, and \
no other sentence has: `quote`, the sentence to the letter, `why`, and `instead`, what you have built of it, or in its \
place; left out where nothing is. It is so with several things at a time, by one program or by two, a program that keeps \
running or works by itself, a graphical interface, a database server, and all that the limits above rule out. The person \
reads it first, and no criterion asks for it."""

EXAMPLES = f"""# How an example reads

A person reads and approves each `code` beside its `gives`: plain values and calls, a name for what is long, no \
comprehension, and the value itself, no comparison that only gives `True`. Of the standard library it imports no more than \
{", ".join(sorted(EXAMPLE_IMPORTS))}."""

INTERFACES = """# The command

Where SPEC.md asks for a command line it is no task: \
code makes it from `interfaces` {"command": {"name", "subcommands": [{"name", "calls"}]}} \
and the contracts; without subcommands {"command": {"name", "calls"}}. Each `calls` one function of `provides`, \
whose parameters must have types there. A parameter without a default is an argument, one with a default an option, \
a bool a flag; a word is a str, int, float, bool, Decimal, date, datetime, time, timedelta, UUID, Path, Literal or \
Enum, or a list of these. Only what differs is stated, in `parameters[]`: `parameter`, `place` (argument, option, \
stdin), `name`, `short` ("n" for `-n`), `content` (what the named file or stdin holds: `text` for a str, `lines` for \
a list[str], `json` for any type, `toml` for settings, a dataclass, whose `default` file may be missing \
if the parameter has a default), `default` (also `today`, `now`). A record is \
printed as lines `field: value`, a list of records as a table with its columns' names, everything as JSON with \
`--json`; a str as it is; `shows[]` names the fields to print, several single ones as `field: value`. \
Exit codes: 0; 2 for wrong usage; of a result as `exits[]` says: {"code": 1, "when": "filled" \
or "empty", "of": a field of it}; of an error as `errors` {"NotFound": 4, "*": 3} says, else the first of 1, 3, 4 \
that no result has."""

HTTP = """# The HTTP API

Where SPEC.md asks for an HTTP API it is no task and not `outside`: \
code makes it from `interfaces` {"http": {"name", "routes": [{"calls"}]}}, \
where `name` is that of the program, another than the command's. \
Each route `calls` one function of `provides`, whose parameters must have types \
there, none a Path. Only what differs from the rule is stated: `method` (GET if each parameter is a word or a list \
of words, which stand in the query; else POST, whose body is a JSON object; a function with effects needs it \
stated), `path` (else `/` and the function; `/items/{item}` takes a parameter), `defaults` {"day": "today"}, \
`errors` {"NotFound": 404, "*": 409} (else LookupError 404, PermissionError 403, FileExistsError 409, TimeoutError \
504, any other 422). What the person who starts it says and no request, such as the database's file and the clock, stands \
beside `routes` in `options` {"db": "notes.db", "now": "now"}, each with its default: the program has `--db`. Code answers \
wrong requests. Users, logins, HTML and uploads cannot be built."""

MCP = """# The MCP server

Where SPEC.md asks for an MCP server it is no task and not `outside`: \
code makes it from `interfaces` {"mcp": {"name", "tools": [{"calls"}]}}, \
where `name` is that of the program, another than any other's. \
Each tool `calls` one function of `provides`, whose parameters must have types \
there; `name`, `help` and `defaults` {"day": "today"} are stated only where they differ. What the person who starts \
it says and no call, such as a database's file, stands beside `tools` in `options` {"db": "notes.db"}, with its default."""

PASSED = f"""# What goes in and comes out

{VALUES}

Examples call functions. A criterion about what a command prints, an exit code or a status stands in `unexecutable[]`."""

RESEARCHER_NOTES = "\n\n".join([OUTSIDE, EXAMPLES, FOR_SPEC, OF_LOCKS, INTERFACES, HTTP, MCP, PASSED])
"""What the researcher needs to know beyond its prompt."""
