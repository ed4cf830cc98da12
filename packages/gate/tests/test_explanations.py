"""What a finding means, for whoever meets its code for the first time."""

import re

import pytest

from ship_gate.batch import UNREADABLE
from ship_gate.errors import InputError
from ship_gate.explain import explain_finding
from ship_gate.explanations import EXPLANATIONS, explained
from ship_gate.findings import FindingCode
from testkit.paths import ROOT


def test_every_code_is_explained_in_sentences():
    """What was observed, why it refuses the module, and at least one step; none says the same as another (D-50-03)."""
    assert set(EXPLANATIONS) == set(FindingCode)
    for code, one in EXPLANATIONS.items():
        for text in (one.means, one.why, *one.steps):
            assert re.fullmatch(r"[A-Za-z`].{6,}[.}\]]", text, re.DOTALL), (code, text)
        assert one.steps, code
    assert len({one.means for one in EXPLANATIONS.values()}) == len(EXPLANATIONS)


def test_a_code_is_found_by_its_text_and_another_is_not():
    """`tests.failed`, as it stands in a report."""
    assert explained("tests.failed") is EXPLANATIONS[FindingCode.TESTS_FAILED]
    assert explained("tests.fail") is None


def test_whatever_code_a_tool_gives_is_explained():
    """Those of the gate, and of a directory that cannot be judged (D-50-03)."""
    told = {code: explain_finding(code) for code in (*FindingCode, UNREADABLE)}
    for code, one in told.items():
        assert (one.code, bool(one.means and one.why and one.steps)) == (code, True)
    with pytest.raises(InputError, match=r"no finding 'tests\.fail'") as caught:
        explain_finding("tests.fail")
    assert "tests.failed" in caught.value.remedy


def test_pages_that_an_explanation_names_exist():
    """A reader who follows a pointer finds something."""
    text = " ".join(" ".join(one.steps) for one in EXPLANATIONS.values())
    for path in re.findall(r"\bdocs/[a-z-]+\.md", text):
        assert (ROOT / path).is_file(), path
