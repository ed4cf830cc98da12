"""Attacks on what a run may use, and on its end: it is stopped, and what is missing is no pass."""
# ruff: noqa: E501 - an attack stands in one line, however long

import pytest

from gate_testkit.hostile import cases, ends_badly, in_module
from gate_testkit.running import broken_off, run

EXHAUSTION = {
    "memory at once": "x = bytearray(4 << 30)",
    "memory bit by bit": "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "threads": "import threading\nfor _ in range(100_000): threading.Thread(target=threading.Event().wait, args=(60,)).start()",
    "processor": "while True: pass",
    "processor in a regular expression": "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    "time": "import select; select.select((), (), (), 600)",
    "time without an interrupt": "import threading; threading.Lock().acquire(); l = threading.Lock(); l.acquire(); l.acquire()",
    "output": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "errors": "import os\nwhile True: os.write(2, b'x' * 65536)",
    "printed output": "while True: print('x' * 65536)",
    "a large file": "open('big-%s' % id(text), 'wb').write(b'x' * (32 << 20))",
    "a sparse file": "import os; os.truncate(open('sparse', 'wb').name, 1 << 40)",
    "many descriptors": "x = [open('/dev/null') for _ in range(100_000)]",
    "a deep stack": "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    "a huge result": "return {'x' * (17 << 20): 1}",
    "a deep result": "x = []\nfor _ in range(100_000): x = [x]\nreturn x",
}


@pytest.mark.parametrize("attack", cases(EXHAUSTION))
def test_what_it_may_use_is_limited(attack, place):
    """Rule 4, D-S8-11, D-S1-02: memory, processor, time, output, disk, descriptors."""
    ends_badly(in_module(EXHAUSTION[attack]), place, timeout_seconds=2.0)


ENDING = {
    "os._exit": "import os; os._exit(0)",
    "sys.exit": "import sys; sys.exit(0)",
    "abort": "import os; os.abort()",
    "a signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "a crash": "import ctypes; ctypes.string_at(0)",
    "an interrupt": "raise KeyboardInterrupt",
    "a skip": "import unittest; raise unittest.SkipTest",
    "a thread that ends it": "import os, threading; threading.Timer(0.05, os._exit, (0,)).start(); threading.Event().wait(1)",
    "no more builtins": "import builtins; del builtins.isinstance, builtins.len, builtins.type",
}


@pytest.mark.slow
def test_a_module_cannot_close_the_link_to_the_gate(place):
    """D-S8-09: the filter refuses it, so what the module answers still arrives, and nothing else does."""
    seen = run(in_module("import os; os.closerange(0, 200)"))
    assert broken_off(seen) == set()
    assert not list(place.iterdir())


@pytest.mark.parametrize("attack", cases(ENDING))
def test_a_module_that_ends_early_does_not_pass(attack, place):
    """D-S8-09: what is missing is no pass."""
    ends_badly(in_module(ENDING[attack]), place)
