"""Settings from a file, over it the environment, over it the command line; and those of the gate.

What is wrong is reported with its place: the file, the variable or the option (design: command-line). Values of keys
that do not exist are never repeated, since they may be secrets.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ship_gate.errors import InputError
from ship_gate.trust import note_ignored, trust_command, untrusted

SETTINGS_FILE = "specwright.toml"
ENVIRONMENT_PREFIX = "SPECWRIGHT_"
PACKAGES_EXAMPLE = {"packages": ("list", '["attrs>=25"]')}
"""The setting that a variable writes as JSON."""
_NOT_SETTINGS = ("STUDIO_TOKEN", "TRACEBACK")  # the other variables that are read

_LONGEST_VALUE_SHOWN = 60
_MOST_BYTES = 1_000_000


class GateSettings(BaseModel):
    """The settings of the gate; environment variables are `SPECWRIGHT_` and the upper-case name."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    gate_timeout_seconds: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """Of one run of a module's tests, and again of its examples."""
    gate_memory_mib: int = Field(default=1024, ge=256, le=65_536)
    """Address space of each sandboxed process."""
    gate_output_mib: int = Field(default=4, ge=1, le=64)
    """What a sandboxed process may print."""
    gate_disk_mib: int = Field(default=64, ge=1, le=4096)
    """All files of a run together; one file may take a quarter of it."""
    gate_strength: float = Field(default=0.8, ge=0.5, le=1, allow_inf_nan=False)
    """The least share of mutants that a module's tests must notice."""
    gate_fuzz_examples: int = Field(default=250, ge=50, le=10_000)
    """Inputs that the contract fuzz draws for a module, beside those that it always tries."""
    packages: list[str] = Field(default_factory=list)
    """Third-party packages that modules may import, each with its versions (design: contracts)."""
    sandbox: Literal["auto", "bubblewrap", "landlock", "none"] = "auto"
    """How the code of modules is confined; `none` is for those who accept the risk, and is recorded."""

    @field_validator("packages")
    @classmethod
    def _packages_are_named_with_their_versions(cls, packages: list[str]) -> list[str]:
        read = [_checked_package(text) for text in packages]
        names = [canonicalize_name(requirement.name) for requirement in read]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{twice[0]} is named twice; name it once, with all its bounds")
        return list(map(str, read))


Model = TypeVar("Model", bound=BaseModel)


class SettingsSources(NamedTuple):
    """What each place says, as values that are not checked yet.

    Args:
        path: The settings file.
        in_file: By the file.
        in_environment: By variables.
        on_command_line: By options.
    """

    path: Path
    in_file: dict[str, Any]
    in_environment: dict[str, Any]
    on_command_line: dict[str, object]

    def merged(self, model: type[Model]) -> Model:
        """Check the values; a later place wins, and `role_models` are merged role by role.

        Raises:
            InputError: a value is wrong, or a name is unknown; the message says where it stands.
        """
        values: dict[str, Any] = {}
        for layer in self[1:]:
            before, after = values.get("role_models"), layer.get("role_models")
            values |= layer
            if isinstance(before, dict) and isinstance(after, dict):
                values["role_models"] = {**before, **after}
        try:
            return model(**values)
        except ValidationError as error:
            faults = error.errors(include_url=False, include_context=False)
            names = list(dict.fromkeys(str(fault["loc"][0]) for fault in faults))
            raise InputError(
                "; ".join(
                    _message(fault["loc"], fault["type"], fault["msg"], fault["input"]) for fault in faults
                ),
                where=", ".join(dict.fromkeys(self._origin(name) for name in names)),
                remedy=_remedy([name for name in names if name not in model.model_fields], model),
            ) from error

    def _origin(self, name: str) -> str:
        if name in self.on_command_line:
            return "--" + name.replace("_models", "_model").replace("_", "-")
        return ENVIRONMENT_PREFIX + name.upper() if name in self.in_environment else str(self.path)


def load_gate_settings(directory: Path) -> GateSettings:
    """The settings of the gate for a module directory; the other settings in the file are the factory's.

    A directory does not say how its own code is confined, and its packages count once they are trusted.

    Raises:
        InputError: the file is no TOML, a value is wrong, or a `gate_` setting is unknown.
    """
    path, known = directory / SETTINGS_FILE, GateSettings.model_fields
    in_file = {n: value for n, value in read_file(path).items() if n in known or n.startswith("gate_")}
    in_environment = read_environment(GateSettings, PACKAGES_EXAMPLE, checked="GATE_")
    SettingsSources(path, in_file, in_environment, {}).merged(GateSettings)  # what is ignored is checked, too
    unconfined = {"sandbox": in_file.pop("sandbox")} if "sandbox" in in_file else {}
    note_ignored(directory, unconfined, f"only {ENVIRONMENT_PREFIX}SANDBOX says how modules are confined")
    if "packages" not in in_environment:
        foreign = untrusted(directory, decisive_for_gate(in_file))
        note_ignored(directory, foreign, f"`{trust_command(directory)}` lets it count")
        in_file = {name: value for name, value in in_file.items() if name not in foreign}
    return SettingsSources(path, in_file, in_environment, {}).merged(GateSettings)


def decisive_for_gate(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings of the gate that put code at risk: no sandbox, and code that is not judged."""
    found = {"sandbox": "none"} if values.get("sandbox") == "none" else {}
    return {**found, "packages": values["packages"]} if values.get("packages") else found


def read_file(path: Path) -> dict[str, Any]:
    """The values of a settings file; none if there is no file.

    Raises:
        InputError: it is no file, no TOML, or cannot be read.
    """
    try:
        if not path.exists():
            return {}
        if not path.is_file():
            raise InputError("the settings are no file", where=str(path), remedy="remove it, or write a file")
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(
                "the settings are too large", where=str(path), remedy="remove it, or write a file"
            )
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        is_text = not isinstance(error, UnicodeDecodeError)
        remedy = "correct it; a key is set once" if is_text else "save it as text in UTF-8"
        raise InputError(f"the settings are no TOML: {error}", where=str(path), remedy=remedy) from error
    except OSError as error:
        raise InputError(
            f"the settings cannot be read: {error.strerror}", where=str(path), remedy="fix its permissions"
        ) from error


def read_environment(
    model: type[BaseModel], structured: Mapping[str, tuple[str, str]], *, checked: str = ""
) -> dict[str, Any]:
    """The values of the variables; empty ones count as not set.

    Args:
        model: The settings.
        structured: The settings that a variable writes as JSON: what kind, and an example.
        checked: How the names begin among which a misspelt one is looked for.

    Raises:
        InputError: a variable is nearly one of ours, or no JSON.
    """
    known, found = {name.upper(): name for name in model.model_fields}, dict[str, Any]()
    for variable, text in os.environ.items():
        name = variable.removeprefix(ENVIRONMENT_PREFIX)
        if name == variable or name in _NOT_SETTINGS:
            continue
        if name in known and text:
            found[known[name]] = _from_variable(variable, text, structured.get(known[name]))
        # only what is plainly meant for us: others may share the prefix, as service links in containers do
        ours = [] if name in known or not name.startswith(checked) else [*known, *_NOT_SETTINGS]
        if near := get_close_matches(name, ours, 1):
            remedy = f"{ENVIRONMENT_PREFIX}{near[0]} is meant? Rename or unset it"
            raise InputError("no such variable", where=variable, remedy=remedy)
    return found


def _from_variable(variable: str, text: str, structure: tuple[str, str] | None) -> Any:
    if structure is None:
        return text
    kind, example = structure
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(
            f"a variable is no JSON {kind}", where=variable, remedy=f"for instance {variable}='{example}'"
        ) from error


def _checked_package(text: str) -> Requirement:
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise ValueError(f"{text!r} names no package with versions, as attrs>=25 does") from error
    if requirement.url or requirement.marker or requirement.extras:
        raise ValueError(f"{text!r} says more than a package and its versions; write it as in attrs>=25")
    if not requirement.specifier:
        raise ValueError(f"{text!r} says no version; write one, as in {requirement.name}>=1.0")
    return requirement


def _message(place: tuple[int | str, ...], kind: str, message: str, value: object) -> str:
    name = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        return f"there is no setting `{name}`"
    if kind == "value_error":
        return f"`{name}`: {message.removeprefix('Value error, ')}"
    shown = repr(value)
    if len(shown) > _LONGEST_VALUE_SHOWN:
        shown = shown[:_LONGEST_VALUE_SHOWN] + "..."
    return f"`{name}` is {shown}: {message[0].lower()}{message[1:]}"


def _remedy(unknown: list[str], model: type[BaseModel]) -> str:
    near = [match for name in unknown for match in get_close_matches(name, model.model_fields, 1)]
    if near:
        return "did you mean " + ", ".join(f"`{name}`" for name in near) + "?"
    return f"settings are {', '.join(model.model_fields)}" if unknown else "correct it there"
