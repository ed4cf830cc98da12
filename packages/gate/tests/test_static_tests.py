"""What the static stage refuses in tests, and the many sound ways to assert something that it leaves alone."""

import pytest

from gate_testkit.judging import codes, judge
from gate_testkit.static_judging import cases, codes_of_tests

SOUND = cases("static/sound_tests.md")


@pytest.mark.parametrize("case", SOUND)
def test_a_sound_way_to_assert_is_left_alone(case):
    """D-S8-06: results, arguments and files, through helpers, nested functions, fixtures and loops."""
    assert codes_of_tests(SOUND[case]) == []


FAULTY = cases("static/faulty_tests.md")


@pytest.mark.parametrize("case", FAULTY)
def test_a_test_that_shows_nothing_is_refused_for_its_reason(case):
    """D-S8-06, F-11.3-03: a set of bad suites, each refused for its reason."""
    code, source = case.partition(":")[0], FAULTY[case]
    assert code in codes_of_tests(source)
    if code not in {"tests.trick", "tests.internals"}:
        assert codes_of_tests(source) == [code]


def test_what_a_constant_assertion_shows_is_told_once():
    """D-S8-06: one cause, one finding; the observation leaves out what the source showed of that test."""
    changes = {
        "tests/test_x.py": "from modules.shorten import shorten\n\n\ndef test_x():\n    assert (shorten('a', 1), 'cut')\n"
    }
    assert codes(judge("shorten", changes, static=True, strength=0.8)) == ["tests.constant"]
    changes = {
        "tests/test_x.py": changes["tests/test_x.py"].replace(
            "(shorten('a', 1), 'cut')", "shorten is not None"
        )
    }
    assert codes(judge("shorten", changes, static=True, strength=0.8)) == ["tests.uncalled"]


def test_a_constant_comparison_is_not_held_against_a_test_that_asserts_enough():
    """D-S8-06: the finding names the line, not the test."""
    assert codes_of_tests("def test_a():\n    assert f('x') == 1\n") == []
    assert codes_of_tests("def test_a():\n    assert 2 > 1\n    assert f('x') == 1\n") == ["tests.constant"]
