"""What the gate says: the difference first, each thing once, and what to write."""

import pytest

from gate_testkit.judging import candidate, codes, judge

ENTRY = "implementation/__init__.py"
SOURCE = candidate("tally_words").files[ENTRY].decode()


def test_a_failure_shows_the_frames_of_the_module_and_none_of_the_gate():
    """D-S8-16: what a reader can act on."""
    changed = SOURCE.replace("if not words:", "if len(words) < 2:")
    (failed,) = judge("tally_words", {ENTRY: changed}).findings
    assert 'File "lib/modules/tally_words/__init__.py", line 27' in failed.message
    assert "ship_gate" not in failed.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("text: str", "text: bytes", 'inputs.0.type: the contract says "str", the source says "bytes"'),
        ("-> dict[str, int]", "-> dict[str, float]", 'outputs.0.type: the contract says "dict[str,int]"'),
        ("fold: bool = False", "fold: bool = True", "inputs.1.constraints"),
        (
            "fold: bool = False",
            "fold: bool = False, more: int = 1",
            "inputs: only the source has `more: int`",
        ),
        ("text: str, ", "", "inputs: only the contract has `text: str`"),
        (
            "def tally_words",
            "async def tally_words",
            "modes.sync: the contract says true, the source says false",
        ),
    ],
    ids=["type", "output", "default", "more", "fewer", "async"],
)
def test_a_mismatch_shows_the_difference_first(old, new, said):
    """D-S8-16: not two dimensions as JSON."""
    assert old in SOURCE, SOURCE
    verdict = judge("tally_words", {ENTRY: SOURCE.replace(old, new, 1)})
    messages = [f.message for f in verdict.findings if f.code == "surface.diverged"]
    assert any(message.replace(", ", ",").startswith(said.replace(", ", ",")) for message in messages), (
        messages
    )


def test_parameters_that_fail_are_one_finding():
    """D-S8-16: the first is shown, the others are named."""
    test = """
import pytest
from modules.tally_words import tally_words


@pytest.mark.parametrize("count", range(1, 11))
def test_counts(count):
    assert tally_words("be") == {"be": -count}
"""
    verdict = judge("tally_words", {"tests/test_tally_words.py": test, "tests/obligations.json": "{}"})
    failed = [f for f in verdict.findings if f.code == "tests.failed"]
    assert "tests.failed" in codes(verdict)
    assert [f.where for f in failed] == ["tests/test_tally_words.py::test_counts[1]"]
    assert "and for 9 more: [2], [3]" in failed[0].message
    assert "{'be': -1}" in failed[0].message
