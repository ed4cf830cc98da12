"""Commands that look at a project without driving it: status, tasks, modules, module, diff, trace, index search, costs,
verify, wire (design: command-line)."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import counted, listed, note, say, shows_colours
from ship_gate.terminal.program import AsJson
from ship_gate.trust import note_ignored, trust_command
from specwright.cli.commands import Directory, is_begun
from specwright.cli.output import present
from specwright.documents.commands import next_command, pasteable
from specwright.errors import InputError, InputErrors

_FEW = 5
_FINDINGS_SHOWN = 20
"""How many findings of a log are printed; `--json` has them all."""


def status(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Where the project stands, and what to do next."""
    from specwright.bootstrap.views import has_begun, reading_project
    from specwright.cli.pages.stop import ESCALATIONS_SHOWN, status_page
    from specwright.documents.stops import Status

    _note_ignored(directory)
    if not has_begun(directory):
        present(Status.not_begun(directory), status_page, as_json=as_json)
        return
    with reading_project(directory) as view:
        shown = Status.now(view, directory, most=None if as_json else ESCALATIONS_SHOWN)
    present(shown, status_page, as_json=as_json)


def _note_ignored(directory: Path) -> None:
    """Say which settings came with the project and do not count; a store is refused, and damage reported, elsewhere."""
    from specwright.settings import ignored_settings

    with suppress(*InputErrors):
        ignored = {name: value for name, value in ignored_settings(directory).items() if name != "store"}
        note_ignored(directory, ignored, f"`{trust_command(directory)}` lets it count")


def tasks(
    directory: Directory = Path(),
    as_json: AsJson = False,
) -> None:
    """Every task with its status, and why it is not running."""
    from specwright.bootstrap.views import driven_by, reading_project
    from specwright.cli.pages.modules import tasks_page
    from specwright.documents.modules import Tasks

    with reading_project(directory) as view:
        state = view.projection.state
        shown = Tasks.of(view, driven=bool(driven_by(directory)))
        names = {ref: view.modules.contract(ref).name for one in shown.tasks for ref in one.module_refs}
    if as_json:
        present(shown, as_json=True)
    elif state is None:
        note(f"No tasks yet: they come with the approved spec. `{next_command('status')}`")
    else:
        tasks_page(shown, state, names).print()


def modules(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every sealed module, with its purpose and tests."""
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.modules import modules_page
    from specwright.documents.modules import Modules

    with reading_project(directory) as view:
        shown = Modules.of(view)
    if not (shown.modules or as_json):
        note(f"No module is sealed yet. `{next_command('status')}`")
        return
    present(shown, modules_page, as_json=as_json)


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
    if is_begun(Path(module_id)) and not is_begun(directory):
        raise InputError(
            "the module's name is missing, this is a project",
            where=module_id,
            remedy=f"`{next_command('modules', Path(module_id))}` lists the names, "
            f"`{next_command('module NAME', Path(module_id))}` shows one",
        )
    from specwright.application.history.provenance import Provenance
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.escalation import debate_page
    from specwright.cli.pages.modules import module_page, provenance_page
    from specwright.documents.modules import (
        Module,
        is_planned,
        module_debates,
        newest_sealed,
        sealed_module,
    )

    with reading_project(directory) as view:
        if not (trail or debate or as_json or newest_sealed(view, module_id)) and is_planned(view, module_id):
            note(f"No version of {module_id} is sealed yet; this is what was said of it.")
            debate = True
        if debate:
            present(module_debates(view, module_id, directory), debate_page, as_json=as_json)
        elif trail:
            chain = Provenance(view).trail(sealed_module(view, module_id, directory))
            present(chain, provenance_page, as_json=as_json)
        else:
            present(Module.of(view, sealed_module(view, module_id, directory)), module_page, as_json=as_json)


def diff(
    directory: Directory = Path(),
    old: Annotated[
        str, typer.Option("--from", metavar="VERSION", help="By default the one before --to.")
    ] = "",
    new: Annotated[str, typer.Option("--to", metavar="VERSION", help="By default the newest.")] = "",
    as_json: AsJson = False,
) -> None:
    """What differs between two releases: spec, contracts, code.

    As patches; that of the code is between the files of the two wheels, and `patch -p1` takes it.
    """
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.modules import difference_page
    from specwright.documents.reports import ReleaseDifference

    with reading_project(directory) as view:
        shown = ReleaseDifference.of(view, old, new)
    if as_json or shows_colours(sys.stdout):
        present(shown, difference_page, as_json=as_json)
    else:
        say("\n".join(shown.lines()))  # to the letter


def trace(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="TSK-001, 'TSK-001 criterion 2', words of a criterion, or a module."
        ),
    ],
    directory: Directory = Path(),
    as_json: AsJson = False,
) -> None:
    """From a criterion, task or module to its tests and code."""
    from specwright.application.stages.trace import ProjectTrace
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.modules import trace_page

    with reading_project(directory) as view:
        project = ProjectTrace(view)
        found = project.of(text) if text.strip() else None
    if found is None:
        raise InputError(
            f"{text!r} is no criterion, no task and no module",
            where=str(directory),
            remedy=f"{did_you_mean(text, project.known)}`{next_command('tasks')}` lists the tasks, "
            f"`{next_command('modules')}` the modules",
        )
    present(found, trace_page, as_json=as_json)


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What a module should do, in plain words.")],
    directory: Directory = Path(),
    tag: Annotated[
        list[str] | None, typer.Option(metavar="TAG", help="Only modules with one of these tags.")
    ] = None,
    include_inactive: Annotated[
        bool, typer.Option("--include-inactive", help="Also deprecated and superseded ones.")
    ] = False,
    top_k: Annotated[int, typer.Option(metavar="N", min=1, help="How many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Shipped modules by what they do, the best match first."""
    from specwright.bootstrap.views import search_index
    from specwright.cli.pages.modules import matches_page
    from specwright.documents.modules import Match, Matches
    from specwright.ports import IndexQuery

    if not query.strip():
        raise InputError(
            "the query is empty", where="QUERY", remedy="say in a few words what a module should do"
        )
    asked = IndexQuery(query, tuple(tag or ()), include_inactive=include_inactive, top_k=top_k)
    hits = search_index(directory, asked)
    if not (hits or as_json):
        note("No module in the Code Index matches.")
        return
    matches = [
        Match(**dict(hit.entry), similarity_score=hit.similarity_score, match=match) for hit, match in hits
    ]
    present(Matches(matches=matches), matches_page, as_json=as_json)


def costs(
    directory: Directory = Path(),
    by: Annotated[
        Literal["role", "task", "module", "round", "version", "content"],
        typer.Option("--by", help="What the sum is divided by."),
    ] = "role",
    as_json: AsJson = False,
) -> None:
    """What was asked of models: requests, tokens and money."""
    from specwright.bootstrap.run_options import was_scripted
    from specwright.bootstrap.views import require_begun
    from specwright.cli.pages.modules import costs_page
    from specwright.documents.reports import Costs

    require_begun(directory)
    shown = Costs.of(directory, by)
    present(shown, lambda costs: costs_page(costs, scripted=was_scripted(directory)), as_json=as_json)


def verify(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Check that every file of the store is what was written.

    Proven offline: by a hash in the log, which names the journal's too, or made again and compared (state file, task
    files, Code Index). Not proven: what only runs use (.specwright except log and journal). SPEC.md and the source tree
    in release/ are yours to edit: what differs is named, and is no finding.
    """
    from ship_gate.reports import print_verdict
    from specwright.bootstrap.verify import verify_project
    from specwright.bootstrap.views import driven_by
    from specwright.documents.reports import Finding, Verified

    driver = driven_by(directory)
    checked = verify_project(directory, at_rest=not driver)
    findings = [one._replace(message=pasteable(one.message)) for one in checked.findings]
    counts = {name: getattr(checked, name) for name in ("modules", "definitions", "records", "wires")}
    shown = Verified(
        verdict=checked.verdict,
        findings=[Finding(code=f.code, where=f.where, message=f.message) for f in findings],
        checked=counts,
        spec_edited=checked.spec_edited,
        **{name: [*getattr(checked, name)] for name in ("unbound", "waiting", "edited")},
    )
    if as_json:
        present(shown, as_json=True)
    else:
        numbers = ", ".join(counted(count, name.removesuffix("s")) for name, count in counts.items())
        summary = f"{numbers} checked, {counted(len(findings), 'finding')}"
        print_verdict(str(directory), findings, summary, checked.verdict)
    if driver:
        note(f"{driver} is at work: state file, task files and Code Index were not compared")
    if checked.unbound:
        why = f"since a run was cut short; `{next_command('run')}` ends it"
        if any(one.code.startswith("journal.") for one in findings):
            why = "as long as the journal is not restored"
        note(f"not proven, {why}: {listed(shown.unbound, _FEW)}")
    if checked.waiting:
        note(f"{counted(len(checked.waiting), 'file')} of a spec that waits for your approval: not bound yet")
    if checked.edited:
        note(
            f"not as released, which is allowed, since the source tree is yours: {listed(shown.edited, _FEW)}"
        )
    if checked.spec_edited:
        takes = next_command("amend" if checked.waiting else "change")
        note(f"SPEC.md was edited after the spec was written from it; `{takes}` updates the spec")
    raise typer.Exit(0 if checked.verdict == "PASS" else 1)


def show_log(
    directory: Directory = Path(),
    lines: Annotated[
        bool, typer.Option("--lines", help="The Wires alone, one a line, as `agent-wire` reads them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Every Wire of a project with its proof."""
    from agent_wire import canonical_json
    from specwright.bootstrap.views import stored_wires
    from specwright.documents.reports import WireLog, WireRow

    if lines and as_json:
        raise InputError("--lines and --json are two forms of one result", remedy="choose one of them")
    rows = stored_wires(directory)
    if as_json:
        present(WireLog(wires=[WireRow(**row) for row in rows]), as_json=True)
    elif not rows and not lines:
        say("The log holds no Wires.")
    for row in [] if as_json else rows:
        number, wire = row["hcs"]["sequence_number"], row["wire"]
        if lines:
            typer.echo(canonical_json.canonical(wire).decode())
        else:
            about = [
                wire["payload"].get(key, "") for key in ("subject", "gate", "verdict", "reference", "model")
            ]
            told = f"{number:>5}  {wire['ts']}  {wire['type']:<16} {wire['stream']['stream_id']}"
            say(" ".join([f"{told:<68}", *filter(None, [*about, wire["sender"]])]))


def verify_log(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Is the log what was written?

    The chain of hashes is recomputed: entries that were altered, dropped, swapped, inserted or cut off are named.
    """
    from specwright.bootstrap.views import log_findings
    from specwright.documents.reports import LogVerified

    findings = log_findings(directory)
    if as_json:
        present(LogVerified(intact=not findings, findings=findings), as_json=True)
    else:
        for row in findings[:_FINDINGS_SHOWN]:
            say(f"{row['sequence_number'] or '-':>5}  {row['code']}  {row['message']}")
        if len(findings) > _FINDINGS_SHOWN:
            say(f"and {len(findings) - _FINDINGS_SHOWN} more; `--json` has them all")
        say(f"{counted(len(findings), 'finding')}." if findings else "The log is intact.")
    raise typer.Exit(1 if findings else 0)
