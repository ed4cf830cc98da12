"""Iterables in, iterators out and callables, across the two processes of a run."""

from typing import Any

import pytest

from gate_testkit.fuzzing import Planted, fuzzed, suite_of
from gate_testkit.judging import NO_FUZZ
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.ship_gate import SandboxedShipGate
from testkit.sampling import spread

FEW = FuzzBounds(examples=40, seconds=0.5)

RUNNING = Planted(
    {"numbers: Iterable[int]": ["takes at most 5 items"], "least: int": ["at least 0"]},
    "Iterator[int]",
    """
    from itertools import islice
    if least < 0:
        raise ValueError("least is below 0")
    total = 0
    for number in islice(numbers, 5):
        if number < 0:
            raise ValueError(f"{number} is below 0")
        total += number
        if total >= least:
            yield total
    """,
    returned=("yields at most 5 items",),
)

RUNNING_TESTS = """
from itertools import count

import pytest
from modules.f import f


class Broken(Exception):
    pass


def breaking():
    yield 1
    yield 2
    raise Broken("no third")


def test_what_is_yielded_comes_one_by_one():
    found = f([1, 2, 3], 2)
    assert iter(found) is found
    assert next(found) == 3
    assert list(found) == [6]
    assert list(found) == []


@pytest.mark.parametrize("given", [(4, 5), {4: "a", 5: "b"}, iter([4, 5]), (n for n in (4, 5)), range(4, 6)])
def test_anything_that_can_be_iterated_may_be_passed(given):
    assert list(f(given, 0)) == [4, 9]


def test_an_endless_one_as_well():
    assert list(f(count(1), least=0)) == [1, 3, 6, 10, 15]


def test_an_error_comes_where_it_is_reached():
    found = f([1, -1, 2], 0)
    assert next(found) == 1
    with pytest.raises(ValueError, match="-1 is below 0"):
        next(found)
    assert list(found) == []
    with pytest.raises(ValueError, match="least is below 0"):
        list(f([], -1))


def test_what_iterating_raises_passes_through():
    found = f(breaking(), 0)
    assert [next(found), next(found)] == [1, 3]
    with pytest.raises(Broken, match="no third"):
        next(found)
"""


def test_iterables_go_in_and_iterators_come_out_lazily():
    """D-43-05, D43: by value, with what iterating raises in its place; the errors count as seen."""
    ran = suite_of(RUNNING._replace(tests=RUNNING_TESTS))
    assert (ran.findings, len(ran.tests)) == ((), 9)
    name = "test_f.py::test_an_error_comes_where_it_is_reached"
    assert ran.outcomes[name] == [("ValueError", "Exception", "BaseException", "object")]


CALLS = """
from modules.f import f


def test_it_is_called():
    assert list(f([1, 2, 3, 4, 5, 6], 1))
"""
ALL = RUNNING._replace(body=RUNNING.body.replace("islice(numbers, 5)", "numbers"))
TWICE = RUNNING._replace(body=RUNNING.body.replace("yield total", "yield total\n            yield total"))
OVER = {
    "takes": (ALL, "f takes more than 5 items of numbers, the most that its contract states"),
    "yields": (TWICE, "f yields more than 5 items, the most that its contract states"),
}


def test_a_module_that_takes_or_yields_more_fails_its_tests_and_the_fuzz():
    """D-43-05: the gate counts, whatever the tests assert; the fuzz does so where no test passes so many items."""
    for planted, said in OVER.values():
        (finding,) = suite_of(planted._replace(tests=CALLS)).findings
        assert finding.code == "tests.boundary"
        assert said in finding.message
        assert any(said.removeprefix("f ") in finding.message for finding in fuzzed(planted, FEW))


def test_the_fuzz_finds_nothing_of_an_honest_module():
    """D-43-05: results and errors of iterators are compared with the contract, and are the same again."""
    assert fuzzed(RUNNING, FEW, elsewhere=True) == ()


def test_the_fuzz_looks_at_each_item():
    """D-43-05: a yielded value of another type, also before an error; a list is no iterator."""
    other = RUNNING._replace(body=RUNNING.body.replace("yield total", "yield str(total)"))
    assert "which is no int" in fuzzed(other, FEW)[0].message
    whole = RUNNING._replace(body="return [1]")
    assert "which is no Iterator[int]" in fuzzed(whole, FEW)[0].message


REUSED = Planted(
    {"count: int": ["from 0 to 5"]},
    "Iterator[list[int]]",
    """
    row: list[int] = []
    for number in range(min(count, 5)):
        row.append(number)
        yield row
    """,
    returned=("yields at most 5 items",),
    tests="""
    from modules.f import f


    def test_rows_grow():
        assert list(f(2)) == [[0], [0, 1]]
    """,
)


def test_a_module_that_changes_what_it_yielded_is_told_so():
    """D-43-05: items cross as they were yielded, and where mutants are tried they are the items themselves."""
    verdict = SandboxedShipGate(30, static=False, strength=0.6, fuzz=NO_FUZZ).judge(REUSED.candidate())
    (finding,) = [one for one in verdict.findings if one.code == "strength.unstable"]
    assert "let the module not change what it has yielded" in finding.message


CHOSEN = Planted(
    {"words: list[str]": [], "key: Callable[[str], int]": []},
    "str | None",
    "return min(words, key=key, default=None)",
    raises=(),
)

CHOSEN_TESTS = """
import pytest
from modules.f import f


class Broken(Exception):
    pass


def test_it_is_called_once_for_each_word():
    asked = []

    def key(word):
        asked.append(word)
        return len(word)

    assert f(["aaa", "b", "cc"], key) == "b"
    assert asked == ["aaa", "b", "cc"]


def test_what_it_raises_passes_through():
    def key(word):
        raise Broken(word)

    with pytest.raises(Broken, match="aaa"):
        f(["aaa", "b"], key=key)


def test_it_may_never_be_called():
    assert f([], key=lambda word: pytest.fail("called")) is None


def test_what_pytest_says_passes_through():
    with pytest.raises(pytest.fail.Exception):
        f(["a", "b"], key=lambda word: pytest.fail("called"))
"""


def test_a_callable_is_called_across_the_boundary():
    """D-43-06, D43: tests see how often and with what, and its error is the test's own; one that counts notices a module
    that calls once too often."""
    ran = suite_of(CHOSEN._replace(tests=CHOSEN_TESTS))
    assert (ran.findings, len(ran.tests)) == ((), 4)
    once_more = CHOSEN._replace(body="for word in words[:1]:\n    key(word)\n" + CHOSEN.body)
    (finding,) = suite_of(once_more._replace(tests=CHOSEN_TESTS)).findings
    assert finding.code == "tests.failed"
    assert finding.where == "tests/test_f.py::test_it_is_called_once_for_each_word"


MISUSED = {
    "two": ("return str(key('a', 'b'))", "f calls key with 2 arguments, where its contract says 1"),
    "type": (
        "return str(key(1))",
        "f calls key with what its contract does not say: argument 1 is 1, which is no str",
    ),
    "name": ("return str(key(word='a'))", "f calls key with arguments by name"),
    "caught": (
        "try:\n    return str(key(1))\nexcept TypeError:\n    return None",
        "f calls key with what its contract does not say",
    ),
}
GIVES = "from modules.f import f\n\n\ndef test_it():\n    assert f(['a'], key={}) == 'a'\n"


@pytest.mark.parametrize("case", spread(MISUSED, fast=len(MISUSED), slow=2))
def test_a_module_that_calls_it_otherwise_than_stated_is_found_by_the_fuzz(case: Any):
    """D-43-06: arguments are checked against the declared types."""
    body, said = MISUSED[case]
    found = fuzzed(CHOSEN._replace(body=body), FEW)
    assert any(said.removeprefix("f ") in finding.message for finding in found)


@pytest.mark.slow
def test_an_honest_module_with_a_callable_passes_the_fuzz():
    """D-43-06: what is drawn is a pure function, the same in another process."""
    assert fuzzed(CHOSEN, FEW, elsewhere=True) == ()


REFUSED = {
    "lambda word: word": "is given a key that gives what is not declared: result is 'a', which is no int",
    "lambda word: f([word], len) and 1": "a callable that was passed to the module calls f, while a call is open",
    "lambda word: open": "does not cross a module's boundary; let it give what is declared",
}


@pytest.mark.parametrize("given", REFUSED)
def test_a_callable_that_is_not_what_its_type_says_is_refused(given: Any):
    """D-43-06: a result of another type, a call of the module from within, and what does not cross."""
    (finding,) = suite_of(CHOSEN._replace(tests=GIVES.format(given))).findings
    assert finding.code == "tests.boundary"
    assert REFUSED[given] in finding.message
