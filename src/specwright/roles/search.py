"""Web search for the researcher; without a configured service the tool says so and the role goes on (F§3.2.1)."""

from specwright.errors import RefusedError
from specwright.ports.search import SearchResult

__all__ = ["NoSearch"]


class NoSearch:
    """The `WebSearch` port where no service is configured."""

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """Say that there is none."""
        raise RefusedError("No web search is configured here. Work from SPEC.md and what you know.")
