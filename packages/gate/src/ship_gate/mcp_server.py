"""The gate as five MCP tools, for a coding agent with an editor of its own (design: command-line).

The tools read and judge module directories and packages below one root. None writes a file, so nothing that lies in a
directory can make it writable. Left out: files, which the agent reads and edits itself.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from ship_gate import __version__
from ship_gate.base.record import Record, validation_messages
from ship_gate.batch import BatchLimits, JudgedModule, judge_all, modules_in
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.docstring import imported_classes, render_stub
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import problems
from ship_gate.errors import InputError, ShipGateError
from ship_gate.findings import known_code
from ship_gate.module_directory import read_module
from ship_gate.package.reports import document
from ship_gate.package.verdict import judge_package

INSTRUCTIONS = """\
The gate judges module directories. Each holds one Python function: contract.json, implementation/__init__.py, tests/ and
examples.md. To make one, read `contract_schema`, write contract.json, call `skeleton` for the other files, and fill them
in. Call `gate` after each change and act on every finding; `explain` says more about a code. A module is done when its
result is PASS. Never weaken contract.json to make a finding disappear; if the contract is wrong, say so instead. Call
`package` for any other Python project: it judges public functions where they are.\
"""

_RULES = (
    "A constraint or an invariant is one sentence that a test can show.",
    "A parameter with a default states it as its last constraint: `defaults to <literal>`.",
    "Several outputs are returned as a tuple in their order.",
    "The exceptions that the function defines are error surfaces; each says when it is raised.",
    "What the function reads or writes besides its arguments and result is an effect.",
    "interface_fingerprint is computed; leave it out.",
)
_READS_ONLY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_MOST_FINDINGS = 60
_MOST_CHARACTERS = 3000

Directory = Annotated[str, Field(description="A module directory, relative to the server's root.")]
Directories = Annotated[
    list[str],
    Field(
        min_length=1,
        description="Module directories, or folders that hold some, relative to the server's root.",
    ),
]
PackageDirectory = Annotated[
    str, Field(description="A project, a package or a module, relative to the server's root.")
]
Function = Annotated[
    str, Field(description="The one function to judge, as name or module.name; empty for all.")
]
Seconds = Annotated[
    float,
    Field(ge=1, description="For all of it; what is not done by then is not shown.", allow_inf_nan=False),
]
Code = Annotated[str, Field(description="The code of a finding, such as tests.vacuous.")]


class FoundProblem(Record):
    """A finding: what is wrong, where, and what to do."""

    code: str
    where: str
    message: str
    do: str


class JudgedDirectory(Record):
    """The result for one module."""

    directory: str
    result: Literal["PASS", "FAIL"]
    findings: list[FoundProblem]


class GateResult(Record):
    """The result of `gate`; PASS if every module passes."""

    verdict: Literal["PASS", "FAIL"]
    modules: list[JudgedDirectory]


class Explanation(Record):
    """The result of `explain`."""

    code: str
    means: str
    why: str
    steps: list[str]


class ContractSchema(Record):
    """The result of `contract_schema`."""

    schema_of_contract: dict[str, Any]
    rules: list[str]


class Skeleton(Record):
    """The result of `skeleton`: what is wrong with the contract, or the files to fill in."""

    problems: list[str]
    files: dict[str, str]
    obligations: Annotated[
        dict[str, str], Field(description="What the tests must show, by the pointer that claims it.")
    ]


def serve(root: Path) -> None:
    """Serve one client over standard input and output until it closes them.

    Args:
        root: The directory that holds every module the client may name.

    Raises:
        InputError: it is no directory.
    """
    if not root.is_dir():
        raise InputError(
            "there is no such directory", where=str(root), remedy="name the directory to work in"
        )
    server_of(root).run("stdio")


def server_of(root: Path) -> MCPServer:
    """The server with its tools.

    Args:
        root: The directory that holds every module a client may name.
    """
    server = _Server(
        "shipgate",
        title="Ship gate",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    tools = GateTools(root.resolve())
    for tool in (tools.gate, tools.package, tools.explain, tools.contract_schema, tools.skeleton):
        server.add_tool(tool, annotations=_READS_ONLY)
    return server


class _Server(MCPServer):
    """Says of arguments that are refused what is wrong, and what the tool takes."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool, as `MCPServer` does."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            takes = [
                ", ".join(tool.input_schema["properties"])
                for tool in await self.list_tools()
                if tool.name == name
            ]
            refused = InputError(
                f"the arguments are refused: {'; '.join(validation_messages(error.__cause__))}",
                where=f"tool {name}",
                remedy=f"call it with {''.join(takes)}, of the types in its input schema",
            )
        raise ToolError(str(refused))


class GateTools:
    """The functions behind the tools; their docstrings are what an agent reads.

    Args:
        root: The directory that holds every module a client may name.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def gate(self, directories: Directories) -> GateResult:
        """Judge module directories as a release would: contract, source, tests, examples, strength of the tests, drawn
        inputs, effects. The code runs in a sandbox and no file changes. Takes 2 to 10 seconds for each module.
        """
        with _errors_for_the_agent():
            found = modules_in([self._place(directory) for directory in directories])
            judged = judge_all(found, BatchLimits(), _ignore)
        return GateResult(verdict=_result(judged), modules=[self._judged(module) for module in judged])

    def package(
        self, directory: PackageDirectory, function: Function = "", seconds: Seconds = 120
    ) -> dict[str, Any]:
        """Judge the public functions of a project, a package or a module where they are, without a contract: WRONG
        contradicts an example, a test or a stated type; SHOWN is one whose tests and examples notice most faults put into
        it; of each unnoticed fault the place and the change are given. The code runs in a sandbox and no file changes.
        """
        with _errors_for_the_agent():
            report = judge_package(self._place(directory), function=function, seconds=seconds)
        return document(report)

    def explain(self, code: Code) -> Explanation:
        """Explain a finding: what was observed, why it refuses the module, and what to do, step by step."""
        with _errors_for_the_agent():
            found = known_code(code)
        return Explanation(code=found, means=found.means, why=found.why, steps=found.steps)

    def contract_schema(self) -> ContractSchema:
        """Show the JSON schema of contract.json and the rules that a schema cannot say."""
        return ContractSchema(schema_of_contract=MicroModuleContract.model_json_schema(), rules=list(_RULES))

    def skeleton(self, directory: Directory) -> Skeleton:
        """Give the files that belong to a contract.json: the entry file with the docstring that the gate compares, the
        claims of the tests, and the examples. Nothing is written.
        """
        with _errors_for_the_agent():
            read = read_module(self._place(directory))
        if read.candidate is None:
            return Skeleton(problems=[one.message for one in read.findings], files={}, obligations={})
        contract = read.candidate.contract
        if found := problems(contract):
            return Skeleton(problems=found, files={}, obligations={})
        due = {one.pointer: f"{one.kind}: {one.sentence}" for one in obligations(contract)}
        called = [sealed.contract for sealed in read.candidate.dependencies]
        return Skeleton(problems=[], files=_files(contract, called, list(due)), obligations=due)

    def _place(self, text: str) -> Path:
        place = (self._root / text).resolve()
        if not place.is_relative_to(self._root):
            raise InputError(
                "the path is not below the directory that this server works in",
                where=text[:200],
                remedy=f"name a path below {self._root}",
            )
        return place

    def _judged(self, module: JudgedModule) -> JudgedDirectory:
        return JudgedDirectory(
            directory=str(module.directory.relative_to(self._root)),
            result=_result([module]),
            findings=[
                FoundProblem(
                    code=str(one.code),
                    where=one.where,
                    message=one.message[:_MOST_CHARACTERS],
                    do=one.remedy,
                )
                for one in module.findings[:_MOST_FINDINGS]
            ],
        )


def _files(
    contract: MicroModuleContract, called: Sequence[MicroModuleContract], pointers: Sequence[str]
) -> dict[str, str]:
    name = contract.name
    claims = ", ".join(f'"{pointer}"' for pointer in pointers)
    return {
        "implementation/__init__.py": render_stub(contract, imported_classes(contract, called)),
        f"tests/test_{name}.py": f"from modules.{name} import {name}\n\n\ndef test_{name}():\n    ...\n",
        "tests/obligations.json": f'{{"test_{name}": [{claims}]}}\n',
        "examples.md": (
            f"# {name}\n\n## What the example shows\n\n```python\nfrom modules.{name} import {name}\n\n{name}(...)\n```\n\n"
            "```text\nthe repr of the result, or `ErrorName: message`\n```\n"
        ),
    }


def _result(judged: Sequence[JudgedModule]) -> Literal["PASS", "FAIL"]:
    return "PASS" if all(module.passed for module in judged) else "FAIL"


def _ignore(module: JudgedModule) -> None:
    """No progress is reported."""


@contextmanager
def _errors_for_the_agent() -> Generator[None]:
    """Show the message of an error to the agent instead of hiding it as a crash."""
    try:
        yield
    except ShipGateError as error:
        raise ToolError(str(error)) from error
