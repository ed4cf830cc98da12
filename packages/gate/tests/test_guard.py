"""The guard by itself: what it hears of while tests run beside it (D-S8-09)."""

import subprocess
import sys

import pytest

from testkit.sampling import spread

ARMED = """
import collections
import _pytest.reports, _pytest.runner, pytest
from ship_gate.inside.test_runner import Guard

def other(*given):
    return None

guard = Guard(lambda what: print(what, flush=True), "/tests")
guard.arm()
{attack}
guard.check()
print("nothing")
"""

CHANGES = {
    "the code of a function": "_pytest.runner.runtestprotocol.__code__ = other.__code__",
    "its defaults": "_pytest.runner.runtestprotocol.__defaults__ = (False, None)",
    "its keyword defaults": "pytest.main.__kwdefaults__ = {}",
    "a class method's code": "vars(_pytest.reports.TestReport)['from_item_and_call'].__func__.__code__ = other.__code__",
    "the code of a property": "vars(_pytest.reports.BaseReport)['longreprtext'].fget.__code__ = other.__code__",
    "a function in its place": "_pytest.runner.runtestprotocol = other",
    "a method in its place": "_pytest.reports.TestReport.from_item_and_call = classmethod(other)",
}


def told(attack: str) -> str:
    """What the guard tells of an attack, in a process of its own: an audit hook cannot be taken off."""
    script = ARMED.format(attack=attack)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.stdout.strip()


@pytest.mark.parametrize("change", spread(CHANGES.values(), fast=4, slow=2))
def test_a_function_of_the_runner_that_is_changed_ends_the_run(change: str):
    """Whether it is replaced or changed in place, and wherever it stands (D-S8-09)."""
    assert told(change).endswith("was replaced, which runs or reports the tests")


def test_functions_of_others_may_be_changed():
    """A named tuple with defaults sets those of its own constructor (D-S8-09)."""
    assert told("collections.namedtuple('Two', 'a b', defaults=(1,))\nother.__defaults__ = (1,)") == "nothing"
