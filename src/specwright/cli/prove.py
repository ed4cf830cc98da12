"""Commands that prove instead of tell: `gate` on one module directory, `verify` on a whole project (DESIGN §9)."""

import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.columns import width
from specwright.cli.output import note, say, show
from specwright.cli.parameters import AsJson, Directory
from specwright.cli.progress_lines import counted

if TYPE_CHECKING:
    from specwright.ports.gate import Finding, GateVerdict

__all__ = ["register"]

_FEW = 5

ModuleDirectory = Annotated[
    Path,
    typer.Argument(
        metavar="MODULE_DIR", help="A directory with contract.json, implementation/, tests/, examples.md."
    ),
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
    for command in (gate, verify):
        app.command()(command)


def gate(
    directory: ModuleDirectory, fix: Fix = False, dependency: Dependencies = None, as_json: AsJson = False
) -> None:
    """Judge a module directory as a run would; needs no project."""
    from specwright.bootstrap import judged_directory

    began = time.monotonic()
    judged = judged_directory(directory, dependency or [], fix=fix)
    seconds = time.monotonic() - began
    passed = not judged.findings
    if as_json:
        show(_gate_document(judged.findings, judged.verdict))
    else:
        say(f"{'PASS' if passed else 'FAIL'}  {judged.name}")
        _say_findings((f.code, f.where, f.message) for f in judged.findings)
        say(_gate_summary(judged.verdict, judged.examples, seconds, len(judged.findings)))
    if judged.fixed:
        note(f"the contract's docstring was written into {directory / judged.fixed}")
    raise typer.Exit(0 if passed else 1)


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is every file of the store still what was written?

    Proven offline: by a hash in the log or the journal, as a copy, or made anew (state file, task files, Code Index).
    Not proven: SPEC.md beside it, which is yours, and what only runs use (.specwright but for the log).
    """
    from specwright.bootstrap import driven_by, verified_project

    driver = driven_by(directory)
    checked = verified_project(directory, at_rest=not driver)
    passed = not checked.faults
    counts = {
        "modules": checked.modules,
        "definitions": checked.definitions,
        "records": checked.records,
        "wires": checked.wires,
    }
    if as_json:
        findings = [fault._asdict() for fault in checked.faults]
        verdict = "PASS" if passed else "FAIL"
        unbound = list(checked.unbound)
        show({"verdict": verdict, "findings": findings, "checked": counts, "unbound": unbound})
    else:
        say(f"{'PASS' if passed else 'FAIL'}  {directory}")
        _say_findings(checked.faults)
        told = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        say(f"{told} checked, {counted(len(checked.faults), 'finding')}")
    if driver:
        note(f"{driver} is at work: state file, task files and Code Index were not compared")
    if checked.unbound:
        note(_told_unbound(checked.unbound))
    raise typer.Exit(0 if passed else 1)


def _told_unbound(unbound: tuple[str, ...]) -> str:
    more = f" and {len(unbound) - _FEW} more" if len(unbound) > _FEW else ""
    return (
        f"{len(unbound)} files are bound by nothing; an older version wrote them, a run was cut short, or they wait "
        f"for approval: {', '.join(unbound[:_FEW])}{more}"
    )


def _gate_document(findings: "tuple[Finding, ...]", verdict: "GateVerdict | None") -> dict[str, Any]:
    return {
        "verdict": "FAIL" if findings else "PASS",
        "findings": [finding._asdict() for finding in findings],
        "tests": [
            {"name": test.name, "result": test.result, "duration_ms": round(test.duration_ms, 3)}
            for test in (verdict.tests if verdict else ())
        ],
        "fingerprint": verdict.actual_fingerprint if verdict else "",
    }


def _gate_summary(verdict: "GateVerdict | None", examples: int, seconds: float, findings: int) -> str:
    tests = verdict.tests if verdict else ()
    passed = sum(test.result == "PASS" for test in tests)
    told = f"{passed} of {counted(len(tests), 'test')} passed, {counted(examples, 'example')}"
    return f"{told}, {counted(findings, 'finding')}, {seconds:.1f} s"


def _say_findings(findings: "Any") -> None:
    """Each as `code  where  message`, wrapped; what the message quotes keeps its lines."""
    for code, where, message in findings:
        first, *rest = f"{code}  {where or '.'}  {message}".split("\n")
        say(textwrap.fill(first, width(), subsequent_indent="    ", break_on_hyphens=False))
        for line in rest:
            shown = textwrap.wrap(line, width() - 4, drop_whitespace=False, break_on_hyphens=False) or [""]
            say("\n".join(f"    {part}" for part in shown))
