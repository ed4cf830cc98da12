"""What a tool reads from outside is journalled by its call and its question (DESIGN §4)."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from specwright.domain.modules.code_index import SearchHit
from specwright.journal import FileJournal, read_records
from specwright.ports import IndexQuery, SearchResult
from specwright.roles.agent.tools import PAGES_ARE_DATA, search_tool, web_search_tool
from testkit.index_entries import entry

RUN = "TSK-001.1/plan/round-1/planner"


class Counted:
    """An index and a web that remember what they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: Any, limit: int = 0) -> list[Any]:
        """Something about the query."""
        text = query.query if isinstance(query, IndexQuery) else query
        self.asked.append(text)
        if limit:
            return [SearchResult(f"https://example.org/{text}", text, "")] * 20
        return [SearchHit(entry(1, name=text.replace(" ", "_")), 0.5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal lies."""
    return tmp_path / "journal.jsonl"


@pytest.fixture
def journals(path: Path) -> Iterator[list[FileJournal]]:
    """Journals that are closed after the test."""
    made: list[FileJournal] = []
    yield made
    for journal in made:
        journal.close()


def call(tool: BaseTool, call_id: str, **arguments: Any) -> Any:
    """What a model gets back from a tool call."""
    made = {"name": tool.name, "args": arguments, "id": call_id, "type": "tool_call"}
    return json.loads(tool.invoke(made).content.removeprefix(PAGES_ARE_DATA))


def test_a_search_is_made_once_whatever_order_its_calls_come_in(path: Path, journals: list[FileJournal]):
    """Run again, in another order, each call meets its own result, and nobody searches (D-S4-01)."""
    index = Counted()
    journals += [FileJournal(path)]
    first = search_tool(index, journals[0], RUN)
    found = {number: call(first, f"call-{number}", query=f"thing {number}") for number in (1, 2)}
    journals += [FileJournal(path)]
    again = search_tool(index, journals[1], RUN)
    assert {number: call(again, f"call-{number}", query=f"thing {number}") for number in (2, 1)} == found
    assert index.asked == ["thing 1", "thing 2"]
    assert [found[number][0]["name"] for number in (1, 2)] == ["thing_1", "thing_2"]


def test_a_role_gets_the_rest_of_an_entry_on_request(path: Path, journals: list[FileJournal]):
    """Of several results what a planner needs, of one alone all that the index has (F-14.3-05)."""
    journals += [FileJournal(path)]
    tool = search_tool(Counted(), journals[0], RUN)
    (short,), (whole,) = (call(tool, f"call-{top_k}", query="thing", top_k=top_k) for top_k in (2, 1))
    assert {*short} == {"module_ref", "name", "purpose", "io_summary", "status", "similarity_score"}
    assert {*whole} == {*entry(1).to_json(), *short}


def test_what_a_role_asks_for_reaches_the_index(path: Path, journals: list[FileJournal]):
    """Each field of a search, and at most fifty results; what is left out is no filter, ten results and no retired module
    (F-14.3-01)."""
    heard: list[Any] = []
    index: Any = SimpleNamespace(search=lambda query: heard.append(query) or [])
    journals += [FileJournal(path)]
    asked = {"tags": ["money"], "input_types": ["str"], "output_types": ["Decimal"], "include_inactive": True}
    for arguments in ({**asked, "top_k": 400}, {}):
        made = {"name": "search_code_index", "args": {"query": "thing", **arguments}, "id": str(len(heard))}
        search_tool(index, journals[0], RUN).invoke({**made, "type": "tool_call"})
    assert heard == [
        IndexQuery("thing", ("money",), ("str",), ("Decimal",), True, 50),
        IndexQuery("thing", (), (), (), False, 10),
    ]


@pytest.mark.parametrize("call_id", ["", "search_code_index", "call_0"])
def test_a_model_that_gives_all_its_calls_one_id_is_served_all_the_same(
    path: Path, journals: list[FileJournal], call_id: str
):
    """Some servers number calls anew in each answer, or not at all (D-S4-01, D-S6-01)."""
    journals += [FileJournal(path)]
    tool = search_tool(Counted(), journals[0], RUN)
    names = [call(tool, call_id, query=query)[0]["name"] for query in ("one", "two", "one")]
    assert names == ["one", "two", "one"]


def test_a_web_search_is_journalled_and_bounded(path: Path, journals: list[FileJournal]):
    """Ten results at most, recorded as they came (F-3.2.1-02, D-S4-01)."""
    web, consulted = Counted(), list[tuple[str, list[str]]]()
    journals += [FileJournal(path)]
    tool = web_search_tool(web, journals[0], "product.1/researcher", consulted)
    assert len(call(tool, "call-1", query="names", max_results=50)) == 10
    journals += [FileJournal(path)]
    again = web_search_tool(web, journals[1], "product.1/researcher", consulted)
    assert len(call(again, "call-1", query="names", max_results=50)) == 10
    assert web.asked == ["names"]
    assert consulted[0] == consulted[1]
    assert len(list(read_records(path))) == 1
