"""The tools as a client is told of them; `call` has the functions behind them (design: mcp-server)."""

from typing import NamedTuple

from specwright.domain.base.record import Record
from specwright.mcp_server import records as of
from specwright.mcp_server.file_tools import records as files


class Tool(NamedTuple):
    """A tool.

    Args:
        name: By which it is called.
        title: For people.
        description: For the agent that chooses among tools.
        arguments: What it takes.
        result: What it gives.
        writes: Whether it changes files.
        destroys: Whether it may replace what was there.
    """

    name: str
    title: str
    description: str
    arguments: type[Record]
    result: type[Record]
    writes: bool = False
    destroys: bool = False


INSTRUCTIONS = """\
Specwright's gate judges module directories: one Python function each, with contract.json, implementation/, tests/ and
examples.md; `adopt` makes them of functions that exist. `gate_package` judges an ordinary package where it lies,
function by function, by its docstrings, annotations and tests; nothing has to be adopted for that. Call the gate
after each change and act on every finding: each has a code, a place and what to do; `explain` tells more of a code. A
module is done when its result is PASS, not when its own tests pass: the gate also runs them with changed answers and
planted faults, and calls the function with inputs of its own. PARTIAL says nothing of some functions. Never make a
finding go away by weakening contract.json, unless the contract is wrong; say so then. Code is run in a sandbox; nothing
is sent anywhere.\
"""

TOOLS: tuple[Tool, ...] = (
    Tool(
        "gate",
        "Judge module directories",
        "Judge module directories as a release would: contract, source, tests, examples, strength of the tests, drawn "
        "inputs, effects. Gives PASS or FAIL of each, and of every finding its code, file, line, what was observed and what "
        "to do. Runs the code in a sandbox and changes no file. Takes about 2 to 10 seconds a module; what has not changed "
        "since it passed is not judged again.",
        of.GateArguments,
        of.GateResult,
    ),
    Tool(
        "gate_package",
        "Judge the functions of a package",
        "Judge the public functions of an ordinary source tree where it lies, each by what its docstring and annotations "
        "state, with the tests, doctests and README that the tree has. Of each that is not shown to be as it says it gives "
        "what is wrong or missing, with file and line. Mend the source or write tests there, then call it again: what has "
        "not changed is not judged again. Runs the code in a sandbox and changes no file. Takes about 5 to 15 seconds a "
        "function.",
        of.GatePackageArguments,
        of.GatePackageResult,
    ),
    Tool(
        "explain",
        "Explain a finding",
        "What a finding's code means, why it refuses the module, and what to do, step by step.",
        of.ExplainArguments,
        of.ExplainResult,
    ),
    Tool(
        "adopt",
        "Make modules of functions",
        "Make a module directory of each public function of a Python file or package, with a draft of its contract, tests "
        "and examples, tried in the sandbox. The source stays as it is, and nothing is overwritten. Gives what "
        "each draft lacks and what to write; call `gate` on the result. Takes about 5 seconds a function: name one "
        "function of a large file.",
        of.AdoptArguments,
        of.AdoptResult,
        writes=True,
    ),
    Tool(
        "search_index",
        "Search sealed modules",
        "Sealed modules of a Specwright project by what they do, the best match first, to be reused instead of written "
        "again.",
        of.SearchArguments,
        of.SearchResult,
    ),
    Tool(
        "read_module",
        "Read a module directory",
        "All text files of a module directory, for a client that cannot read files itself.",
        files.ReadModuleArguments,
        files.ReadModuleResult,
    ),
    Tool(
        "read_files",
        "Read files",
        "The text of files of the source tree, its tests and of module directories; of a folder the names of the files "
        "below it. For a client that cannot read files itself.",
        files.ReadFilesArguments,
        files.ReadFilesResult,
    ),
    Tool(
        "edit_files",
        "Edit files",
        "Change or make files, several in one call: by exact replacements, or whole. All are written, or none. Files of "
        "module directories always; the source and its tests if the server was started with `--write`. For a client that "
        "cannot write files itself.",
        files.EditFilesArguments,
        files.EditFilesResult,
        writes=True,
        destroys=True,
    ),
    Tool(
        "fix_docstring",
        "Write the contract's docstring",
        "Write the docstring that the contract gives into implementation/__init__.py, for the finding docstring.drift, and "
        "judge the module.",
        of.FixArguments,
        of.FixResult,
        writes=True,
        destroys=True,
    ),
)
"""All of them, in the order in which a client sees them."""


def tool_named(name: str, *, read_only: bool = False) -> Tool | None:
    """A tool by its name; None if there is none, or if it writes and must not."""
    return next((tool for tool in offered(read_only=read_only) if tool.name == name), None)


def offered(*, read_only: bool) -> tuple[Tool, ...]:
    """The tools that a server offers."""
    return tuple(tool for tool in TOOLS if not (read_only and tool.writes))
