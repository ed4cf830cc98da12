"""The command `shipgate`: judge module directories, explain a finding, serve coding agents (design: command-line).

Heavy imports happen inside the commands, so that `--help` answers at once.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.errors import InputError, ShipGateError
from ship_gate.terminal.output import check_report, counted, note, show, write_report
from ship_gate.terminal.program import AsJson, Program, note_error, show_error

if TYPE_CHECKING:
    from ship_gate.batch import BatchLimits, JudgedModule
    from ship_gate.module_directory import DirectoryVerdict

app = typer.Typer(
    name="shipgate",
    help="Judge modules: contract, source, tests, examples, strength of the tests, drawn inputs, effects.",
    epilog="Exit codes: 0 all pass, 1 one fails, 2 bad usage or input, 130 interrupted",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

ModuleDirectories = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="MODULE_DIR...",
        help="Directories with contract.json, implementation/, tests/, examples.md, or with such directories below them.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Modules at a time; as many as cores if left out.")
]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--seconds", min=0, help="After so many no further module is begun, and the verdict is FAIL."
    ),
]
Passed = Annotated[
    Path | None,
    typer.Option(
        "--passed",
        metavar="FILE",
        help="Leave out modules that are as they were when they passed; kept in FILE.",
    ),
]
Sarif = Annotated[
    Path | None, typer.Option("--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0.")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary as Markdown.")
]
Changed = Annotated[
    bool,
    typer.Option(
        "--changed", help="The arguments are files: judge the module directories that they are in, if any."
    ),
]
FindingCode = Annotated[
    str, typer.Argument(metavar="CODE", help="As it stands in front of a finding: tests.failed.")
]
Fix = Annotated[bool, typer.Option("--fix", help="Write the contract's docstring into the entry file.")]
Dependencies = Annotated[
    list[Path] | None,
    typer.Option(
        "--dependency", metavar="DIR", help="A module that it calls; else it is looked for beside MODULE_DIR."
    ),
]
PackageDirectory = Annotated[
    Path, typer.Argument(metavar="[DIR]", help="A project, a package or a module; where you are if left out.")
]
PackageSeconds = Annotated[float, typer.Option("--seconds", min=1, help="For all of it.")]
OneFunction = Annotated[
    str, typer.Option("--function", metavar="NAME", help="Judge this function alone, as name or module.name.")
]
Strict = Annotated[bool, typer.Option("--strict", help="End with 1 also for what is not shown.")]
Root = Annotated[Path, typer.Argument(metavar="[DIR]", help="The directory that holds the modules to judge.")]


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    if version:
        from ship_gate import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
def judge(
    directories: ModuleDirectories = None,
    fix: Fix = False,
    dependency: Dependencies = None,
    jobs: Jobs = None,
    seconds: Seconds = None,
    passed: Passed = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    changed: Changed = False,
    as_json: AsJson = False,
) -> None:
    """Judge module directories.

    It judges as a run would, and needs no project. Of one module every finding is shown, of many each module
    in a line and its findings below.
    """
    reports = _wanted(sarif, markdown)
    if not directories:
        raise InputError("no module directory is named", remedy="name directories with contract.json")
    if changed:
        directories = _changed(directories, as_json=as_json)
    alone = not changed and len(directories) == 1 and (directories[0] / "contract.json").exists()
    if alone and not passed and not reports:
        _judge_one(directories[0], dependency or [], fix=fix, as_json=as_json)
    if fix or dependency:
        raise InputError(
            "--fix and --dependency are for one module", remedy="name one directory, and no report"
        )
    from ship_gate.batch import BatchLimits

    limits = BatchLimits(seconds=seconds, passed=passed)
    _judge_many(directories, limits._replace(jobs=jobs or limits.jobs), reports, as_json=as_json)


def _wanted(sarif: Path | None, markdown: Path | None) -> dict[str, Path]:
    """The files of the reports that are asked for, by their kinds.

    Raises:
        InputError: one would take the place of a file that is no such report.
    """
    from ship_gate.reports import BEGINS

    named = {"sarif": sarif, "markdown": markdown}
    for kind, path in named.items():
        if path:
            check_report(path, BEGINS[kind])
    return {kind: path for kind, path in named.items() if path}


def _changed(files: Sequence[Path], *, as_json: bool) -> list[Path]:
    """The module directories of files that have changed.

    Raises:
        Exit: there are none.
    """
    from ship_gate.batch import modules_of

    found = modules_of(files)
    if not found:
        if as_json:
            show({"verdict": "PASS", "modules": []}, "gates")
        else:
            note("None of the files is in a module directory; nothing is judged.")
        raise typer.Exit(0)
    return found


def _judge_one(directory: Path, dependencies: list[Path], *, fix: bool, as_json: bool) -> None:
    from ship_gate.batch import judge_directory

    began = time.monotonic()
    judged = judge_directory(directory, dependencies, fix=fix)
    present_verdict(judged, time.monotonic() - began, as_json=as_json)
    if judged.fixed:
        note(f"the contract's docstring was written into {directory / judged.fixed}")
    raise typer.Exit(1 if judged.findings else 0)


def _judge_many(
    directories: Sequence[Path], limits: "BatchLimits", reports: Mapping[str, Path], *, as_json: bool
) -> None:
    """Judge them, print, and write the reports; 0 if all pass, else 1.

    Raises:
        InputError: no module in a place.
        Exit: always.
    """
    from ship_gate.batch import judge_all, modules_in
    from ship_gate.reports import REPORTS, gates_document, print_modules

    began, found = time.monotonic(), modules_in(directories)
    modules = judge_all(found, limits, _teller(len(found)))
    for kind, path in reports.items():
        write_report(path, REPORTS[kind](modules))
    if as_json:
        show(gates_document(modules), "gates")
    elif Path("-") not in reports.values():
        print_modules(modules, time.monotonic() - began)
    raise typer.Exit(0 if all(module.passed for module in modules) else 1)


def _teller(every: int) -> "Callable[[JudgedModule], None]":
    """Tells on a terminal of each module as it ends."""
    from ship_gate.reports import line_of

    ended = list["JudgedModule"]()

    def tell(module: "JudgedModule") -> None:
        ended.append(module)
        if sys.stderr.isatty():
            note(f"{len(ended)} of {every}  {line_of(module)}")

    return tell


def present_verdict(judged: "DirectoryVerdict", seconds: float, *, as_json: bool) -> None:
    """Print the verdict of a module, with the seconds that it took."""
    from ship_gate.reports import gate_document, print_verdict

    if as_json:
        show(gate_document(judged), "gate")
    else:
        print_verdict(
            judged.name,
            judged.findings,
            _gate_summary(judged, seconds),
            "FAIL" if judged.findings else "PASS",
        )


@app.command()
def package(
    directory: PackageDirectory = Path(),
    function: OneFunction = "",
    seconds: PackageSeconds = 120.0,
    strict: Strict = False,
    sarif: Sarif = None,
    markdown: Markdown = None,
    as_json: AsJson = False,
) -> None:
    """Judge the public functions of a package where they are.

    No contract is needed. WRONG is a function whose call contradicts a documented example, a test, or the type that
    it states; SHOWN is one whose tests and examples notice most faults that are put into it. Exits with 1 if one is
    WRONG, or if code cannot be loaded.
    """
    from ship_gate.package.reports import REPORTS, document, print_package
    from ship_gate.package.verdict import judge_package

    reports = _wanted(sarif, markdown)
    report = judge_package(
        directory,
        function=function,
        seconds=seconds,
        strict=strict,
        tell=note if sys.stderr.isatty() else lambda _: None,
    )
    for kind, path in reports.items():
        write_report(path, REPORTS[kind](report))
    if as_json:
        show(document(report), "package")
    elif Path("-") not in reports.values():
        print_package(report)
    raise typer.Exit(1 if report.failed else 0)


@app.command()
def explain(code: FindingCode, as_json: AsJson = False) -> None:
    """What a finding of the gate means, its reason, and what to do."""
    from ship_gate.findings import known_code
    from ship_gate.terminal.page import Page, present

    found = known_code(code)
    page = Page()
    page.line(found)
    rows = [("Means:", found.means), ("Why:", found.why), *(("Do:", step) for step in found.steps)]
    for label, text in (*rows, ("Besides:", found.severity)):
        page.labelled(label, text, labels=10)
    document: dict[str, Any] = {"code": found, "severity": found.severity, "means": found.means}
    present(document | {"why": found.why, "steps": found.steps}, "explanation", page, as_json=as_json)


@app.command()
def mcp(root: Root = Path()) -> None:
    """Serve the gate to a coding agent, over MCP.

    MCP is the Model Context Protocol. An agent starts this command and speaks to it over
    standard input and output; docs/mcp.md says how Claude Code, Codex CLI and Cursor do.
    """
    try:
        from ship_gate.mcp_server import serve
    except ImportError as error:
        raise InputError(
            f"the MCP server needs the package {error.name}, which is not installed",
            remedy=f"{sys.executable} -m pip install 'mcp>=2.3,<3'",
        ) from error
    if sys.stdin.isatty():
        note(
            "An agent speaks to this over standard input; docs/mcp.md says how it starts it. Ctrl-C ends it."
        )
    serve(root)


def _gate_summary(judged: "DirectoryVerdict", seconds: float) -> str:

    tests = judged.verdict.tests if judged.verdict else ()
    passed = sum(test.result == "PASS" for test in tests)
    examples, findings = counted(judged.examples, "example"), counted(len(judged.findings), "finding")
    return f"{passed} of {counted(len(tests), 'test')} passed, {examples}, {findings}, {seconds:.1f} s"


def _complain(error: ShipGateError, as_json: bool) -> None:
    if as_json:
        show_error({"what": error.what, "where": error.where, "do": error.remedy}, error.exit_code)
    note_error(app.info.name or "", str(error))


_PROGRAM = Program(typer.main.get_command(app), "shipgate", (ShipGateError,), _complain)


def run() -> None:
    """Run the command line and exit with its code."""
    _PROGRAM.run()
