"""`specwright index search`: what the Code Index of a project holds, by meaning."""

from contextlib import closing
from pathlib import Path

import pytest

from specwright.bootstrap.stores import begun_store
from specwright.bootstrap.views import search_index
from specwright.domain.modules.code_index import CodeIndexEntry
from specwright.index.embedder import load_embedder
from specwright.ports import IndexQuery
from testkit.cli.commands import specwright

RELATED = {
    "a report of the expenses": ("write_report", 0.30),
    "balances of each person": ("compute_balances", 0.51),
    "divide money evenly between people": ("parse_money", 0.35),
    "format a table as text": ("render_report", 0.15),
    "parse an amount of money": ("parse_money", 0.76),
    "round to cents": ("to_cents", 0.44),
    "save the report to disk": ("write_report", 0.36),
    "settle debts with few payments": ("settle_up", 0.32),
    "split a bill": ("split_evenly", 0.30),
    "turn text into cents": ("to_cents", 0.19),
    "who owes whom": ("compute_balances", 0.20),
    "write a file": ("write_report", 0.44),
}
"""Queries with the best match among the seven modules of tabkeeper, and its score."""

UNRELATED = {
    "bake a chocolate cake": 0.02,
    "compress a video": 0.00,
    "dinosaur": 0.12,
    "football results": 0.02,
    "kubernetes deployment": 0.02,
    "neural network training": 0.07,
    "pineapple volcano": 0.05,
    "play music": 0.02,
    "quantum chromodynamics": 0.06,
    "send an email": 0.08,
    "the weather in Paris": 0.13,
    "xyzzy": 0.08,
}
"""Queries that none of them answers, with the score of the nearest."""


def test_words_that_no_module_answers_find_none(released: Path, monkeypatch: pytest.MonkeyPatch):
    """The least score of a match lies between what is related and what is not (F-14.3-05)."""
    lines = (Path(__file__).parent / "tabkeeper_index.jsonl").read_bytes().splitlines()
    with begun_store(released) as store, closing(store.index(load_embedder("wordllama"))) as index:
        index.add_all(CodeIndexEntry.from_bytes(line, "") for line in lines)
        own = {query: index.search(IndexQuery(query, top_k=50)) for query in RELATED}
    best = {query: search_index(released, IndexQuery(query))[0] for query in RELATED}
    assert {query: (hit.entry.name, round(match, 2)) for query, (hit, match) in best.items()} == RELATED
    assert [
        query for query, (hit, _) in best.items() if hit not in own[query]
    ] == []  # the score is the cosine
    assert {query: search_index(released, IndexQuery(query)) for query in UNRELATED} == {
        query: [] for query in UNRELATED
    }
    monkeypatch.setattr("specwright.bootstrap.views._RELEVANT", 0.0)
    nearest = {query: search_index(released, IndexQuery(query))[0][1] for query in UNRELATED}
    assert {query: round(score, 2) for query, score in nearest.items()} == UNRELATED


def test_a_module_is_found_by_what_it_does(released_once: Path):
    """The whole entry with its similarity in [0, 1]; the page names it (F-14.3-05)."""
    (found,) = specwright("index", "search", "initials of a name", released_once, "--json").document[
        "matches"
    ]
    score, match = found.pop("similarity_score"), found.pop("match")
    assert 0 <= score < match <= 1  # its name is in the query
    assert CodeIndexEntry.model_validate(found).name == "initials"
    told = specwright("index", "search", "initials of a name", released_once)
    assert told.code == 0
    assert "initials" in told.out


@pytest.mark.parametrize(
    ("option", "value", "count"),
    [
        ("--tag", "nothing-has-it", 0),
        ("--include-inactive", "--top-k=1", 1),
    ],
)
def test_filters_come_before_the_ranking(released_once: Path, option: str, value: str, count: int):
    """An entry that has none of the wanted values is no result, however near (F-14.3-05)."""
    found = specwright("index", "search", "initials", released_once, option, value, "--json").document[
        "matches"
    ]
    assert len(found) == count


def test_nothing_found_is_said(released_once: Path):
    """No empty table (D-S9-04)."""
    told = specwright("index", "search", "initials", released_once, "--tag", "nothing-has-it")
    assert (told.code, told.out) == (0, "")
    assert "No module in the Code Index matches." in told.err
