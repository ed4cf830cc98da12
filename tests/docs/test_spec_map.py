"""The spec map is what its generator makes of requirements and tests (docs/make_spec_map.py)."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_spec_map", ROOT / "docs" / "make_spec_map.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_spec_map"] = module
    spec.loader.exec_module(module)
    return module


generator = _generator()


def _requirements() -> dict[str, str]:
    sections = generator.read_sections((ROOT / "docs/requirements.tsv").read_text(encoding="utf-8"))
    rows = [row for section in sections for row in section.rows]
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def test_the_map_is_current():
    """The file is what `make pages` writes; run that after adding a test that cites a requirement."""
    written = generator.MAP.read_text(encoding="utf-8")
    made = generator.spec_map(ROOT)

    stale = [line[:160] for line in made.splitlines() if line not in set(written.splitlines())]
    assert written == made, "run `make pages`; lines that are new: " + "; ".join(stale[:5])


def test_every_requirement_that_a_test_cites_exists():
    """An id in a docstring is one of docs/requirements.tsv, so that a slip of the pen is no coverage."""
    known = _requirements()

    unknown = {
        name: tests for name, tests in generator.tests_by_id(ROOT / "tests").items() if name not in known
    }
    assert unknown == {}


def test_every_requirement_that_the_code_cites_exists():
    """An id in a source file is one of docs/requirements.tsv."""
    known = _requirements()

    sources = generator.read_sources(ROOT / "src" / "specwright")
    assert {
        name: source.ids - known.keys() for name, source in sources.items() if source.ids - known.keys()
    } == {}


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
    (tmp_path / "test_it.py").write_text(
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
        "F-1-01": ["test_it.py::test_one", "test_it.py::Behaviour::test_three"],
        "F-1-02": ["test_it.py::test_two"],
        "D-05-01": ["test_it.py::Machine::step"],
        "D-05-02": ["test_it.py::Machine::holds"],
    }


def test_modules_are_found_by_section_by_decision_and_by_requirement(tmp_path: Path):
    """`F§3.2` is not `F§3.2.1`, `§8` of the design is not `§8.1`, and `D29-D31` is three decisions."""
    for name, text in {
        "a": "implements F§3.2.",
        "b": "implements F§3.2.1 and DESIGN §8.1",
        "c": "implements D29-D31",
        "d": "see D-07-01",
    }.items():
        (tmp_path / f"{name}.py").write_text(f'"""{text}"""')
    sources = generator.read_sources(tmp_path)

    def citing(*citations: str, row: str = "F-9-99") -> list[str]:
        return generator.citing_modules(generator.Section("", citations, [(row, "")]), sources)

    assert citing("F§3.2") == ["a.py"]
    assert citing("F§3.2.1") == ["b.py"]
    assert citing("§8") == []
    assert citing("§8.1") == ["b.py"]
    assert citing("D30") == ["c.py"]
    assert citing("D3") == []
    assert citing("D1", row="D-07-01") == ["d.py"]


def test_a_requirement_without_a_test_shows_as_such(tmp_path: Path):
    """The map lists every requirement, with its tests or a dash, below the modules of its section."""
    for folder in ("docs", "tests", "src/specwright"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/requirements.tsv").write_text("# Gate\tF§3\nF-3-01\tIt shuts\nF-3-02\tIt opens\n")
    (tmp_path / "tests/test_gate.py").write_text('def test_shut():\n    """Shut (F-3-01)."""\n')
    (tmp_path / "src/specwright/gate.py").write_text('"""The gate (F§3)."""\n')

    made = generator.spec_map(tmp_path)

    assert "1 of 2 requirements are cited by a test." in made
    assert "## Gate (F§3)\n\n`gate.py`\n" in made
    assert "| F-3-01 | It shuts | `test_gate.py::test_shut` |" in made
    assert "| F-3-02 | It opens | - |" in made
