"""Commands that check: `gate` one module directory or many, `explain` a finding, `verify` a whole project (design:
command-line)."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from specwright.cli.commands import AsJson, Directory
from specwright.errors import InputError
from specwright.gate.terminal.output import check_report, counted, listed, note, show, write_report

if TYPE_CHECKING:
    from specwright.bootstrap.gate.batch import JudgedModule
    from specwright.bootstrap.verify import DirectoryVerdict

_FEW = 5

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
JUnit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write tests and findings as JUnit XML.")
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
Badge = Annotated[Path | None, typer.Option("--badge", metavar="FILE", help="Write how many pass as an SVG.")]
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


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (gate, explain, verify):
        app.command()(command)


def gate(
    directories: ModuleDirectories = None,
    fix: Fix = False,
    dependency: Dependencies = None,
    jobs: Jobs = None,
    seconds: Seconds = None,
    passed: Passed = None,
    sarif: Sarif = None,
    junit: JUnit = None,
    badge: Badge = None,
    markdown: Markdown = None,
    changed: Changed = False,
    as_json: AsJson = False,
) -> None:
    """Judge module directories.

    It judges as a run would, and needs no project. Of one module every finding is shown, of many each module
    in a line and its findings below.
    """
    named = {"sarif": sarif, "junit": junit, "badge": badge, "markdown": markdown}
    options = BatchOptions(jobs, seconds, passed, {k: v for k, v in named.items() if v})
    if not directories:
        raise InputError("no module directory is named", remedy="name directories with contract.json")
    if changed:
        directories = _changed(directories, as_json=as_json)
    alone = not changed and len(directories) == 1 and (directories[0] / "contract.json").exists()
    if alone and not passed and not options.reports:
        _judge_one(directories[0], dependency or [], fix=fix, as_json=as_json)
    if fix or dependency:
        raise InputError(
            "--fix and --dependency are for one module", remedy="name one directory, and no report"
        )
    _judge_many(directories, options, as_json=as_json)


def _changed(files: Sequence[Path], *, as_json: bool) -> list[Path]:
    """The module directories of files that have changed.

    Raises:
        Exit: there are none.
    """
    from specwright.bootstrap.gate.batch import modules_of

    found = modules_of(files)
    if not found:
        if as_json:
            show({"verdict": "PASS", "modules": []}, "gates")
        else:
            note("None of the files is in a module directory; nothing is judged.")
        raise typer.Exit(0)
    return found


def _judge_one(directory: Path, dependencies: list[Path], *, fix: bool, as_json: bool) -> None:
    from specwright.bootstrap.verify import judge_directory

    began = time.monotonic()
    judged = judge_directory(directory, dependencies, fix=fix)
    present_verdict(judged, time.monotonic() - began, as_json=as_json)
    if judged.fixed:
        note(f"the contract's docstring was written into {directory / judged.fixed}")
    raise typer.Exit(1 if judged.findings else 0)


class BatchOptions(NamedTuple):
    """The options of the command for many modules.

    Args:
        jobs: Modules at a time.
        seconds: After which no further one is begun.
        passed: The file with those that need not be judged again.
        reports: The file of each kind of report.
    """

    jobs: int | None
    seconds: float | None
    passed: Path | None
    reports: Mapping[str, Path]


def _judge_many(directories: Sequence[Path], options: BatchOptions, *, as_json: bool) -> None:
    """Judge them, print, and write the reports; 0 if all pass, else 1.

    Raises:
        InputError: no module in a place, or a file that cannot be written.
        Exit: always.
    """
    from specwright.bootstrap.gate.batch import BatchLimits, judge_all, modules_in

    began, found = time.monotonic(), modules_in(directories)
    check_reports(options.reports)
    limits = BatchLimits(seconds=options.seconds, passed=options.passed)
    if options.jobs:
        limits = limits._replace(jobs=options.jobs)
    modules = judge_all(found, limits, _teller(len(found)))
    write_reports(modules, options.reports)
    _present(modules, time.monotonic() - began, options, as_json=as_json)
    raise typer.Exit(0 if all(module.passed for module in modules) else 1)


def _present(
    modules: "Sequence[JudgedModule]", seconds: float, options: BatchOptions, *, as_json: bool
) -> None:
    from specwright.cli.pages.gate import gates_document, print_modules

    if as_json:
        show(gates_document(modules), "gates")
    elif Path("-") not in options.reports.values():
        print_modules(modules, seconds)


def _teller(every: int) -> "Callable[[JudgedModule], None]":
    """Tells on a terminal of each module as it ends."""
    from specwright.cli.pages.gate import line_of

    ended = list["JudgedModule"]()

    def tell(module: "JudgedModule") -> None:
        ended.append(module)
        if sys.stderr.isatty():
            note(f"{len(ended)} of {every}  {line_of(module)}")

    return tell


def check_reports(wanted: Mapping[str, Path]) -> None:
    """Refuse a report in the place of another file.

    Raises:
        InputError: it is another file.
    """
    from specwright.cli.reports import badge, junit, markdown, sarif

    begins = {
        "sarif": sarif.BEGINS,
        "junit": junit.BEGINS,
        "badge": badge.BEGINS,
        "markdown": markdown.BEGINS,
    }
    for kind, path in wanted.items():
        check_report(path, begins[kind])


def write_reports(modules: "Sequence[JudgedModule]", wanted: Mapping[str, Path]) -> None:
    """Write the reports that are wanted, by their kinds."""
    from specwright.cli.reports.badge import badge
    from specwright.cli.reports.junit import junit_report
    from specwright.cli.reports.markdown import markdown_report
    from specwright.cli.reports.sarif import sarif_report

    kinds = {
        "sarif": lambda: sarif_report(modules, Path.cwd()),
        "junit": lambda: junit_report(modules),
        "badge": lambda: badge(modules),
        "markdown": lambda: markdown_report(modules),
    }
    for kind, path in wanted.items():
        write_report(path, kinds[kind]())


def present_verdict(judged: "DirectoryVerdict", seconds: float, *, as_json: bool) -> None:
    """Print the verdict of a module, with the seconds that it took."""
    if as_json:
        from specwright.cli.pages.gate import gate_document

        show(gate_document(judged), "gate")
    else:
        _print_verdict(
            judged.name,
            ((finding.code, finding.where, finding.message) for finding in judged.findings),
            _gate_summary(judged, seconds),
            passed=not judged.findings,
        )


def explain(code: FindingCode, as_json: AsJson = False) -> None:
    """What a finding of the gate means, its reason, and what to do."""
    from specwright.bootstrap.gate.explain import explain_finding
    from specwright.gate.terminal.page import Page, present

    found = explain_finding(code)
    page = Page()
    page.line(found.code)
    rows = [("Means:", found.means), ("Why:", found.why), *(("Do:", step) for step in found.steps)]
    for label, text in (*rows, ("Besides:", found.severity)):
        page.labelled(label, text, labels=10)
    present(found._asdict(), "explanation", page, as_json=as_json)


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Check that every file of the store is what was written.

    Proven offline: by a hash in the log or the journal, as a copy, or made again and compared (state file, task
    files, Code Index). Not proven: SPEC.md, which is yours, and what only runs use (.specwright except the log).
    """
    from specwright.bootstrap.verify import verify_project
    from specwright.bootstrap.views.reading import driven_by

    driver = driven_by(directory)
    checked = verify_project(directory, at_rest=not driver)
    counts = {name: getattr(checked, name) for name in ("modules", "definitions", "records", "wires")}
    if as_json:
        findings = [finding._asdict() for finding in checked.findings]
        verdict = "FAIL" if checked.findings else "PASS"
        show(
            {"verdict": verdict, "findings": findings, "checked": counts, "unbound": list(checked.unbound)},
            "verified",
        )
    else:
        numbers = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        summary = f"{numbers} checked, {counted(len(checked.findings), 'finding')}"
        _print_verdict(str(directory), checked.findings, summary, passed=not checked.findings)
    if driver:
        note(f"{driver} is at work: state file, task files and Code Index were not compared")
    if checked.unbound:
        files = listed(list(checked.unbound), _FEW)
        note(
            f"{counted(len(checked.unbound), 'file')} not checked, since nothing records what they should hold (a draft "
            f"that waits for approval, or the rest of a run that was cut short): {files}"
        )
    raise typer.Exit(1 if checked.findings else 0)


def _gate_summary(judged: "DirectoryVerdict", seconds: float) -> str:

    tests = judged.verdict.tests if judged.verdict else ()
    passed = sum(test.result == "PASS" for test in tests)
    examples, findings = counted(judged.examples, "example"), counted(len(judged.findings), "finding")
    return f"{passed} of {counted(len(tests), 'test')} passed, {examples}, {findings}, {seconds:.1f} s"


def _print_verdict(
    what: str, findings: Iterable[tuple[str, str, str]], summary: str, *, passed: bool
) -> None:
    """The verdict, each finding as `code  where  message`, and the summary."""
    from specwright.gate.terminal.findings import FindingsPage, FindingText
    from specwright.gate.terminal.page import Page

    page = Page()
    page.line(f"{'PASS' if passed else 'FAIL'}  {what}")
    FindingsPage(page).add(FindingText(code, where or ".", message) for code, where, message in findings)
    page.line(summary)
    page.print()
