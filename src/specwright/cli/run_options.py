"""What a run was told: by its options now, by those of the last run, by settings (DESIGN §9).

The options of a run are kept in `.specwright/run.json`, so that `approve` and its like drive on with the same. What is
said later wins: an option of this command, then settings that were edited since, then the options of the last run.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from specwright.cli.output import next_command
from specwright.cli.spec_file import write_whole
from specwright.errors import InputError

if TYPE_CHECKING:
    from specwright.settings import Settings

__all__ = [
    "Options",
    "given_options",
    "last_options",
    "no_model",
    "remember",
    "scripted_models",
    "settings_for",
    "was_scripted",
]

SCRIPTED = ("playbook:", "replay:")


class Options(NamedTuple):
    """What `run` was told.

    Args:
        model: The default model.
        role_models: Another one for some roles.
        base_url: Of an OpenAI-compatible server.
        scripted: Whether any answer of this project was scripted, now or before.
    """

    model: str = ""
    role_models: tuple[tuple[str, str], ...] = ()
    base_url: str = ""
    scripted: bool = False


def given_options(directory: Path, model: str, role_models: list[str], base_url: str) -> Options:
    """The options of this run; what it leaves out is as in the last one, or as the settings were edited since.

    Raises:
        InputError: a `--role-model` that is none, or the last options are needed and damaged.
    """
    pairs = tuple(_role_model(text) for text in role_models)
    try:
        before = last_options(directory)
    except InputError:
        if not model:
            raise
        before = Options()
    return Options(
        model=_absolute(model) or before.model,
        role_models=pairs or before.role_models,
        base_url=base_url or ("" if model else before.base_url),
        scripted=before.scripted,
    )


def settings_for(directory: Path, options: Options) -> "Settings":
    """The settings with what the command line said on top.

    Raises:
        InputError: wrong settings, or no model at all.
    """
    from specwright.settings import load_settings

    given: dict[str, object] = {}
    if options.model:
        given["model"] = options.model
    if options.base_url:
        given["base_url"] = options.base_url
    if options.role_models:
        given["role_models"] = dict(options.role_models)
    settings = load_settings(directory, given)
    if not settings.model:
        raise no_model(directory)
    return settings


def no_model(directory: Path) -> InputError:
    """What to configure: the two main providers, and a local server (D-S6-03)."""
    run = next_command("run", directory)
    return InputError(
        "no model is configured",
        where=f"--model, SPECWRIGHT_MODEL, {directory / 'specwright.toml'}: none of them names one",
        remedy=f"""choose one:
    OpenAI      export OPENAI_API_KEY=...
                {run} --model openai:gpt-5
    Anthropic   export ANTHROPIC_API_KEY=...
                {run} --model anthropic:claude-sonnet-4-5
    local       {run} --model openai:NAME --base-url http://127.0.0.1:11434/v1
  To keep it, set `model` (and `base_url`) in specwright.toml, or the variables SPECWRIGHT_MODEL
  (and SPECWRIGHT_BASE_URL).""",
    )


def scripted_models(settings: "Settings") -> bool:
    """Whether a playbook or a recording answers for any role."""
    return any(name.startswith(SCRIPTED) for name in (settings.model, *settings.role_models.values()))


def remember(directory: Path, options: Options) -> None:
    """Keep the options of this run for the commands that go on with it, and what the settings said beside them."""
    kept = {**options._asdict(), "settings": _settings_now(directory)}
    write_whole(_kept(directory), json.dumps(kept) + "\n")


def last_options(directory: Path) -> Options:
    """The options of the last run; none if there was none, or if the settings name another model since.

    Raises:
        InputError: the file, or the settings, are damaged.
    """
    last = _last_run(directory)
    if last.settings is not None and last.options[:3] != Options()[:3]:
        now = _settings_now(directory)
        if now["model"] and now != last.settings:
            return Options(scripted=last.options.scripted)
    return last.options


class _LastRun(NamedTuple):
    options: Options
    settings: dict[str, Any] | None
    """What specwright.toml and the environment said; None if nobody wrote it down."""


def _settings_now(directory: Path) -> dict[str, Any]:
    from specwright.settings import load_settings

    return load_settings(directory).model_dump(mode="json", include={"model", "role_models", "base_url"})


def _last_run(directory: Path) -> _LastRun:
    path = _kept(directory)
    try:
        data = json.loads(path.read_bytes())
        options = Options(
            str(data["model"]),
            tuple((str(role), str(name)) for role, name in data["role_models"]),
            str(data["base_url"]),
            bool(data.get("scripted", False)),
        )
        return _LastRun(options, data.get("settings"))
    except (FileNotFoundError, NotADirectoryError):
        return _LastRun(Options(), None)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "the options of the last run cannot be read",
            where=str(path),
            remedy=f"name the model again: `{next_command('run', directory, '--model ...')}`",
        ) from error


def was_scripted(directory: Path) -> bool:
    """Whether answers of this project were scripted, for those who only look."""
    try:
        return _last_run(directory).options.scripted
    except InputError:
        return False


def _kept(directory: Path) -> Path:
    return directory / ".specwright" / "run.json"


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
    return f"{kind}:{Path(rest).expanduser().resolve()}" if f"{kind}:" in SCRIPTED and rest else model
