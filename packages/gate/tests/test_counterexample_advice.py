"""What is advised about a counterexample, and what is read as a limit."""

import re

from ship_gate.base.boundary_values import BoundaryLimit
from ship_gate.findings import known_code
from ship_gate.fuzz.check import advice_on
from ship_gate.fuzz.hints import bounds


def test_a_result_beyond_a_limit_of_the_gate_is_told_as_such():
    """Not as another type than is declared (D-50-03)."""
    told = advice_on("returns", f"returns a value that holds more than {BoundaryLimit.VALUES.text}")
    assert "a limit of the gate" in told
    assert "`Raises:`" in told
    assert advice_on("returns", "returns a value of another type: 1") == "return what the contract declares"


def test_what_explain_gives_as_limits_is_read_as_limits():
    """Each quoted text bounds a value or a length; one with a name in front does not (D-50-03)."""
    steps = " ".join(known_code("fuzz.counterexample").steps)
    assert "keeps no input away" in steps
    texts = re.findall(r"`([^`]+)`", steps.partition("both sides are tried:")[2])
    assert len(texts) == 5
    for text in texts:
        assert [*bounds("int", [text]), *bounds("str", [text])], text
    assert bounds("int", ["parts <= 1000000"]) == []
