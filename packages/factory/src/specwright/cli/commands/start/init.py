"""`specwright init` and `specwright demo`: the first commands of a newcomer (design: command-line)."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ship_gate.terminal.output import counted, say, show
from ship_gate.terminal.program import AsJson
from specwright.atomic_write import write_atomically
from specwright.bootstrap.spec_file import SPEC_TEMPLATE, spec_for_new_project
from specwright.cli.terminal.output import next_command
from specwright.errors import InputError

SETTINGS_TEMPLATE = """\
# Which model answers: provider:model. The key comes from the provider's own variable.
# model = "openai:gpt-5"                  # OPENAI_API_KEY
# model = "anthropic:claude-sonnet-4-5"   # ANTHROPIC_API_KEY
#
# A local server that speaks the OpenAI protocol:
# model = "openai:NAME"
# base_url = "http://127.0.0.1:11434/v1"   # counts once you run `specwright trust` here

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

Example = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Begin with an example: dueplan, fieldtext, jsonamend, leftout, linkform, linkwatch, nameplate, tabkeeper.",
    ),
]
SpecFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Your SPEC.md, which is copied in place of the template.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (init, demo):
        app.command()(command)


def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put the project; `.` is here.")],
    example: Example = "",
    spec: SpecFile = None,
    as_json: AsJson = False,
) -> None:
    """Begin a project: SPEC.md to fill in, and specwright.toml.

    With --spec your own SPEC.md is copied. With --example both are filled in, and scripted answers are added, so that a
    run needs no model.
    """
    from specwright.bootstrap.examples import copy_example, example_directory

    if example and spec:
        raise InputError("--example and --spec are two ways to fill in SPEC.md", remedy="give one of them")
    source = example_directory(example) / "SPEC.md" if example else spec
    text = spec_for_new_project(directory, source) if source else SPEC_TEMPLATE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        made, kept = copy_example(example, directory) if example else _write_files(directory, text)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(
            "the project cannot be made: there is a file where its directory would be",
            where=str(directory),
            remedy="name another place",
        ) from error
    except OSError as error:
        raise InputError(
            f"the project cannot be made: {error.strerror}",
            where=str(directory),
            remedy="name another place, or mend its rights",
        ) from error
    if as_json:
        show({"directory": str(directory), "made": list(made), "kept": list(kept), "exit_code": 0}, "init")
        return
    for line in _by_folder(directory, made):
        say(f"made  {line}")
    for line in _by_folder(directory, kept):
        say(f"kept  {line} (it was there)")
    steps = [] if example else _left_to_do(directory)
    if steps:
        say(f"Next:   {' and '.join(steps)}")
    say(f"{'Then' if steps else 'Next'}:   {next_command('run', directory)}")


def _left_to_do(directory: Path) -> list[str]:
    """What a person does before the run: of the two files those that are still the templates."""
    files = {
        "SPEC.md": (SPEC_TEMPLATE, "fill in"),
        "specwright.toml": (SETTINGS_TEMPLATE, "choose a model in"),
    }
    return [
        f"{step} {directory / name}"
        for name, (template, step) in files.items()
        if (directory / name).is_file() and (directory / name).read_bytes() == template.encode()
    ]


def demo(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to put the project.")] = Path(
        "specwright-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Build an example from its SPEC.md to a wheel; needs no model.

    The answers of the roles are scripted. Run it again in the same directory to go on, or to see the release.
    """
    from specwright.bootstrap.examples import DEMO, example_directory
    from specwright.cli.commands.drive import run

    source = example_directory(DEMO)
    spec_for_new_project(directory, source / "SPEC.md")
    run(
        directory,
        spec=source / "SPEC.md",
        model=f"playbook:{source / 'playbook'}",
        approve_spec=True,
        as_json=as_json,
    )


def _write_files(directory: Path, spec: str) -> tuple[Sequence[str], Sequence[str]]:
    """Write the files that are not there; returns those that were made and those that were there."""
    files = {"SPEC.md": spec, "specwright.toml": SETTINGS_TEMPLATE}
    kept = [name for name in files if os.path.lexists(directory / name)]
    made = [name for name in files if name not in kept]
    for name in made:
        write_atomically(directory / name, files[name].encode())
    return made, kept


def _by_folder(directory: Path, files: Sequence[str]) -> list[str]:
    """Files of the directory one by one, those in folders by folder."""
    folders = Counter(file.partition("/")[0] for file in files if "/" in file)
    return [str(directory / file) for file in files if "/" not in file] + [
        f"{directory / folder}/ ({counted(count, 'file')})" for folder, count in folders.items()
    ]
