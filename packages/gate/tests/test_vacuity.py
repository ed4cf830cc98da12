"""Tests that pass on a module that does nothing are refused."""

import ast

import pytest

from gate_testkit.judging import candidate, judge
from ship_gate.strength.check import stubs, vacuous_findings
from testkit.sampling import spread

ENTRY = "implementation/__init__.py"
TESTS = "tests/test_shorten.py"


def _with(test):
    return {TESTS: candidate("shorten").files[TESTS].decode() + f"\n\n{test}\n"}


def test_both_stubs_keep_the_surface_and_lose_the_bodies():
    """D-S8-07: raise NotImplementedError, and return None; helpers, classes and docstrings stay."""
    source = b'X = 1\ndef f(a):\n    """Text."""\n    return g(a)\n'
    source += b"async def f_async(a):\n    return a\ndef g(a):\n    return a\n"
    raising, returning = stubs({ENTRY: source}, ["f", "f_async"])
    assert ast.unparse(ast.parse(raising)) == (
        'X = 1\n\ndef f(a):\n    """Text."""\n    raise NotImplementedError\n\nasync def f_async(a):\n'
        "    raise NotImplementedError\n\ndef g(a):\n    return a"
    )
    assert raising.replace("raise NotImplementedError", "return None") == returning


def test_only_what_passes_on_both_is_vacuous():
    """D-S8-07: a test that expects None, or an error that is none, passes on one of them."""
    found = vacuous_findings(["a", "b", "c"], ["c", "d", "a"])
    assert [(finding.code, finding.where) for finding in found] == [
        ("tests.vacuous", "tests/a"),
        ("tests.vacuous", "tests/c"),
    ]


VACUOUS = {
    "asserts what may be": """def test_x():
    try:
        got = shorten('abc')
    except NotImplementedError:
        got = None
    assert got is None or got""",
    "is content with either": """def test_x():
    got = []
    try:
        got.append(shorten('a'))
    except RuntimeError:
        pass
    assert len(got) < 2""",
    "asks an attribute of the function": """def test_x():
    assert callable(shorten)""",
}


@pytest.mark.parametrize("case", spread(VACUOUS, fast=3))
def test_a_test_that_passes_on_both_stubs_is_refused_by_name(case):
    """D-S8-07: vacuous tests, each told."""
    verdict = judge("shorten", _with(VACUOUS[case]), strength=0.8)
    codes = {finding.code for finding in verdict.findings}
    assert codes & {"tests.vacuous", "tests.uncalled"}
    assert any(finding.where == "tests/test_shorten.py::test_x" for finding in verdict.findings)


def test_a_test_of_what_is_left_alone_is_not_vacuous():
    """D-S8-07: a file that must not be there, after an error that must come."""
    assert judge("save_tally", strength=0.8).findings == ()
