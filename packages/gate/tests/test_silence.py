"""Tests where no module answers: none passes that shows something, whatever its report says."""

import pytest

from gate_testkit.judging import candidate
from ship_gate.runs import named_tests
from ship_gate.sandbox.kind import Sandbox, available_sandbox
from ship_gate.sandbox.staging import stage, workspace
from ship_gate.strength.observation import observe
from testkit.sampling import spread

TESTS = "tests/test_shorten.py"
HEAD = "import asyncio\nimport pytest\nfrom modules.shorten import shorten, shorten_async\n"


def _observed(tests, name="shorten"):
    """The findings for a file of tests, or for the module's own."""
    whole = candidate(name, {TESTS: HEAD + tests} if tests else {})
    with workspace() as root:
        staged = stage(root, whole, whole.files, Sandbox(available_sandbox().kind))
        return observe(staged, whole.contract, named_tests(whole.files), {}, 0.1).findings


def _silent(tests, name="shorten"):
    """The tests that passed where no module answered."""
    found = _observed(tests, name)
    return [f.where.partition("::")[2] for f in found if "no module answered" in f.message]


@pytest.mark.parametrize("name", spread(["tally_words", "save_tally", "shorten"], fast=3))
def test_the_tests_of_a_sound_module_all_fail_without_it(name):
    """D-S8-07: what they assert needs an answer."""
    assert _silent("", name) == []


SOUND = {
    "a shared fixture": "@pytest.fixture(scope='module')\ndef r(): return shorten('abc', 2)\n"
    "def test_a(r): assert r[0] == 'ab'\n",
    "drawn values": "from hypothesis import given, strategies as st\n@given(st.text())\n"
    "def test_a(text): assert len(shorten(text, 2)[0]) <= 2\n",
    "a value of the file": "R = shorten('abc', 2)\ndef test_a(): assert R[0] == 'ab'\n",
    "an awaited call": "def test_a(): assert asyncio.run(shorten_async('abc', 2))[0] == 'ab'\n",
    "a declared error": "def test_a():\n    with pytest.raises(ValueError): shorten('abc', 0)\n",
}


@pytest.mark.parametrize("way", spread(SOUND, fast=3, slow=2))
def test_every_sound_way_to_ask_needs_an_answer(way):
    """D-S8-07: fixtures, values at the top, coroutines, expected errors, Hypothesis."""
    assert _silent(SOUND[way]) == []


FORGED = {
    "a reporter that forgets": "class Silent(dict):\n    def get(self, *a): return ''\n"
    "    def setdefault(self, *a): return ''\n"
    "@pytest.fixture(autouse=True)\ndef quiet(request):\n    for p in request.config.pluginmanager.get_plugins():\n"
    "        if type(p).__name__ == '_Reporter': p._faults = Silent()\ndef test_a(): assert shorten('abc', 2) == 1\n",
    "an expected failure of any kind": "def test_a():\n"
    "    with pytest.raises(BaseException): assert shorten('abc', 2) == 1\n",
    "a context that forgets": "class Quiet:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\n"
    "def test_a():\n    with Quiet(): assert shorten('abc', 2) == 1\n",
    "an end that forgets": "def test_a():\n    try: assert shorten('abc', 2) == 1\n    finally: return\n",
    "a call in a thread": "import threading\ndef test_a():\n"
    "    t = threading.Thread(target=lambda: shorten('abc', 2)); t.start(); t.join()\n",
}


@pytest.mark.parametrize("way", spread(FORGED, fast=5, slow=2))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_a_pass_that_needs_no_answer_is_told(way):
    """D-S8-07, D-S8-09: the report says passed where nothing can have passed, so it is worth nothing."""
    assert _silent(FORGED[way]) == ["test_a"]


def test_a_test_that_tells_its_run_by_its_place_is_told():
    """D-S8-09: what passes in the first run alone fails where it is repeated, with nothing changed."""
    place = "import os\ndef test_a():\n    assert shorten('abc', 2)[0] == 'ab' and os.getcwd().endswith('test_runner')\n"
    assert [finding.code for finding in _observed(place)] == ["strength.unstable"]
