"""Glob patterns, matched in bounded time: a model writes both the pattern and the names that it meets (DESIGN §7).

A translation into one regular expression takes hours for `**/a/**/a/**/a/b` in a deep directory. Here the segments of a
path pass through the pattern's states one by one. The contract is that of the file tools: a pattern without `/` matches
a name at any depth, one with `/` the path from where the search began; `**` crosses directories, `{a,b}` is either, and
a name that begins with a dot is matched by a segment that begins with one. Leaves out negation and ranges.
"""

import fnmatch
import re
from collections.abc import Callable

__all__ = ["MAX_ALTERNATIVES", "compile_glob"]

MAX_ALTERNATIVES = 64
"""To which the braces of a pattern may come."""

_LONGEST = 1000

_Segment = Callable[[str], bool]


def compile_glob(pattern: str) -> Callable[[str], bool]:
    """A test of paths, relative to where the search begins and with `/`.

    Raises:
        ValueError: the pattern leaves that place, is too long, or its braces come to too many alternatives.
    """
    if len(pattern) > _LONGEST:
        raise ValueError("the pattern is too long")
    tests = [_of_one(one) for one in _alternatives(pattern)]
    return lambda path: any(test(path) for test in tests)


def _of_one(pattern: str) -> Callable[[str], bool]:
    segments = [segment for segment in pattern.split("/") if segment]
    if ".." in segments:
        raise ValueError("a pattern cannot lead upwards")
    if "/" not in pattern:
        by_name = _segment(pattern)
        return lambda path: by_name(path.rpartition("/")[2])
    ends = ["*"] if segments[-1:] == ["**"] else []  # there is something in the directories that it crosses
    tests = [None if segment == "**" else _segment(segment) for segment in (*segments, *ends)]
    if pattern.endswith("/") or not tests:  # that is a directory
        return lambda _: False
    return lambda path: _passes(path.split("/"), tests)


def _segment(pattern: str) -> _Segment:
    # the translation of fnmatch commits to the first place where a part after a star is found, and never goes back
    expression = re.compile(fnmatch.translate(pattern))
    dotted = pattern.startswith(".")
    return lambda name: (dotted or not name.startswith(".")) and expression.match(name) is not None


def _passes(names: list[str], tests: list[_Segment | None]) -> bool:
    """Whether the names lead through all tests; None stands for any number of directories."""
    states = _reached({0}, tests)
    for name in names:
        after: set[int] = set()
        for state in states:
            test = tests[state] if state < len(tests) else _never
            if test is None:
                after |= {state} if not name.startswith(".") else set()
            elif test(name):
                after.add(state + 1)
        states = _reached(after, tests)
    return len(tests) in states


def _reached(states: set[int], tests: list[_Segment | None]) -> set[int]:
    """With what can be passed over: any number is also none."""
    found = set(states)
    for state in sorted(states):
        while state < len(tests) and tests[state] is None and state + 1 not in found:
            state += 1
            found.add(state)
    return found


def _never(_: str) -> bool:
    return False


def _alternatives(pattern: str) -> list[str]:
    """A pattern without its braces; those that are not closed stand for themselves."""
    waiting, found = [pattern], list[str]()
    while waiting:
        one = waiting.pop()
        place = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if place is None:
            found.append(one)
        else:
            waiting += [one[: place.start()] + part + one[place.end() :] for part in place[1].split(",")]
        if len(waiting) + len(found) > MAX_ALTERNATIVES:
            raise ValueError("the braces of the pattern come to too many alternatives")
    return found
