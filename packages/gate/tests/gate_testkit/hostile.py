"""Hostile modules and hostile tests, and what is due of a run of them.

What is run with these goes past the static checks, which refuse most of it before. An attack is written so that the tests
pass if it succeeds: one inside the module does its deed and then gives the right answer, one inside the tests claims a
pass for a module that is wrong. So a run without findings is an attack that came through. What the system has to refuse
is tried deed by deed in one process: each must raise.
"""

import time
from pathlib import Path
from typing import Any

from gate_testkit.judging import MODULES
from gate_testkit.observing import observed
from gate_testkit.running import broken_off, run, survivors
from testkit.sampling import spread

__all__ = [
    "ENTRY",
    "FRAME",
    "SOURCE",
    "SYSCALL",
    "TESTS",
    "TEST_SOURCE",
    "WRONG",
    "cases",
    "come_through",
    "ends_badly",
    "in_module",
    "in_tests",
]

ENTRY = "implementation/__init__.py"
TESTS = "tests/test_tally_words.py"
SOURCE = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")
TEST_SOURCE = (MODULES / "tally_words" / TESTS).read_text(encoding="utf-8")
WRONG = SOURCE.replace("return dict(Counter(words))", "return {word: 7 for word in words}")

SYSCALL = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall\n"
"""What an attack begins with that makes system calls by number."""

FRAME = """
import json, os, struct
def frame(header, payload=b''):
    text = json.dumps(header).encode()
    return struct.pack('>II', len(text), len(payload)) + text + payload
def everywhere(data):
    for fd in range(3, 512):
        try: os.write(fd, data)
        except OSError: pass
"""
"""What an attack begins with that writes messages of its own to every descriptor."""


def in_module(deed: Any):
    """A module that does a deed before it gives the right answer."""
    indented = "".join(f"    {line}\n" for line in deed.strip("\n").split("\n"))
    return {ENTRY: SOURCE.replace("    words = ", f"{indented}    words = ", 1)}


def in_tests(deed: Any):
    """Tests that do a deed before a wrong module is asked."""
    return {ENTRY: WRONG, TESTS: TEST_SOURCE.replace("import pytest\n", f"import pytest\n{deed}\n", 1)}


_DOING = """
def f(path, text):
    try:
        exec(text, {**globals(), "text": text})
    except BaseException:
        return
    print("done")
"""


def come_through(deeds: Any, kind: Any, place: Path):
    """The names of the deeds that a module does in one process, one after the other, without an error; nothing is left."""
    files = {"tests/test_f.py": b"", "examples.md": b""}
    left, done = [*deeds.items(), ("what anybody may do", "pass")], list[str]()
    while left:
        texts = [deed for _, deed in left]
        replies = observed(_DOING, kind=kind, texts=texts, more=files, must_end=False).replies
        done += [name for (name, _), reply in zip(left, replies, strict=False) if "done" in reply["out"]]
        left = left[len(replies) + 1 :]  # a deed that ended the process has no reply
    assert not survivors(place)
    assert not list(place.iterdir())
    assert done.pop() == "what anybody may do"
    return done


def ends_badly(changes: Any, place: Path, kind: Any = None, timeout_seconds: Any = 10.0):
    """Run an attack: it is told, in bounded time, and nothing of it is left."""
    began = time.monotonic()
    seen = run(changes, kind=kind, timeout_seconds=timeout_seconds)
    assert time.monotonic() - began < 90
    assert broken_off(seen)
    assert any(code.startswith("tests.") for code in broken_off(seen))
    assert not survivors(place)
    assert not list(place.iterdir())
    return seen


def cases(table: Any):
    """The names of attacks: the first of a table is a fast case, one in four of the others a slow one."""
    return spread(table, fast=len(table), slow=4)
