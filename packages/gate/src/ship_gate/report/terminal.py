"""Many module directories: the verdict on each in a line, its findings below, the counts at the end (design:
command-line)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ship_gate.findings import Finding
from ship_gate.terminal.findings import FindingsPage
from ship_gate.terminal.output import counted
from ship_gate.terminal.page import Page

if TYPE_CHECKING:
    from ship_gate.batch import JudgedModule
    from ship_gate.module_directory import DirectoryVerdict

_WORDS = {"PASS": "passed", "FAIL": "failed", "UNCHANGED": "passed before", "UNJUDGED": "not judged in time"}


def line_of(module: "JudgedModule") -> str:
    """A module in a line: what came of it, its directory and name, and how long it took."""
    took = f"  {module.seconds:.1f} s" if module.judged else ""
    return f"{module.result.ljust(9)}  {module.title}{took}"


def print_modules(modules: "Sequence[JudgedModule]", seconds: float) -> None:
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


def gate_document(judged: "DirectoryVerdict") -> dict[str, Any]:
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


def gates_document(modules: "Sequence[JudgedModule]") -> dict[str, Any]:
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
