"""Which model answers an invocation: a provider's, or a playbook (design: models)."""

import os
import re
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, cast

from langchain.chat_models import init_chat_model
from langchain_core.language_models.chat_models import BaseChatModel

from specwright.errors import InputError, ScriptError, SpecwrightErrors
from specwright.installation import install_command
from specwright.ports import Place, Role
from specwright.roles.models.command_line import CommandLineSource
from specwright.roles.models.playbook import Playbook
from specwright.roles.models.provider_call import KEY_VARIABLES, translated
from specwright.secret_values import without_secrets
from specwright.settings import Settings

INVOCATION_HEADER = "X-Specwright-Invocation"
"""Names the invocation in each request to a server of `--base-url`, so that its logs can be matched with the journal."""


class ModelSource(Protocol):
    """Gives the model of an invocation."""

    scripted: bool

    def model(self, place: Place) -> BaseChatModel:
        """The model that answers at a place."""
        ...


def require_script(
    source: ModelSource, place: Place, answered: int = 0, request: str = "", after: str = ""
) -> None:
    """Refuse what would begin, or go on, at a place of which a script holds no further answer, before anything is written.

    Args:
        source: Of the model that is asked there.
        place: Of the researcher, the Proposer of another attempt at a task, or the Challenger of a person's files.
        answered: How many answers were given there.
        request: The change of the product that is asked for.
        after: The version that is released, which a change follows.

    Raises:
        InputError: it holds none, answers another request, or one that is released.
    """
    if not isinstance(source, Playbook):
        return
    missing = _missing_file(source, place, answered)
    scripted, done = source.request(place.task), not missing and source.is_released(place, after)
    if not (missing or done) and scripted in ("", request):
        return
    none = f"no answer {answered + 1}" if answered else "none"
    lacking = f"{none} is there for {place.run_id}" if missing else f"hold this change alone: {scripted}"
    if done:
        lacking = f"hold no change of version {after}, only the one that led to it"
    raise InputError(
        f"the answers of this project are scripted, and {lacking}; nothing was begun",
        where=missing or request or "SPEC.md",
        remedy="`specwright run --model PROVIDER:NAME` names a model that answers from now on, then ask again",
    )


def _missing_file(script: Playbook, place: Place, answered: int) -> str:
    """The file that a playbook lacks for a place; empty if it lacks none."""
    if place.role is Role.RESEARCHER and (answered or not place.task):
        turns, following = script.researcher(place)
        return "" if answered < len(turns) else str(script.directory / following)
    if place.role is Role.CHALLENGER:
        try:
            script.model(place)
        except ScriptError as error:
            return error.where
        return ""
    file = script.directory / script.scripted_file(place)
    return "" if file.exists() else str(file)


class _ProviderSource:
    scripted = False

    def __init__(self, name: str, settings: Settings) -> None:
        options: dict[str, Any] = {"timeout": settings.timeout_seconds, "max_retries": 0}
        address = settings.base_url
        provider = name.partition(":")[0]
        self._sends_invocation = bool(address) and provider in _KEYS
        if address:
            # the one client wants /v1 in its address, the other adds it
            options["base_url"] = (
                address if provider != "anthropic" else address.rstrip("/").removesuffix("/v1")
            )
            # a local server asks for no key, but the client wants one
            options["api_key"] = os.environ.get(_KEYS.get(provider, ""), "") or "local"
        else:
            _require_key(name)
        try:
            self._model = cast(BaseChatModel, init_chat_model(name, **options))
        except ImportError as error:
            found = _INSTALL.search(str(error))
            package = found[1] if found else ""
            needs = f"the provider {provider}" if "SOCKS" not in str(error) else "the proxy of ALL_PROXY"
            raise InputError(
                f"{needs} needs a package that is not installed" + (f": {package}" if package else ""),
                where=name,
                remedy=f"{install_command(package or 'ITS-PACKAGE')}; or reach its server as openai:NAME with --base-url",
            ) from error
        except Exception as error:  # each provider's client has its own way to miss a key or a name
            if "infer model provider" in str(error):
                raise InputError(
                    f"there is no provider {name.partition(':')[0]!r}",
                    where=name,
                    remedy="openai:NAME and anthropic:NAME are installed; a server of another kind is reached as "
                    "openai:NAME with --base-url",
                ) from error
            variable = KEY_VARIABLES.get(provider, "its variable")
            raise InputError(
                f"no model {name!r} can be made",
                where=without_secrets(str(error).strip().splitlines()[0])[:300],
                remedy=f"write it as provider:model, for instance openai:gpt-5; the provider's key comes from {variable}",
            ) from error
        if provider == "anthropic" and not self._model.profile:
            # its API demands a bound, and the client's own for a model that it does not know cuts every spec
            self._model = self._model.model_copy(update={"max_tokens": _OUTPUT_OF_UNKNOWN_MODEL})

    def model(self, place: Place) -> BaseChatModel:
        if not self._sends_invocation:
            return self._model
        headers = {"extra_headers": {INVOCATION_HEADER: place.run_id}}
        return self._model.model_copy(update={"model_kwargs": headers})


_OUTPUT_OF_UNKNOWN_MODEL = 32_000
"""Tokens."""

_INSTALL = re.compile(r"pip install (?:-U )?`?([\w.\[\]-]+)")
"""The package that LangChain asks for."""

_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def _require_key(name: str) -> None:
    """Say that a key is missing before anything is asked; some clients notice it at the first call only."""
    variable = _KEYS.get(name.partition(":")[0])
    if variable and not os.environ.get(variable):
        raise InputError(
            f"there is no key for {name}",
            where=f"the variable {variable} is not set",
            remedy=f"export {variable}=...; a local server that asks for none is named with --base-url",
        )


def model_sources(settings: Settings) -> dict[Role, ModelSource]:
    """The source of each role's model.

    Raises:
        InputError: a name that is not a model's.
    """
    source = cache(partial(_source, settings=settings))
    return {role: source(settings.model_of(role)) for role in Role}


def _source(name: str, settings: Settings) -> ModelSource:
    kind, _, rest = name.partition(":")
    if kind == "playbook":
        return Playbook(Path(rest))
    if kind == "cli":
        return CommandLineSource(rest, settings.timeout_seconds)
    if not rest:
        raise InputError(
            f"{name!r} is no model name",
            where="--model",
            remedy="write it as provider:model, for instance openai:gpt-5",
        )
    return _ProviderSource(name, settings)


_PROBE = {
    "type": "function",
    "function": {
        "name": "reply",
        "description": "Reply.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}


def calls_tools(source: ModelSource, name: str) -> bool:
    """Whether a model calls a tool when it is asked to.

    Raises:
        SpecwrightError: it does not answer at all.
    """
    model = source.model(Place("", 1, "", "", Role.ARBITER))
    try:
        called = model.bind_tools([_PROBE]).invoke("Call the tool `reply` with the word: ready")
    except Exception as error:  # whatever a provider's client raises becomes one message
        raise error if isinstance(error, SpecwrightErrors) else translated(error, name) from error
    return any(call["name"] == "reply" for call in called.tool_calls)
