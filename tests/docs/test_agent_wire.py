"""docs/agent-wire.md is drawn from the contracts, and names tests that exist (D33, W Required Conformance Tests)."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
CONFORMANCE = ("tests/conformance/agent-wire", "tests/reducers/agent-wire")


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_wire_page", ROOT / "docs" / "make_wire_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generator = _generator()


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
