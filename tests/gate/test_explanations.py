"""What a finding means, for whoever meets its code for the first time."""

import ast
import doctest
import re
import textwrap

import pytest

from specwright.bootstrap.gate.batch import UNREADABLE
from specwright.bootstrap.gate.explain import explain_finding
from specwright.bootstrap.gate.package_explanations import PACKAGE_EXPLANATIONS
from specwright.domain.adoption.package_verdict import INEXPRESSIBLE, MISSING, REFUTED, UNSTATED
from specwright.errors import InputError
from specwright.gate.adopt.docstrings import docstring_text
from specwright.gate.explanations import EXPLANATIONS, explained
from specwright.gate.findings import FindingCode
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
    """Those of module directories, of source trees, and `docstring`; a tree has no files of a module (D-50-05)."""
    told = {code: explain_finding(code) for code in (*FindingCode, UNREADABLE, *PACKAGE_EXPLANATIONS)}
    assert {MISSING, REFUTED, UNSTATED, INEXPRESSIBLE, "docstring"} == {*PACKAGE_EXPLANATIONS}
    for code, one in told.items():
        assert (one.code, bool(one.means and one.why and one.steps)) == (code, True)
    for code, (_, one) in PACKAGE_EXPLANATIONS.items():
        assert not re.search(r"contract\.json|obligations\.json|examples\.md", " ".join(one.steps)), code
    assert "`explain docstring`" in told[FindingCode.OBLIGATIONS_UNCOVERED].steps[-1]
    with pytest.raises(InputError, match="no finding 'mising'") as caught:
        explain_finding("mising")
    assert "missing" in caught.value.remedy


def test_the_docstring_that_is_shown_is_read_as_it_says():
    """Purpose, parameters, error and examples of the explanation are what the gate reads of it (D-50-05)."""
    text = textwrap.dedent(PACKAGE_EXPLANATIONS["docstring"][1].means.partition("\n\n")[2])
    (node,) = ast.parse(text + "\n    return 0\n").body
    assert isinstance(node, ast.FunctionDef)
    read = docstring_text(node)
    assert read.purpose.startswith("The whole units")
    assert {name: one.text for name, one in read.parameters.items()} == {
        "total": "What is shared, at least 0.",
        "people": "Between 1 and 100.",
    }
    assert [one.name for one in read.raises] == ["ValueError"]
    examples = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
    assert [one.source.strip() for one in examples] == ["share(7, 2)", "share(7, 0)"]


def test_pages_that_an_explanation_names_exist():
    """A reader who follows a pointer finds something."""
    text = " ".join(" ".join(one.steps) for one in EXPLANATIONS.values())
    for path in re.findall(r"\bdocs/[a-z-]+\.md", text):
        assert (ROOT / path).is_file(), path
