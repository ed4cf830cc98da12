"""Falsifying tests at the gate: what counts as one, what it shows, and what is failures of it (D13, DESIGN §8)."""

import re

import pytest

from gate_testkit.judging import candidate  # pyright: ignore[reportUnknownVariableType]
from ship_gate.contract.independent_tests import FalsifyingTest
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.sandbox.process import Limits
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.verdict import Trial
from specwright.roles.team import prompt

HEAD = "import pytest\nfrom modules.shorten import shorten\n\n\n"
SECRET = "carefully_hidden"


def tried(
    body: str, name: str = "test_it", obligation: str = "", head: str = HEAD, source: str = ""
) -> Trial:
    """What becomes of one test of `shorten`, with more than enough time by the clock."""
    changes = {"implementation/__init__.py": source} if source else None
    test = FalsifyingTest(name=name, obligation=obligation, source=f"{head}def test_it():\n    {body}\n")
    return SandboxedShipGate(200.0).falsify(candidate("shorten", changes), [test])[0]


def test_a_test_that_the_module_withstands_passes_and_one_that_fails_is_told():
    """D-13-01: black box, in a sandbox of its own, whatever the module's own tests are; D-13-02: by values."""
    assert tried('assert shorten("abc", 2) == ("ab", "E_CUT")') == Trial("test_it", passed=True)
    trial = tried('assert shorten("abc", 2)[0] == "abc"')
    assert (trial.passed, trial.problems) == (False, ())
    assert "'ab' == 'abc'" in trial.message


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (f"{SECRET} = text[limit + 99]", "IndexError"),
        pytest.param(
            f"{SECRET} = 1\n    while {SECRET}: pass",
            r"did not come to its end within 10 seconds|15 s of processor time",
            marks=pytest.mark.nightly,
        ),
        (f"import os; {SECRET} = os._exit(1)", "broke off"),
    ],
    ids=["an undeclared error", "an endless loop", "an end of the process"],
)
def test_nothing_that_is_told_holds_a_line_of_the_module(broken: str, said: str):
    """D-13-02, F-9.7-07: an error, a hang and an exit are counterexamples too."""
    whole = candidate("shorten").files["implementation/__init__.py"].decode()
    source = whole.replace("    if limit < 1:", f"    {broken}\n    if limit < 1:")
    trial = tried('assert shorten("abc", 2)', source=source)
    assert (trial.problems, trial.passed) == ((), False)
    assert re.search(said, trial.message)
    assert SECRET not in trial.message


CASES = """import pytest
from modules.shorten import shorten


@pytest.mark.parametrize("text", ["abc", "hang", "later"])
def test_it(text):
    assert shorten(text, 2)[0] == text
"""


@pytest.mark.parametrize(
    ("then", "ended"),
    [
        pytest.param("while True: pass", "did not come to its end within 10 seconds", marks=pytest.mark.slow),
        ("import os; os._exit(1)", "the run broke off"),
    ],
    ids=["hangs", "ends the process"],
)
def test_the_case_that_ends_a_run_is_named(then: str, ended: str):
    """D-13-02: a test may have many, and whoever reads the report corrects or strikes by it."""
    whole = candidate("shorten").files["implementation/__init__.py"].decode()
    changed = whole.replace("    if limit < 1:", f"    if text == 'hang':\n        {then}\n    if limit < 1:")
    files = {"implementation/__init__.py": changed}
    test = FalsifyingTest(name="test_it", obligation="", source=CASES)
    (trial,) = SandboxedShipGate(200.0).falsify(candidate("shorten", files), [test])
    assert (trial.problems, trial.passed) == ((), False)
    assert trial.message.startswith("2 cases fail: test_it[abc], test_it[hang]\ntest_it[abc]:\n")
    assert re.search(rf"\ntest_it\[hang\]: .*({ended}|15 s of processor time)", trial.message)


def test_the_seconds_of_a_call_are_told_to_those_who_write_and_judge_tests():
    """D-13-01: what code ends a call by is in the prompts."""
    told = f"work over {Limits().call_seconds:g} seconds ({FuzzBounds().call_seconds:g} with drawn values)"
    for role in ("planner-contracts", "proposer", "challenger", "researcher"):
        assert told in prompt(role)


def test_what_is_no_test_of_the_module_is_told_to_its_author():
    """D-13-01: it shows nothing, and most of these are never run."""
    drawn = {"body": "assert shorten(random.choice('ab'))", "head": f"import random\n{HEAD}"}
    for given, problem in (
        ({"body": "assert shorten('a', 5)", "obligation": "/inputs/7"}, "is none of this contract's"),
        ({"body": "assert shorten('a', 5)", "name": "test_other"}, "one test, the function test_other"),
        ({"body": "assert 1 == 1"}, "tests.constant"),
        ({"body": "assert len('a') == 2"}, "without an answer of the module"),
        ({"body": "assert shorten.__doc__"}, "tests.internals"),
        ({"body": "assert s('a')", "head": "from modules.shorten.deep import s\n"}, "tests.import"),
        ({"body": "assert shorten('a', unknown)"}, "the test itself breaks: NameError"),
        (drawn, "names the values"),
        ({"body": "assert shorten('a', 5"}, "the source is no Python"),
    ):
        trial = tried(**given)
        assert not trial.passed, given
        assert problem in "; ".join(trial.problems)
