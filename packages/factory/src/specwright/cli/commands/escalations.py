"""`specwright escalations`: what waits for a person, and for one of them everything that helps to decide.
`specwright resolve`: the answer to one (design: escalation, command-line)."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ship_gate.terminal.output import listed, note, show, show_json
from ship_gate.terminal.program import AsJson
from specwright.bootstrap.spec_file import spec_copy
from specwright.cli.commands import Directory, found_project
from specwright.cli.commands.drive import Sha256
from specwright.cli.session.human_answer import AnswerOptions, answer_of, stored_escalation
from specwright.cli.terminal.output import ask, next_command, on_terminal
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import ProjectView
    from specwright.application.stages.status import ProjectStatus
    from specwright.bootstrap.project import Project
    from specwright.domain.escalation import EscalationArtifact, HumanResolution

_IdAndDirectory = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ESC-ID] [DIR]",
        help="One escalation in full; the project's directory, the nearest one if left out.",
    ),
]


Draft = Annotated[
    str, typer.Option("--draft", metavar="ACTION", help="Print only the payload of this answer, to fill in.")
]
Checkout = Annotated[
    Path | None,
    typer.Option(
        "--checkout", metavar="NEW_DIR", help="Lay out the failed module's last draft there, to be mended."
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Also the modules, the debates and the raw answers.")]
Payload = Annotated[
    str,
    typer.Option(
        "--payload", metavar="FILE.json", help="The fields that the action needs; - reads standard input."
    ),
]
MendedFiles = Annotated[
    Path | None,
    typer.Option(
        "--files",
        metavar="MODULE_DIR",
        help="The mended files of PROVIDE_FIX, as --checkout laid them out.",
    ),
]
Rationale = Annotated[
    str,
    typer.Option(
        "--rationale", metavar="TEXT", help="Why, for the actions that need no more; what a fix does."
    ),
]
Edit = Annotated[bool, typer.Option("--edit", help="Write the answer into a draft in $EDITOR.")]
Unchecked = Annotated[
    bool,
    typer.Option(
        "--unchecked",
        help="Record a PROVIDE_FIX without having the gate judge its files before it is used up.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Give a task up without being asked whether you mean it.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (escalations, resolve):
        app.command()(command)


def escalations(
    words: _IdAndDirectory = None,
    draft: Draft = "",
    checkout: Checkout = None,
    full: Full = False,
    as_json: AsJson = False,
) -> None:
    """What waits for a person, and the command that answers it.

    \b
    specwright escalations ESC-ID DIR --draft AMEND_SPEC > answer.json
    specwright escalations ESC-ID DIR --checkout fix
    """
    from ship_gate.terminal.page import Page
    from specwright.application.escalation.summary import escalations_waiting
    from specwright.bootstrap.views.reading import reading_project
    from specwright.cli.pages import answers
    from specwright.cli.pages import escalation as pages
    from specwright.cli.pages.escalation_record import full_page

    wanted, directory = _id_and_directory(words or [])
    if (draft or checkout) and not wanted:
        option = "--draft" if draft else "--checkout"
        raise InputError(
            f"{option} needs an ESC-ID", remedy=f"`{next_command('escalations', directory)}` lists them"
        )
    with reading_project(directory) as view:
        chosen = [stored_escalation(view, wanted, directory)] if wanted else escalations_waiting(view)
        if draft:
            show_json(answers.draft(view, chosen[0], draft))
            return
        if checkout:
            _check_out(view, chosen[0], directory, checkout, as_json=as_json)
            return
        if as_json:
            documents = [pages.escalation_document(view, one, directory) for one in chosen]
            if wanted:
                show(documents[0], "escalation")
            else:
                show({"escalations": documents}, "escalations")
            return
        if not chosen:
            note(f"Nothing waits for you here. {_what_next(view, directory)}")
        one_page = full_page if full else pages.escalation_page
        page = one_page(view, chosen[0], directory) if wanted else Page()
        for number, one in enumerate([] if wanted else chosen):
            if number:
                page.line()
            pages.add_short_page(page, view, one, directory)
    page.print()


def _what_next(view: "ProjectView", directory: Path) -> str:
    """The next useful command where no escalation waits."""
    from specwright.application.stages.status import ProjectStatus, project_status
    from specwright.bootstrap.views.reading import driven_by
    from specwright.cli.pages.answers import OTHER_SPEC

    status = project_status(view)
    if driven_by(directory):
        return f"A run is at work; `{next_command('status', directory)}` shows it."
    if status is ProjectStatus.APPROVAL:
        reading, accepting = next_command("status", directory), next_command("approve", directory)
        return f"The spec does: `{reading}` shows it, `{accepting}` accepts it."
    if status is ProjectStatus.RELEASED:
        return f"The product is released; `{next_command('change', directory, OTHER_SPEC)}` makes its next version."
    if status is ProjectStatus.RELEASE_FAILED:
        return f"The release failed; `{next_command('status', directory)}` says why."
    if status.is_between_stops:
        return f"`{next_command('run', directory)}` goes on."
    return f"`{next_command('status', directory)}` says what comes next."


def _check_out(
    view: "ProjectView", escalation: "EscalationArtifact", directory: Path, place: Path, *, as_json: bool
) -> None:
    """Lay out failed modules, and say what to type when they are mended."""
    from ship_gate.terminal.page import Page, present
    from specwright.bootstrap.fix import check_out
    from specwright.cli.pages.answers import gate_command

    page, laid_out = Page(), check_out(view, escalation, directory, place)
    name = escalation.escalation_id
    for module, (below, contract) in laid_out.items():
        page.prose(f"The last draft of {module} lies in {below}. Mend it, then:")
        page.line(f"  {gate_command(view, contract, below)}")
        what = f'--files {shlex.quote(str(below))} --rationale "what it does"'
        page.line(f"  {next_command(f'resolve {name} PROVIDE_FIX', directory, what)}")
    document = {
        "escalation_id": name,
        "modules": {module: str(path) for module, (path, _) in laid_out.items()},
    }
    present({**document, "exit_code": 0}, "checkout", page, as_json=as_json)


def resolve(
    escalation: Annotated[
        str, typer.Argument(metavar="ESC-ID", help="As `specwright escalations` lists it.")
    ],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do about it.")],
    directory: Directory = Path(),
    payload: Payload = "",
    files: MendedFiles = None,
    rationale: Rationale = "",
    edit: Edit = False,
    yes: Yes = False,
    unchecked: Unchecked = False,
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Answer an escalation, and go on.

    \b
    RETRY             nothing; the task runs again as it is
    ABANDON_TASK      --rationale TEXT
    ACCEPT_UNSHOWN, DROP_CRITERION   --rationale TEXT
    APPROVE_OVERRIDE  --rationale TEXT; with several failed modules a payload
    PROVIDE_FIX       --files MODULE_DIR --rationale TEXT; the gate judges them
                      before the answer counts
    ATTEST_SHIPPED, AMEND_SPEC, SPLIT_TASK, REVISE_PLAN, REWORD_CRITERION
                      --payload FILE.json

    \b
    In a terminal what is missing is asked for; --edit opens a draft. Elsewhere:
    specwright escalations ESC-ID DIR --draft ACTION > answer.json
    """
    _check_order(escalation, action)
    if not spec_copy(directory).exists:
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` begins one",
        )
    given = AnswerOptions(payload, files, rationale, edit, on_terminal() and not as_json)
    resolution = _answer(directory, escalation, action, given)
    if (
        resolution.action == "ABANDON_TASK"
        and on_terminal()
        and not (yes or _means_it(directory, escalation))
    ):
        note("Nothing was given up; the escalation waits on.")
        raise typer.Exit(3)
    _resume(directory, resolution, sha256, unchecked=unchecked, as_json=as_json)


def _resume(
    directory: Path, resolution: "HumanResolution", sha256: str, *, unchecked: bool, as_json: bool
) -> None:
    """Go on with an answer; with a hash only if that is the escalation's."""
    from specwright.application.interface_change import require_shown
    from specwright.cli.session.runner import resume

    def step(project: "Project") -> "ProjectStatus":
        require_shown(project.factory, sha256, resolution.escalation_id)
        return project.resolve(resolution, unchecked=unchecked)

    resume(directory, step, as_json=as_json)


def _check_order(escalation: str, action: str) -> None:
    """Refuse a directory in the place of the id or of the action."""
    if not escalation.upper().startswith("ESC"):
        raise InputError(
            f"the first word is the id of an escalation, which {escalation!r} is not",
            where="specwright resolve",
            remedy="`specwright resolve ESC-ID ACTION DIR`; `specwright escalations DIR` lists the ids",
        )
    if Path(action).is_dir():
        shown = next_command(f"escalations {escalation}", Path(action))
        raise InputError(
            f"no action is given: {action!r} is a directory",
            where="specwright resolve",
            remedy=f"`specwright resolve {escalation} ACTION {shlex.quote(action)}`; `{shown}` shows the actions",
        )


def _answer(directory: Path, escalation: str, action: str, options: AnswerOptions) -> "HumanResolution":
    from specwright.cli.session.questions import NotAnsweredError

    try:
        return answer_of(directory, escalation, action, options)
    except NotAnsweredError:
        note("Nothing was answered; the escalation waits on.")
        raise typer.Exit(3) from None


def _means_it(directory: Path, escalation: str) -> bool:
    """Whether a person at a terminal wants to give a task up; what waits for it is named."""
    from specwright.application.tasks import project_state
    from specwright.bootstrap.views.reading import reading_project
    from specwright.domain.tasks.task_board import TaskBoard

    with reading_project(directory) as view:
        board, record = TaskBoard(project_state(view)), stored_escalation(view, escalation, directory)
        name = board.entry(record.task_id).spec_task_id
        waiting = [board.entry(ref).spec_task_id for ref in board.dependents_of(record.task_id)]
    behind = f"; {listed(waiting)} cannot be built without it" if waiting else ""
    return (ask(f"{name} is given up for good{behind}. Type yes: ") or "").lower() == "yes"


def _id_and_directory(words: list[str]) -> tuple[str, Path]:
    """The escalation, if one is named, and the directory, in either order; the nearest project if none is named."""
    wanted = next((word for word in words[:2] if _names_escalation(word)), "")
    others = [word for word in words if word != wanted]
    if len(others) > 1:
        raise InputError(
            f"{others[1]!r} is one word too many",
            where="specwright escalations",
            remedy="it takes an ESC-ID and a directory; both may be left out",
        )
    return wanted, Path(*others) if others else found_project()


def _names_escalation(word: str) -> bool:
    """Whether a word is meant as an id, perhaps a misspelt one, and not as a directory."""
    return word.upper().startswith("ESC") and not Path(word).is_dir()
