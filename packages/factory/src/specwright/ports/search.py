"""The web search port (design: product-spec)."""

from typing import NamedTuple, Protocol


class SearchResult(NamedTuple):
    """One ranked result."""

    url: str
    title: str
    snippet: str


class WebSearch(Protocol):
    """Searches the web."""

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """The best results, best first.

        Raises:
            RefusedError: no search is configured, or the service failed.
        """
        ...
