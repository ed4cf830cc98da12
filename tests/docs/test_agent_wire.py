"""docs/agent-wire.md is drawn from the contracts, and names tests that exist (D33, W Required Conformance Tests)."""

import re

from testkit.documents import generator_of
from testkit.paths import ROOT

CONFORMANCE = ("tests/conformance/agent-wire", "tests/reducers/agent-wire")


generator = generator_of("make_wire_page")


def test_the_page_is_drawn_from_the_contracts_as_they_are():
    """Its diagrams and tables are what `.venv/bin/python docs/make_wire_page.py` writes (D-33-01, W-1-05)."""
    written = generator.PAGE.read_text(encoding="utf-8")

    assert generator.page(written) == written, "run `.venv/bin/python docs/make_wire_page.py`"


def test_every_conformance_requirement_names_a_test_that_exists():
    """The ten of the document, each with its test (W-2-01 to W-2-09)."""
    named = re.findall(
        r"`(test_[a-z0-9_]+\.py)::(test_\w+)` \|$", generator.PAGE.read_text("utf-8"), re.MULTILINE
    )

    assert len(set(named)) == 10
    for file, test in named:
        (found,) = (path for base in CONFORMANCE if (path := ROOT / base / file).is_file())
        assert f"def {test}(" in found.read_text(encoding="utf-8")


def test_the_library_s_example_runs_and_says_what_is_so():
    """The page shows `agent_wire` used as a library, and what it asserts holds (W-7-07)."""
    (block,) = re.findall(
        r"^```python\n(.*?)^```$", generator.PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )

    exec(compile(block, "docs/agent-wire.md", "exec"), {})
