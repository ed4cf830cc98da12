"""docs/design.md is what the code cites: every citation resolves, and no section is without a reader."""

import re
from pathlib import Path

from testkit.documents import generator_of
from testkit.paths import ROOT, SOURCES

generator = generator_of("make_spec_map")

DESIGN = ROOT / "docs" / "design.md"
FILES = [path for folder in SOURCES for path in sorted(folder.rglob("*.py"))]


def anchors() -> dict[str, str]:
    """The sections of the design by their anchors, as a page of a repository and mkdocs both make them."""
    parts = re.split(r"^## (.+)\n", DESIGN.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-"): body
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


def cited(path: Path) -> list[str]:
    """The anchors that a file cites."""
    return generator.cited_anchors(path.read_text(encoding="utf-8"))


def test_every_citation_in_the_code_is_a_section_of_the_design():
    """A reader who follows `(design: x)` arrives somewhere."""
    known = anchors()

    unknown = {
        f"{path.relative_to(ROOT)}: {name}" for path in FILES for name in cited(path) if name not in known
    }
    assert unknown == set()


def test_every_section_is_cited_or_says_that_it_is_not_built():
    """A section that neither code nor another document refers to is marked, or it can go."""
    documents = [path for path in (ROOT / "docs").rglob("*.md") if path != DESIGN]
    readers = [*FILES, *documents, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    referred = {name for path in readers if path.exists() for name in cited(path)}

    alone = [
        name for name, body in anchors().items() if name not in referred and "*Not built yet" not in body
    ]
    assert alone == []
