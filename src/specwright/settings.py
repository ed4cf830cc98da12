"""Typed configuration: `specwright.toml` of the project, over it the environment, over it the command line."""

import tomllib
from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from specwright.domain.record import validation_messages
from specwright.errors import InputError

__all__ = ["SETTINGS_FILE", "Settings", "load_settings"]

SETTINGS_FILE = "specwright.toml"


class Settings(BaseSettings):
    """What a project may set; environment variables are `SPECWRIGHT_` and the upper-case name."""

    model_config = SettingsConfigDict(env_prefix="SPECWRIGHT_", extra="forbid", frozen=True)

    model: str = ""
    """`provider:model`, `playbook:DIR` or `replay:FILE`."""
    role_models: dict[str, str] = Field(default_factory=dict)
    """Another model for some roles."""
    base_url: str = ""
    """Of an OpenAI-compatible server."""
    timeout_seconds: float = Field(default=600.0, gt=0)
    """Of one model call."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """By the provider's client, after transient failures."""
    calls_per_role: int = Field(default=60, ge=2)
    """Model calls of one role invocation."""
    gate_timeout_seconds: float = Field(default=60.0, gt=0)
    """Of one run of a module's tests."""
    embedder: str = "wordllama"
    """Of the Code Index."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment wins over the file, which comes in as arguments."""
        return env_settings, init_settings


def load_settings(directory: Path) -> Settings:
    """The settings of a project.

    Raises:
        InputError: the file is no TOML, or holds something unknown.
    """
    path = directory / SETTINGS_FILE
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return Settings(**given)
    except ValidationError as error:
        raise InputError(
            "a setting is wrong: " + "; ".join(validation_messages(error)), where=str(path)
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"the settings cannot be read: {error}", where=str(path)) from error
