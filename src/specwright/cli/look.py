"""Commands that look at a project without driving it: status, tasks, modules, module, doctor (DESIGN §9)."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specwright.cli.output import listed, next_command, note, say, show, typed
from specwright.cli.parameters import AsJson, Directory
from specwright.errors import InputError, RefusedError

if TYPE_CHECKING:
    from specwright.application.factory import Reading
    from specwright.bootstrap import Asked
    from specwright.domain.contract import MicroModuleContract
    from specwright.domain.project_state import ProjectState

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, tasks, modules, module, doctor):
        app.command()(command)


def status(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Where the project stands, and what to do next."""
    from specwright.application.standing import standing
    from specwright.bootstrap import asked_so_far, driven_by, reading_project
    from specwright.cli.run_options import was_scripted
    from specwright.cli.stops import describe, document, under_way

    scripted = was_scripted(directory)
    with reading_project(directory) as view:
        reached, driver, now = standing(view), driven_by(directory), under_way(view)
        asked = asked_so_far(directory)
        if as_json:
            told = document(view, reached, directory, scripted=scripted, drift=[])
            show({**told, "driven_by": driver or None, "under_way": now, "asked": asked._asdict()})
            return
        lines = [_counts(view.projection.state)] if view.projection.state is not None else []
        lines += [f"Now:      {', '.join(now)}"] if now else []
        lines += _next(view.projection.state)
        if driver:
            lines.append(f"A run is at work: {driver}.")
        else:
            lines += describe(view, reached, directory, scripted=scripted)
        lines += [_cost(asked, scripted=scripted)] if asked.calls else []
    for line in lines:
        say(line)


def tasks(
    directory: Directory = Path(),
    graph: Annotated[bool, typer.Option("--graph", help="Show who waits for whom.")] = False,
    mermaid: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the graph as Mermaid.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the graph as SVG.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every task with its status, and why it is not running."""
    from specwright.bootstrap import reading_project
    from specwright.cli.columns import brief
    from specwright.cli.stops import by_spec_id
    from specwright.domain import task_drawing, task_graph

    with reading_project(directory) as view:
        state = view.projection.state
        for path, draw in ((mermaid, task_graph.mermaid), (svg, task_drawing.svg)):
            if path is not None and state is None:
                raise RefusedError(
                    "there are no tasks to draw yet: they come with the approved spec",
                    where=str(path),
                    remedy=f"`{next_command('status', directory)}` says what comes first",
                )
            if path is not None and state is not None:
                _write(path, draw(state))
        if graph and state is not None and not as_json:
            say(task_graph.text_graph(state))
            return
        entries = sorted(state.tasks.items(), key=lambda item: item[1].declaration_order) if state else []
        why = task_graph.why_each(state) if state else {}
        rows = [{"task_id": name, **entry.to_json(), "why": why[name]} for name, entry in entries]
        names = {row["module_ref"]: _name(view, row["module_ref"]) for row in rows if row["module_ref"]}
    if as_json:
        show(rows)
        return
    if not rows:
        note(f"No tasks yet: they come with the approved spec. `{next_command('status', directory)}`")
    shown_names = [brief(row["task"]) for row in rows]
    wide = max(map(len, shown_names), default=0)
    widest_id = max((len(row["spec_task_id"]) for row in rows), default=0)
    for row, task_name in zip(rows, shown_names, strict=True):
        ref = row["module_ref"]
        shown = f"{ref}  {names[ref]}" if ref or state is None else by_spec_id(state, row["why"])
        say(f"{row['spec_task_id']:<{widest_id}}  {row['status']:<11} {task_name:<{wide}}  {shown}".rstrip())


def modules(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every sealed module, with its purpose and tests."""
    from specwright.bootstrap import reading_project

    with reading_project(directory) as view:
        rows = [_row(view, ref) for ref in _sealed(view)]
    if as_json:
        show(rows)
        return
    if not rows:
        note(f"No module is sealed yet. `{next_command('status', directory)}`")
    wide = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        say(f"{row['module_ref']}  {row['name']:<{wide}}  {row['tests']:>3} tests  {row['purpose']}")


def module(
    module_id: Annotated[
        str, typer.Argument(metavar="MM-ID", help="MM-ID, MM-ID@VERSION, or the module's name.")
    ],
    directory: Directory = Path(),
    trail: Annotated[bool, typer.Option("--trail", help="How it came about, back to the spec.")] = False,
    debate: Annotated[
        bool, typer.Option("--debate", help="What was said for and against it, by round.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """A module's contract and evidence, its trail or its debate."""
    if trail and debate:
        raise InputError("--trail and --debate are two pages", remedy="ask for one of them")
    if trail:
        _trail(module_id, directory, as_json=as_json)
        return
    if debate:
        _debate(module_id, directory, as_json=as_json)
        return
    from specwright.application.planning import shipped_view
    from specwright.application.shipping import evidence_of
    from specwright.bootstrap import reading_project
    from specwright.cli.columns import uncut
    from specwright.cli.module_page import module_page

    with reading_project(directory) as view:
        ref = _find(view, module_id, directory)
        seen, evidence = shipped_view(view, ref), evidence_of(view, ref)
    if as_json:
        show({"contract": seen.contract.to_json(), "evidence": evidence.to_json(), "examples": seen.examples})
        return
    files = str(directory / "state_store/modules" / ref.replace("@", "/"))
    for line in [*module_page(seen.contract, evidence), *uncut("Files", files, 0)]:
        say(line)


def _trail(module_id: str, directory: Path, *, as_json: bool) -> None:
    from specwright.application.proof.trail import trail
    from specwright.application.proof.trail_text import trail_text
    from specwright.bootstrap import reading_project

    with reading_project(directory) as view:
        found = trail(view, _find(view, module_id, directory))
    if as_json:
        show(found.to_json())
        return
    for line in trail_text(found):
        say(line)


def _debate(module_id: str, directory: Path, *, as_json: bool) -> None:
    from specwright.application.debate.rounds import debates_of, planned_modules
    from specwright.bootstrap import reading_project
    from specwright.cli.debate_page import debate_page

    with reading_project(directory) as view:
        planned = planned_modules(view)
        named = [one for one in planned if module_id in _names_of(one.contract)]
        if not named:
            raise InputError(
                f"no module {module_id!r} was ever planned here",
                where=str(directory),
                remedy=f"planned are {listed([one.contract.name for one in planned]) or 'none yet'}",
            )
        newest = named[-1].contract.module_id  # a name may have been planned twice, for two modules
        found = debates_of(view, [one for one in named if one.contract.module_id == newest])
    if as_json:
        show(found.to_json())
        return
    for line in debate_page(found):
        say(line)


def _names_of(contract: "MicroModuleContract") -> tuple[str, ...]:
    return contract.ref, contract.module_id, contract.name


def doctor(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is all there that a run needs?

    Model, sandbox, index, search. The model is asked for one word, which is the only thing that it costs.
    """
    from specwright.cli.examination import examine

    found = examine(directory)
    if as_json:
        show(found)
    else:
        for check in found["checks"]:
            say(f"{'ok  ' if check['ok'] else 'MISS'} {check['name']:<7} {check['detail']}")
            if check["do"]:
                say(f"     do:     {typed(check['do'])}".replace("\n", "\n     "))
    raise typer.Exit(0 if found["ok"] else 1)


def _next(state: "ProjectState | None") -> list[str]:
    from specwright.cli.columns import brief
    from specwright.domain.dispatch import Outcome
    from specwright.domain.task_graph import overview

    seen = overview(state) if state else None
    if state is None or seen is None or seen.outcome is not Outcome.RUNNABLE or seen.running or not seen.next:
        return []
    entry = state.tasks[seen.next]
    return [f"Next:     {entry.spec_task_id}  {brief(entry.task)}"]


def _cost(asked: "Asked", *, scripted: bool) -> str:
    """What the project has asked of models since it began."""
    tokens = f"{asked.input_tokens:,} tokens in, {asked.output_tokens:,} out"
    if not asked.input_tokens + asked.output_tokens:
        tokens = "scripted" if scripted else "the provider counts no tokens"
    return f"Asked:    {asked.calls:,} model call{'' if asked.calls == 1 else 's'} in all; {tokens}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error
    note(f"Wrote {path}")


def _counts(state: "ProjectState") -> str:
    counts = Counter(entry.status.value for entry in state.tasks.values())
    done, every, width = counts["SHIPPED"], len(state.tasks), 20
    filled = width * done // max(1, every)
    others = [
        f"{count} {name.lower().replace('_', ' ')}"
        for name, count in sorted(counts.items())
        if name != "SHIPPED"
    ]
    return f"Tasks:    [{'#' * filled}{'.' * (width - filled)}] " + ", ".join(
        [f"{done} of {every} shipped", *others]
    )


def _sealed(view: "Reading") -> list[str]:
    return [
        f"{name}@{version}"
        for name in view.store.names("modules")
        for version in view.store.names(f"modules/{name}")
        if view.store.exists(f"modules/{name}/{version}/ship.json")
    ]


def _name(view: "Reading", ref: str) -> str:
    from specwright.application.planning import shipped_contract

    return shipped_contract(view, ref).name


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
        remedy=f"`{next_command('modules', directory)}` lists them",
    )
