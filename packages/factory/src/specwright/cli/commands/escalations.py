"""`specwright escalations`: what waits for a person, and for one of them everything that helps to decide. `specwright
resolve`: the answer to one. `specwright exceptions`: what roles found wrong with contracts of shipped modules, and the
decisions about it (design: escalation, interface-changes, command-line)."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import listed, note, show_json
from ship_gate.terminal.program import AsJson
from specwright.cli.commands import Directory, found_project
from specwright.cli.commands.drive import Sha256, require_begun
from specwright.cli.output import ask, on_terminal, present
from specwright.documents.commands import OTHER_SPEC, PROJECT, next_command
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.factory import ProjectView
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
        "--checkout", metavar="NEW_DIR", help="Lay out the failed module's last draft there, to be corrected."
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
        help="The corrected files of PROVIDE_FIX, as --checkout laid them out.",
    ),
]
Rationale = Annotated[
    str,
    typer.Option(
        "--rationale", metavar="TEXT", help="Why, for the actions that need no more; what a fix does."
    ),
]
Unchecked = Annotated[
    bool,
    typer.Option(
        "--unchecked",
        help="Record a PROVIDE_FIX without having the gate judge its files before it is used up.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Give a task up without being asked whether you mean it.")]


_Id = Annotated[str, typer.Argument(metavar="ICE-ID", help="As `specwright exceptions list` lists it.")]
_Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why.")]

_NAMES = {"approve": "APPROVE_CHANGE", "reject": "REJECT_CHANGE", "defer": "DEFER"}


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
    from specwright.application.escalation.halted import escalations_waiting
    from specwright.application.history.provenance import debates_over
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.escalation import escalation_page, escalations_page, full_page
    from specwright.documents import needs
    from specwright.documents.needs import Escalation, Escalations

    wanted, directory = _id_and_directory(words or [])
    if (draft or checkout) and not wanted:
        option = "--draft" if draft else "--checkout"
        raise InputError(
            f"{option} needs an ESC-ID", remedy=f"`{next_command('escalations', directory)}` lists them"
        )
    with reading_project(directory) as view:
        if not wanted:
            found = [Escalation.of(view, one, directory) for one in escalations_waiting(view)]
            if not (found or as_json):
                note(f"Nothing waits for you here. {_what_next(view, directory)}")
            present(Escalations(escalations=found), escalations_page, as_json=as_json)
            return
        record = stored_escalation(view, wanted, directory)
        if draft:
            show_json(needs.draft(view, record, draft))
        elif checkout:
            _check_out(view, record, directory, checkout, as_json=as_json)
        else:
            debates = debates_over(view, record.debate_trail.proposals) if full else []
            present(
                Escalation.of(view, record, directory),
                lambda one: full_page(one, debates, directory) if full else escalation_page(one),
                as_json=as_json,
            )


def _what_next(view: "ProjectView", directory: Path) -> str:
    """The next useful command where no escalation waits."""
    from specwright.application.stages.status import ProjectStatus, project_status
    from specwright.bootstrap.views import driven_by

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
    """Lay out failed modules, and say what to type when they are repaired."""
    from ship_gate.terminal.page import Page
    from specwright.bootstrap.gate_answers import check_out
    from specwright.documents.needs import gate_command
    from specwright.documents.reports import Checkout

    page, laid_out = Page(), check_out(view, escalation, directory, place)
    name = escalation.escalation_id
    for module, (below, contract) in laid_out.items():
        page.prose(f"The last draft of {module} lies in {below}. Mend it, then:")
        page.line(f"  {gate_command(view, contract, below)}")
        what = f'--files {shlex.quote(str(below))} --rationale "what it does"'
        page.line(f"  {next_command(f'resolve {name} PROVIDE_FIX', directory, what)}")
    modules = {module: str(path) for module, (path, _) in laid_out.items()}
    present(Checkout(escalation_id=name, modules=modules), lambda _: page, as_json=as_json)


def resolve(
    escalation: Annotated[
        str, typer.Argument(metavar="ESC-ID", help="As `specwright escalations` lists it.")
    ],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do about it.")],
    directory: Directory = Path(),
    payload: Payload = "",
    files: MendedFiles = None,
    rationale: Rationale = "",
    yes: Yes = False,
    unchecked: Unchecked = False,
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Answer an escalation, and go on.

    \b
    RETRY             nothing; the task runs again as it is, or goes on with
                      the corrected examples that its draft has
    ABANDON_TASK      --rationale TEXT
    ACCEPT_UNSHOWN, DROP_CRITERION   --rationale TEXT
    APPROVE_OVERRIDE  --rationale TEXT; with several failed modules a payload
    PROVIDE_FIX       --files MODULE_DIR --rationale TEXT; the gate judges them
                      before the answer counts
    ATTEST_SHIPPED, AMEND_SPEC, SPLIT_TASK, REVISE_PLAN, REWORD_CRITERION
                      --payload FILE.json

    \b
    In a terminal what is missing is asked for, or opened in $EDITOR. Elsewhere:
    specwright escalations ESC-ID DIR --draft ACTION > answer.json
    """
    _check_order(escalation, action)
    require_begun(directory)
    given = AnswerOptions(payload, files, rationale, on_terminal() and not as_json)
    from specwright.cli.questions import NotAnsweredError

    try:
        resolution = answer_of(directory, escalation, action, given)
    except NotAnsweredError:
        note("Nothing was answered; the escalation waits on.")
        raise typer.Exit(3) from None
    if (
        resolution.action.name == "ABANDON_TASK"
        and on_terminal()
        and not (yes or _means_it(directory, escalation))
    ):
        note("Nothing was given up; the escalation waits on.")
        raise typer.Exit(3)
    from specwright.cli.runner import resume

    resume(
        directory,
        lambda project: project.resolve(resolution, unchecked=unchecked),
        as_json=as_json,
        sha256=sha256,
        about=resolution.escalation_id,
    )


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


def _means_it(directory: Path, escalation: str) -> bool:
    """Whether a person at a terminal wants to give a task up; what waits for it is named."""
    from specwright.application.tasks import project_state
    from specwright.bootstrap.views import reading_project
    from specwright.domain.tasks.task_board import TaskBoard

    with reading_project(directory) as view:
        board, record = TaskBoard(project_state(view)), stored_escalation(view, escalation, directory)
        name = board.entry(record.task_id).spec_task_id
        waiting = [board.entry(ref).spec_task_id for ref in board.dependents_of(record.task_id)]
    behind = f"; {listed(waiting)} cannot be built without it" if waiting else ""
    return (ask(f"{name} is given up for good{behind}. Type yes: ") or "").lower() == "yes"


def _id_and_directory(words: list[str]) -> tuple[str, Path]:
    """The escalation, if one is named, and the directory, in either order; the nearest project if none is named."""
    # perhaps a misspelt id, but no directory
    wanted = next((one for one in words[:2] if one.upper().startswith("ESC") and not Path(one).is_dir()), "")
    others = [word for word in words if word != wanted]
    if len(others) > 1:
        raise InputError(
            f"{others[1]!r} is one word too many",
            where="specwright escalations",
            remedy="it takes an ESC-ID and a directory; both may be left out",
        )
    directory = Path(*others) if others else found_project()
    PROJECT.set(directory)
    return wanted, directory


def list_exceptions(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every interface change exception, with the change that it proposes and what was decided."""
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.modules import exceptions_page
    from specwright.documents.reports import Exceptions

    with reading_project(directory) as view:
        shown = Exceptions.of(view)
    present(shown, exceptions_page, as_json=as_json)


def approve(
    exception: _Id,
    directory: Directory = Path(),
    reason: _Reason = "",
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Have the change debated, made and judged; then what uses the module follows, and the task runs again.

    If nothing is agreed, the task stays halted and you decide again.
    """
    _decide(exception, "approve", reason, directory, sha256, requeue=False, as_json=as_json)


def reject(
    exception: _Id,
    directory: Directory = Path(),
    reason: _Reason = "",
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Run the task again, without the change.")
    ] = False,
    hold: Annotated[bool, typer.Option("--hold", help="Leave the task halted for another answer.")] = False,
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """The contract stays as it is; the task runs again or stays halted."""
    if requeue == hold:
        raise InputError(
            "a rejection says what becomes of the task: --requeue or --hold",
            where=exception,
            remedy="--requeue runs it again without the change; --hold leaves it halted for another answer",
        )
    _decide(exception, "reject", reason, directory, sha256, requeue=requeue, as_json=as_json)


def defer(
    exception: _Id,
    directory: Directory = Path(),
    reason: _Reason = "",
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Decide later; the task stays halted."""
    _decide(exception, "defer", reason, directory, sha256, requeue=False, as_json=as_json)


def _decide(
    exception: str, name: str, reason: str, directory: Path, sha256: str, *, requeue: bool, as_json: bool
) -> None:
    from pydantic import ValidationError

    from ship_gate.base.record import validation_messages
    from specwright.domain.interface_change import Decision, DecisionRequest

    require_begun(directory)
    try:
        request = DecisionRequest(
            exception_id=exception, decision=Decision(_NAMES[name]), reason=reason.strip(), requeue=requeue
        )
    except ValidationError as error:
        said = [
            line.partition(", got ")[0].removeprefix("(whole): Value error, ")
            for line in validation_messages(error)
        ]
        raise InputError(
            "; ".join(said), where=exception, remedy=f'specwright exceptions {name} ICE-ID DIR --reason "..."'
        ) from error
    from specwright.cli.runner import resume

    about = request.exception_id
    resume(directory, lambda project: project.decide(request), as_json=as_json, sha256=sha256, about=about)


_LARGEST_PAYLOAD = 4_000_000
"""Bytes; a fix carries whole files."""

_REASON_ALONE = ("ABANDON_TASK", "APPROVE_OVERRIDE", "ACCEPT_UNSHOWN", "DROP_CRITERION")


class AnswerOptions(NamedTuple):
    """What the options of `resolve` give.

    Args:
        payload: A file with the fields of the answer, `-` for standard input; empty if there is none.
        files: The directory of a corrected module.
        rationale: Why, or what a fix does.
        asks: Whether a person can be asked.
    """

    payload: str = ""
    files: Path | None = None
    rationale: str = ""
    asks: bool = False


def answer_of(directory: Path, escalation: str, action: str, options: AnswerOptions) -> "HumanResolution":
    """The answer that a command line gives.

    Raises:
        InputError: it is none: what is wrong, and what to type.
        NotAnsweredError: a person who was asked ended the questions.
    """
    action = _known_action(directory, escalation, action)
    if options.files:
        return _fix(directory, escalation, action, options.files, options.rationale)
    drafted = action == "RETRY" and not options.payload
    if drafted or (options.asks and not (options.payload or options.rationale)):
        return _from_person(directory, escalation, action, options.rationale)
    draft = _draft_to_fill_in(directory, escalation, action)
    fields = _read(options.payload, draft) if options.payload else {}
    return _resolution(directory, escalation, action, fields, options.payload, options.rationale)


def _from_person(directory: Path, escalation: str, action: str, rationale: str) -> "HumanResolution":
    """The answer that a person gives to questions, or writes into a draft; RETRY as it is drafted."""
    from specwright.bootstrap.views import reading_project
    from specwright.cli.questions import asked, edited
    from specwright.documents.needs import FIX, draft

    with reading_project(directory) as view:
        record = stored_escalation(view, escalation, directory)
        payload = draft(view, record, action)

    def read(fields: dict[str, Any]) -> "HumanResolution":
        return _resolution(directory, escalation, action, fields, action, rationale)

    def read_files(fields: dict[str, Any]) -> "HumanResolution":
        return _fix(directory, escalation, action, Path(fields["directory"]), fields["description"])

    if "fix_artifacts" in payload:
        return asked({"directory": FIX, "description": "..."}, read_files)
    if action == "RETRY":
        return read(payload)
    by_text = all(isinstance(value, str) for value in payload.values())
    return asked(payload, read) if by_text else edited(payload, read)


def _fix(directory: Path, escalation: str, action: str, files: Path, description: str) -> "HumanResolution":
    """The answer that brings corrected files."""
    from specwright.bootstrap.gate_answers import read_fix
    from specwright.bootstrap.views import reading_project

    if action != "PROVIDE_FIX":
        raise InputError("--files belongs to PROVIDE_FIX", where=action, remedy="leave it out")
    if not description.strip():
        raise InputError("a fix needs a word on what it does", remedy='say it: --rationale "..."')
    with reading_project(directory) as view:
        fields = read_fix(view, stored_escalation(view, escalation, directory), files, description)
    return _resolution(directory, escalation, action, fields, str(files))


def _known_action(directory: Path, escalation: str, typed: str) -> str:
    """The action that was typed; what is none is refused, and those that can help this escalation are named."""
    from specwright.bootstrap.views import reading_project
    from specwright.documents.needs import draft
    from specwright.domain.escalation import Action

    action = typed.upper().replace("-", "_")
    if action not in set(Action):
        with reading_project(directory) as view:
            draft(view, stored_escalation(view, escalation, directory), action)
    return action


def _resolution(
    directory: Path, escalation: str, action: str, fields: dict[str, Any], where: str, rationale: str = ""
) -> "HumanResolution":
    from pydantic import ValidationError

    from ship_gate.base.record import validation_messages
    from specwright.domain.escalation import Action, HumanResolution

    if rationale:
        fields = {**fields, "rationale": rationale}
    try:
        return HumanResolution(action=Action(action), payload=fields, escalation_id=escalation)
    except ValidationError as error:
        raise InputError(
            "; ".join(_without_value(line) for line in validation_messages(error)),
            where=where or action,
            remedy=_what_to_type(directory, escalation, action, fields),
        ) from error


def _what_to_type(directory: Path, escalation: str, action: str, fields: dict[str, Any]) -> str:
    if action in _REASON_ALONE and not fields:
        return 'say why: --rationale "..."'
    return _draft_to_fill_in(directory, escalation, action)


def _draft_to_fill_in(directory: Path, escalation: str, action: str) -> str:
    drafting = next_command(f"escalations {escalation}", directory, f"--draft {action}")
    return f"`{drafting}` prints what to fill in"


def _without_value(line: str) -> str:
    """A message without the prefixes of the validation and the value, which is the whole payload."""
    return line.removeprefix("(whole): ").removeprefix("Value error, ").rpartition(", got {")[0] or line


def _read(payload: str, draft: str) -> dict[str, Any]:
    """The fields in a file; `draft` says where one to fill in comes from."""
    try:
        data = sys.stdin.buffer.read(_LARGEST_PAYLOAD + 1) if payload == "-" else Path(payload).read_bytes()
    except OSError as error:
        raise InputError(
            f"the payload cannot be read: {error.strerror}", where=payload, remedy=draft
        ) from error
    if len(data) > _LARGEST_PAYLOAD:
        raise InputError(f"the payload is longer than {_LARGEST_PAYLOAD:,} bytes", where=payload)
    if not data.strip():
        raise InputError("the payload is empty", where=payload, remedy=draft)
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the payload is no JSON: {error}", where=payload, remedy=draft) from error
    if not isinstance(fields, dict):
        raise InputError("the payload is no JSON object", where=payload, remedy=draft)
    return cast("dict[str, Any]", fields)


def stored_escalation(view: "ProjectView", wanted: str, directory: Path) -> "EscalationArtifact":
    """The record of an escalation.

    Raises:
        InputError: there is none of that id.
    """
    if Path(wanted).name != wanted or not view.escalations.exists(wanted):
        raise InputError(
            f"there is no escalation {wanted}",
            where=str(directory),
            remedy=did_you_mean(wanted, view.escalations.ids())
            + f"`{next_command('escalations', directory)}` lists those that wait",
        )
    return view.escalations.escalation(wanted)
