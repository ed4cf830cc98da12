"""Functions that are generic over `T`: one type of the caller's in all slots of a call."""

from typing import Any

import pytest

from gate_testkit.fuzzing import Planted, fuzzed, suite_of
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.public_surface import extract_surface
from ship_gate.source.files import ParsedFiles, SourceError
from testkit.sampling import spread

FEW = FuzzBounds(examples=60, seconds=0.6)

FIRST = Planted(
    {"items: Sequence[T]": [], "default: T | None": ["defaults to None"]},
    "T | None",
    """
    for item in items:
        return item
    return default
    """,
    raises=(),
)

GROUPED = Planted(
    {"items: Iterable[T]": ["takes at most 50 items"], "key: Callable[[T], str]": []},
    "dict[str, list[T]]",
    """
    from itertools import islice
    found = {}
    for item in islice(items, 50):
        found.setdefault(key(item), []).append(item)
    return found
    """,
    raises=(),
)

REACHED = Planted(
    {"links: Mapping[T, Collection[T]]": [], "start: T": []},
    "list[T]",
    """
    found = []
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        if node not in found:
            found.append(node)
            waiting += links.get(node, ())
    return found
    """,
    raises=(),
)

UNIQUE = Planted(
    {"items: list[T]": []},
    "list[T]",
    """
    return list(dict.fromkeys(items))
    """,
    raises=(),
)


@pytest.mark.parametrize(
    "planted", [FIRST, *(pytest.param(one, marks=pytest.mark.slow) for one in (GROUPED, REACHED))]
)
def test_the_fuzz_finds_nothing_of_an_honest_generic_function(planted: Any):
    """D-S8.1-05: also where the type must be one that can be hashed."""
    assert fuzzed(planted, FEW) == ()


SLOW = GROUPED._replace(
    inputs={"items: Iterable[T]": ["takes at most 100000 items"], "key: Callable[[T], str]": []},
    body="""
    import itertools
    found = {}
    for item in itertools.islice(items, 100_000):
        for _ in range(40 if item == 1 else 1):
            found.setdefault(key(item), []).append(item)
    return found
    """,
)


@pytest.mark.slow
def test_a_large_input_that_takes_long_ends_no_other_one():
    """D-S8.1-05: large ones come last, and a module that is still at one is called with nothing else."""
    assert fuzzed(SLOW, FEW) == ()


FAULTS = {
    "it makes a value up": (
        FIRST._replace(body="\n    return items[0] if items else 0"),
        "returns what it was not given, where its type says T: 0",
    ),
    "it knows one of the types": (
        FIRST._replace(
            body="""
    if items and isinstance(items[0], str):
        return items[0].upper()
    return items[0] if items else default
    """
        ),
        "returns what it was not given, where its type says T: '",
    ),
    "it wants what can be hashed": (UNIQUE, "raises TypeError: unhashable type: '"),
    "it wants an order": (UNIQUE._replace(body="\n    return sorted(items)"), "raises TypeError: '<' not"),
    "it forgets that None may be a value": (
        UNIQUE._replace(body="\n    return [item + item for item in items if item is None]"),
        "raises TypeError: unsupported operand type(s) for +: 'NoneType' and 'NoneType'",
    ),
    "it fills up with None": (
        Planted(
            {"items: list[T]": [], "key: Callable[[T], T]": []},
            "list[T]",
            "\n    return [key(item) for item in items][:1] + items[:1] + [None] * (len(items) > 2)",
            raises=(),
        ),
        "returns what it was not given, where its type says T: None",
    ),
}


@pytest.mark.parametrize("case", spread(FAULTS, fast=len(FAULTS), slow=8))
def test_the_fuzz_tries_it_with_one_type_after_the_other(case: Any):
    """D-S8.1-05: a value that no caller gave, and types that are not all alike."""
    planted, said = FAULTS[case]
    assert said in " ".join(finding.message for finding in fuzzed(planted, FEW))


TESTS = """
import pytest
from modules.f import f


class Seen(Exception):
    pass


@pytest.mark.parametrize("items", [[1, 2], ["a", "b"], [None, ()], [[1], {"a": 1}], [1, "a", None]])
def test_any_values_go_through(items):
    assert f(items, lambda item: str(type(item).__name__)) == {
        name: [item for item in items if type(item).__name__ == name]
        for name in dict.fromkeys(type(item).__name__ for item in items)
    }


def test_what_the_key_raises_passes_through():
    def key(item):
        raise Seen(item)

    with pytest.raises(Seen, match="7"):
        f([7], key)
"""


def test_tests_pass_values_of_any_type_and_callables_get_them():
    """D-43-06, D-S8.1-05: what is given to a callable and what comes back are of the caller's type."""
    ran = suite_of(GROUPED._replace(tests=TESTS))
    assert (ran.findings, len(ran.tests)) == ((), 6)


SOURCE = """
from __future__ import annotations

from typing import TypeVar

__all__ = ["first"]

{variable}


def first(items: list[{name}]) -> {name} | None:
    \"\"\"Give the first item.

    Args:
        items:
            - any number

    Returns:
        item:
            - None of no items
    \"\"\"
    return items[0] if items else None
"""
WRONG = {
    "it is missing": "",
    "it is another thing": "T = int",
    "it has a bound": 'T = TypeVar("T", bound=int)',
    "it has constraints": 'T = TypeVar("T", int, str)',
    "it has another name within": 'T = TypeVar("U")',
    "it is bound again": 'T = TypeVar("T")\nT = int',
    "it is made by something else": 'def TypeVar(name): return int\n\n\nT = TypeVar("T")',
}


def surface(variable: str, name: str = "T"):
    source = SOURCE.format(variable=variable, name=name)
    return extract_surface(ParsedFiles.of({"implementation/__init__.py": source.encode()}), "first")


def test_a_type_variable_is_read_and_one_that_says_something_else_is_refused():
    """D-S8.1-05: by its one name; others with what to write, and with the name that it has in contracts."""
    found = surface('T = TypeVar("T")')
    assert [found["inputs"][0]["type"], found["outputs"][0]["type"]] == ["list[T]", "T | None"]
    for case, variable in WRONG.items():
        with pytest.raises(SourceError) as caught:
            surface(variable)
        assert (
            'write `T = TypeVar("T")` in this file, once, without a bound' in caught.value.finding.message
        ), case
    with pytest.raises(SourceError, match=r"K is not the type variable of a contract; write `T = TypeVar"):
        surface('K = TypeVar("K")', "K")
