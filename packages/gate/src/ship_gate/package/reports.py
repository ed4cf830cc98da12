"""What is known of a package: the page, the document of `--json`, and the reports for build servers (design: package-gate).

First what is wrong, each with the call and the statement that it contradicts, then what is not shown, then what is. The
level of a finding in a report says what the exit code says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ship_gate.base.text import shortened
from ship_gate.findings import Finding, FindingCode
from ship_gate.package.verdict import JudgedFunction, PackageReport, Verdict
from ship_gate.reports import MARKDOWN_BEGINS, cell, sarif_log, sarif_result
from ship_gate.terminal.output import printable
from ship_gate.terminal.page import Page

_MOST_FAULTS = 5
_MOST_NOTES = 15
_MOST_LINES = 12


def print_package(report: PackageReport) -> None:
    """Print the page."""
    page, verdict = Page(), report.verdict
    page.line(f"{report.word}  {', '.join(verdict.names)}")
    _print_unloaded(page, verdict.findings)
    by_verdict: dict[Verdict, list[JudgedFunction]] = {one: [] for one in Verdict}
    for function in verdict.functions:
        by_verdict[function.verdict].append(function)
    for function in by_verdict[Verdict.WRONG]:
        page.heading(f"WRONG  {function.function.name}")
        for finding in function.findings:
            statement, *said = finding.message.splitlines()
            page.prose(f"{finding.code}  {finding.where}", 2, 2)
            page.prose(statement, 6, 4)
            for line in said[:_MOST_LINES]:
                page.prose(line, 8, 2)
    _print_not_shown(page, by_verdict[Verdict.NOT_SHOWN])
    if by_verdict[Verdict.SHOWN]:
        page.heading("SHOWN, values only where an example or a test states them")
    for function in by_verdict[Verdict.SHOWN]:
        page.prose(f"{function.function.name}  {function.basis}", 2, 4)
        _print_faults(page, function)
    _print_notes(page, report)
    page.line()
    page.prose(report.summary)
    page.print()


def _print_unloaded(page: Page, findings: Sequence[Finding]) -> None:
    if findings:
        page.heading("NOT LOADED, and so not judged")
    for finding in findings[:_MOST_NOTES]:
        page.prose(f"{finding.code}  {finding.where}", 2, 2)
        page.prose(f"{finding.message}; {finding.remedy}", 6, 4)
    if len(findings) > _MOST_NOTES:
        page.prose(f"and {len(findings) - _MOST_NOTES} more; --json has all", 2)


def _print_not_shown(page: Page, functions: list[JudgedFunction]) -> None:
    if functions:
        page.heading("NOT SHOWN")
    together: dict[str, list[str]] = {}
    for function in functions:
        if function.unnoticed:
            page.prose(f"{function.function.name}  {function.basis}", 2, 4)
            _print_faults(page, function)
        else:
            together.setdefault(function.basis, []).append(function.function.name)
    for reason, names in together.items():
        page.prose(f"{reason}: {', '.join(names)}", 2, 4)


def _print_faults(page: Page, function: JudgedFunction) -> None:
    for fault in function.unnoticed[:_MOST_FAULTS]:
        page.prose(f"{fault.where}  {fault.change}", 4, 4)
        if fault.told_by:
            page.prose(f"test this: {fault.told_by}", 6, 4)
    left = len(function.unnoticed) - _MOST_FAULTS
    if left > 0:
        page.prose(f"and {left} more; --json has all", 4)


def _print_notes(page: Page, report: PackageReport) -> None:
    notes = [*report.verdict.notes, *(note for one in report.verdict.functions for note in one.notes)]
    if notes:
        page.heading("Notes, which are no faults for certain")
    for note in notes[:_MOST_NOTES]:
        page.prose(note, 2, 2)
    if len(notes) > _MOST_NOTES:
        page.prose(f"and {len(notes) - _MOST_NOTES} more; --json has all", 2)


def document(report: PackageReport) -> dict[str, Any]:
    """The document of `--json`."""
    return {
        "verdict": report.word,
        "directory": str(report.directory),
        "packages": [*report.verdict.names],
        "functions": [_of_function(one) for one in report.verdict.functions],
        "findings": _listed(report.verdict.findings),
        "notes": [*report.verdict.notes],
        "tests": report.verdict.tests,
        "passed": report.verdict.passed,
        "seconds": round(report.seconds, 3),
    }


def _of_function(one: JudgedFunction) -> dict[str, Any]:
    return {
        "name": one.function.name,
        "where": one.where,
        "verdict": str(one.verdict),
        "basis": one.basis,
        "examples": one.examples,
        "tests": one.tests,
        "faults": one.faults,
        "unnoticed": [fault._asdict() for fault in one.unnoticed],
        "equivalent": [fault._asdict() for fault in one.equivalent],
        "generated": one.calls,
        "findings": _listed(one.findings),
        "notes": [*one.notes],
    }


def _listed(findings: Sequence[Finding]) -> list[dict[str, str]]:
    return [{"code": one.code, "where": one.where, "message": one.message} for one in findings]


def _findings(report: PackageReport) -> Iterator[tuple[Finding, str]]:
    """Every finding and its level; what is not shown is one too."""
    for finding in report.verdict.findings:
        yield finding, "error"
    for one in report.verdict.functions:
        for finding in one.findings:
            yield finding._replace(where=one.where), "error"
        if one.verdict is Verdict.NOT_SHOWN:
            faults = "".join(
                f"\n{fault.where}: {fault.change}{fault.told_by and f'; {fault.told_by}'}"
                for fault in one.unnoticed
            )
            message = f"{one.function.name}: {one.basis}{faults}"
            yield (
                Finding(FindingCode.PACKAGE_UNSHOWN, one.where, message),
                "error" if report.strict else "note",
            )


def sarif(report: PackageReport) -> str:
    """SARIF 2.1.0."""
    findings = list(_findings(report))
    codes = sorted({finding.code for finding, _ in findings})
    results = [
        sarif_result(finding, report.directory, Path.cwd(), codes.index(finding.code), level)
        for finding, level in findings
    ]
    return sarif_log(codes, results, complete=True)


def markdown(report: PackageReport) -> str:
    """A summary for a build or a pull request."""
    lines = [
        MARKDOWN_BEGINS,
        f"### Ship gate: {cell(', '.join(report.verdict.names))}",
        "",
        cell(report.summary),
        "",
    ]
    lines += ["| verdict | function | |", "|---|---|---|"]
    for one in report.verdict.findings[:_MOST_NOTES]:
        lines.append(f"| NOT LOADED | {cell(one.where)} | {cell(one.message)} |")
    for one in sorted(report.verdict.functions, key=lambda one: [*Verdict].index(one.verdict)):
        said = "; ".join(shortened(finding.message, 300) for finding in one.findings) or one.basis
        lines.append(f"| {one.verdict} | {cell(one.function.name)} | {cell(said)} |")
    if report.verdict.notes:
        lines += ["", *(f"- {cell(note)}" for note in report.verdict.notes[:_MOST_NOTES])]
    return printable("\n".join(lines)) + "\n"


REPORTS: Mapping[str, Callable[[PackageReport], str]] = {"sarif": sarif, "markdown": markdown}
"""By the options that ask for them."""
