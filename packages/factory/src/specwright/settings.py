"""Typed configuration from `specwright.toml`, the environment and the command line; the later overrides the earlier.

An error names the file, variable or option that is wrong (design: command-line). Values of unknown keys are never
shown, because they may be secrets.
"""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ship_gate.base.text import did_you_mean
from ship_gate.settings import (
    ENVIRONMENT_PREFIX,
    PACKAGES_EXAMPLE,
    SETTINGS_FILE,
    GateSettings,
    SettingsSources,
    decisive_for_gate,
    read_environment,
    read_file,
)
from ship_gate.trust import refusal, untrusted
from specwright.ports import Role

__all__ = ["ENVIRONMENT_PREFIX", "SETTINGS_FILE", "Settings", "load_settings"]

BUDGET_SETTINGS = ("budget_tokens", "budget_usd", "task_budget_tokens", "task_budget_usd")

SCRIPTED = "playbook:"
"""The prefix of a scripted model's name."""

_MODEL_NAME = re.compile(r"[a-z][a-z0-9_\-]*:\S.*")
_DEAREST = 1_000_000
_JSON_EXAMPLES = {
    "hedera": ("object", '{"topic": "0.0.1234", "operator": "0.0.2"}'),
    "limits": ("object", '{"openai": {"requests_per_minute": 60}}'),
    **PACKAGES_EXAMPLE,
    "prices": ("object", '{"openai:NAME": [1.25, 10]}'),
    "role_models": ("object", '{"challenger": "openai:gpt-5"}'),
}
"""The structured settings, each with an example of its JSON in an environment variable."""


EXAMPLES = (Path(__file__).parent / "examples").resolve()
"""The directory of the examples; in a checkout a link to `examples/`."""

STORE_PREFIXES = ("postgresql://", "postgres://")


class ProviderLimits(BaseModel):
    """Limits on the requests to one provider, for all roles together; 0 sets no limit (design: models)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: int = Field(default=0, ge=0)
    tokens_per_minute: int = Field(default=0, ge=0)
    """Input and output tokens."""
    concurrent_requests: int = Field(default=0, ge=0)


class HederaSettings(BaseModel):
    """The topic that mirrors the log, and the account that submits to it (design: mirrors)."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    topic: str = ""
    """`0.0.1234`."""
    network: str = "testnet"
    """`mainnet`, `testnet`, `previewnet`, or nodes as `host:port=0.0.3`."""
    mirror_node: str = ""
    """The mirror node's URL; empty for the network's own."""
    operator: str = ""
    """The account that pays."""
    operator_key: str = Field(default="HEDERA_OPERATOR_KEY", pattern="^[A-Z][A-Z0-9_]*$")
    """The environment variable that has the operator's private key."""
    submit_key: str = Field(default="HEDERA_SUBMIT_KEY", pattern="^[A-Z][A-Z0-9_]*$")
    """The environment variable that has the topic's submit key, if there is one."""


class Settings(GateSettings):
    """The settings of a project. Each can also be set by an environment variable, `SPECWRIGHT_` and the upper-case name."""

    model: str = ""
    """`provider:model` or `playbook:DIR`."""
    role_models: dict[str, str] = Field(default_factory=dict)
    """Models of single roles, by role; the others use `model`."""
    limits: dict[str, ProviderLimits] = Field(default_factory=dict)
    """Limits by provider, the part of a model's name before the colon."""
    base_url: str = ""
    """The URL of an OpenAI-compatible server."""
    timeout_seconds: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """The time limit of one model call, retries included."""
    retry_seconds: float = Field(default=150.0, ge=0, allow_inf_nan=False)
    """How long to retry a model call after transient failures; 0 for no retries."""
    budget_tokens: int = Field(default=0, ge=0)
    """The limit on input and output tokens of the project; 0 sets no limit."""
    budget_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The same in US dollars."""
    task_budget_tokens: int = Field(default=0, ge=0)
    """The limit on input and output tokens of each task; 0 sets no limit."""
    task_budget_usd: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The same in US dollars."""
    prices: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """US dollars per million input and output tokens, for models whose price is not published or not yours."""
    calls_per_role: int = Field(default=60, ge=2)
    """The limit on model calls of one role invocation."""
    search: Literal["none", "tavily", "ddgs"] = "none"
    """The service behind the researcher's `web_search`; `tavily` needs TAVILY_API_KEY, `ddgs` no key."""
    embedder: str = "wordllama"
    """The embedder of the Code Index."""
    mirror: str = ""
    """The database that mirrors the log; empty for an SQLite file on this machine."""
    hedera: HederaSettings = Field(default_factory=HederaSettings)
    """The topic of `specwright hedera`."""
    license: str = ""
    """The product's license, an SPDX expression such as MIT; empty if none is stated."""
    store: str = ""
    """The database of the project's records, `postgresql://...`; empty for its directory (design: store-layout)."""
    drive: Literal["here", "workers"] = "here"
    """What drives the project: the command itself, or the workers of its store (design: workers)."""

    @field_validator("model")
    @classmethod
    def _model_is_named_with_its_provider(cls, name: str) -> str:
        return _checked_model(name) if name else name

    @field_validator("role_models")
    @classmethod
    def _roles_are_known(cls, models: dict[str, str]) -> dict[str, str]:
        for role, name in models.items():
            if role not in set(Role):
                raise ValueError(_no_role(role, Role))
            _checked_model(name)
        return models

    @field_validator("prices")
    @classmethod
    def _prices_are_of_models(cls, prices: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
        for name, price in prices.items():
            _checked_model(name)
            if not all(0 <= dollars < _DEAREST for dollars in price):
                raise ValueError(f"{name!r}: a price is in US dollars for a million tokens, in and out")
        return prices

    @field_validator("license")
    @classmethod
    def _license_is_an_spdx_expression(cls, text: str) -> str:
        from flit_core.config import (
            ConfigError,
            normalise_compound_license_expr,
        )  # as the wheel's builder reads it

        try:
            return normalise_compound_license_expr(text) if text else ""
        except ConfigError as error:
            raise ValueError(
                f"{error}; write for instance MIT or GPL-3.0-only, or LicenseRef-NAME for your own terms"
            ) from error

    @field_validator("store")
    @classmethod
    def _store_is_a_postgres_address(cls, url: str) -> str:
        if url and not url.startswith(STORE_PREFIXES):
            raise ValueError(
                "a store is a Postgres address, as in postgresql://user@host/database?project=shop"
            )
        return url

    @field_validator("base_url")
    @classmethod
    def _base_url_is_one(cls, url: str) -> str:
        if "@" in url or "?" in url:  # it would be stored with the run, and shown
            raise ValueError(
                "it contains a login or a query; put the key into the provider's variable instead"
            )
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0):
            raise ValueError(f"{url!r} is not a URL, such as http://127.0.0.1:11434/v1")
        return url

    @property
    def own_models(self) -> list[str]:
        """The default model and those of single roles."""
        return [self.model, *self.role_models.values()]

    @property
    def scripted(self) -> bool:
        """Whether any role uses a playbook."""
        return any(name.startswith(SCRIPTED) for name in self.own_models)

    def model_of(self, role: str) -> str:
        """Return the model of a role; empty if none is set."""
        return self.role_models.get(role, self.model)


def absolute_model(model: str) -> str:
    """Make the path in a scripted model's name absolute, so that it is valid from any directory."""
    kind, _, rest = model.partition(":")
    return f"{kind}:{Path(rest).expanduser().resolve()}" if f"{kind}:" == SCRIPTED and rest else model


def load_settings(
    directory: Path, options: Mapping[str, object] | None = None, *, looking: bool = False
) -> Settings:
    """Load the settings of a project.

    Args:
        directory: The directory of `specwright.toml`, if there is one.
        options: The options of the command line.
        looking: Ignore untrusted decisive settings of the file, for a command that only reads. `store` still raises,
            because a command can read nothing without it.

    Raises:
        UntrustedError: a decisive setting of the file is not trusted.
        InputError: the file is not TOML, a value is wrong, or a name is unknown; the message says where.
    """
    path, given = directory / SETTINGS_FILE, dict(options or {})
    in_file, in_environment = read_file(path), read_environment(Settings, _JSON_EXAMPLES)
    sources = SettingsSources(path, _from_there(in_file, directory), in_environment, given)
    settings = sources.merged(Settings)
    foreign = _foreign(in_file, {**in_environment, **given}, directory)
    if not foreign:
        return settings
    if "store" in foreign or not looking:
        raise refusal(directory, foreign, str(path))
    return sources._replace(in_file=_from_there(_without(in_file, foreign), directory)).merged(Settings)


def ignored_settings(directory: Path) -> dict[str, Any]:
    """Return the untrusted decisive settings of the file, which commands that only read ignore.

    Raises:
        InputError: the file is not TOML, or a variable is unknown.
    """
    in_file, later = read_file(directory / SETTINGS_FILE), read_environment(Settings, _JSON_EXAMPLES)
    return _foreign(in_file, later, directory)


def _foreign(in_file: Mapping[str, Any], later: Mapping[str, object], directory: Path) -> dict[str, Any]:
    """Return the decisive settings of a file that are not trusted and that neither a variable nor an option overrides.
    `role_models` are overridden by role."""

    def counts(name: str) -> bool:
        first, _, role = name.partition(".")
        return role not in _table(later, first) if first == "role_models" else first not in later

    found = {name: value for name, value in decisive(in_file, directory).items() if counts(name)}
    return untrusted(directory, found)


def decisive(values: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """Return the settings that say where secrets and code go, by dotted names.

    Args:
        values: The settings of a file, as written.
        directory: The project's directory, against which relative paths are resolved.
    """

    def outside(name: object) -> bool:
        return isinstance(name, str) and _is_outside(name, directory)

    found = decisive_for_gate(values)
    found |= {name: values[name] for name in ("base_url", "store", "mirror") if values.get(name)}
    found |= {
        name: values[name]
        for name in ("search", "embedder")
        if name in values and values[name] != Settings.model_fields[name].default
    }
    found |= {
        f"hedera.{name}": value
        for name, value in _table(values, "hedera").items()
        if name in ("mirror_node", "network", "operator_key", "submit_key")
    }
    if outside(values.get("model")):
        found["model"] = values["model"]
    found |= {
        f"role_models.{role}": name for role, name in _table(values, "role_models").items() if outside(name)
    }
    return found


def decisive_in_file(directory: Path) -> dict[str, Any]:
    """Return the decisive settings of a project's file.

    Raises:
        InputError: the file is not TOML, or cannot be read.
    """
    return decisive(read_file(directory / SETTINGS_FILE), directory)


def _is_outside(model: str, directory: Path) -> bool:
    """Whether a model is a program on this machine, or a playbook outside the project and the examples."""
    kind, _, rest = model.partition(":")
    if kind != "playbook":
        return kind == "cli"
    place = Path(os.path.realpath(directory / rest))  # unlike `resolve`, accepts a loop of links
    return not any(place.is_relative_to(inside) for inside in (os.path.realpath(directory), EXAMPLES))


def _table(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = values.get(name)
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _without(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return settings without some, given by dotted names."""
    kept = dict(values)
    for name in names:
        first, _, rest = name.partition(".")
        if rest:
            kept[first] = {key: value for key, value in kept[first].items() if key != rest}
        else:
            del kept[first]
    return kept


def _from_there(read: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Return the file's values, with the paths of playbooks resolved against the file's directory."""

    def resolved(name: object) -> object:
        kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
        return f"{kind}:{directory / rest}" if kind == "playbook" and rest else name

    changed = dict(read)
    if "model" in read:
        changed["model"] = resolved(read["model"])
    if isinstance(models := read.get("role_models"), dict):
        changed["role_models"] = {
            role: resolved(name) for role, name in cast(dict[str, object], models).items()
        }
    return changed


def _no_role(wanted: str, known: Iterable[str]) -> str:
    names = list(known)
    return f"there is no role {wanted!r}; {did_you_mean(wanted, names)}roles are {', '.join(names)}"


def _checked_model(name: str) -> str:
    if not _MODEL_NAME.fullmatch(name):
        raise ValueError(f"{name!r} does not name a provider; write provider:model, as in openai:gpt-5")
    return name
