"""`specwright index search`: what the Code Index of a project holds, by meaning."""

from pathlib import Path

import pytest

from specwright.domain.modules.code_index import CodeIndexEntry
from testkit.cli.commands import specwright


def test_a_module_is_found_by_what_it_does(released_once: Path):
    """The whole entry with its similarity in [0, 1]; the page names it (F-14.3-05)."""
    (found,) = specwright("index", "search", "initials of a name", released_once, "--json").document[
        "matches"
    ]
    score = found.pop("similarity_score")
    assert 0 <= score <= 1
    assert CodeIndexEntry.model_validate(found).name == "initials"
    told = specwright("index", "search", "initials of a name", released_once)
    assert told.code == 0
    assert "initials" in told.out


@pytest.mark.parametrize(
    ("option", "value", "count"),
    [("--input-type", "str", 1), ("--input-type", "bytes", 0), ("--tag", "nothing-has-it", 0)],
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
