"""What the fuzz reads from a contract's texts and from the constants of tests."""

import pytest

from gate_testkit.fuzzing import Planted
from ship_gate.fuzz.check import FuzzRun, before_any_answer
from ship_gate.fuzz.hints import bounds, constants_of, numbers, quoted
from ship_gate.sandbox.exchange import RunEnd

LIMITS = {
    ("str", "non-empty"): ("length", "1", ""),
    ("str", "at most 1000 characters"): ("length", "", "1000"),
    ("str", "at most 1,000 characters long"): ("length", "", "1000"),
    ("str", "between 1 and 80 characters"): ("length", "1", "80"),
    ("str | None", "at most 5 characters"): ("length", "", "5"),
    ("bytes", "exactly 16 bytes"): ("length", "16", "16"),
    ("list[str]", "at least one name"): ("length", "1", ""),
    ("dict[str, int]", "has at most ten entries"): ("length", "", "10"),
    ("int", "between 0 and 100"): ("value", "0", "100"),
    ("int", "at least -3"): ("value", "-3", ""),
    ("Decimal", "between -1000000000.00 and 1000000000.00"): ("value", "-1000000000.00", "1000000000.00"),
    ("float", "non-negative"): ("value", "0", ""),
    ("int", "12 or less."): ("value", "", "12"),
}


@pytest.mark.parametrize(("declared", "text"), LIMITS)
def test_a_constraint_that_says_a_limit_and_nothing_else_is_a_bound(declared, text):
    """What breaks it beyond doubt must meet a declared error (D-S8-18)."""
    (bound,) = bounds(declared, [text])
    assert (bound.of, bound.low, bound.high) == LIMITS[declared, text]


@pytest.mark.parametrize(
    ("declared", "text", "above", "below"),
    [
        ("int", "positive", True, False),
        ("int", "less than 5", False, True),
        ("float", "greater than 0", True, False),
    ],
)
def test_an_exclusive_limit_excludes_itself(declared, text, above, below):
    """Zero is not positive (D-S8-18)."""
    (bound,) = bounds(declared, [text])
    assert (bound.above, bound.below) == (above, below)


def test_choices_are_read_where_they_are_all_there_is():
    """The sentence of DESIGN 8.1's own example (D-S8-18)."""
    texts = ["one of '-', '_'", "one of 'a', 'b' or 'c'"]
    assert [bound.values for bound in bounds("str", texts)] == [("-", "_"), ("a", "b", "c")]


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("list[str]", "no name is blank"),
        ("list[Decimal]", "each between 0 and 10"),
        ("list[str]", "at most 10 characters each"),
        ("str", "at most 3 words"),
        ("str", "one of the keys of owed"),
        ("str", "at most 10 characters after it was stripped"),
        ("bool", "at most 1"),
        ("str | int", "at most 10 characters"),
        ("int", "defaults to 5"),
    ],
)
def test_a_sentence_that_says_more_is_no_bound(declared, text):
    """A guess would refuse sound modules (D-S8-18)."""
    assert bounds(declared, [text]) == []


def test_numbers_and_quoted_texts_are_taken_from_every_sentence():
    """They are only drawn, so a guess does no harm (D-S8-14)."""
    texts = ["each between 0.01 and 1,000", "a `#` or 'TODO' in front", "no x2 or v1.2.3"]
    assert numbers(texts)[:2] == ["0.01", "1000"]
    assert quoted(texts) == ["#", "TODO"]


def test_constants_of_tests_are_literals_and_constructors_and_nothing_that_runs():
    """What a test computes stays in the sandbox; what it writes down is drawn (D-S8-14)."""
    planted = Planted(
        {"text: str": [], "size: int": ["defaults to 1"]},
        "str",
        "return text",
        tests="""
            '''A docstring is no constant.'''
            import os
            def test_a(tmp_path):
                assert f("left", size=3) == f(os.getcwd(), -2)
                assert f(f"{1}") in [Decimal("1.50"), open("x"), ("a", {"k": [date(2024, 1, 1)]})]
        """,
    )
    found = constants_of(planted.candidate().files, planted.contract())
    assert found.by_parameter == {"text": ["'left'"], "size": ["3", "-2"]}
    assert {"Decimal('1.50')", "('a', {'k': [date(2024, 1, 1)]})", "'x'"} <= set(found.values)
    assert not any("open" in text or "docstring" in text for text in found.values)
    assert not found.aware


@pytest.mark.parametrize(
    ("events", "place"),
    [
        ([], "no input of f(text) was tried yet: it was being loaded"),
        ([{"event": "calling", "call": "f('a')"}, {"event": "calling", "call": "f('b')"}], "is f('b')"),
    ],
)
def test_a_run_that_ends_without_a_call_to_blame_says_what_was_running(events, place):
    """The last call that was begun, or that none was (D-S8-18)."""
    ran = FuzzRun(events, RunEnd("unloaded", "it took more than 10 s", ""), [], {}, 0.0)
    told = before_any_answer(ran, "f(text)")
    assert told.startswith("the module cannot be called: it took more than 10 s; ")
    assert told.endswith(place)
