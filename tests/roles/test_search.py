"""Web search services: what is asked of them, and what of their answers goes on (F§3.2.1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from specwright.bootstrap.project import search_of
from specwright.errors import InputError, RefusedError
from specwright.ports import SearchResult
from specwright.search import KEY, Search, ddgs, tavily
from specwright.settings import Settings
from testkit.loopback import Asked, Reply, answering


@contextmanager
def server(status: int, body: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A search server on loopback with one answer; its address, and the requests."""
    asked: list[dict[str, Any]] = []

    def reply(request: Asked) -> Reply:
        asked.append(request.document)
        return Reply(status, body)

    with answering(reply) as address:
        yield address, asked


def page(number: int, **more: str) -> dict[str, str]:
    """A result as Tavily gives it."""
    return {"url": f"https://example.org/{number}", "title": f"Page {number}", "content": "Text.", **more}


def test_tavily_gives_ranked_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Url, title and snippet, in the service's order; the client is the real one, the server is on loopback
    (F-3.2.1-01)."""
    monkeypatch.setenv(KEY, "tvly-planted-0123456789")
    with server(200, {"results": [page(2), page(1)]}) as (url, asked):
        found = tavily(url).search("names of people", 7)
    assert found[0] == SearchResult("https://example.org/2", "Page 2", "Text.")
    assert [result.url for result in found] == ["https://example.org/2", "https://example.org/1"]
    assert (asked[0]["query"], asked[0]["max_results"]) == ("names of people", 7)


def test_a_service_that_fails_is_told_to_the_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on without it (F-3.2.1-01)."""
    monkeypatch.setenv(KEY, "tvly-planted-0123456789")
    with (
        server(500, {"detail": {"error": "broken"}}) as (url, _),
        pytest.raises(RefusedError, match="failed"),
    ):
        tavily(url).search("names", 3)


def test_what_a_page_says_is_one_line_of_bounded_length() -> None:
    """Controls and line ends are no way out of a result; addresses of other kinds are left out (F-3.2.1-02)."""
    wild = [
        {"href": "javascript:alert(1)", "title": "a", "body": "b"},
        {"href": "file:///etc/passwd", "title": "a", "body": "b"},
        {"href": "http://[half", "title": "a", "body": "b"},
        {"href": "https://example.org/x", "title": "T\x1b[2J\n# Heading " * 90, "body": "B\r\n\u202e" * 900},
        {"href": None},
    ] * 9
    found = Search(lambda _query, _most: wild, ("href", "title", "body")).search("x", 5)
    assert {result.url for result in found} == {"https://example.org/x"}
    assert len(found) == 5
    for text in found[0][1:]:
        assert len(text) <= 600
        assert text.isprintable()


def test_the_keyless_service_needs_nothing() -> None:
    """It is made without a key; nothing is asked by that (F-3.2.1-01)."""
    assert ddgs()
    assert search_of(Settings(search="ddgs"))


def test_a_missing_key_is_told_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-S9-04: the variable, and what to do."""
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(InputError, match="no key") as caught:
        search_of(Settings(search="tavily"))
    assert KEY in caught.value.where
