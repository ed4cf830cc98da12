"""Requirements, the tests that cite them, and the page that is made of both (docs/make_spec_map.py)."""

import re
from typing import Any

import pytest

from testkit.documents import generator_of
from testkit.paths import ROOT

_HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)


generator = generator_of("make_spec_map")


def _requirements() -> dict[str, Any]:
    sections = generator.read_sections((ROOT / "docs/requirements.tsv").read_text(encoding="utf-8"))
    rows = [row for section in sections for row in section.rows]
    named = {row.name: row for row in rows}
    assert len(named) == len(rows)
    return named


def test_the_requirements_without_a_test_are_the_listed_ones():
    """No requirement loses its last test unnoticed, and one that gains a test leaves the list."""
    listed = generator.OPEN.read_text(encoding="utf-8").split()

    assert listed == generator.open_ids(ROOT), (
        "see what changed; `python docs/make_spec_map.py --open` writes the list"
    )


def test_every_requirement_that_a_test_cites_exists():
    """An id in a docstring is one of docs/requirements.tsv that counts, so that a slip of the pen is no coverage."""
    known = {name for name, row in _requirements().items() if not row.withdrawn}

    unknown = {name: tests for name, tests in generator.tests_by_id(ROOT).items() if name not in known}
    assert unknown == {}


def test_every_section_names_its_part_of_the_design():
    """The second column of a section is anchors of docs/design.md."""
    sections = generator.read_sections((ROOT / "docs/requirements.tsv").read_text(encoding="utf-8"))
    design = (ROOT / "docs/design.md").read_text(encoding="utf-8")
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(design)
    }

    assert {anchor for section in sections for anchor in section.anchors} - anchors == set()


def test_every_requirement_has_an_id_of_its_own_and_a_title():
    """A row says in a few words what it is about, and which decision withdrew it or has its words."""
    decisions = {path.name[:4] for path in (ROOT / "docs/adr").glob("0*.md")}
    for name, title, decision in _requirements().values():
        assert generator.cited_ids(name) == [name]
        assert 0 < len(title) <= 80
        assert "|" not in title
        words, _, number = decision.rpartition(" ")
        assert (words, number in decisions) in {("", False), ("withdrawn by ADR", True), ("as in ADR", True)}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("It holds (F-12-03).", ["F-12-03"]),
        ("It holds (F-12-03 to F-12-05).", ["F-12-03", "F-12-04", "F-12-05"]),
        ("It holds (F-4.2-01..03, D-S8.1-06).", ["F-4.2-01", "F-4.2-02", "F-4.2-03", "D-S8.1-06"]),
        ("Twice (W-2-01) is once (W-2-01).", ["W-2-01"]),
        ("F-12-03 to F-13-05 is no range.", ["F-12-03", "F-13-05"]),
        ("In UTF-16-4 and MM-1a2b3c4d there is none.", []),
    ],
)
def test_ids_and_ranges_are_read_from_a_docstring(text: str, ids: list[str]):
    """A docstring cites single ids and ranges within one section."""
    assert generator.cited_ids(text) == ids
