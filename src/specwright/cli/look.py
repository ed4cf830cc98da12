"""Commands that look at a project without driving it: status, tasks, modules, module, doctor (DESIGN §9)."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.output import say, show
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import Reading
    from specwright.domain.ship import ShipEvidence

__all__ = ["register"]

Directory = Annotated[Path, typer.Argument(help="The project's directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, tasks, modules, module, doctor):
        app.command()(command)


def status(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Where the project stands, and what to do next."""
    from specwright.application.standing import standing
    from specwright.bootstrap import reading_project
    from specwright.cli.project_files import last_options
    from specwright.cli.stops import describe, document

    scripted = last_options(directory).model.startswith(("playbook:", "replay:"))
    with reading_project(directory) as view:
        reached = standing(view)
        told = document(view, reached, directory, scripted=scripted, drift=[])
        if as_json:
            show(told)
            return
        state = view.projection.state
        if state is not None:
            done = sum(entry.status.value == "SHIPPED" for entry in state.tasks.values())
            say(f"[{_bar(done, len(state.tasks))}] {done} of {len(state.tasks)} tasks shipped")
            counts = Counter(entry.status.value for entry in state.tasks.values())
            say("  " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
        for line in describe(view, reached, directory, scripted=scripted):
            say(line)


def tasks(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every task with its status, and why it is not running."""
    from specwright.bootstrap import reading_project
    from specwright.domain.dispatch import why_not

    with reading_project(directory) as view:
        state = view.projection.state
        if state is None:
            raise InputError(
                "there are no tasks before the spec is approved",
                where=str(directory),
                remedy="`specwright status`",
            )
        rows = [
            {"task_id": task_id, **entry.to_json(), "why": why_not(state, task_id)}
            for task_id, entry in sorted(state.tasks.items(), key=lambda item: item[1].declaration_order)
        ]
    if as_json:
        show(rows)
        return
    for row in rows:
        shown = row["module_ref"] or row["why"]
        say(
            f"{row['spec_task_id']:<8} {row['status']:<12} {row['task']}  ({row['task_id']})\n         {shown}"
        )


def modules(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every sealed module."""
    from specwright.bootstrap import reading_project

    with reading_project(directory) as view:
        rows = [_row(view, ref) for ref in _sealed(view)]
    if as_json:
        show(rows)
        return
    if not rows:
        say("No module is sealed yet.")
    for row in rows:
        say(
            f"{row['module_ref']}  {row['name']}: {row['purpose']}\n    {row['tests']} tests, interface {row['interface_fingerprint'][:12]}"
        )


def module(
    module_id: Annotated[
        str, typer.Argument(metavar="MM-ID", help="MM-ID, MM-ID@VERSION, or the module's name.")
    ],
    directory: Directory = Path(),
    as_json: AsJson = False,
) -> None:
    """A module's contract and its evidence."""
    from specwright.application.planning import shipped_view
    from specwright.application.shipping import evidence_of
    from specwright.bootstrap import reading_project

    with reading_project(directory) as view:
        ref = _find(view, module_id, directory)
        seen, evidence = shipped_view(view, ref), evidence_of(view, ref)
    if as_json:
        show({"contract": seen.contract.to_json(), "evidence": evidence.to_json(), "examples": seen.examples})
        return
    contract = seen.contract
    say(f"{contract.name}  {ref}\n{contract.purpose}\n")
    for title, lines in _dimensions(contract.to_json()):
        say(f"{title}:")
        for line in lines or ["none"]:
            say(f"  {line}")
    say(_evidence_line(evidence))
    say(f"Files: {directory / 'state_store/modules' / ref.replace('@', '/')}")


def doctor(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Whether model, test runner and search are usable, and what to do about each."""
    from specwright.cli.examination import examine

    found = examine(directory)
    if as_json:
        show(found)
    else:
        for check in found["checks"]:
            say(f"{'ok  ' if check['ok'] else 'MISS'} {check['name']:<10} {check['detail']}")
            if check["do"]:
                say(f"     do: {check['do']}")
    raise typer.Exit(0 if found["ok"] else 1)


def _bar(done: int, total: int) -> str:
    width = 20
    filled = width * done // max(1, total)
    return "#" * filled + "." * (width - filled)


def _sealed(view: "Reading") -> list[str]:
    return [
        f"{name}@{version}"
        for name in view.store.names("modules")
        for version in view.store.names(f"modules/{name}")
        if view.store.exists(f"modules/{name}/{version}/ship.json")
    ]


def _row(view: "Reading", ref: str) -> dict[str, Any]:
    from specwright.application.planning import shipped_contract
    from specwright.application.shipping import evidence_of

    contract, evidence = shipped_contract(view, ref), evidence_of(view, ref)
    return {
        "module_ref": ref,
        "name": contract.name,
        "purpose": contract.purpose,
        "version": contract.module_version,
        "interface_fingerprint": evidence.verification.interface_fingerprint,
        "tests": evidence.execution_log.summary.total,
        "ship_id": evidence.ship_id,
    }


def _find(view: "Reading", wanted: str, directory: Path) -> str:
    rows = [_row(view, ref) for ref in _sealed(view)]
    for row in reversed(rows):
        if wanted in (row["module_ref"], row["module_ref"].partition("@")[0], row["name"]):
            return str(row["module_ref"])
    raise InputError(
        f"there is no sealed module {wanted!r}",
        where=str(directory),
        remedy="`specwright modules` lists them",
    )


def _dimensions(contract: dict[str, Any]) -> list[tuple[str, list[str]]]:
    def line(entry: dict[str, Any], details: str) -> str:
        said = "; ".join(entry[details])
        return f"{entry['name']}: {entry['type']}" + (f"  ({said})" if said else "")

    modes = [name for name in ("sync", "async") if contract["modes"][name]]
    return [
        ("Inputs", [line(entry, "constraints") for entry in contract["inputs"]]),
        ("Outputs", [line(entry, "invariants") for entry in contract["outputs"]]),
        ("Errors", [f"{entry['name']}: {entry['when']}" for entry in contract["error_surfaces"]]),
        (
            "Effects",
            [f"{entry['type']} {entry['target']}: {entry['description']}" for entry in contract["effects"]],
        ),
        ("Modes", [", ".join(modes)]),
    ]


def _evidence_line(evidence: "ShipEvidence") -> str:
    summary = evidence.execution_log.summary
    return (
        f"Evidence: {evidence.verification.result}, {summary.passed} of {summary.total} tests passed, "
        f"interface {evidence.verification.interface_fingerprint}, verified {evidence.verified_at}"
    )
