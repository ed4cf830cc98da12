"""The models and the web search that the settings name (design: models, web-search)."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from specwright.application import scopes
from specwright.application.store.file_hashes import FILE_HASHES
from specwright.bootstrap.costs import models_by_role, require_prices
from specwright.domain.base.text import did_you_mean
from specwright.errors import InputError
from specwright.journal import Recording
from specwright.journal.records import Place
from specwright.ports.roles import Role
from specwright.ports.search import WebSearch
from specwright.roles.agent.tools import NoSearch
from specwright.roles.models.prices import model_label
from specwright.roles.models.sources import ModelSource, fallback_sources, model_sources
from specwright.search.services import ddgs, tavily
from specwright.settings import ALL_ROLES, Settings


def model_sources_of(settings: Settings) -> tuple[dict[Role, ModelSource], Recording | None]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, there is none of that name, or a budget in money meets an unknown price.
    """
    names = [settings.model, *settings.role_models.values()]
    recorded: Recording | None = None
    for name in names:
        if name.startswith("replay:"):
            recorded = Recording(Path(name.partition(":")[2]))
    if unknown := set(settings.role_models) - set(Role):
        name = sorted(unknown)[0]
        raise InputError(
            f"there is no role {name!r}", remedy=f"{did_you_mean(name, Role)}roles are: {', '.join(Role)}"
        )
    sources = model_sources(settings, recorded)
    fallback_sources(settings)  # a wrong name or a missing key is told before the run begins
    require_prices(settings)
    return sources, recorded


def answering(settings: Settings) -> tuple[str, dict[Role, frozenset[str]]]:
    """The models that answer for the researcher, in words; and those that answer for each role, fallbacks included, as the
    journal names them, of a scripted one the empty name."""
    first = Role.RESEARCHER.value
    fallbacks = settings.fallback_models.get(first) or settings.fallback_models.get(ALL_ROLES, [])
    named = [settings.role_models.get(first, settings.model), *fallbacks, settings.base_url]
    own, labels = models_by_role(settings), dict[Role, frozenset[str]]()
    for role in Role:
        instead = (model_label(name, settings.address_of(name)) for name in settings.fallbacks_of(role))
        labels[role] = frozenset([own.get(role, ""), *instead])
    return " ".join(named).strip(), labels


def require_recording_of(spec_text: str, recorded: Recording) -> None:
    """Refuse a recording of another SPEC.md: its answers would be released as this product.

    Raises:
        InputError: it is.
    """
    approved = recorded.at(Place(scopes.APPROVAL, FILE_HASHES, 0))
    noted = cast(Mapping[str, str], approved.answer).get("product/SPEC.md") if approved else None
    if noted is not None and noted != hashlib.sha256(spec_text.encode()).hexdigest():
        raise InputError(
            "the recorded journal is of another SPEC.md",
            where=str(recorded.path),
            remedy="name the SPEC.md that was recorded, with --spec, or another --model",
        )


def search_of(settings: Settings) -> WebSearch:
    """What `web_search` asks; nothing is asked by this.

    Raises:
        InputError: the service has no key, or its client is not installed.
    """
    if settings.search == "tavily":
        return tavily()
    return ddgs() if settings.search == "ddgs" else NoSearch()
