"""`specwright exceptions`: what roles found wrong with contracts of shipped modules, and the decisions about it (design:
interface-changes, command-line)."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ship_gate.terminal.program import AsJson
from specwright.bootstrap.spec_file import spec_copy
from specwright.cli.commands import Directory
from specwright.cli.commands.drive import Sha256
from specwright.cli.terminal.output import next_command
from specwright.errors import InputError

if TYPE_CHECKING:
    from ship_gate.terminal.page import Page
    from specwright.application.factory import ProjectView
    from specwright.application.interface_change import KnownException
    from specwright.application.stages.status import ProjectStatus
    from specwright.bootstrap.project import Project

_Id = Annotated[str, typer.Argument(metavar="ICE-ID", help="As `specwright exceptions list` lists it.")]
_Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why.")]

_NAMES = {"approve": "APPROVE_CHANGE", "reject": "REJECT_CHANGE", "defer": "DEFER"}


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(
        help="What roles found wrong with shipped contracts; answer it.",
        no_args_is_help=True,
    )
    group.command(name="list")(list_)
    group.command()(approve)
    group.command()(reject)
    group.command()(defer)
    app.add_typer(group, name="exceptions")


def list_(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Every interface change exception, with the change that it proposes and what was decided."""
    from ship_gate.terminal.page import present
    from specwright.application.interface_change import exceptions
    from specwright.bootstrap.views.reading import reading_project

    with reading_project(directory) as view:
        known, document = [*exceptions(view)], exceptions_document(view)
    present(document, "exceptions", _page(known, directory), as_json=as_json)


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

    if not spec_copy(directory).exists:
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` begins one",
        )
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
    from specwright.application.interface_change import require_shown
    from specwright.cli.session.runner import resume

    def step(project: "Project") -> "ProjectStatus":
        require_shown(project.factory, sha256, request.exception_id)
        return project.decide(request)

    resume(directory, step, as_json=as_json)


def exceptions_document(view: "ProjectView") -> dict[str, Any]:
    """Every interface change exception, with what was decided and the hash of what a person is shown."""
    from specwright.application.interface_change import exceptions, shown_sha256

    rows = [
        {
            **known.record.to_json(),
            "status": known.status.value,
            "sha256": shown_sha256(view, known.record.exception_id),
            "escalation": known.escalation,
            "decisions": [decision.to_json() for decision in known.decisions],
            "outcomes": [outcome.to_json() for outcome in known.outcomes],
        }
        for known in exceptions(view)
    ]
    return {"exceptions": rows}


def _page(known: "list[KnownException]", directory: Path) -> "Page":
    from ship_gate.terminal.page import Page

    page = Page()
    for one in known:
        record = one.record
        page.heading(f"{record.exception_id}  {one.status}  against {record.target_module}")
        page.row("raised by", f"{record.raised_by.role} at {record.raised_by.run_id}")
        page.row("type", f"{record.type}, {record.urgency}, {record.compatibility_expectation}")
        page.row("reason", record.reason)
        for said in record.evidence:
            page.row("evidence", said)
        for field, value in record.proposed_contract_delta.to_json().items():
            if value:
                page.row(field.replace("_", " "), str(value))
        for decision in one.decisions:
            page.row("decided", f"{decision.decided_at}: {decision.decision} {decision.reason}".strip())
        for outcome in one.outcomes:
            made = outcome.version.module_ref if outcome.version else ""
            page.row("outcome", f"{outcome.resolved_at}: {outcome.reason or made}")
        if one.escalation:
            page.copy("answer", next_command(f"exceptions approve {record.exception_id}", directory))
            page.copy("whole page", next_command(f"escalations {one.escalation}", directory))
    if not known:
        page.line("No role has found the contract of a shipped module wrong.")
    return page
