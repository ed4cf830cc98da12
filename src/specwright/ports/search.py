"""The web search port (F§3.2.1)."""

from typing import NamedTuple, Protocol

__all__ = ["SearchResult", "WebSearch"]


class SearchResult(NamedTuple):
    """One ranked result."""

    url: str
    title: str
    snippet: str


class WebSearch(Protocol):
    """Finds pages."""

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """The best results, best first.

        Raises:
            RefusedError: no search is configured, or the service failed.
        """
        ...
