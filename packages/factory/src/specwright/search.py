"""Web search by Tavily, which needs a key, or by ddgs, which needs none (design: models).

Both are clients that others keep; a result is cut to the port's three fields here. What a page says is data: it is made
one line of bounded length, and only web addresses are passed on.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from ship_gate.base.text import one_line
from specwright.errors import InputError, RefusedError
from specwright.ports import SearchResult, WebSearch

KEY = "TAVILY_API_KEY"
SECONDS = 20
"""After which a service is given up."""

_LONGEST_TITLE, _LONGEST_SNIPPET, _LONGEST_URL = 200, 600, 2_000

Ask = Callable[[str, int], Iterable[Mapping[str, Any]]]
"""Asks a service: a query, and how many results at most."""


class Search:
    """The port `WebSearch` over a service's client.

    Args:
        ask: Asks the service.
        fields: What it calls url, title and snippet.
    """

    def __init__(self, ask: Ask, fields: tuple[str, str, str]) -> None:
        self._ask = ask
        self._fields = fields

    def search(self, query: str, max_results: int) -> list[SearchResult]:
        """The best results, best first.

        Raises:
            RefusedError: the service failed.
        """
        try:
            results = [self._result(one) for one in self._ask(query, max_results)]
        except Exception as error:  # each client raises errors of its own
            said = one_line(str(error))  # whole, since who masks what is secret must see all of it
            raise RefusedError(f"The web search failed: {type(error).__name__}: {said}") from error
        return [result for result in results if _is_web_address(result.url)][:max_results]

    def _result(self, found: Mapping[str, Any]) -> SearchResult:
        url, title, snippet = (one_line(str(found.get(name) or "")) for name in self._fields)
        return SearchResult(url, title[:_LONGEST_TITLE], snippet[:_LONGEST_SNIPPET])


def tavily(base_url: str | None = None) -> WebSearch:
    """Tavily, by the key in the environment.

    Args:
        base_url: Of another server that speaks its protocol.

    Raises:
        InputError: there is no key, or its client is not installed.
    """
    key = os.environ.get(KEY, "")
    if not key:
        raise InputError(
            "there is no key for the web search",
            where=f"the variable {KEY} is not set",
            remedy=f'export {KEY}=...; or set search = "ddgs", which needs none',
        )
    try:
        from tavily import TavilyClient
    except ImportError as error:
        raise _not_installed("tavily-python", error) from error
    client: Any = TavilyClient(api_key=key, api_base_url=base_url)

    def ask(query: str, most: int) -> Iterable[Mapping[str, Any]]:
        return client.search(query, max_results=most, timeout=SECONDS)["results"]

    return Search(ask, ("url", "title", "content"))


def ddgs() -> WebSearch:
    """Public search engines, without a key.

    Raises:
        InputError: its client is not installed.
    """
    try:
        from ddgs import DDGS  # pyright: ignore[reportUnknownVariableType]  # its own types have gaps
    except ImportError as error:
        raise _not_installed("ddgs", error) from error

    def ask(query: str, most: int) -> Iterable[Mapping[str, Any]]:
        client: Any = DDGS(timeout=SECONDS)
        return client.text(query, max_results=most)

    return Search(ask, ("href", "title", "body"))


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = len(url) <= _LONGEST_URL and " " not in url
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _not_installed(package: str, error: ImportError) -> InputError:
    return InputError(
        f"the web search needs the package {package}",
        where=str(error),
        remedy="install specwright-factory[search]; or leave `search` out of the settings",
    )
