"""docs/agent-wire.md is drawn from the contracts, and names tests that exist (D33, W Required Conformance Tests)."""

import re

import pytest

from agent_wire.tables import default_tables
from testkit.documents import generator_of
from testkit.paths import ROOT

CONFORMANCE = ("tests/conformance/agent-wire", "tests/reducers/agent-wire")


generator = generator_of("make_wire_page")


def test_the_page_is_drawn_from_the_contracts_as_they_are():
    """Its diagrams and tables are what `.venv/bin/python docs/make_wire_page.py` writes (D-33-01, W-1-05)."""
    written = generator.PAGE.read_text(encoding="utf-8")

    assert generator.page(written) == written, "run `.venv/bin/python docs/make_wire_page.py`"


@pytest.mark.parametrize("part", sorted(generator.parts()))
def test_a_drawing_that_is_out_of_date_is_noticed(part: str):
    """Each drawn part is compared, none is prose."""
    written = generator.PAGE.read_text(encoding="utf-8")
    block = re.search(rf"<!-- {part} -->\n\n(.*?)\n<!-- end of {part} -->", written, re.DOTALL)
    assert block
    assert len(block[1].splitlines()) > 9

    lines = block[1].splitlines(keepends=True)
    stale = written.replace(block[1], "".join([*lines[:-2], lines[-1]]))
    assert generator.page(stale) == written != stale


def test_every_conformance_requirement_names_a_test_that_exists():
    """The ten of the document, each with its test (W-2-01 to W-2-09)."""
    named = re.findall(
        r"`(test_[a-z0-9_]+\.py)::(test_\w+)` \|$", generator.PAGE.read_text("utf-8"), re.MULTILINE
    )

    assert len(set(named)) == 10
    for file, test in named:
        (found,) = (path for base in CONFORMANCE if (path := ROOT / base / file).is_file())
        assert f"def {test}(" in found.read_text(encoding="utf-8")


def test_the_diagram_shows_every_legal_pair_and_no_other():
    """State diagrams are generated from the contract (D-33-01)."""
    arrows = [line for line in generator.state_diagram(default_tables()).splitlines() if ": " in line]
    cells = [
        cell
        for row in generator.transition_table(default_tables()).splitlines()[2:]
        for cell in row.split("|")[2:-1]
    ]

    assert len(arrows) == 21
    assert len(cells) == 81
    assert sum(cell.strip() != "" for cell in cells) == 21
    assert "    blocked --> working: task.started [claimed]" in arrows


def test_the_library_s_example_runs_and_says_what_is_so():
    """The page shows `agent_wire` used as a library, and what it asserts holds (W-7-07)."""
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", generator.PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )

    exec(compile(block, "docs/agent-wire.md", "exec"), {})
