"""The contract fuzz finds what no contract allows, and leaves sound modules alone."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from gate_testkit.corpus_reading import sound, sound_names
from gate_testkit.fuzzing import Planted, fuzzed
from gate_testkit.judging import candidate, judge
from ship_gate.fuzz.check import FuzzBounds, examine_contract
from ship_gate.sandbox.staging import stage
from testkit.paths import GATE_TESTS
from testkit.sampling import spread

QUICK = FuzzBounds(call_seconds=0.4)
SHORT = QUICK._replace(examples=100)

ALWAYS = 2
"""How many of the planted faults, and of the sound modules, are tried in every run of the tests."""


_PLANTED = tomllib.loads((GATE_TESTS / "gate_testkit/planted.toml").read_text(encoding="utf-8"))
FAULTS = {name: (found.pop("told"), Planted.of(found))[::-1] for name, found in _PLANTED["faulty"].items()}
SOUND = {name: Planted.of(found) for name, found in _PLANTED["sound"].items()}


def _some_slow(cases: Any):
    """The names of cases: a few are fast, one in nine of the others is slow."""
    return spread(cases, fast=len(cases) // ALWAYS + 1, slow=18)


@pytest.mark.parametrize("fault", _some_slow(FAULTS))
def test_a_planted_fault_is_found_and_shown_as_a_call(fault: Any):
    """Rare undeclared behaviour meets the inputs that show it (D-S8-14, D-S8-18, D-S8-19, D-S8-20)."""
    planted, told = FAULTS[fault]
    findings = fuzzed(planted, QUICK)
    assert {finding.code for finding in findings} == {"fuzz.counterexample"}
    assert any(told in finding.message for finding in findings), [finding.message for finding in findings]
    assert all(finding.message.startswith("f(") for finding in findings)


UNSHOWN: dict[str, Any] = {
    "a number that is none": ({"n: int": []}, "int", "if n == 10:\n    return int('x')\nreturn n"),
    "a key that is no number": (
        {"text: str": []},
        "int",
        "if len(text) > 3000:\n    raise ValueError('long')\nreturn len(text) if '_' not in text else int(text[0])",
    ),
    "an item that is not there": (
        {"values: list[int]": []},
        "int",
        "if len(values) > 3000:\n    raise ValueError('long')\nreturn values.index(99) if len(values) == 1 else 1",
    ),
    "a day that is none": (
        {"n: int": []},
        "date",
        "if not 0 < n < 13:\n    raise ValueError('month')\nreturn date(2024, n, 31 if n == 2 else 1)",
    ),
    "too many parts": (
        {"text: str": []},
        "str",
        "if '@' in text:\n    raise ValueError('sign')\nif '=' not in text:\n    return text\n"
        "name, value = text.split('=')\nreturn name",
    ),
}


@pytest.mark.parametrize("fault", spread(UNSHOWN, fast=5, slow=8))
def test_a_declared_error_that_the_library_raises_is_to_be_shown(fault: Any):
    """Issue 13.5: its class is declared, but nothing says that the contract refuses this input."""
    inputs, returns, body = UNSHOWN[fault]
    planted = Planted(inputs, returns, body, tests="def test_a():\n    assert f('a=b=c') != f('a_b')\n")
    (finding,) = fuzzed(planted, SHORT, shown=())
    assert "raises ValueError out of what this line calls" in finding.message
    assert fuzzed(planted, SHORT, shown=tuple(range(1, 9))) == ()
    assert fuzzed(planted, SHORT) == ()
    limited = {name: [*said, "out of scope: what only the fuzz tries"] for name, said in inputs.items()}
    assert fuzzed(planted._replace(inputs=limited), SHORT, shown=()) == ()


def test_a_declared_error_that_the_module_raises_need_not_be_shown():
    """D-S8-14: which inputs the module refuses by itself is for the tests and their mutants."""
    body = "if n > 9:\n    raise ValueError(n)\nreturn n"
    assert fuzzed(Planted({"n: int": []}, "int", body), SHORT, shown=()) == ()


@pytest.mark.slow
def test_a_test_of_a_limit_of_a_million_items_keeps_no_module_from_its_fuzz():
    """D-S8-09, D-S8-12: what tests show is drawn from, but for values that are too large to draw from in time."""
    tests = "def test_limit():\n    with pytest.raises(ValueError):\n        f([1] * 1_000_001)\n"
    body = "if len(numbers) > 1_000_000:\n    raise ValueError('too many')\nreturn sum(numbers)"
    assert fuzzed(Planted({"numbers: list[int]": []}, "int", body, tests=tests), SHORT) == ()


@pytest.mark.parametrize("case", _some_slow(SOUND))
def test_a_sound_module_is_left_alone(case: Any):
    """Style and cost are no faults, and neither is what the contract allows (D-S8-14)."""
    assert fuzzed(SOUND[case], QUICK) == ()


@pytest.mark.parametrize("name", spread(["tally_words", "save_tally", "shorten"], fast=3, slow=2))
def test_the_good_module_directories_are_left_alone(name: Any, tmp_path: Path):
    """A module with a sibling and a class, one that writes files, and a pair of twins (D-S8-14, D-S8-18)."""
    found = candidate(name)
    seen = examine_contract(stage(tmp_path, found, found.files), found, found.files, QUICK)
    assert seen.findings == ()
    assert seen.summary.startswith(f"contract fuzz: {seen.counts['inputs']} inputs, no counterexample")
    assert seen.counts["inputs"] > 100


def test_several_faults_are_told_apart_and_each_is_shrunk():
    """One repair should not only uncover the next fault (D18, D-S8-14)."""
    planted = Planted(
        {"text: str": [], "count: int": []},
        "str",
        "if count > 50:\n    return {}[text]\nif text.startswith('a'):\n    return text[99]\n"
        "return None if text.startswith('b') else text",
        tests="def test_a():\n    assert f('abc', 51) != f('bcd', 3)\n",
    )
    findings = fuzzed(planted)
    assert len(findings) == 3
    told = " ".join(finding.message.partition(";")[0] for finding in findings)
    assert all(
        part in told for part in ("raises KeyError", "raises IndexError", "returns a value of another type")
    )
    assert all(len(finding.message.partition(")")[0]) < 30 for finding in findings)
    lines = {finding.where for finding in findings}
    assert any(line.startswith("implementation/__init__.py:") for line in lines)


@pytest.mark.slow
def test_the_same_module_is_judged_the_same_twice():
    """The fuzz is seeded by the contract: a verdict can be repeated (DESIGN rule 4, D-S8-14)."""
    planted = FAULTS["a key that is missing"][0]
    assert fuzzed(planted) == fuzzed(planted)


_FRAMES = (
    "import json, os, struct, sys\n"
    "def _forge():\n"
    "    for word in ({'event': 'end'}, {'event': 'end', 'nonce': ''}, {'event': 'reply', 'id': 1}):\n"
    "        text = json.dumps(word).encode()\n"
    "        for place in range(3, 32):\n"
    "            try:\n                os.write(place, struct.pack('>II', len(text), 0) + text)\n"
    "                os.write(place, text + b'\\n')\n"
    "            except OSError:\n                pass\n"
)
ACQUITTALS = {
    "an end that nobody asked for": (_FRAMES + "_forge()\n", "return text[0]"),
    "an end in the middle of a call": (_FRAMES, "_forge()\nreturn text[0]"),
    "a fault that hides from the fuzz": (
        "import sys\n",
        "return text if 'hypothesis' in sys.modules else text[0]",
    ),
    "an end of the process": ("import os\n", "return text[0] if text else os._exit(0)"),
    "what judges it is patched": (
        "import sys\n"
        "for _module in list(sys.modules.values()):\n"
        "    for _name in ('_undeclared', 'examine', 'mismatch'):\n"
        "        if hasattr(_module, _name):\n            setattr(_module, _name, lambda *_: '')\n",
        "return text[0]",
    ),
}


@pytest.mark.parametrize("how", spread(ACQUITTALS, fast=5, slow=2))
def test_a_module_cannot_acquit_itself(how: Any):
    """Who draws and judges runs in another process than the module (D-S8-09, D-S8-14)."""
    before, body = ACQUITTALS[how]
    findings = fuzzed(Planted({"text: str": []}, "str", body, raises=(), before=before), QUICK)
    assert {finding.code for finding in findings} == {"fuzz.counterexample"}


def test_a_module_that_floods_its_output_is_stopped():
    """Everything is bounded: a counterexample of its own (DESIGN rule 4, D-S8-14)."""
    planted = Planted({"text: str": []}, "str", "print('x' * 5_000_000)\nreturn text")
    assert ["prints or returns too much" in finding.message for finding in fuzzed(planted)] == [True]


def test_a_fault_far_from_its_input_s_size_is_shown_in_short():
    """A text of thousands of characters is shown as what it is made of (D-S8-14)."""
    planted = Planted(
        {"text: str": []}, "int", "if len(text) > 4000:\n    raise KeyError(1)\nreturn 0", raises=()
    )
    (finding,) = fuzzed(planted)
    assert " * " in finding.message
    assert len(finding.message) < 200


@pytest.mark.parametrize("name", spread(sound_names(), slow=48))
def test_no_sound_module_of_the_corpus_is_refused(name: Any, tmp_path: Path):
    """Modules that were written without a thought of the fuzz (D-S8-14)."""
    found = sound(name)
    assert (
        examine_contract(stage(tmp_path, found, found.files), found, found.files, FuzzBounds()).findings == ()
    )


@pytest.mark.slow
def test_the_gate_tells_a_counterexample_beside_its_other_findings():
    """The fuzz is a stage of the thorough judgement; the evidence says how much was tried (D-S8-01, D-S8-14)."""
    source = candidate("tally_words").files["implementation/__init__.py"].decode()
    changed = source.replace("    words = ", "    if text == chr(0x85):\n        text[1]\n    words = ")
    assert changed != source
    verdict = judge("tally_words", {"implementation/__init__.py": changed}, fuzz=QUICK)
    assert [finding.code for finding in verdict.findings] == ["fuzz.counterexample"]
    assert "tally_words('\\x85'" in verdict.findings[0].message
    assert verdict.findings[0].where.startswith("implementation/__init__.py:")
    assert any(note.startswith("contract fuzz: ") for note in verdict.notes)
    assert not verdict.passed
