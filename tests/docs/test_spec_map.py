"""Requirements, the tests that cite them, and the page that is made of both (docs/make_spec_map.py)."""

import re
from pathlib import Path

import pytest

from testkit.documents import generator_of
from testkit.paths import ROOT

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


generator = generator_of("make_spec_map")


def _requirements() -> dict[str, str]:
    sections = generator.read_sections((ROOT / "docs/requirements.tsv").read_text(encoding="utf-8"))
    rows = [row for section in sections for row in section.rows]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def test_the_requirements_without_a_test_are_the_listed_ones():
    """No requirement loses its last test unnoticed, and one that gains a test leaves the list."""
    listed = generator.OPEN.read_text(encoding="utf-8").split()

    assert listed == generator.open_ids(ROOT), (
        "see what changed; `python docs/make_spec_map.py --open` writes the list"
    )


def test_every_requirement_that_a_test_cites_exists():
    """An id in a docstring is one of docs/requirements.tsv, so that a slip of the pen is no coverage."""
    known = _requirements()

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
    """A row says in a few words what it is about."""
    for name, title in _requirements().items():
        assert generator.cited_ids(name) == [name]
        assert 0 < len(title) <= 80
        assert "|" not in title


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


def test_tests_methods_and_steps_of_state_machines_are_found(tmp_path: Path):
    """Whatever pytest runs counts as a test, and so do a state machine's rules and invariants; helpers do not."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text(
        '''
def test_one():
    """Sentence (F-1-01)."""

async def test_two():
    """Sentence (F-1-02)."""

def helper():
    """Sentence (F-1-03)."""

class Behaviour:
    def test_three(self):
        """Sentence (F-1-01)."""

class Machine:
    @rule(x=1)
    def step(self):
        """Sentence (D-05-01)."""

    @invariant()
    def holds(self):
        """Sentence (D-05-02)."""
'''
    )
    assert generator.tests_by_id(tmp_path) == {
        "F-1-01": ["tests/test_it.py::test_one", "tests/test_it.py::Behaviour::test_three"],
        "F-1-02": ["tests/test_it.py::test_two"],
        "D-05-01": ["tests/test_it.py::Machine::step"],
        "D-05-02": ["tests/test_it.py::Machine::holds"],
    }


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("It holds (design: debate).", ["debate"]),
        ("It holds (design:\n    debate, ship-gate).", ["debate", "ship-gate"]),
        ("See docs/design.md#wire-log.", ["wire-log"]),
        ("In part (design: planning, checks 3-6).", ["planning"]),
        ("Both (design: ids; design: a2a).", ["ids", "a2a"]),
        ("By design (of nobody) there is none.", []),
    ],
)
def test_anchors_are_read_from_a_source(text: str, anchors: list[str]):
    """A source cites sections of the design by their anchors."""
    assert generator.cited_anchors(text) == anchors


def test_a_requirement_without_a_test_shows_as_such(tmp_path: Path):
    """The page lists every requirement, with its tests or a dash, below the modules of its part of the design."""
    for folder in ("docs", "tests", "packages/factory/src/specwright"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/requirements.tsv").write_text("# Gate\tship-gate\nF-3-01\tIt shuts\nF-3-02\tIt opens\n")
    (tmp_path / "tests/test_gate.py").write_text('def test_shut():\n    """Shut (F-3-01)."""\n')
    (tmp_path / "packages/factory/src/specwright/gate.py").write_text('"""The gate (design: ship-gate)."""\n')

    page = generator.spec_map(tmp_path)

    assert "1 of 2 requirements are cited by a test." in page
    assert "## Gate\n\nDesign: [ship-gate](design.md#ship-gate). Modules: `specwright/gate.py`.\n" in page
    assert "| F-3-01 | It shuts | `tests/test_gate.py::test_shut` |" in page
    assert "| F-3-02 | It opens | - |" in page
    assert generator.open_ids(tmp_path) == ["F-3-02"]
