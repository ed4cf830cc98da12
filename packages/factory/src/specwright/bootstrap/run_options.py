"""The options of a run: which models it uses, and what they may cost (design: command-line).

They are stored in `.specwright/run.json`, so that `approve` and the like go on with the same. The
latest wins: an option of this command, then settings that were edited since the last run, then the options of that.
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
    """What is stored of a `run` for the commands that go on with it.

    Args:
        options: The settings that its options name: models and budgets.
        settings: What specwright.toml and the environment said of such settings then.
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
    """The options that hold for a command: its own, over those of the last run whose settings were not edited since.

    Raises:
        UntrustedError: one of the last options that hold came with the project.
        InputError: the last options, or the settings, are needed and damaged.
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
    # the address belongs to the model
    replaced = {*given, *edited, *(("base_url",) if "model" in given else ())}
    before = {name: value for name, value in last.options.items() if name not in replaced}
    if foreign := untrusted(directory, decisive(before, directory)):
        raise refusal(directory, foreign, f"{directory / LAST_RUN}: the options of the last run")
    return last.model_copy(update={"options": {**before, **given}})


def _edited_since(directory: Path, last: LastRun) -> set[str]:
    """The options that settings have replaced since; an edit that leaves no model replaces none."""
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
    """Store the options of this run, and the settings beside them, for the commands that go on with it."""
    trust_typed(directory, decisive(options.options, directory))
    stored = options.model_copy(update={"settings": _settings_now(directory)})
    with opened_store(directory) as store:
        store.folder.replace(LAST_RUN, stored.to_bytes())


def recorded_run(directory: Path) -> LastRun:
    """The options of the last run as they were stored; none if there was none.

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
    """Whether any answer in the project's journal was scripted; not if it cannot be read."""
    with suppress(*SpecwrightErrors, OSError), opened_store(directory) as store:
        return any(not provider_of(record.answer) for record in store.records("model"))
    return False


def decisive_options(directory: Path) -> dict[str, Any]:
    """The decisive settings among the options of the last run.

    Raises:
        InputError: the file, or the settings, are damaged.
    """
    return decisive(recorded_run(directory).options, directory)
