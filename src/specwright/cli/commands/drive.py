"""Commands that drive a project: init, run, approve, reject, amend, release (design: command-line)."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specwright.atomic_write import write_atomically
from specwright.bootstrap.spec_file import SPEC_TEMPLATE, spec_copy, spec_for_run
from specwright.cli.commands import AsJson, Directory
from specwright.cli.session.options import options_for, remember, scripted_models, settings_for
from specwright.cli.terminal.output import next_command, on_terminal, say, show
from specwright.errors import InputError, RefusedError

if TYPE_CHECKING:
    from specwright.application.stages.status import ProjectStatus
    from specwright.bootstrap.project import Project
    from specwright.cli.session.runner import Step

SETTINGS_TEMPLATE = """\
# Which model answers: provider:model. The key comes from the provider's own variable.
# model = "openai:gpt-5"                  # OPENAI_API_KEY
# model = "anthropic:claude-sonnet-4-5"   # ANTHROPIC_API_KEY
#
# A local server that speaks the OpenAI protocol:
# model = "openai:NAME"
# base_url = "http://127.0.0.1:11434/v1"

# Another model for a role (researcher, planner, proposer, challenger, arbiter):
# [role_models]
# challenger = "anthropic:claude-sonnet-4-5"

# Models that answer instead when a role's model fails for good, for one role or for all:
# [fallback_models]
# all = ["openai:gpt-5-mini"]

# What a provider is asked at most:
# [limits.openai]
# requests_per_minute = 60
# tokens_per_minute = 200_000
# concurrent_requests = 4
"""

_TEMPLATES = {"SPEC.md": SPEC_TEMPLATE, "specwright.toml": SETTINGS_TEMPLATE}


SpecFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The SPEC.md to build, if it lies elsewhere.")
]
TaskText = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The product in one sentence, instead of a SPEC.md.")
]
ModelName = Annotated[str, typer.Option(metavar="M", help="provider:model, playbook:DIR or replay:FILE.")]
RoleModels = Annotated[
    list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for a role; may be repeated.")
]
FallbackModels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[ROLE=]M", help="Answers when the model fails for good; may be repeated, in this order."
    ),
]
BaseUrl = Annotated[str, typer.Option(metavar="URL", help="Of an OpenAI-compatible server.")]
BudgetTokens = Annotated[
    int | None, typer.Option(metavar="N", help="Pause before a call that may exceed it; 0 for no limit.")
]
BudgetUsd = Annotated[
    float | None, typer.Option(metavar="X", help="The same in US dollars, at published prices.")
]
TaskBudgetTokens = Annotated[int | None, typer.Option(metavar="N", help="What each task may take.")]
TaskBudgetUsd = Annotated[float | None, typer.Option(metavar="X", help="The same in US dollars.")]
Approve = Annotated[bool, typer.Option("--approve", help="Approve the spec when the gate is reached.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (init, run, approve, reject, amend, release):
        app.command()(command)


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put the project.")],
    as_json: AsJson = False,
) -> None:
    """Begin a project: SPEC.md to fill in, and specwright.toml."""
    made: list[str] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in _TEMPLATES.items():
            if not os.path.lexists(directory / name):
                write_atomically(directory / name, text.encode())
                made.append(name)
    except OSError as error:
        raise InputError(
            f"the project cannot be made: {error.strerror}",
            where=str(directory),
            remedy="name another place, or mend its rights",
        ) from error
    kept = [name for name in _TEMPLATES if name not in made]
    if as_json:
        show({"directory": str(directory), "made": made, "kept": kept, "exit_code": 0})
        return
    for name in made:
        say(f"made  {directory / name}")
    for name in kept:
        say(f"kept  {directory / name} (it was there)")
    say(f"Next:   fill in {directory / 'SPEC.md'} and choose a model in {directory / 'specwright.toml'}")
    say(f"Then:   {next_command('run', directory)}")


def run(
    directory: Directory = Path(),
    spec: SpecFile = None,
    task: TaskText = None,
    model: ModelName = "",
    role_model: RoleModels = None,
    fallback_model: FallbackModels = None,
    base_url: BaseUrl = "",
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    task_budget_tokens: TaskBudgetTokens = None,
    task_budget_usd: TaskBudgetUsd = None,
    approve_spec: Approve = False,
    as_json: AsJson = False,
) -> None:
    """Build the product, or go on where it stopped.

    It goes to the next stop: the approval of the spec, a question, or the release. The options are remembered: a
    later `run`, `approve` or `amend` goes on with the same model.
    """
    text = spec_for_run(directory, spec, task)
    budgets: dict[str, float | None] = {
        "budget_tokens": budget_tokens,
        "budget_usd": budget_usd,
        "task_budget_tokens": task_budget_tokens,
        "task_budget_usd": task_budget_usd,
    }
    options = options_for(directory, model, role_model or [], base_url, budgets, fallback_model or [])
    settings = settings_for(directory, options)
    scripted = scripted_models(settings)
    if text == SPEC_TEMPLATE and not scripted:
        raise InputError(
            "SPEC.md is still the template",
            where=str(directory / "SPEC.md"),
            remedy="say in it what the product does, and for whom",
        )
    options = options._replace(scripted=options.scripted or scripted)
    from specwright.cli.session.runner import drive

    def step(project: "Project") -> "ProjectStatus":
        remember(directory, options)
        return project.run(approve=approve_spec)

    asks = not as_json and not approve_spec and on_terminal()
    drive(directory, settings, text, step, scripted=options.scripted, as_json=as_json, asks=asks)


def approve(
    directory: Directory = Path(),
    sha256: Annotated[
        str, typer.Option("--sha256", metavar="HASH", help="Only if this is the spec that waits.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Approve the spec that waits at the gate, and go on."""
    _go_on(directory, lambda project: project.approve(sha256), as_json=as_json)


def reject(
    directory: Directory = Path(),
    reasons: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; the new draft starts over with this.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Reject the spec that waits; it starts over from SPEC.md."""
    if not reasons.strip():
        raise InputError(
            "a rejection needs its reasons", remedy=next_command("reject", directory, '--reasons "why"')
        )
    _go_on(directory, lambda project: project.reject(reasons), as_json=as_json)


def amend(
    directory: Directory = Path(),
    feedback: Annotated[
        str, typer.Option(metavar="TEXT", help="What to change; the draft goes on from where it is.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Ask for changes to the spec that waits at the gate."""
    if not feedback.strip():
        raise InputError(
            "an amendment needs its feedback",
            remedy=next_command("amend", directory, '--feedback "what to change"'),
        )
    _go_on(directory, lambda project: project.amend(feedback), as_json=as_json)


def release(
    directory: Directory = Path(),
    module: Annotated[
        list[str] | None,
        typer.Option(metavar="MM-ID@VERSION", help="May be repeated; everything if left out."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Release again what is shipped, as one wheel that was tried."""
    from specwright.cli.session import runner
    from specwright.settings import load_settings

    runner.release(directory, load_settings(directory), tuple(module or ()), as_json=as_json)


def _go_on(directory: Path, step: "Step", *, as_json: bool) -> None:
    """Have the project whose spec waits take a step."""
    if not spec_copy(directory).is_file():
        raise RefusedError(
            "no spec waits for approval here",
            where=str(directory),
            remedy=f"`{next_command('run', directory)}` makes one",
        )
    from specwright.cli.session.runner import resume

    resume(directory, step, as_json=as_json)
