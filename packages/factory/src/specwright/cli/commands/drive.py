"""Commands that drive a project: run, approve, reject, amend, release; change and report, which make the next version of a
released product; deprecate (design: command-line, change, deprecation)."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import note
from ship_gate.terminal.program import AsJson
from specwright.bootstrap.spec_file import (
    SPEC_TEMPLATE,
    awaiting_approval,
    read_acceptance_file,
    read_spec,
    spec_changed,
    spec_copy,
    spec_for_run,
)
from specwright.cli.commands import Directory
from specwright.cli.options import choose_store, given_options, settings_for
from specwright.cli.output import ask, note_opening, on_terminal, present
from specwright.documents.commands import OTHER_SPEC, PROJECT, next_command
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.application.stages.status import ProjectStatus
    from specwright.bootstrap.project import Project
    from specwright.cli.runner import Step
    from specwright.domain.modules.code_index import DeprecationRequest

SpecFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The SPEC.md to build, if it is not DIR/SPEC.md.")
]
TaskText = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The product in one sentence, instead of a SPEC.md.")
]
ModelName = Annotated[str, typer.Option(metavar="M", help="provider:model or playbook:DIR.")]
RoleModels = Annotated[
    list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for a role; may be repeated.")
]
BaseUrl = Annotated[str, typer.Option(metavar="URL", help="The address of an OpenAI-compatible server.")]
BudgetTokens = Annotated[
    int | None, typer.Option(metavar="N", help="Pause before a call that may exceed it; 0 for no limit.")
]
BudgetUsd = Annotated[
    float | None, typer.Option(metavar="X", help="The same in US dollars, at published prices.")
]
TaskBudgetTokens = Annotated[int | None, typer.Option(metavar="N", help="A limit in tokens for each task.")]
TaskBudgetUsd = Annotated[
    float | None, typer.Option(metavar="X", help="A limit in US dollars for each task.")
]
StoreAddress = Annotated[
    str, typer.Option("--store", metavar="URL", help="Keep the project in this Postgres database.")
]
Retry = Annotated[
    str,
    typer.Option(
        "--retry", metavar="ROLE", help="Ask a role anew that gave no usable answer; its task runs again."
    ),
]
Sha256 = Annotated[
    str, typer.Option("--sha256", metavar="HASH", help="Only if what waits still has this hash.")
]
"""Of the spec, the escalation or the exception that an answer is about."""
Approve = Annotated[bool, typer.Option("--approve", help="Approve the spec when the gate is reached.")]


def run(
    directory: Directory = Path(),
    spec: SpecFile = None,
    task: TaskText = None,
    model: ModelName = "",
    role_model: RoleModels = None,
    base_url: BaseUrl = "",
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    task_budget_tokens: TaskBudgetTokens = None,
    task_budget_usd: TaskBudgetUsd = None,
    store: StoreAddress = "",
    approve_spec: Approve = False,
    retry: Retry = "",
    as_json: AsJson = False,
) -> None:
    """Build the product, or go on where it stopped.

    It goes to the next stop: the approval of the spec, a question, or the release. Later commands go on with the same
    options. Until the approval an edited SPEC.md is an amendment.
    """
    _check_arguments(directory, spec, retry)
    if store:
        choose_store(directory, store)
    text = spec_for_run(directory, spec, task)
    given = given_options(
        model,
        role_model,
        base_url,
        budget_tokens=budget_tokens,
        budget_usd=budget_usd,
        task_budget_tokens=task_budget_tokens,
        task_budget_usd=task_budget_usd,
    )
    from specwright.bootstrap.run_options import options_for, remember

    options = options_for(directory, given)
    settings = settings_for(directory, options)
    if text == SPEC_TEMPLATE and not settings.scripted:
        raise InputError(
            "SPEC.md is still the template",
            where=str(directory / "SPEC.md"),
            remedy="say in it what the product does, and for whom",
        )
    note_opening(directory)
    from specwright.cli.runner import drive

    def step(project: "Project") -> "ProjectStatus":
        remember(directory, options)
        return project.run(approve=approve_spec, retry=retry)

    asks = not (as_json or approve_spec) and on_terminal()
    drive(directory, settings, text, step, as_json=as_json, asks=asks)


def approve(
    directory: Directory = Path(),
    sha256: Annotated[
        str, typer.Option("--sha256", metavar="HASH", help="Approve only the spec with this hash.")
    ] = "",
    old_spec: Annotated[
        bool, typer.Option("--old-spec", help="Approve what was shown, although SPEC.md was edited since.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Approve the spec that waits at the gate, and go on."""
    _go_on(directory, lambda project: project.approve(sha256, old_spec=old_spec), as_json=as_json)


def reject(
    directory: Directory = Path(),
    reasons: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; the new draft starts over with this.")
    ] = "",
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Reject the spec that waits; it starts over from SPEC.md."""
    require_begun(directory)
    if not reasons.strip() and not _edited(directory):
        raise InputError(
            "a rejection needs its reasons",
            remedy=next_command("reject", directory, '--reasons "why"') + ", or edit SPEC.md",
        )
    if reasons.strip() and _is_scripted(directory):
        note(
            "The answers are scripted: they cannot take a reason into account, so the same draft comes again."
        )
    _go_on(directory, lambda project: project.reject(reasons), sha256, as_json=as_json)


def amend(
    directory: Directory = Path(),
    feedback: Annotated[
        str, typer.Option(metavar="TEXT", help="What to change; the draft goes on from where it is.")
    ] = "",
    decision: Annotated[
        tuple[int, str] | None,
        typer.Option(metavar="N TEXT", help="Overturn a decision that the gate lists: what holds instead."),
    ] = None,
    examples: Annotated[
        Path | None, typer.Option(metavar="FILE", help="`acceptance.md` as you edited it; no model is asked.")
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Take back an amendment that got no answer yet.")
    ] = False,
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Change the spec that waits: by words, SPEC.md or examples."""
    if withdraw:
        if feedback.strip() or decision or examples or sha256:
            raise InputError(
                "--withdraw stands alone", where="amend", remedy="withdraw first, then amend anew"
            )
        require_begun(directory)
        _go_back(directory, "run", lambda project: project.withdraw(), as_json=as_json)
        return
    if decision is not None and not decision[1].strip():
        raise InputError(
            "--decision says nothing of what holds instead",
            remedy=next_command("amend", directory, f'--decision {decision[0]} "what holds instead"'),
        )
    if examples is not None:
        if feedback.strip() or decision:
            raise InputError("give words or --examples, one after the other", where="amend")
        text = read_acceptance_file(examples)
        _go_on(
            directory, lambda project: project.amend_examples(text, str(examples)), sha256, as_json=as_json
        )
        return
    if not (feedback.strip() or decision or _edited(directory)) and awaiting_approval(directory):
        raise InputError(
            "an amendment needs its feedback",
            remedy=next_command("amend", directory, '--feedback "what to change"') + ", or edit SPEC.md",
        )
    _go_on(directory, lambda project: project.amend(feedback, decision), sha256, as_json=as_json)


def _go_back(directory: Path, command: str, step: "Step", *, as_json: bool) -> None:
    """Go back to the spec that was shown before, or to the last release; `command` goes on after an interruption."""
    note_opening(directory)
    from specwright.cli.runner import step_without_models

    step_without_models(directory, command, step, as_json=as_json)


def release(
    directory: Directory = Path(),
    module: Annotated[
        list[str] | None,
        typer.Option(metavar="MM-ID@VERSION", help="May be repeated; everything if left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Release again what is shipped, as one wheel that was tried."""
    note_opening(directory)
    from specwright.cli import runner

    runner.release(directory, tuple(module or ()), as_json=as_json)


def _go_on(directory: Path, step: "Step", sha256: str = "", *, as_json: bool) -> None:
    """Have the project whose spec waits take a step; with a hash only if that is the spec's."""
    require_begun(directory)
    note_opening(directory)
    from specwright.cli.runner import resume

    resume(directory, step, as_json=as_json, sha256=sha256)


def require_begun(directory: Path) -> None:
    """Refuse a directory in which no run has begun, so that no answer is waited for."""
    if not spec_copy(directory).exists:
        raise InputError(
            "no run has begun here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` begins one",
        )


def _is_scripted(directory: Path) -> bool:
    """Whether a playbook answers for the researcher."""
    from specwright.bootstrap.run_options import options_for
    from specwright.settings import SCRIPTED

    return settings_for(directory, options_for(directory)).model_of("researcher").startswith(SCRIPTED)


def _edited(directory: Path) -> bool:
    """Whether SPEC.md differs from the one that the run began with."""
    copy = spec_copy(directory)
    return copy.exists and spec_changed(directory, copy)


def _check_arguments(directory: Path, spec: Path | None, role: str) -> None:
    if spec is None:
        _require_directory(directory)
    from specwright.ports import Role

    if role and role not in set(Role):
        raise InputError(
            f"there is no role {role!r}",
            where="--retry",
            remedy=f"{did_you_mean(role, Role)}roles are: {', '.join(Role)}",
        )


def _require_directory(directory: Path) -> None:
    """Refuse a file in place of the project's directory, as in `run SPEC.md`."""
    if not directory.is_file():
        return
    PROJECT.set(Path())  # the file is none
    here = next_command("run", rest=f"--spec {shlex.quote(str(directory))}")
    raise InputError(
        "the first argument of `run` is the project's directory, and this is a file",
        where=str(directory),
        remedy=f"`{here}` builds it here, `{next_command('run DIR', rest='--spec ...')}` in DIR",
    )


def change(
    directory: Directory = Path(),
    request: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What is to change, in a sentence.")
    ] = None,
    abandon: Annotated[bool, typer.Option("--abandon", help="Give up the change that is under way.")] = False,
    sha256: Sha256 = "",
    as_json: AsJson = False,
) -> None:
    """Change a released product, by SPEC.md or in a sentence.

    What a person approves then is built again and released as the next version; everything else stays as it is. A
    change that is given up leads back to the last release.
    """
    if abandon:
        if request is not None:
            raise InputError(
                "--abandon and --request exclude each other",
                remedy="give up the change that is under way first, then ask for another one",
            )
        _go_back(directory, "status", lambda project: project.abandon(sha256), as_json=as_json)
        return
    if request is not None and not request.strip():
        raise InputError("--request is empty", remedy=next_command("change", directory, OTHER_SPEC))
    copy, original = spec_copy(directory), directory / "SPEC.md"
    if not copy.exists:
        raise InputError(
            "there is no product here to change",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` builds one",
        )
    before = copy.text()
    text = read_spec(original) if os.path.lexists(original) else before
    note_opening(directory)
    from specwright.cli.runner import resume

    asked = (request or "").strip()
    resume(directory, lambda project: project.change(asked, before, text), as_json=as_json, spec_text=text)


def report(
    module: Annotated[
        str, typer.Argument(metavar="MODULE", help="The module's name, MM-ID or MM-ID@VERSION.")
    ],
    directory: Directory = Path(),
    example: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One example, written as in a module's examples.md.")
    ] = None,
    pointer: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="What the example breaks: a JSON pointer into the contract, `criterion N`, `decision N`; `?` lists them.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Report a bug of a released module by an example.

    The example is run against the sealed module. If it fails and breaks the statement of the contract or the criterion
    that --pointer names, the module is repaired, and must give the example for ever. Without --pointer it becomes a change
    request. `--pointer "?"`, with an example or without, lists what can be named, and nothing else is done.
    """
    if example is None:
        _show_statements(directory, module, pointer, as_json=as_json)
        return
    note_opening(directory)
    from specwright.cli import runner

    runner.report(directory, module, example, pointer, as_json=as_json)


def _show_statements(directory: Path, module: str, pointer: str, *, as_json: bool) -> None:
    """What a report of a module may point at."""
    if pointer != "?":
        listing = next_command(f"report {module}", directory, '--pointer "?"')
        raise InputError(
            "a report needs its example",
            where="--example FILE",
            remedy=f"write the call and the value that it should give; `{listing}` lists what it may break",
        )
    from specwright.bootstrap.views import reading_project
    from specwright.cli.pages.modules import statements_page
    from specwright.documents.reports import Statements

    with reading_project(directory) as view:
        shown = Statements.of(view, module)
    present(shown, statements_page, as_json=as_json)


def deprecate(
    module: Annotated[
        str, typer.Argument(metavar="MODULE", help="MM-ID@VERSION, or the newest one by MM-ID or name.")
    ],
    directory: Directory = Path(),
    *,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why it is not to be used any more.")],
    migration_note: Annotated[
        str, typer.Option(metavar="TEXT", help="What those that use it do instead; needed unless --undo.")
    ] = "",
    replacement: Annotated[
        str, typer.Option(metavar="MM-ID@VERSION", help="The version that takes its place.")
    ] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="It was a mistake: seal the same files as the next version.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")] = False,
    as_json: AsJson = False,
) -> None:
    """Retire a module version: it is no longer offered.

    Searches leave it out from then on, and a release refuses what still depends on it. --undo leads back: the ship gate
    judges the same files again and seals them as the next version, and so it does with the modules that call them. The
    next `specwright release` has them.
    """
    from specwright.cli import runner

    asked = _request(module, reason, reason if undo else migration_note, replacement, directory)
    if on_terminal() and not (undo or yes or as_json):
        question = f"{asked.module_ref} is retired, and no release has it or what uses it. Type yes: "
        if (ask(question) or "").lower() != "yes":
            note("Nothing was retired.")
            raise typer.Exit(3)
    runner.deprecate(directory, asked, undo=undo, as_json=as_json)


def _request(
    module: str, reason: str, migration_note: str, replacement: str, directory: Path
) -> "DeprecationRequest":
    from pydantic import ValidationError

    from ship_gate.base.record import validation_messages
    from specwright.bootstrap.views import reading_project
    from specwright.documents.modules import sealed_module
    from specwright.domain.modules.code_index import DeprecationRequest

    with reading_project(directory) as view:
        ref, later = (sealed_module(view, one, directory) if one else None for one in (module, replacement))
    try:
        return DeprecationRequest(
            module_ref=ref or "", reason=reason, migration_note=migration_note, replacement=later
        )
    except ValidationError as error:
        said = "; ".join(validation_messages(error)).replace("Value error, ", "")
        raise InputError(said, where="--reason, --migration-note", remedy="say it in a sentence") from error
