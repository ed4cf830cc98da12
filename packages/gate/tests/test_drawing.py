"""Tests that draw their examples: the same ones in every run, and whatever else the machine does."""

from typing import Any

import pytest

from gate_testkit.judging import codes, judge

HEAD = (
    "import time\nimport pytest\nfrom hypothesis import given, seed, settings, strategies as st\n"
    "from modules.shorten import shorten\n"
)
TESTS = "tests/test_shorten.py"


def findings(tests: Any):
    """What the gate finds in tests, claims aside."""
    verdict = judge("shorten", {TESTS: HEAD + tests}, static=False)
    return [finding for finding in verdict.findings if not finding.code.startswith("obligations.")]


SOUND = {
    "drawn as they come": "@given(st.text())\n",
    "derandomized": "@settings(derandomize=True)\n@given(st.text())\n",
    "with a seed": "@seed(7)\n@given(st.text())\n",
    "drawn slowly": "@settings(max_examples=12)\n@given(st.text().map(lambda t: time.sleep(0.15) or t))\n",
}


@pytest.mark.parametrize(
    "how",
    ["derandomized", *(pytest.param(how, marks=pytest.mark.slow) for how in SOUND if how != "derandomized")],
)
def test_a_test_may_draw_its_examples(how: Any):
    """D-S8-12, F-11.3-03: Hypothesis is taken for no attack on the run, and a slow draw for no failure."""
    body = "def test_is_not_longer(text):\n    assert len(shorten(text, 3)[0]) <= 3\n"
    assert findings(SOUND[how] + body) == []


@pytest.mark.slow
def test_what_is_drawn_does_not_follow_the_sources_of_specwright_or_of_its_tools():
    """D-S8-12: Hypothesis draws what it finds in the user's sources; another version of the gate would draw another way."""
    body = "from hypothesis.internal.conjecture import providers\n@given(st.text())\ndef test_is_not_longer(text):\n"
    body += (
        "    assert len(shorten(text, 3)[0]) <= 3\n    assert not list(providers._get_local_constants())\n"
    )
    assert findings(body) == []


@pytest.mark.slow
def test_a_slow_example_is_no_failure():
    """F-11.3-03: no deadline for an example, which a busy machine would miss."""
    body = "@settings(max_examples=2)\n@given(st.text())\n"
    body += "def test_is_slow(text):\n    time.sleep(0.3)\n    assert len(shorten(text, 3)[0]) <= 3\n"
    assert findings(body) == []


@pytest.mark.slow
def test_every_run_draws_the_same():
    """D-S8-12: the gate says the same of the same candidate, twice."""
    body = "@given(st.integers(0, 10**9))\ndef test_draws(number):\n    assert len(shorten(str(number), 3)[0]) > 3, number\n"
    first, second = findings(body), findings(body)
    assert [finding.code for finding in first] == ["tests.failed"]
    assert first == second


@pytest.mark.slow
def test_a_forged_report_is_still_noticed_where_tests_draw():
    """D-S8-09: what Hypothesis does at its first draw is over before a test runs."""
    body = "import gc\n@given(st.text())\ndef test_searches(text):\n    gc.get_referrers(text)\n"
    verdict = judge("shorten", {TESTS: HEAD + body})
    assert "tests.forged" in codes(verdict)
