"""The models and the web search that the settings name (design: models, web-search)."""

from ship_gate.base.text import did_you_mean
from specwright.bootstrap.costs import models_by_role, require_prices
from specwright.errors import InputError
from specwright.ports.roles import Role
from specwright.ports.search import WebSearch
from specwright.roles.agent.tools import NoSearch
from specwright.roles.models.prices import model_label
from specwright.roles.models.sources import ModelSource, fallback_sources, model_sources
from specwright.search.services import ddgs, tavily
from specwright.settings import ALL_ROLES, Settings


def model_sources_of(settings: Settings) -> dict[Role, ModelSource]:
    """The models that the settings name; nothing is written for a wrong name.

    Raises:
        InputError: no model is named, there is none of that name, or a budget in money meets an unknown price.
    """
    if unknown := set(settings.role_models) - set(Role):
        name = sorted(unknown)[0]
        raise InputError(
            f"there is no role {name!r}", remedy=f"{did_you_mean(name, Role)}roles are: {', '.join(Role)}"
        )
    sources = model_sources(settings)
    fallback_sources(settings)  # a wrong name or a missing key is told before the run begins
    require_prices(settings)
    return sources


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


def search_of(settings: Settings) -> WebSearch:
    """What `web_search` asks; nothing is asked by this.

    Raises:
        InputError: the service has no key, or its client is not installed.
    """
    if settings.search == "tavily":
        return tavily()
    return ddgs() if settings.search == "ddgs" else NoSearch()
