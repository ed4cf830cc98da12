"""What adoption sees in the sandbox: which statements are borne out, and which are not."""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from specwright.bootstrap.gate.adoption import adopt_source
from specwright.bootstrap.verify import judge_directory
from specwright.domain.adoption.report import AdoptedFunction, AdoptionStatus, Evidence
from specwright.domain.contract.contract import MicroModuleContract
from specwright.gate.directory.module_directory import read_module

SLUG = '''
import re

SEPARATOR = "-"
_WORD = re.compile(r"[a-z0-9]+")


def slugify(text: str, sep: str = SEPARATOR) -> str:
    """Turn a title into a slug.

    Args:
        text: The title.
        sep: Between words.

    Raises:
        ValueError: the text holds no word.

    >>> slugify("Hello, World")
    'hello-world'
    >>> slugify("A B", sep="_")
    'a_b'
    >>> slugify("!")
    Traceback (most recent call last):
    ValueError: there is no word
    """
    found = _WORD.findall(text.lower())
    if not found:
        raise ValueError("there is no word")
    return sep.join(found)
'''


def adopt(tmp_path: Path, text: str, function: str) -> AdoptedFunction:
    """A function of a file with this text, adopted into `out`."""
    path = tmp_path / "sample.py"
    path.write_text(dedent(text))
    (record,) = adopt_source(f"{path}:{function}", tmp_path / "out").functions
    return record


def test_a_documented_function_becomes_a_module_that_the_gate_ships(tmp_path: Path) -> None:
    """With nothing written by hand: its examples show all that its contract states (D-50-01)."""
    record = adopt(tmp_path, SLUG, "slugify")
    assert (record.status, record.gaps, record.examples, record.tests) == (AdoptionStatus.COMPLETE, (), 3, 3)
    assert {one.evidence for one in record.statements if one.pointer} == {Evidence.RUN, Evidence.READ}
    directory = tmp_path / "out/slugify"
    assert json.loads((directory / "adoption.json").read_bytes())["status"] == "COMPLETE"
    assert judge_directory(directory).findings == ()


def test_what_a_document_says_and_a_run_refutes_is_left_out_and_told(tmp_path: Path) -> None:
    """A false example and a false type; neither is in the draft (D-50-02)."""
    record = adopt(
        tmp_path,
        '''
        def double(n: int) -> str:
            """Double a number.

            >>> double(2)
            5
            >>> double(3)
            6
            """
            return n * 2
        ''',
        "double",
    )
    told = " ".join(gap.what for gap in record.gaps)
    assert "the documented example `double(2)` is not true: it gives 4, the document says '5'" in told
    assert "`str` is stated, and" in told
    assert record.examples == 1
    candidate = read_module(tmp_path / "out/double").candidate
    assert candidate
    assert [slot.type for slot in candidate.contract.outputs] == ["Any"]
    assert b"double(2)" not in candidate.files["examples.md"]


def test_an_error_is_shown_by_a_run_or_called_claimed_or_told(tmp_path: Path) -> None:
    """Declared and met, declared and never met, met and not declared (D-50-02)."""
    record = adopt(
        tmp_path,
        '''
        def pick(text: str, place: int) -> str:
            """Pick a character.

            Raises:
                ValueError: place is negative.
                KeyError: it is Friday.
            """
            if place < 0:
                raise ValueError("negative")
            return text[place]
        ''',
        "pick",
    )
    evidence = {one.text.partition(":")[0]: one.evidence for one in record.statements}
    assert evidence["ValueError"] is Evidence.RUN
    assert evidence["KeyError"] is Evidence.CLAIMED
    assert any("raises IndexError, and nothing states it" in gap.what for gap in record.gaps)
    examples = (tmp_path / "out/pick/examples.md").read_text()
    assert "ValueError: negative" in examples
    assert "no document says so" in examples
    assert not list((tmp_path / "out/pick/tests").glob("test_*"))


def test_types_that_nobody_states_are_those_of_the_examples(tmp_path: Path) -> None:
    """And that is said (D-50-02)."""
    record = adopt(
        tmp_path,
        '''
        def count(words, least=0):
            """Count words.

            >>> count(["a", "b", "a"], least=1)
            {'a': 2, 'b': 1}
            """
            return {w: words.count(w) for w in words if words.count(w) >= least}
        ''',
        "count",
    )
    contract = MicroModuleContract.model_validate_json((tmp_path / "out/count/contract.json").read_bytes())
    types = [slot.type for slot in (*contract.inputs, *contract.outputs)]
    assert types == ["list[str]", "int", "dict[str, int]"]
    assert sum("nobody states it" in remark for remark in record.remarks) == 3


LAZY = '''
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

def first(numbers: Iterable[int], wanted: int = 3) -> list[int]:
    """Give the first numbers.

    >>> first([1, 2], wanted=1)
    [1]
    """
    return [*islice(numbers, 2 * 60 if wanted * wanted == 14400 else min(max(wanted, 0), 9))]

def total(numbers: Iterable[int]) -> int:
    """Add numbers.

    >>> total([1, 2])
    3
    """
    return sum(numbers)

def head(text: str, keep: Callable[[str], bool]) -> Iterator[str]:
    """The first twenty characters, as far as they are kept.

    >>> list(head("abc", str.islower))
    ['a', 'b', 'c']
    """
    return filter(keep, text[:20])

def letters(text: str) -> Iterator[str]:
    """Its letters."""
    yield from text
'''

TAKES_MORE = """
from itertools import count
from sample import first

def test_so_many_are_given():
    assert len(first(count(), wanted=120)) == 120
"""
BOUNDS = {
    "first": ["Iterable[int]: takes at most 100 items", "int: defaults to 3", "list[int]"],
    "total": ["Collection[int]", "int"],
    "head": ["str", "Callable[[str], bool]", "Iterator[str]: yields at most 100 items"],
    "letters": [],
}
TOLD = {
    "total": "`numbers` has no bound of its items: all that is given is taken",
    "letters": "`list(letters('a b\\n' * 1500))` yields more than 1000 items",
}


def slots(directory: Path) -> list[str]:
    """The types of a module that was adopted, with what is said of each."""
    if not directory.exists():
        return []
    contract = MicroModuleContract.model_validate_json((directory / "contract.json").read_bytes())
    said = [(slot.type, slot.constraints) for slot in contract.inputs]
    said += [(slot.type, slot.invariants) for slot in contract.outputs]
    return [": ".join([text, *texts]) for text, texts in said]


@pytest.mark.parametrize("function", BOUNDS)
def test_a_bound_of_items_is_a_round_number_that_no_run_exceeds(tmp_path: Path, function: str) -> None:
    """An iterable of which all is taken stays a collection, and an iterator without an end is out (D-50-02)."""
    record = adopt(tmp_path, LAZY, function)
    assert slots(tmp_path / "out" / function) == BOUNDS[function]
    assert TOLD.get(function, "") in " ".join([*record.remarks, *(one.what for one in record.obstacles)])
    evidence = [one.evidence for one in record.statements if "at most 100 items" in one.text]
    assert evidence == [Evidence.RUN] * str(BOUNDS[function]).count("items")


@pytest.mark.slow
def test_tests_that_exist_count_for_a_bound(tmp_path: Path) -> None:
    """They may take more than any call that the adoption tries (D-50-02)."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_sample.py").write_text(TAKES_MORE)
    record = adopt(tmp_path, LAZY, "first")
    assert (record.taken, slots(tmp_path / "out/first")[0]) == (1, "Iterable[int]: takes at most 1000 items")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("values.append(1)\n    return 1", "it changes its argument"),
        ("import socket\n    return 1", "socket"),
        ("return eval('1')", "eval"),
    ],
)
def test_what_only_a_run_or_the_gate_sees_keeps_a_function_out(tmp_path: Path, body: str, what: str) -> None:
    """A changed argument, an effect that no contract can declare, code made at run time (D-50-02)."""
    record = adopt(tmp_path, f"def f(values: list[int]) -> int:\n    'Do it.'\n    {body}\n", "f")
    assert record.status is AdoptionStatus.INEXPRESSIBLE
    assert any(what in one.what for one in record.obstacles), record.obstacles
    assert not (tmp_path / "out").exists()


def test_nothing_of_a_source_runs_outside_the_sandbox(tmp_path: Path) -> None:
    """Neither its top level nor a call can leave a mark on the machine (D-50-01)."""
    mark = tmp_path / "mark"
    record = adopt(
        tmp_path,
        f"""
        from pathlib import Path
        try:
            STARTED = Path({str(mark)!r}).write_text("x")
        except OSError:
            STARTED = 0

        def f(n: int) -> int:
            "Add."
            return n + STARTED
        """,
        "f",
    )
    assert not mark.exists()
    assert record.directory or record.obstacles


GENERIC = '''
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")
Number = TypeVar("Number", int, float)


def first(items: Sequence[Item], default: Item | None = None) -> Item | None:
    """Give the first of some items.

    >>> first([3, 4])
    3
    >>> first("", default="x")
    'x'
    """
    return _at(items, 0) if items else default


def _at(items: Sequence[Item], place: int) -> Item:
    return items[place]


def turned(table: Mapping[Key, Item]) -> dict[Item, Key]:
    """Turn a table around.

    >>> turned({1: "a"})
    {'a': 1}
    """
    return {value: key for key, value in table.items()}


def doubled(number: Number) -> Number:
    """Double a number.

    >>> doubled(2)
    4
    """
    return number + number
'''
STATED = {
    "first": ["Sequence[T]", "T | None: defaults to None", "T | None"],
    "turned": ["dict[int, str]", "dict[str, int]"],
    "doubled": ["int", "int"],
}


@pytest.mark.parametrize("function", STATED)
def test_a_type_variable_is_that_of_contracts(tmp_path: Path, function: str) -> None:
    """D-S8.1-05, D-50-02: whatever its name is in the file; of a second one no more than its examples."""
    record = adopt(tmp_path, GENERIC, function)
    assert slots(tmp_path / "out" / function) == STATED[function]
    assert record.obstacles == ()
    assert any("nobody states it" in remark for remark in record.remarks) == (function == "turned")
