"""Which models a command uses and what they may cost: by its options, those of the last run, and the settings (design:
command-line).

The options of a run are stored in `.specwright/run.json`, so that `approve` and the like go on with the same. The
latest wins: an option of this command, then settings that were edited since the last run, then the options of that.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ship_gate.trust import refusal, trust_typed, untrusted
from specwright.atomic_write import write_atomically
from specwright.documents.commands import next_command
from specwright.errors import InputError, InputErrors, UntrustedError

if TYPE_CHECKING:
    from specwright.bootstrap.views import LastRun
    from specwright.settings import Settings

SCRIPTED = "playbook:"


def options_for(
    directory: Path,
    model: str,
    role_models: list[str],
    base_url: str,
    budgets: Mapping[str, float | None] = MappingProxyType({}),
    fallback_models: Sequence[str] = (),
) -> "LastRun":
    """The options of this run; what it leaves out is taken from the last one, unless the settings were edited since.

    Raises:
        UntrustedError: one of the last options that this run would go on with came with the project.
        InputError: a wrong `--role-model` or `--fallback-model`, or the last options are needed and damaged.
    """
    from specwright.bootstrap.views import LastRun

    given: dict[str, Any] = {
        "model": _absolute(model),
        "base_url": base_url,
        "role_models": dict(map(_role_model, role_models)),
        "fallback_models": _by_role(fallback_models),
    }
    named = {name: value for name, value in given.items() if value}
    try:
        before = _recorded_options(directory)
    except UntrustedError:
        raise
    except InputErrors:
        if not model:
            raise
        before = LastRun()
    # the address belongs to the model
    replaced = {*named, *(("base_url",) if model else ())}
    before = before.model_copy(update={name: type(given[name])() for name in replaced})
    _require_trusted(directory, before)
    limits = {name: value for name, value in budgets.items() if value is not None}
    return before.model_copy(update={**named, "budgets": {**before.budgets, **limits}})


def choose_store(directory: Path, url: str) -> None:
    """Write the store that a run begins with into specwright.toml, for this command and those that follow.

    Raises:
        InputError: it is no address, holds a password, or the project is kept elsewhere already.
        RefusedError: the store cannot be reached.
    """
    from specwright.bootstrap.storage.stores import opened_store
    from specwright.settings import SETTINGS_FILE, load_settings

    chosen, now = (
        load_settings(directory, {"store": url}, looking=True).store,
        load_settings(directory, looking=True).store,
    )
    if now == chosen:
        return
    if urlsplit(chosen).password is not None:
        raise InputError(
            "the address holds a password, which would be written into specwright.toml",
            where="--store",
            remedy="put the password into PGPASSWORD or ~/.pgpass, or the whole address into SPECWRIGHT_STORE",
        )
    with opened_store(directory, "") as local, opened_store(directory, chosen):  # both can be opened
        if now or local.has_log():
            raise InputError(
                "this project is kept in another store",
                where=str(directory),
                remedy="leave out --store; `specwright export` and `specwright import` move a project",
            )
    file = directory / SETTINGS_FILE
    before = file.read_bytes() if file.exists() else b""
    directory.mkdir(parents=True, exist_ok=True)
    # at the top, where no table has begun
    write_atomically(file, f"store = {json.dumps(chosen)}\n".encode() + before)
    trust_typed(directory, {"store": chosen})


def settings_for(directory: Path, options: "LastRun", *, looking: bool = False) -> "Settings":
    """The settings, with the options of the command line on top; for `looking` see `load_settings`.

    Raises:
        InputError: wrong settings, or no model at all.
    """
    from specwright.settings import load_settings

    settings = load_settings(directory, {**options.models, **options.budgets}, looking=looking)
    if not settings.model:
        raise _no_model(directory)
    return settings


def _no_model(directory: Path) -> InputError:
    """What to configure: the two main providers, or a local server (design: models)."""
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
    """Whether a playbook answers for any role."""
    return any(name.startswith(SCRIPTED) for name in (settings.model, *settings.role_models.values()))


def remember(directory: Path, options: "LastRun") -> None:
    """Store the options of this run, and the settings beside them, for the commands that go on with it."""
    from specwright.bootstrap.storage.stores import LAST_RUN, opened_store
    from specwright.settings import decisive

    trust_typed(directory, decisive(options.models, directory))
    stored = options.model_copy(update={"settings": _settings_now(directory)})
    with opened_store(directory) as store:
        store.folder.replace(LAST_RUN, stored.to_bytes())


def last_options(directory: Path) -> "LastRun":
    """The options of the last run; none if there was none, or if the settings name another model or budget since.

    Raises:
        UntrustedError: one of them is decisive and came with the project.
        InputError: the file, or the settings, are damaged.
    """
    options = _recorded_options(directory)
    _require_trusted(directory, options)
    return options


def decisive_options(directory: Path) -> dict[str, Any]:
    """The decisive settings among the options of the last run.

    Raises:
        InputError: the file, or the settings, are damaged.
    """
    from specwright.bootstrap.views import recorded_run
    from specwright.settings import decisive

    return decisive(recorded_run(directory).models, directory)


def _require_trusted(directory: Path, recorded: "LastRun") -> None:
    """Refuse options of the last run that came with the project."""
    from specwright.bootstrap.storage.stores import LAST_RUN
    from specwright.settings import decisive

    if foreign := untrusted(directory, decisive(recorded.models, directory)):
        raise refusal(directory, foreign, f"{directory / LAST_RUN}: the options of the last run")


def _recorded_options(directory: Path) -> "LastRun":
    from specwright.bootstrap.views import MODEL_SETTINGS, recorded_run
    from specwright.settings import BUDGET_SETTINGS

    options = recorded_run(directory)
    if not options.models and not options.budgets:
        return options
    now, then = _settings_now(directory), options.settings
    edited: dict[str, Any] = {}
    if any(now[name] != then.get(name, now[name]) for name in BUDGET_SETTINGS):
        edited["budgets"] = {}
    if now["model"] and any(now[name] != then.get(name) for name in MODEL_SETTINGS):
        edited |= {"model": "", "base_url": "", "role_models": {}, "fallback_models": {}}
    return options.model_copy(update=edited)


def _settings_now(directory: Path) -> dict[str, Any]:
    from specwright.bootstrap.views import MODEL_SETTINGS
    from specwright.settings import BUDGET_SETTINGS, load_settings

    return load_settings(directory, looking=True).model_dump(
        mode="json", include={*MODEL_SETTINGS, *BUDGET_SETTINGS}
    )


def _role_model(text: str) -> tuple[str, str]:
    role, _, name = text.partition("=")
    if not name:
        raise InputError(
            f"--role-model {text!r} is not ROLE=MODEL", remedy="for instance challenger=openai:gpt-5"
        )
    return role, _absolute(name)


def _by_role(texts: Sequence[str]) -> dict[str, list[str]]:
    """The models of `[ROLE=]M`; one without a role is for `all`."""
    found: dict[str, list[str]] = {}
    for text in texts:
        role, _, name = text.partition("=")
        found.setdefault(role if name else "all", []).append(name or role)
    return found


def _absolute(model: str) -> str:
    """The path in a model name made absolute, so that it holds from any directory."""
    kind, _, rest = model.partition(":")
    return f"{kind}:{Path(rest).expanduser().resolve()}" if f"{kind}:" == SCRIPTED and rest else model
