"""The web search that the settings name (design: web-search)."""

from specwright.ports.search import WebSearch
from specwright.roles.agent.tools import NoSearch
from specwright.search.services import ddgs, tavily
from specwright.settings import Settings


def search_of(settings: Settings) -> WebSearch:
    """What `web_search` asks; nothing is asked by this.

    Raises:
        InputError: the service has no key, or its client is not installed.
    """
    if settings.search == "tavily":
        return tavily()
    return ddgs() if settings.search == "ddgs" else NoSearch()
