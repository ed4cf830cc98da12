"""Commands that check: those of the gate, and `verify` for a whole project (design: command-line)."""

from pathlib import Path

import typer

from ship_gate import cli as ship_gate
from ship_gate.terminal.output import counted, listed, note, show
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory

_FEW = 5


def register(app: typer.Typer) -> None:
    """Add the commands; the gate's are those of `shipgate`."""
    app.command("gate")(ship_gate.judge)
    for command in (ship_gate.explain, ship_gate.mcp, verify):
        app.command()(command)


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Check that every file of the store is what was written.

    Proven offline: by a hash in the log or the journal, as a copy, or made again and compared (state file, task
    files, Code Index). Not proven: SPEC.md, which is yours, and what only runs use (.specwright except the log).
    """
    from ship_gate.report.terminal import print_verdict
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
        print_verdict(str(directory), checked.findings, summary, passed=not checked.findings)
    if driver:
        note(f"{driver} is at work: state file, task files and Code Index were not compared")
    if checked.unbound:
        files = listed(list(checked.unbound), _FEW)
        note(
            f"{counted(len(checked.unbound), 'file')} not checked, since nothing records what they should hold (a draft "
            f"that waits for approval, or the rest of a run that was cut short): {files}"
        )
    raise typer.Exit(1 if checked.findings else 0)
