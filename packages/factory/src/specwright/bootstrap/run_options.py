"""The options of a run: its models and budgets (design: command-line).

They are stored in `.specwright/run.json`, so that later commands, such as `approve`, use them too. The latest wins: an
option of this command, then settings edited since the last run, then the options of the last run.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import Field, field_validator

from ship_gate.base.record import Record
from ship_gate.trust import refusal, trust_typed, untrusted
from specwright.bootstrap.stores import LAST_RUN, opened_store
from specwright.errors import InputError, InputErrors, SpecwrightErrors, UntrustedError
from specwright.ports import provider_of
from specwright.settings import BUDGET_SETTINGS, Settings, decisive, load_settings

_MODEL_SETTINGS = ("model", "role_models", "base_url")


class LastRun(Record):
    """The options of the last `run`, stored for later commands.

    Args:
        options: Its options for models and budgets, as settings.
        settings: The same settings in specwright.toml and the environment at that time.
    """

    options: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _options_are_settings(cls, options: dict[str, Any]) -> dict[str, Any]:
        if others := options.keys() - {*_MODEL_SETTINGS, *BUDGET_SETTINGS}:
            raise ValueError(f"`run` has no option for {', '.join(sorted(others))}")
        Settings.model_validate(options)
        return options


def options_for(directory: Path, given: Mapping[str, Any] = MappingProxyType({})) -> LastRun:
    """Return a command's options: its own, and those of the last run whose settings were not edited since.

    Raises:
        UntrustedError: an option of the last run that still applies came with the project.
        InputError: the options of the last run, or the settings, are damaged and needed.
    """
    try:
        last = recorded_run(directory)
        edited = _edited_since(directory, last)
    except UntrustedError:
        raise
    except InputErrors:
        if "model" not in given:
            raise
        last, edited = LastRun(), set[str]()
    # a base URL belongs to its model
    replaced = {*given, *edited, *(("base_url",) if "model" in given else ())}
    before = {name: value for name, value in last.options.items() if name not in replaced}
    if foreign := untrusted(directory, decisive(before, directory)):
        raise refusal(directory, foreign, f"{directory / LAST_RUN}: the options of the last run")
    return last.model_copy(update={"options": {**before, **given}})


def _edited_since(directory: Path, last: LastRun) -> set[str]:
    """Return the options whose settings were edited since the last run; an edit that names no model replaces no model."""
    if not last.options:
        return set()
    now, then, edited = _settings_now(directory), last.settings, set[str]()
    if any(now[name] != then.get(name, now[name]) for name in BUDGET_SETTINGS):
        edited |= {*BUDGET_SETTINGS}
    if now["model"] and any(now[name] != then.get(name) for name in _MODEL_SETTINGS):
        edited |= {*_MODEL_SETTINGS}
    return edited


def _settings_now(directory: Path) -> dict[str, Any]:
    return load_settings(directory, looking=True).model_dump(
        mode="json", include={*_MODEL_SETTINGS, *BUDGET_SETTINGS}
    )


def remember(directory: Path, options: LastRun) -> None:
    """Store the options of this run for later commands, with the settings of this moment."""
    trust_typed(directory, decisive(options.options, directory))
    stored = options.model_copy(update={"settings": _settings_now(directory)})
    with opened_store(directory) as store:
        store.folder.replace(LAST_RUN, stored.to_bytes())


def recorded_run(directory: Path) -> LastRun:
    """Return the stored options of the last run; empty ones if there was no run.

    Raises:
        InputError: they cannot be read.
    """
    with opened_store(directory) as store:
        if not store.folder.exists(LAST_RUN):
            return LastRun()
        where = f"{store.folder.address}/{LAST_RUN}"
        try:
            return LastRun.from_bytes(store.folder.read(LAST_RUN), where)
        except (OSError, *InputErrors) as error:
            raise InputError(
                "the options of the last run cannot be read",
                where=where,
                remedy="name the model again: `specwright run --model ...`",
            ) from error


def was_scripted(directory: Path) -> bool:
    """Return whether the project's journal has a scripted answer; False if it cannot be read."""
    with suppress(*SpecwrightErrors, OSError), opened_store(directory) as store:
        return any(not provider_of(record.answer) for record in store.records("model"))
    return False


def decisive_options(directory: Path) -> dict[str, Any]:
    """Return the decisive settings among the options of the last run.

    Raises:
        InputError: the file or the settings are damaged.
    """
    return decisive(recorded_run(directory).options, directory)
