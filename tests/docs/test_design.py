"""docs/design.md is what the code cites: every citation resolves."""

import re

from testkit.documents import generator_of
from testkit.paths import ROOT, SOURCES

generator = generator_of("make_spec_map")


def test_every_citation_in_the_code_is_a_section_of_the_design():
    """A reader who follows `(design: x)` arrives somewhere."""
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    titles = re.findall(r"^##+ (.+)$", page, re.MULTILINE)
    known = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}

    unknown = {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in SOURCES
        for path in folder.rglob("*.py")
        for name in generator.cited_anchors(path.read_text(encoding="utf-8"))
        if name not in known
    }
    assert unknown == set()
