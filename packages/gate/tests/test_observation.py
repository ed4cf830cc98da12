"""Tests and claims are shown by what happens: an answer is changed on its way, and somebody notices or nobody does."""

import re
from collections import Counter, OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest

from gate_testkit.judging import candidate, judge
from ship_gate.inside.variants.changes import WAYS, perturb
from ship_gate.runs import named_tests
from ship_gate.sandbox.kind import Sandbox, available_sandbox
from ship_gate.sandbox.staging import stage, workspace
from ship_gate.strength.claims import assertions_of
from ship_gate.strength.observation import observe
from testkit.sampling import spread

HEADS = {
    "shorten": "import asyncio, json, re, time\nimport pytest\nfrom modules.shorten import shorten, shorten_async\n",
    "save_tally": "import pytest\nfrom modules.save_tally import EmptyTextError, save_tally\n",
    "tally_words": "import pytest\nfrom modules.tally_words import EmptyTextError, tally_words\n",
}
HAPPY, TOO_SMALL, SHORT, LIMIT, CUT = (
    "",
    "/error_surfaces/0",
    "/outputs/0/invariants/0",
    "/inputs/1/constraints/0",
    "/error_surfaces/1",
)


def findings(
    test: Any, pointers: Any, name: Any = "shorten", contract: Any = None, implementation: Any = None
):
    """What is found of a file with this test, which claims these obligations."""
    return findings_together([(test, pointers)], name, contract, implementation)


def findings_together(tests: Any, name: Any = "shorten", contract: Any = None, implementation: Any = None):
    """What is found of tests with the obligations that they claim, in one run: `test_x`, `test_x1` and so on."""
    files = {"implementation/__init__.py": implementation} if implementation else {}
    claims = {}
    for number, (test, pointers) in enumerate(tests):
        own = f"test_x{number or ''}"
        source = test if "def test_x" in test else f"def test_x(tmp_path):\n{indented(test)}"
        files[f"tests/{own}.py"] = HEADS[name] + source.replace("test_x", own)
        claims[own] = tuple(pointers)
    whole = candidate(name, files, contract)
    with workspace() as root:
        staged = stage(root, whole, whole.files, Sandbox(available_sandbox().kind))
        named = [test for test in named_tests(whole.files) if test.startswith("test_x")]
        for path in staged.tests.glob(f"test_{name}.py"):
            path.unlink()
        found = observe(staged, whole.contract, named, claims, 0.1, assertions=assertions_of(whole.files))  # pyright: ignore
        return found.findings


def indented(lines: Any):
    """The body of a function."""
    return "".join(f"    {line}\n" for line in lines.split("\n"))


def codes(found: Any):
    """The codes of findings, each once."""
    return sorted({finding.code for finding in found})


VACUOUS = {
    "a value and itself": "r = shorten('abcdef', 3)\nassert r == r",
    "a call and itself": "assert shorten('abcdef', 3) == shorten('abcdef', 3)",
    "two names of one value": "r = shorten('abcdef', 3)\nshort = r\nassert short is r",
    "the beginning that every text has": "assert shorten('abcdef', 3)[0].startswith('')",
    "a slice without a character": "assert shorten('abcdef', 3)[0][:0] == ''",
    "nothing is in every text": "assert '' in shorten('abcdef', 3)[0]",
    "a pattern that matches everything": "assert re.match('.*', shorten('abcdef', 3)[0], re.S)",
    "a pattern that may match nothing": "assert re.search('(abc)?', shorten('abcdef', 3)[0]) is not None",
    "another function": "shorten('abc', 2)\ncheck = lambda f: f('abc', 2)\nassert check(lambda t, n: t[:n]) == 'ab'",
    "another module's function": "shorten('abc', 2)\nassert json.loads('[1]') == [1]",
    "a forgotten failure": "try:\n    assert shorten('abc', 2) == 1\nexcept AssertionError:\n    pass",
    "all of nothing": "shorten('abc', 2)\nassert all(c == 'z' for c in [])",
    "a length that is not negative": "assert len(shorten('abc', 2)[0]) >= 0",
    "either way": "r = shorten('abcdef', 3)\nassert r == ('abc', 'E_CUT') or r != ('abc', 'E_CUT')",
    "a condition that never holds": "r = shorten('abc', 2)\nif len(r) > 5:\n    assert r == 1",
    "before the assertion it returns": "r = shorten('abc', 2)\nreturn\nassert r == 1",
    "an assertion that nobody calls": "later = lambda: shorten('abc', 2)[0] == 1\nassert later",
    "a generator that nobody goes through": "assert (shorten('abc', 2)[0] == 1 for _ in 'a')",
    "a sum with its own difference": "n = len(shorten('abc', 2)[0])\nassert n - n == 0",
    "sorted and sorted": "r = shorten('abc', 2)[0]\nassert sorted(r) == sorted(r)",
    "nothing asserted": "shorten('abc', 2)",
    "something else asserted": "shorten('abc', 2)\nn = 3\nassert n == 3",
    "what was given as it was": "text = 'x'\nshorten(text, 1)\nassert text == 'x'",
    "the module is not called": "assert len('x') == 1",
    "a helper that is not called": "def check(x):\n    assert shorten(x, 1)\nshorten('abc', 2)",
    "under a false condition": "r = shorten('abc', 2)\nif False:\n    assert r == 1",
    "logging only": "print(shorten('abc', 2))",
    "without an exception nothing is asserted": (
        "try:\n    r = shorten('abc', 2)\nexcept ValueError:\n    assert not 'abc'\nelse:\n    print(r)"
    ),
    "an input is passed over for what came out": (
        "from hypothesis import assume, given, strategies as st\n@given(st.sampled_from(['abc', 'bc']))\n"
        "def test_x(text):\n    r = shorten(text, 2)[0]\n    assume(r == text[:2])\n    assert r == text[:2]\n"
    ),
    "the only input is passed over": (
        "from hypothesis import assume, given, strategies as st\n@given(st.just('abc'))\n"
        "def test_x(text):\n    assume(shorten(text, 2)[0] == 'ab')\n    assert shorten(text, 2)[0] == 'ab'\n"
    ),
    "a call by the clock": "at = time.perf_counter()\nshorten('abc', 2)\nassert time.perf_counter() - at > 0.00001",
}


@pytest.mark.slow
def test_of_many_tests_each_that_passes_whatever_comes_back_is_named():
    """D-S8-06, D-S8-07: together in one run as by itself; nothing that one of them asserts shows anything."""
    found = findings_together([(test, [HAPPY]) for test in VACUOUS.values()])
    assert codes(found) == ["obligations.unseen", "tests.vacuous"]
    (unseen,) = (finding.message for finding in found if finding.code == "obligations.unseen")
    named = {finding.where for finding in found if finding.code == "tests.vacuous"}
    for way, number in zip(VACUOUS, ["", *range(1, len(VACUOUS))], strict=True):
        assert f"tests/test_x{number}.py::test_x{number}" in named, way
        assert f"test_x{number}.py::test_x{number}" in re.findall(r"[\w.:]+", unseen), way


CLAIMS_ONLY = {
    "a second line raises": (
        "with pytest.raises(ValueError):\n    shorten('abc', 0)\n    int('x')",
        TOO_SMALL,
    ),
    "a second call raises": (
        "with pytest.raises(ValueError):\n    int('x')\n    shorten('abc', 0)\nassert shorten('abcd', 2)[0] == 'ab'",
        TOO_SMALL,
    ),
    "an error of something else": (
        "assert shorten('abc', 1)[0] == 'a'\nwith pytest.raises(ValueError):\n    int('x')",
        TOO_SMALL,
    ),
    "an error that need not come": (
        "try:\n    shorten('abc', 0)\nexcept ValueError:\n    pass\nassert shorten('abcd', 2)[0] == 'ab'",
        TOO_SMALL,
    ),
    "an error of its own": (
        "assert shorten('abc', 1)[0] == 'a'\nwith pytest.raises(ValueError):\n    raise ValueError('limit')",
        TOO_SMALL,
    ),
    "an error or a value": (
        "try:\n    text = shorten('abc', 0)[0]\nexcept ValueError as error:\n    text = str(error)\nassert text.strip()",
        TOO_SMALL,
    ),
    "the other output": ("assert shorten('abcdef', 3)[1] == 'E_CUT'", SHORT),
    "the type alone": ("assert isinstance(shorten('abcdef', 3)[0], str)", SHORT),
    "a value that is there": ("assert shorten('abcdef', 3)[0] is not None", SHORT),
    "an error in place of a result": ("with pytest.raises(ValueError):\n    shorten('abc', 0)", SHORT),
    "no result at all": ("with pytest.raises(ValueError):\n    shorten('abc', 0)", HAPPY),
    "a code that nobody reads": ("assert shorten('abcdef', 3)[0] == 'abc'", CUT),
    "a call that nobody looks at": ("shorten('abc', 1)\nassert len('abc') == 3", LIMIT),
}


def test_of_many_claims_about_something_else_each_is_told():
    """D-S8-06: by the obligation, with every test that claims it."""
    found = findings_together([(test, [pointer]) for test, pointer in CLAIMS_ONLY.values()])
    told = [finding.message for finding in found if finding.code == "obligations.unseen"]
    for number, (_, pointer) in zip(["", *range(1, len(CLAIMS_ONLY))], CLAIMS_ONLY.values(), strict=True):
        (message,) = (one for one in told if f"({pointer or 'the empty pointer'})" in one)
        assert f"test_x{number}.py::test_x{number}" in re.findall(r"[\w.:]+", message)


FILES = {
    "the result alone": ("assert save_tally('to be', tmp_path / 'a').words == 2", False),
    "that the file is there": (
        "save_tally('to be', tmp_path / 'a')\nassert (tmp_path / 'a').exists()",
        False,
    ),
    "a file that is not read": ("save_tally('to be', tmp_path / 'a')\n(tmp_path / 'a').read_text()", False),
    "a file of its own": (
        "save_tally('to be', tmp_path / 'a')\n(tmp_path / 'b').write_text('x')\nassert (tmp_path / 'b').read_text() == 'x'",
        False,
    ),
    "the file over the file": (
        "save_tally('to be', tmp_path / 'a')\ntext = (tmp_path / 'a').read_text()"
        "\nassert text == (tmp_path / 'a').read_text()",
        False,
    ),
    "what is in the file": (
        "save_tally('to be', tmp_path / 'a')\nassert (tmp_path / 'a').read_text() == 'to 1\\nbe 1\\n'",
        True,
    ),
    "a part of it": (
        "save_tally('to be', tmp_path / 'a')\nassert 'to 1' in (tmp_path / 'a').read_text()",
        True,
    ),
    "its size": ("save_tally('to be', tmp_path / 'a')\nassert (tmp_path / 'a').stat().st_size == 10", True),
}


@pytest.mark.parametrize("way", spread(FILES, fast=8, slow=12))
def test_an_effect_is_a_file_that_is_read_back(way: Any):
    """D-S8-06: what the call wrote is changed after it returned."""
    test, shown = FILES[way]
    found = [
        finding for finding in findings(test, ["/effects/0"], "save_tally") if "/effects/0" in finding.message
    ]
    assert (found == []) == shown


SOUND = {
    "an equal value": ("assert shorten('abcdef', 3) == ('abc', 'E_CUT')", [HAPPY, SHORT, CUT]),
    "a bound": ("assert len(shorten('abcdef', 3)[0]) <= 3", [HAPPY, SHORT]),
    "two calls with other arguments": ("assert shorten('abc', 3)[0] == shorten('abc', 4)[0]", [HAPPY, LIMIT]),
    "two calls that differ": ("assert shorten('abc', 1) != shorten('abc', 2)", [HAPPY]),
    "what is not in it": ("assert '<' not in shorten('a<b', 1)[0]", [HAPPY, SHORT]),
    "a beginning": ("assert shorten('abcdef', 3)[0].startswith('ab')", [HAPPY]),
    "a pattern": ("assert re.fullmatch('[a-z]+', shorten('abcdef', 3)[0])", [HAPPY]),
    "a declared error": ("with pytest.raises(ValueError):\n    shorten('abc', 0)", [TOO_SMALL, LIMIT]),
    "an error and its text": (
        "with pytest.raises(ValueError) as told:\n    shorten('abc', 0)\nassert '0' in str(told.value)",
        [TOO_SMALL],
    ),
    "an error by hand": (
        "try:\n    shorten('abc', 0)\nexcept ValueError as error:\n    assert 'limit' in str(error)\n"
        "else:\n    pytest.fail('no error')",
        [TOO_SMALL],
    ),
    "an awaited call": ("assert asyncio.run(shorten_async('abc', 2)) == shorten('abc', 2)", [HAPPY]),
    "a helper that raises": ("r = shorten('abcd', 2)\nif r[0] != 'ab':\n    raise ValueError(r)", [HAPPY]),
    "a fixture": (
        "@pytest.fixture(scope='module')\ndef r(): return shorten('abc', 2)\ndef test_x(r): assert r[0] == 'ab'\n",
        [HAPPY, SHORT],
    ),
    "a value of the file": ("R = shorten('abc', 2)\ndef test_x(): assert R[0] == 'ab'\n", [HAPPY]),
    "parameters": (
        "@pytest.mark.parametrize('limit', [1, 2, 9])\n"
        "def test_x(limit): assert len(shorten('abcdef', limit)[0]) <= limit\n",
        [SHORT, LIMIT],
    ),
    "drawn values": (
        "from hypothesis import given, strategies as st\n@given(st.text(), st.integers(1, 9))\n"
        "def test_x(text, limit): assert len(shorten(text, limit)[0]) <= limit\n",
        [HAPPY, SHORT],
    ),
}


@pytest.mark.parametrize("way", spread(SOUND, fast=8, slow=12))
def test_a_sound_way_to_assert_shows_what_it_claims(way: Any):
    """D-S8-06: results, errors, relations between calls, fixtures, drawn values."""
    assert findings(*SOUND[way]) == ()


def test_an_argument_that_is_left_alone_is_something_to_assert():
    """D-S8-07: a test of that notices when an argument is changed."""
    test = "import pytest\nfrom modules.tally_words import tally_words\ndef test_x():\n"
    test += "    t = 'a b'\n    r = tally_words(t)\n    assert r['a'] == 1\n"
    assert findings(test, [HAPPY], "tally_words") == ()


COUNTS = "/outputs/0/invariants/0"
SUM = "/outputs/0/invariants/1"
ONE_FOR_BOTH = {
    "a bound": "assert all(n >= 1 for n in tally_words('a b a').values())",
    "a sum": "assert sum(tally_words('a b a').values()) == 3",
    "a sum with a name": "r = tally_words('a b a')\ntotal = sum(r.values())\nassert total == 3",
    "a number of words": "assert len(tally_words('a b a')) == 2",
    "one assertion for many texts": (
        "for text in ('a', 'a b', 'a a b'):\n    assert sum(tally_words(text).values()) == len(text.split())"
    ),
    "the other is assumed": (
        "from hypothesis import assume, given, strategies as st\n@given(st.sampled_from(['a b', 'a b a']))\n"
        "def test_x(text):\n    r = tally_words(text)\n    assume(sum(r.values()) == len(text.split()))\n"
        "    assert all(n >= 1 for n in r.values())\n"
    ),
}
BY_ITSELF = {
    "the whole result": "assert tally_words('a b a') == {'a': 2, 'b': 1}",
    "the whole result by name": "r = tally_words('a b a')\nassert sorted(r.items()) == [('a', 2), ('b', 1)]",
    "two assertions": (
        "r = tally_words('a b a')\nassert all(n >= 1 for n in r.values())\nassert sum(r.values()) == 3"
    ),
    "one assertion of two conditions": (
        "r = tally_words('a b a')\nassert all(n >= 1 for n in r.values()) and sum(r.values()) == 3"
    ),
    "two values together": "r = tally_words('a b a')\nassert (min(r.values()), sum(r.values())) == (1, 3)",
    "a function of the tests": (
        "def is_fine(r): return min(r.values()) > 0 and sum(r.values()) == 3\n"
        "def test_x(): assert is_fine(tally_words('a b a'))\n"
    ),
    "drawn texts": (
        "from hypothesis import given, strategies as st\n@given(st.sampled_from(['a b', 'a b a']))\n"
        "def test_x(text):\n    r = tally_words(text)\n    assert min(r.values()) >= 1\n"
        "    assert sum(r.values()) == len(text.split())\n"
    ),
}


def two_invariants():
    """The contract of tally_words with a second invariant of its output."""
    contract = candidate("tally_words").contract
    (counts,) = contract.outputs
    both = [*counts.invariants, "all counts together are the number of words"]
    return contract.model_copy(update={"outputs": [counts.model_copy(update={"invariants": both})]})


@pytest.mark.parametrize("way", spread(ONE_FOR_BOTH, fast=8, slow=12))
def test_an_assertion_of_one_invariant_shows_no_other(way: Any):
    """D-S8-06: several invariants of an output need several conditions, or a test that notices whatever is changed."""
    found = findings(ONE_FOR_BOTH[way], [COUNTS, SUM], "tally_words", two_invariants())
    assert "obligations.unseen" in codes(found)
    assert any("claims output invariant" in finding.message for finding in found)


@pytest.mark.parametrize("way", spread(BY_ITSELF, fast=8, slow=12))
def test_invariants_with_assertions_of_their_own_are_shown(way: Any):
    """D-S8-06: a whole result, or as many conditions as there are invariants."""
    assert findings(BY_ITSELF[way], [COUNTS, SUM], "tally_words", two_invariants()) == ()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [  # pyright: ignore
        Counter(a=2, b=1),
        OrderedDict(a=1, b=2),
        defaultdict(int, {"a": 1, "b": 2}),
        namedtuple("Place", ["x", "y"])(1, 2),  # pyright: ignore[reportUntypedNamedTuple]
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_crosses_in_place_of_a_dict_or_tuple_is_changed_too(value: Any, way: Any):
    """Issue 13.6: another value of the same kind, each way."""
    changed = perturb(value, way)
    assert type(changed) is type(value)
    assert changed != value


OF_NOTHING = """from collections import Counter
__all__ = ["EmptyTextError", "tally_words"]
class EmptyTextError(Exception):
    pass
def tally_words(text: str, fold: bool = False) -> dict[str, int]:
    return dict(Counter(text.split()))
"""
NEVER_READ = {
    "a condition that always holds": "assert all(len(word) >= 0 for word in tally_words('a b'))",
    "a call and itself": "assert tally_words('a b') == tally_words('a b')",
    "the type alone": "assert isinstance(tally_words('a b'), dict)",
    "an empty slice": "assert [*tally_words('a b')][:0] == []",
    "no assertion": "tally_words('a b')",
}


@pytest.mark.parametrize("way", spread(NEVER_READ, fast=8, slow=12))
def test_an_empty_result_shows_nothing_of_the_others(way: Any):
    """D-S8-06: where a test meets more than an empty result, something of that is to be read."""
    test = f"{NEVER_READ[way]}\nassert tally_words('') == {{}}"
    assert codes(findings(test, [COUNTS], "tally_words", implementation=OF_NOTHING)) == ["obligations.unseen"]


def test_an_empty_result_shows_an_invariant_of_itself():
    """D-S8-06: a test of empty results alone, and one that reads others too."""
    alone = "assert tally_words('') == {}"
    assert findings(alone, [COUNTS], "tally_words", implementation=OF_NOTHING) == ()
    both = f"{alone}\nassert tally_words('a') == {{'a': 1}}"
    assert findings(both, [COUNTS], "tally_words", implementation=OF_NOTHING) == ()


CLOCKS = {
    "the age of a folder": "import os, time\nAT = os.stat('.').st_ctime\ndef test_x():\n"
    "    assert shorten('abcd', 2)[0] == 'ab' and time.time() - os.stat('../../tests').st_mtime < {age}\n",
    "a mark of its own": "from pathlib import Path\ndef test_x():\n    mark = Path('../mark')\n"
    "    old = mark.exists()\n    mark.touch()\n    assert shorten('abcd', 2)[0] == 'ab' and not old\n",
    "a number of runs": "from pathlib import Path\ndef test_x():\n    runs = Path('../runs')\n"
    "    runs.write_text(runs.read_text() + 'x' if runs.exists() else 'x')\n"
    "    assert shorten('abcd', 2)[0] == 'ab' and len(runs.read_text()) < 3\n",
    "its place": "import os\ndef test_x():\n"
    "    assert shorten('abcd', 2)[0] == 'ab' and os.getcwd().endswith('test_runner')\n",
    "how long a call takes": "import time\ndef test_x():\n    at = time.perf_counter()\n    shorten('abcd', 2)\n"
    "    assert time.perf_counter() - at > 0.00004\n",
    "its process": "import os\ndef test_x():\n    assert shorten('abcd', 2)[0] == 'ab' and os.getpid() % 2\n"
    "def test_y():\n    assert shorten('abcd', 2)[0] == 'ab' and not os.getpid() % 2\n",
}


@pytest.mark.parametrize("way", spread(CLOCKS, fast=8, slow=12))
def test_a_test_that_tells_the_runs_apart_is_told(way: Any):
    """D-S8-08: the module as it is runs among the mutants, and fails there, or the test shows nothing."""
    own = candidate("shorten").files["tests/test_shorten.py"].decode()
    test = CLOCKS[way].replace("{age}", "0.05")
    verdict = judge("shorten", {"tests/test_shorten.py": own + test}, strength=0.8)
    assert {finding.code for finding in verdict.findings} & {
        "strength.unstable",
        "tests.vacuous",
        "tests.failed",
    }
