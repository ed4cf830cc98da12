"""What a finding means, for whoever meets its code for the first time."""

import re

import pytest

from ship_gate.errors import InputError
from ship_gate.findings import FindingCode, Severity, known_code
from testkit.paths import ROOT

EXPLAINED = list(FindingCode)


def test_every_code_is_explained_in_sentences():
    """What was observed, why it refuses the module, and at least one step; none says the same as another (D-50-03)."""
    for one in EXPLAINED:
        for text in (one.means, one.why, *one.steps):
            assert re.fullmatch(r"[A-Za-z`].{6,}[.}\]]", text, re.DOTALL), (one, text)
        assert one.steps, one
        assert (one.severity in set(Severity), bool(one.remedy)) == (True, True), one
    assert len({one.means for one in EXPLAINED}) == len(FindingCode)


def test_the_table_and_the_codes_are_the_same():
    """No code without its entry in findings.toml, and no entry without a code."""
    with pytest.raises(InputError, match=r"no finding 'tests\.fail'") as caught:
        known_code("tests.fail")
    assert "tests.failed" in caught.value.remedy
    written = re.findall(
        r'^\["(.*)"\]$', (ROOT / "packages/gate/src/ship_gate/findings.toml").read_text(), re.MULTILINE
    )
    assert written == list(FindingCode)


def test_pages_that_an_explanation_names_exist():
    """A reader who follows a pointer finds something."""
    text = " ".join(" ".join(one.steps) for one in EXPLAINED)
    for path in re.findall(r"\bdocs/[a-z-]+\.md", text):
        assert (ROOT / path).is_file(), path
