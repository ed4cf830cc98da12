"""The gate's verdicts on module directories: for a terminal, as JSON, and as SARIF and Markdown for other programs (design:
command-line).
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ship_gate import __version__
from ship_gate.batch import JudgedModule
from ship_gate.errors import InputError
from ship_gate.findings import Finding, FindingCode, known_code
from ship_gate.module_directory import DirectoryVerdict
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import FindingsPage, Page

_WORDS = {"PASS": "passed", "FAIL": "failed", "UNCHANGED": "passed before", "UNJUDGED": "not judged in time"}


def line_of(module: JudgedModule) -> str:
    """A module in a line: what came of it, its directory and name, and how long it took."""
    took = f"  {module.seconds:.1f} s" if module.judged else ""
    return f"{module.result.ljust(9)}  {module.title}{took}"


def print_modules(modules: Sequence[JudgedModule], seconds: float) -> None:
    """Print all verdicts."""
    page = Page()
    for module in modules:
        page.line(line_of(module))
        FindingsPage(page, 2).add(map(_placed, module.findings))
    counts = [
        f"{number} {words}"
        for result, words in _WORDS.items()
        if (number := sum(module.result == result for module in modules))
    ]
    page.line(f"{counted(len(modules), 'module')}: {', '.join(counts)}, {seconds:.1f} s")
    page.print()


def gate_document(judged: DirectoryVerdict) -> dict[str, Any]:
    """A verdict as `gate --json` has it."""
    tests = judged.verdict.tests if judged.verdict else ()
    return {
        "verdict": "FAIL" if judged.findings else "PASS",
        "findings": [
            {"code": one.code, "where": one.where, "message": one.message} for one in judged.findings
        ],
        "tests": [
            {"name": test.name, "result": test.result, "duration_ms": round(test.duration_ms, 3)}
            for test in tests
        ],
        "stages": [stage._asdict() for stage in judged.verdict.stages] if judged.verdict else [],
        "notes": [*judged.verdict.notes] if judged.verdict else [],
        "fingerprint": judged.verdict.actual_fingerprint if judged.verdict else "",
    }


def gates_document(modules: Sequence[JudgedModule]) -> dict[str, Any]:
    """All verdicts; one that was not judged in time is none."""
    return {
        "verdict": "PASS" if all(module.passed for module in modules) else "FAIL",
        "modules": [
            {
                "directory": str(module.directory),
                "name": module.name,
                "result": module.result.value,
                "seconds": round(module.seconds, 3),
                **({"judged": gate_document(module.judged)} if module.judged else {}),
            }
            for module in modules
        ],
    }


def print_verdict(what: str, findings: Iterable[Finding], summary: str, verdict: str) -> None:
    """The verdict, each finding as `code  where  message`, and the summary."""
    page = Page()
    page.line(f"{verdict}  {what}")
    FindingsPage(page).add(map(_placed, findings))
    page.line(summary)
    page.print()


def _placed(finding: Finding) -> Finding:
    return finding._replace(where=finding.where or ".")


MARKDOWN_BEGINS = "<!-- shipgate -->"
"""How every report begins."""

_MOST_FINDINGS = 50
_LONGEST = 500


def markdown_report(modules: Sequence[JudgedModule]) -> str:
    """A table of the modules, and below it the findings of those that failed."""
    passed = sum(module.passed for module in modules)
    lines = [MARKDOWN_BEGINS, f"### Ship gate: {passed} of {len(modules)} modules pass", ""]
    lines += ["| result | module | findings | seconds |", "|---|---|---|---|"]
    lines += [
        f"| {module.result} | {cell(module.title)} | {len(module.findings)} | {module.seconds:.1f} |"
        for module in modules
    ]
    failed = [module for module in modules if module.findings]
    for module in failed:
        lines += ["", f"**{cell(module.title)}**", ""]
        lines += [
            f"- `{finding.code}` {cell(finding.where)}: {cell(finding.message)} "
            f"*{finding.remedy or 'do what the message says'}*"
            for finding in module.findings[:_MOST_FINDINGS]
        ]
        left = len(module.findings) - _MOST_FINDINGS
        lines += [f"- and {left} more"] if left > 0 else []
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text in one line in which nothing is markup; it may be of a module that nobody has read."""
    short = " ".join(text.split())
    short = short if len(short) <= _LONGEST else f"{short[:_LONGEST]} ..."
    for character in "\\`*_[]<>|~#!@":
        short = short.replace(character, f"\\{character}" if character not in "<>@" else _HTML[character])
    return short


_HTML = {"<": "&lt;", ">": "&gt;", "@": "&#64;"}


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_SARIF_BEGINS = '{\n  "$schema": "https://docs.oasis-open.org/sarif/'
"""How every report begins."""

_PLACE = re.compile(r"(?P<file>[^:]+)(:(?P<line>\d+))?")


def _sarif_report(modules: Sequence[JudgedModule], root: Path) -> str:
    """The log of one run.

    Args:
        modules: All of the batch.
        root: What the paths of files are relative to.
    """
    codes = sorted({finding.code for module in modules for finding in module.findings})
    results = [
        sarif_result(finding, module.directory, root, codes.index(finding.code))
        for module in modules
        for finding in module.findings
    ]
    return sarif_log(codes, results, complete=FindingCode.MODULE_UNREADABLE not in codes)


def sarif_log(codes: Sequence[str], results: Sequence[dict[str, Any]], *, complete: bool) -> str:
    """The log of a run.

    Args:
        codes: Of its findings, in the order of `ruleIndex`.
        results: Of `sarif_result`.
        complete: Whether all could be judged.
    """
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "shipgate", "version": __version__, "rules": [_rule(c) for c in codes]}},
        "invocations": [{"executionSuccessful": complete}],
        "columnKind": "unicodeCodePoints",
        "results": [*results],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, Any]:
    try:
        found = known_code(code)
    except InputError:
        return {"id": code}
    text = " ".join([found.why, *found.steps])
    return {
        "id": code,
        "shortDescription": {"text": found.remedy},
        "fullDescription": {"text": found.means},
        "help": {"text": text},
    }


def sarif_result(
    finding: Finding, directory: Path, root: Path, rule: int, level: str = "error"
) -> dict[str, Any]:
    """A finding at its place.

    Args:
        finding: It.
        directory: What its place is relative to.
        root: What the paths of the log are relative to.
        rule: The index of its code.
        level: `error`, or `note` for what does not fail the run.
    """
    found = _PLACE.fullmatch(finding.where)
    file = directory / found["file"] if found and found["file"] else directory
    is_file = file.is_file()
    line = int(found["line"]) if found and found["line"] and is_file else 1
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(file if is_file else directory / "contract.json", root)},
            "region": {"startLine": max(1, line)},
        }
    }
    if not is_file and finding.where:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.where}]
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": finding.message or finding.code},
        "locations": [place],
    }


def _uri(file: Path, root: Path) -> str:
    file, root = file.resolve(), root.resolve()
    return quote(file.relative_to(root).as_posix()) if file.is_relative_to(root) else file.as_uri()


BEGINS = {"sarif": _SARIF_BEGINS, "markdown": MARKDOWN_BEGINS}
"""How a report of each kind begins, by the options that ask for them."""

REPORTS: Mapping[str, Callable[[Sequence[JudgedModule]], str]] = {
    "sarif": lambda modules: _sarif_report(modules, Path.cwd()),
    "markdown": markdown_report,
}
"""What writes them."""
