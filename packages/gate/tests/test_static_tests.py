"""What the static stage refuses in tests, and the many sound ways to assert something that it leaves alone."""

import pytest

from gate_testkit.judging import codes, judge
from gate_testkit.static_judging import cases, codes_of_tests

SOUND = cases("static/sound_tests.md")


def test_sound_ways_to_assert_are_left_alone():
    """D-S8-06: results, arguments and files, through helpers, nested functions, fixtures and loops."""
    assert {case: codes for case, source in SOUND.items() if (codes := codes_of_tests(source))} == {}


FAULTY = cases("static/faulty_tests.md")


def test_tests_that_show_nothing_are_refused_for_their_reason():
    """D-S8-06, F-11.3-03: a set of bad suites, each refused for its reason."""
    wrong = {}
    for case, source in FAULTY.items():
        code, found = case.partition(":")[0], codes_of_tests(source)
        also = len(found) if code in {"tests.trick", "tests.internals"} else 1
        if code not in found or len(found) != also:
            wrong[case] = found
    assert wrong == {}


@pytest.mark.slow
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
