"""Glob patterns, matched in bounded time, because a model writes both the pattern and the file names (design: role-access).

As one regular expression, `**/a/**/a/**/a/b` takes hours in a deep directory. Here the segments of a path go through the
pattern's states one by one. The rules are those of the file tools: a pattern without `/` matches a name at any depth, one
with `/` matches the path from the search root; `**` crosses directories; `{a,b}` matches either. Only a segment that
begins with a dot matches a name that begins with one. Negation and ranges are not supported.
"""

import fnmatch
import re
from collections.abc import Callable

MAX_ALTERNATIVES = 64
"""The limit on the alternatives that the braces of a pattern expand to."""

_LONGEST = 1000

_Segment = Callable[[str], bool]


def compile_glob(pattern: str) -> Callable[[str], bool]:
    """Return a predicate on POSIX paths relative to the search root.

    Raises:
        ValueError: the pattern leads out of the search root, is too long, or its braces give too many alternatives.
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
    ends = ["*"] if segments[-1:] == ["**"] else []  # `a/**` matches what is below a
    tests = [None if segment == "**" else _segment(segment) for segment in (*segments, *ends)]
    if pattern.endswith("/") or not tests:  # it names a directory
        return lambda _: False
    return lambda path: _passes(path.split("/"), tests)


def _segment(pattern: str) -> _Segment:
    # fnmatch's translation commits to the first match after a star and never backtracks
    expression = re.compile(fnmatch.translate(pattern))
    dotted = pattern.startswith(".")
    return lambda name: (dotted or not name.startswith(".")) and expression.match(name) is not None


def _passes(names: list[str], tests: list[_Segment | None]) -> bool:
    """Whether the names match the tests in order; None matches any number of directories."""
    states = _reached({0}, tests)
    for name in names:
        after: set[int] = set()
        for state in (one for one in states if one < len(tests)):
            test = tests[state]
            if test is None:
                after |= {state} if not name.startswith(".") else set()
            elif test(name):
                after.add(state + 1)
        states = _reached(after, tests)
    return len(tests) in states


def _reached(states: set[int], tests: list[_Segment | None]) -> set[int]:
    """Add the states after each `**`, because it may match no directory at all."""
    reached = set(states)
    for state in sorted(states):
        while state < len(tests) and tests[state] is None and state + 1 not in reached:
            state += 1
            reached.add(state)
    return reached


def _alternatives(pattern: str) -> list[str]:
    """Expand the braces of a pattern; unclosed braces are literal."""
    pending, plain = [pattern], list[str]()
    while pending:
        one = pending.pop()
        place = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if place is None:
            plain.append(one)
        else:
            pending += [one[: place.start()] + part + one[place.end() :] for part in place[1].split(",")]
        if len(pending) + len(plain) > MAX_ALTERNATIVES:
            raise ValueError("the braces of the pattern give too many alternatives")
    return plain
