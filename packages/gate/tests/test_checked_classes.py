"""Dataclasses that check their fields and derive properties: what the gate finds in them (design: contracts)."""

import pytest

from gate_testkit.corpus_reading import wider
from ship_gate.contract.obligations import obligations
from ship_gate.contract.rules import is_untested, own_statements
from ship_gate.public_surface import extract_surface
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.source.splice import spliced_files
from ship_gate.strength.check import stubs
from ship_gate.verdict import ENTRY_FILE, Candidate

PAGE = wider("page_at")
MONEY = wider("money_terms")
NUMBER, SIZE = ("        if self.number < 1:", "        if self.size < 1:")
CHECK = "    def __post_init__(self)"
START, END = ("return (self.number - 1) * self.size", "return self.start + self.size")
RAISE = 'raise ValueError(f"a page holds {self.size}")'


def changed(candidate, *changes):
    """A candidate whose entry file has other texts."""
    source = candidate.files[ENTRY_FILE].decode()
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return Candidate(candidate.contract, {**candidate.files, ENTRY_FILE: source.encode()})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (SIZE, f'        object.__setattr__(self, "size", 3)\n{SIZE}', "changes a field"),
        (RAISE, "raise self.error", "does not name what is raised"),
        ("    @property\n    def end(self)", "    def end(self)", "is no property"),
        ("    @property\n    def end(self) -> int:", "    @property\n    def end(self):", "is no property"),
        (CHECK, f"    def turn(self) -> int:\n        return 1\n\n{CHECK}", "is no property"),
    ],
)  # fmt: skip
def test_a_class_holds_a_check_and_properties_and_no_more(old, new, said):
    """D-43-07, D-S8.1-05: fields stay as they were given, and what is raised is read from the source."""
    files = spliced_files(ParsedFiles.of(changed(PAGE, (old, new)).files), PAGE.contract)
    with pytest.raises(SourceError, match=said):
        extract_surface(files, "page_at")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        # a check that fails by itself
        (NUMBER, f"        100 // (self.size - 7)\n{NUMBER}", "fuzz.counterexample"),
        # a property of another type, and one that fails
        (START, f"{START} or False", "fuzz.counterexample"),
        (END, f"{END} + 0 // (self.number - 8)", "fuzz.counterexample"),
        # an error that the statement does not name
        (RAISE, "raise LookupError(self.size)", "surface.diverged"),
    ],
)
@pytest.mark.slow
def test_faults_of_a_class_are_found_where_its_values_are_made(old, new, code):
    """D-43-07: an undeclared error of a check, and properties that are not what they are declared to be."""
    verdict = SandboxedShipGate(20).judge(changed(PAGE, (old, new)))
    assert code in {finding.code for finding in verdict.findings}


def test_definitions_with_a_check_are_shown_by_tests():
    """D-43-07, D-43-10: an obligation for what a class refuses, none for an error that other modules raise."""
    due = {one.pointer for one in obligations(MONEY.contract)}
    assert due == {
        "",
        "/outputs/0/invariants/0",
        "/error_surfaces/0",
        "/error_surfaces/1",
        "/error_surfaces/1/fields/0",
    }
    assert not is_untested(MONEY.contract)


def test_a_stub_of_a_class_checks_nothing_or_makes_none():
    """D-43-07: so that a test which shows what a class refuses fails on one of both."""
    stated = own_statements(PAGE.contract).values()
    raising, returning = ({} for _ in range(2))
    for source, namespace in zip(stubs(PAGE.files, ["page_at"], stated), (raising, returning), strict=True):
        exec(source, namespace)
    with pytest.raises(NotImplementedError):
        raising["Page"](1)
    assert returning["Page"](-1).end is None
