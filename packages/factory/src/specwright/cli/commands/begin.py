"""Commands for a beginning: init, demo, doctor, trust, help (design: command-line)."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ship_gate.base.text import did_you_mean
from ship_gate.terminal.output import counted, note, say, without_logins
from ship_gate.terminal.program import AsJson
from ship_gate.trust import record_trust, shown, untrusted
from specwright.bootstrap.spec_file import SPEC_TEMPLATE, checked_spec, read_spec
from specwright.cli.commands import Directory, is_begun, named
from specwright.cli.commands.drive import BaseUrl, ModelName, RoleModels, run
from specwright.cli.output import present
from specwright.documents.commands import PROJECT, next_command, pasteable
from specwright.errors import InputError, SpecwrightErrors, UntrustedError
from specwright.files import write_atomically

if TYPE_CHECKING:
    from ship_gate.terminal.page import Page
    from specwright.bootstrap.doctor import Diagnosis

_LABELS = 13
"""Columns that a check's verdict and name take."""

SETTINGS_TEMPLATE = """\
# Which model answers: provider:model. Take the # away from one line; the key comes from the provider's own variable.
# model = "openai:gpt-5"                  # export OPENAI_API_KEY=...
# model = "anthropic:claude-sonnet-4-5"   # export ANTHROPIC_API_KEY=...
# model = "openai:NAME"                   # a server of your own that speaks the OpenAI protocol, at this address:
# base_url = "http://127.0.0.1:11434/v1"  # counts once you run `specwright trust` for this directory

# Costs are counted in tokens, and in money where the price is known. Of a server of your own, or a price that you agreed,
# in US dollars for a million tokens in and out:
# [prices]
# "openai:NAME" = [1.25, 10.0]

# Another model for a role (researcher, planner, proposer, challenger, arbiter):
# [role_models]
# challenger = "anthropic:claude-sonnet-4-5"

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


def init(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", parser=named, help="Where to put the project; `.` is here.")
    ],
    example: Example = "",
    spec: SpecFile = None,
    as_json: AsJson = False,
) -> None:
    """Begin a project: SPEC.md to fill in, and specwright.toml.

    With --spec your own SPEC.md is copied. With --example both are filled in, and scripted answers are added, so that a
    run needs no model.
    """
    from specwright.bootstrap.examples import copy_example, example_directory
    from specwright.documents.reports import Init

    if example and spec:
        raise InputError("--example and --spec are two ways to fill in SPEC.md", remedy="give one of them")
    source = example_directory(example) / "SPEC.md" if example else spec
    text = checked_spec(directory, read_spec(source)) if source else SPEC_TEMPLATE
    try:
        directory.mkdir(parents=True, exist_ok=True)
        made, kept = copy_example(example, directory) if example else _write_files(directory, text)
    except OSError as error:
        raise InputError(
            f"the project cannot be made: {error.strerror}",
            where=str(error.filename or directory),
            remedy="name another place, or change its permissions",
        ) from error
    if as_json:
        present(Init(directory=str(directory), made=[*made], kept=[*kept]), as_json=True)
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
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", parser=named, help="Where to put the project.")
    ] = Path("specwright-demo"),
    as_json: AsJson = False,
) -> None:
    """Build an example from its SPEC.md to a wheel; needs no model.

    The answers of the roles are scripted, and so are those to the change that it names at the end. Run it again in the
    same directory to go on, or to see the release.
    """
    from specwright.bootstrap.examples import DEMO, example_directory

    PROJECT.set(directory)
    if directory.is_dir() and any(directory.iterdir()) and not is_begun(directory):
        raise InputError(
            "there are other files", where=str(directory), remedy="name a new directory for the demo"
        )
    source = example_directory(DEMO)
    spec, playbook = source / "SPEC.md", source / "playbook"
    checked_spec(directory, read_spec(spec))
    try:
        run(directory, spec=spec, model=f"playbook:{playbook}", approve_spec=True, as_json=as_json)
    except typer.Exit as end:
        if not (end.exit_code or as_json or (directory / "state_store/changes").exists()):
            request = (playbook / "change-1/request.txt").read_text(encoding="utf-8").strip()
            say("Try:      " + next_command("change", rest=f'--request "{request}"'))
        raise


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


def doctor(
    directory: Directory = Path(),
    model: ModelName = "",
    role_model: RoleModels = None,
    base_url: BaseUrl = "",
    as_json: AsJson = False,
) -> None:
    """Check that everything that a run needs is there.

    Model, tools, context with SPEC.md, price, sandbox, index, search, disk. Each model is asked one short question, which is
    the only thing that it costs, and has 7 seconds to answer; one that is slower is named as slow. Options name models as
    in `run`, and are not kept.
    """
    from specwright.bootstrap.doctor import diagnosis
    from specwright.bootstrap.run_options import options_for
    from specwright.cli.options import given_options, settings_for
    from specwright.settings import load_settings

    load_settings(directory, looking=True)  # damaged settings are an error, a missing model is a finding
    given = given_options(model, role_model, base_url)
    try:
        settings = settings_for(directory, options_for(directory, given))
    except UntrustedError:
        raise
    except InputError as error:
        settings = error
    found = diagnosis(directory, settings)
    present(found, _diagnosis_page, as_json=as_json)
    raise typer.Exit(0 if found.ok else 1)


def _diagnosis_page(found: "Diagnosis") -> "Page":
    from ship_gate.terminal.page import Page

    page = Page()
    for check in found.checks:
        page.labelled(f"{'ok' if check.ok else 'MISS':<4} {check.name}", check.detail, labels=_LABELS)
        first, *commands = pasteable(check.do).splitlines() or [""]
        if first:
            page.labelled("     do:", first, labels=_LABELS)
        for command in commands:
            page.line(f"     {command}")
    page.prose(f"not looked at: {'; '.join(found.not_checked)}", hanging=4)
    return page


def trust(directory: Directory = Path(), as_json: AsJson = False) -> None:
    """Trust settings of a project that somebody sent.

    They are shown: those that say where keys, passwords and code go. They count from then on, in this place and for this
    user, until one of them changes.
    """
    from specwright.bootstrap.run_options import decisive_options
    from specwright.documents.reports import Trusted
    from specwright.settings import SETTINGS_FILE, decisive_in_file

    if not directory.is_dir():
        raise InputError("there is no such directory", where=str(directory), remedy="name a project")
    in_file = decisive_in_file(directory)
    new_store = "store" in untrusted(directory, in_file)
    _record(directory, in_file, alone=True)
    options: dict[str, Any] = {}
    if new_store:
        note(
            "The store has not been looked into; what the last run recorded there is asked about by the next command."
        )
    else:
        try:
            options = decisive_options(directory)
        except SpecwrightErrors as error:
            note(f"The options of the last run cannot be read, so none of them is trusted: {error.what}")
    _record(directory, options)

    def clean(values: dict[str, Any]) -> dict[str, Any]:
        return {name: without_logins(one) if isinstance(one, str) else one for name, one in values.items()}

    if as_json:
        present(
            Trusted(directory=str(directory), settings=clean(in_file), options=clean(options)), as_json=True
        )
        return
    for place, values in ((SETTINGS_FILE, in_file), ("the last run", options)):
        for name, value in values.items():
            say(f"trusted  {name} = {shown(value)} ({place})")
    if not in_file and not options:
        say("Nothing has to be trusted here: no setting says where keys, passwords or code go.")


def _record(directory: Path, values: dict[str, Any], *, alone: bool = False) -> None:
    try:
        record_trust(directory, values, alone=alone)
    except OSError as error:
        raise InputError(
            f"what is trusted cannot be recorded: {error.strerror}",
            where=str(error.filename or "the home directory"),
            remedy="set XDG_STATE_HOME to a directory of yours",
        ) from error


def show_help(
    context: typer.Context,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]", help="For instance `run`, or `wire log`.")
    ] = None,
) -> None:
    """The help of a command, or the list of all."""
    page = cast(Any, context.parent)
    for name in command or ():
        known: dict[str, Any] = getattr(page.command, "commands", {})
        if name not in known:
            raise InputError(
                f"there is no command {name!r}",
                where=page.command_path,
                remedy=f"{did_you_mean(name, known)}`specwright help` lists them",
            )
        page = type(context)(known[name], parent=page, info_name=name)
    say(page.get_help())
