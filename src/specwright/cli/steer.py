"""Commands that drive a project: init, run, approve, reject, amend, release (DESIGN §9)."""

from pathlib import Path
from typing import Annotated

import typer

from specwright.cli.project_files import Options, last_options, remember, settings_for, settle
from specwright.errors import InputError, RefusedError

__all__ = ["register"]

Directory = Annotated[Path, typer.Argument(help="The project's directory.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]

SPEC_TEMPLATE = """\
# Name of the product

One paragraph: what it is, and for whom.

## What it does

- One behaviour per line, with an example of what goes in and what comes out.

## Constraints

- What it must never do; limits; formats.

## Out of scope

- What it does not do.
"""

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
"""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (init, run, approve, reject, amend, release):
        app.command()(command)


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where the project shall live.")],
) -> None:
    """Begin a project: a SPEC.md to fill in, and its settings."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        made = [_write_new(directory / name, text) for name, text in _TEMPLATES.items()]
    except OSError as error:
        raise InputError(
            f"the directory cannot be made: {error.strerror}",
            where=str(directory),
            remedy="name another place",
        ) from error
    for line in made:
        typer.echo(line)
    typer.echo(f"Next: fill in {directory / 'SPEC.md'}, then `specwright run {directory}`.")


def run(
    directory: Directory = Path(),
    spec: Annotated[Path | None, typer.Option(help="The SPEC.md to build, if it lies elsewhere.")] = None,
    task: Annotated[
        str | None, typer.Option(help="The product in one sentence, instead of a SPEC.md.")
    ] = None,
    model: Annotated[str, typer.Option(help="provider:model, playbook:DIR or replay:FILE.")] = "",
    role_model: Annotated[list[str] | None, typer.Option(help="ROLE=MODEL, may be repeated.")] = None,
    base_url: Annotated[str, typer.Option(help="Of an OpenAI-compatible server.")] = "",
    approve_spec: Annotated[
        bool, typer.Option("--approve", help="Approve the spec when the gate is reached.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build the product, or go on with it: to the approval gate, a question, or the release."""
    from specwright.cli.driving import drive

    options = _options(directory, model, role_model or [], base_url)
    settings = settings_for(directory, options)
    text = settle(directory, spec, task)
    drive(
        directory,
        settings,
        text,
        approve=approve_spec,
        as_json=as_json,
        before=lambda: remember(directory, options),
    )


def approve(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Approve the spec that waits at the gate, and go on."""
    _answer(directory, {"action": "APPROVE", "by": "human:operator"}, as_json=as_json)


def reject(
    directory: Directory = Path(),
    reasons: Annotated[str, typer.Option(help="Why; the new draft starts over with this.")] = "",
    as_json: AsJson = False,
) -> None:
    """Reject the spec that waits at the gate; it is researched anew from SPEC.md."""
    if not reasons.strip():
        raise InputError("a rejection needs its reasons", remedy='specwright reject --reasons "..."')
    _answer(directory, {"action": "REJECT", "reasons": reasons.strip()}, as_json=as_json)


def amend(
    directory: Directory = Path(),
    feedback: Annotated[str, typer.Option(help="What to change; the draft goes on from where it is.")] = "",
    as_json: AsJson = False,
) -> None:
    """Ask for changes to the spec that waits at the gate."""
    if not feedback.strip():
        raise InputError("an amendment needs its feedback", remedy='specwright amend --feedback "..."')
    _answer(directory, {"action": "AMEND", "feedback": feedback.strip()}, as_json=as_json)


def release(
    directory: Directory = Path(),
    module: Annotated[
        list[str] | None, typer.Option(help="MM-ID@VERSION, may be repeated; else everything.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Release what is shipped: gates, manifest, and one wheel that was installed and tried."""
    from specwright.cli.driving import make_release

    settings = settings_for(directory, _release_options(directory))
    make_release(directory, settings, tuple(module or ()), as_json=as_json)


_TEMPLATES = {"SPEC.md": SPEC_TEMPLATE, "specwright.toml": SETTINGS_TEMPLATE}


def _write_new(path: Path, text: str) -> str:
    if path.exists():
        return f"kept  {path} (it was there)"
    path.write_text(text, encoding="utf-8")
    return f"made  {path}"


def _answer(directory: Path, answer: dict[str, str], *, as_json: bool) -> None:
    from specwright.cli.driving import drive
    from specwright.cli.project_files import kept_spec, read_spec

    if not kept_spec(directory).is_file():
        raise RefusedError(
            "no spec waits for approval here", where=str(directory), remedy="`specwright run` makes one"
        )
    settings = settings_for(directory, last_options(directory))
    drive(directory, settings, read_spec(kept_spec(directory)), answer=answer, as_json=as_json)


def _options(directory: Path, model: str, role_models: list[str], base_url: str) -> Options:
    before = last_options(directory)
    pairs = tuple(_role_model(text) for text in role_models)
    return Options(
        model=_absolute(model) or before.model,
        role_models=pairs or before.role_models,
        base_url=base_url or ("" if model else before.base_url),
    )


def _release_options(directory: Path) -> Options:
    """A release asks no model, so it needs none that works."""
    before = last_options(directory)
    return before if before.model else before._replace(model="openai:none")


def _role_model(text: str) -> tuple[str, str]:
    role, found, name = text.partition("=")
    if not found or not name:
        raise InputError(
            f"--role-model {text!r} is not ROLE=MODEL", remedy="for instance challenger=openai:gpt-5"
        )
    return role, _absolute(name)


def _absolute(model: str) -> str:
    """Paths in model names hold from any directory."""
    kind, _, rest = model.partition(":")
    return f"{kind}:{Path(rest).resolve()}" if kind in ("playbook", "replay") and rest else model
