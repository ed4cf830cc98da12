"""Trees of sound source, whatever other threads parse (DESIGN §8)."""

import subprocess
import sys

import pytest

from ship_gate.syntax_tree import parse_expression, parse_module

MEETING = """
import gc, sys, threading, time
from ship_gate.syntax_tree import parse_expression, parse_module

nested = "(1 + (2 * (3 + (4))))"
source = "\\n".join(f"def f{n}(a):\\n    return [x for x in {nested} * a]" for n in range(100))
gc.set_threshold(50)
gc.callbacks.append(lambda *_: time.sleep(0))  # where another thread may take over, as with Hypothesis
wrong = []

def work():
    for _ in range(20):
        try:
            parse_module(source)
            parse_expression(nested)
        except SystemError as error:
            wrong.append(error)

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(wrong))
"""


def test_threads_that_parse_together_are_told_nothing_wrong():
    """The interpreter's count of depth is one for all threads, and is asked again (D-S8-02)."""
    ended = subprocess.run([sys.executable, "-c", MEETING], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "0", ended.stderr


@pytest.mark.parametrize("parse", [parse_module, parse_expression])
def test_what_is_no_python_is_told_as_ever(parse):
    """A syntax error is the author's (D-S8-02)."""
    with pytest.raises(SyntaxError):
        parse("1 +")
