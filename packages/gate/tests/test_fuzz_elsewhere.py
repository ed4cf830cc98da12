"""A second process of the module: what follows hash seed, time zone or addresses is no result."""

import re
from typing import Any

import pytest

from gate_testkit.corpus_reading import sound
from gate_testkit.fuzzing import Planted, fuzzed
from gate_testkit.judging import candidate, judge
from ship_gate.fuzz.check import FuzzBounds, is_repeatable
from testkit.sampling import spread

QUICK = FuzzBounds(examples=40)

FAULTS = {
    "the order of a set": Planted({"names: list[str]": []}, "list[str]", "return list(set(names))"),
    "the hash of a text": Planted({"name: str": []}, "int", "return hash(name) % 1000"),
    "an address in memory": Planted({"name: str": []}, "int", "return id(_HERE)", before="_HERE = object()"),
    "the local time zone": Planted(
        {"moment: datetime": []},
        "float",
        "return moment.replace(tzinfo=None, year=2024).timestamp()",
        tests="def test_a():\n    assert f(datetime(2024, 1, 1)) > 0\n",
    ),
    "how often it was called before": Planted(
        {"text: str": []},
        "int",
        "_SEEN[text]\nreturn len(_SEEN) // 20",
        before="from collections import defaultdict\n_SEEN = defaultdict(int)\n",
    ),
    "an address in the text of an error": Planted(
        {"name: str": []}, "str", "raise ValueError(f'at {id(name)}')"
    ),
    "the package's name": Planted({"name: str": []}, "str", "return __name__"),
    "an error that only some meet": Planted(
        {"names: list[str]": []},
        "str",
        "if names and next(iter(set(names))) != names[0]:\n    raise ValueError(names)\nreturn ''",
    ),
}


@pytest.mark.parametrize("fault", spread(FAULTS, fast=len(FAULTS), slow=8))
def test_a_result_that_is_another_one_in_another_process_is_a_counterexample(fault: Any):
    """D-S8-14, D-S8-20: the same input gives the same result, unless a CALL effect is declared."""
    (finding,) = fuzzed(FAULTS[fault], QUICK, elsewhere=True)
    assert finding.code == "fuzz.counterexample"
    assert re.search(r", and (in another process|with another .*) it ", finding.message)
    assert finding.message.startswith("f(")


SOUND = {
    "sorted out of a set": Planted({"names: list[str]": []}, "list[str]", "return sorted(set(names))"),
    "a set itself": Planted({"names: list[str]": []}, "set[str]", "return set(names)"),
    "a dict in the order of its making": Planted(
        {"names: list[str]": []}, "dict[str, int]", "return {name: len(name) for name in names}"
    ),
    "chance that has a seed": Planted(
        {"names: list[str]": [], "seed: int": []},
        "list[str]",
        "import random\nmixed = sorted(names)\nrandom.Random(seed).shuffle(mixed)\nreturn mixed",
    ),
    "a time zone that is named": Planted(
        {"moment: datetime": []},
        "float",
        "import datetime as d\nreturn moment.replace(tzinfo=d.timezone.utc, year=2024).timestamp()",
    ),
}


@pytest.mark.parametrize("case", spread(SOUND, fast=len(SOUND), slow=8))
def test_what_is_the_same_everywhere_is_left_alone(case: Any):
    """D-S8-14: sets, seeds and zones are used by sound modules, and error texts belong to no contract."""
    assert fuzzed(SOUND[case], QUICK, elsewhere=True) == ()


def test_modules_that_follow_the_clock_are_not_called_again_elsewhere():
    """D-S8-14: what a call gives may follow declared clock, chance and environment, and never the files that it writes."""
    assert is_repeatable(candidate("tally_words").contract)
    assert is_repeatable(candidate("save_tally").contract)
    assert not is_repeatable(sound("stamp_note").contract)


@pytest.mark.slow
def test_the_gate_asks_a_second_process():
    """D-S8-01, D-S8-14: as a part of its fuzz, with a sentence that says what to change."""
    source = candidate("tally_words").files["implementation/__init__.py"].decode()
    changed = source.replace(
        "    words = ", "    if hash(text) % 2 and len(text) > 4000:\n        return {}\n    words = "
    )
    assert changed != source
    verdict = judge("tally_words", {"implementation/__init__.py": changed}, fuzz=FuzzBounds())
    told = [f.message for f in verdict.findings if f.code == "fuzz.counterexample"]
    assert any(
        "with another hash seed" in text and "sort what comes out of a set" in text for text in told
    ), told
