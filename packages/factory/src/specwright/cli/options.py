"""The options of a command that name models, budgets and the store (design: command-line)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ship_gate.trust import trust_typed
from specwright.documents.commands import next_command
from specwright.errors import InputError
from specwright.files import write_atomically

if TYPE_CHECKING:
    from specwright.bootstrap.run_options import LastRun
    from specwright.settings import Settings


def given_options(
    model: str,
    role_models: Sequence[str] | None,
    base_url: str,
    **budgets: float | None,
) -> dict[str, Any]:
    """The settings that the options of a command name.

    Raises:
        InputError: a wrong `--role-model`.
    """
    from specwright.settings import absolute_model

    given: dict[str, Any] = {
        "model": absolute_model(model),
        "base_url": base_url,
        "role_models": {role: absolute_model(name) for role, name in map(_role_model, role_models or ())},
        **budgets,
    }
    return {name: value for name, value in given.items() if value not in ("", None, {})}


def choose_store(directory: Path, url: str) -> None:
    """Write the store that a run begins with into specwright.toml, for this command and those that follow.

    Raises:
        InputError: it is no address, holds a password, or the project is kept elsewhere already.
        RefusedError: the store cannot be reached.
    """
    from specwright.bootstrap.stores import opened_store
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


def settings_for(directory: Path, options: "LastRun") -> "Settings":
    """The settings of a command that asks models, with options on top.

    Raises:
        InputError: wrong settings, or no model at all.
    """
    from specwright.settings import load_settings

    settings = load_settings(directory, options.options)
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


def _role_model(text: str) -> tuple[str, str]:
    role, _, name = text.partition("=")
    if not name:
        raise InputError(
            f"--role-model {text!r} is not ROLE=MODEL", remedy="for instance challenger=openai:gpt-5"
        )
    return role, name
