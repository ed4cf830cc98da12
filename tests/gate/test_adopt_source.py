"""What adoption reads from source: which functions are public, what each needs, what its contract states. Nothing runs."""

from pathlib import Path
from textwrap import dedent

import pytest

from specwright.errors import InputError
from specwright.gate.adopt.documented import documented_examples, texts_of
from specwright.gate.adopt.draft import Draft, draft_of
from specwright.gate.adopt.source_tree import read_source

TREE = {
    "shop/__init__.py": "from ._core import total\nfrom .prices import parse\n__all__ = ['total', 'parse']\n",
    "shop/_core.py": """
        from .tables import RATES, rate as _rate
        from . import words
        unused = 1

        def total(amounts: list[int], *, country: str = "de") -> int:
            '''Add a tax to some amounts.'''
            return sum(amounts) + _rate(words.upper(country))
    """,
    "shop/tables.py": """
        RATES = {}
        for name in ("DE", "FR"):
            RATES[name] = len(name)

        def rate(name: str) -> int:
            return RATES.get(name, 0)

        def other() -> None: ...
    """,
    "shop/words.py": "def upper(text):\n    return text.upper()\n\ndef lower(text):\n    return text.lower()\n",
    "shop/prices.py": "def parse(text: str) -> int:\n    'Read a price.'\n    return int(text)\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package in which a function needs three other files."""
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path / "shop"


def draft(tmp_path: Path, text: str, function: str = "f") -> Draft:
    """The draft of a function of a file with this text."""
    path = tmp_path / "sample.py"
    path.write_text(dedent(text))
    selection = read_source(f"{path}:{function}")
    return draft_of(selection.tree, selection.functions[0])


def test_the_public_functions_are_those_that_the_package_exports(tree: Path) -> None:
    """And those of its public modules; each once, by file and line (D-50-01)."""
    assert [one.name for one in read_source(str(tree)).functions] == [
        "shop._core.total",
        "shop.prices.parse",
        "shop.tables.rate",
        "shop.tables.other",
        "shop.words.upper",
        "shop.words.lower",
    ]


def test_a_function_comes_with_what_it_needs_and_nothing_else(tree: Path) -> None:
    """Helpers of other files, and the loop that fills a table; imports lead to the files beside it (D-50-01)."""
    selection = read_source(f"{tree}/_core.py:total")
    files = {
        name: data.decode() for name, data in draft_of(selection.tree, selection.functions[0]).files.items()
    }

    assert sorted(files) == [
        "implementation/__init__.py", "implementation/tables.py", "implementation/words.py",
    ]  # fmt: skip
    entry = files["implementation/__init__.py"]
    assert "from .tables import rate as _rate" in entry
    assert "from . import words" in entry
    assert "unused" not in entry
    assert "RATES[name] = len(name)" in files["implementation/tables.py"]
    assert "other" not in files["implementation/tables.py"]
    assert "lower" not in files["implementation/words.py"]


def test_each_line_of_an_implementation_knows_where_it_comes_from(tree: Path) -> None:
    """So that what the gate finds can be told at its place in the source (D-50-02)."""
    selection = read_source(f"{tree}/_core.py:total")
    made = draft_of(selection.tree, selection.functions[0])
    entry = made.files["implementation/__init__.py"].decode().splitlines()
    source = (tree / "_core.py").read_text().splitlines()
    places = {
        text: made.place(f"implementation/__init__.py:{number}").rpartition(":")
        for number, text in enumerate(entry, 1)
        if text.strip().startswith(("return sum", "from . import"))
    }
    assert len(places) == 2
    for text, (label, _, number) in places.items():
        assert label == "shop/_core.py"
        assert source[int(number) - 1] == text


@pytest.mark.parametrize(
    "docstring",
    [
        "Cut a text.\n\n    Args:\n        text (str): The text.\n        size (int, optional): Most characters.\n\n"
        "    Returns:\n        str: The cut.\n\n    Raises:\n        KeyError: size is odd.\n    ",
        "Cut a text.\n\n    Parameters\n    ----------\n    text : str\n        The text.\n    size : int, optional\n"
        "        Most characters.\n\n    Returns\n    -------\n    str\n        The cut.\n\n    Raises\n    ------\n"
        "    KeyError\n        size is odd.\n    ",
        "Cut a text.\n\n    :param str text: The text.\n    :param int size: Most characters.\n"
        "    :returns: The cut.\n    :rtype: str\n    :raises KeyError: size is odd.\n    ",
    ],
    ids=["Google", "NumPy", "reST"],
)
def test_a_docstring_states_types_and_errors_in_three_styles(tmp_path: Path, docstring: str) -> None:
    """Where the signature has no annotations; what it describes of parameters and result is kept (D-50-01)."""
    made = draft(
        tmp_path,
        f'def f(text, size=3):\n    """{docstring}"""\n    if size % 2: raise KeyError(size)\n    return text[:size]\n',
    )
    contract = made.contract
    assert contract
    assert contract.purpose == "Cut a text. `text`: The text. `size`: Most characters. Returns: The cut."
    assert [(slot.name, slot.type, slot.constraints) for slot in contract.inputs] == [
        ("text", "str", []), ("size", "int", ["defaults to 3"]),
    ]  # fmt: skip
    assert [slot.type for slot in contract.outputs] == ["str"]
    assert [(error.name, error.when) for error in contract.error_surfaces] == [("KeyError", "size is odd.")]


def test_an_error_that_only_the_source_states_is_declared_with_its_condition(tmp_path: Path) -> None:
    """Also one that a helper raises; one that is caught is none (D-50-02)."""
    made = draft(
        tmp_path,
        """
        class TooLongError(ValueError): ...

        def _check(text):
            if len(text) > 9:
                raise TooLongError("too long")

        def f(text: str) -> int:
            "Read a number."
            _check(text)
            if not text:
                raise LookupError("empty")
            try:
                raise OSError
            except OSError:
                return int(text)
        """,
    )
    assert made.contract
    assert [(error.name, error.when) for error in made.contract.error_surfaces] == [
        ("LookupError", "`not text`"), ("TooLongError", "`len(text) > 9` in _check"),
    ]  # fmt: skip
    assert b'__all__ = ["f", "TooLongError"]' in made.files["implementation/__init__.py"]


def test_types_take_the_form_of_the_boundary(tmp_path: Path) -> None:
    """Aliases and NewTypes are what they stand for; a parameter may be narrower, and that is said (D-50-02)."""
    made = draft(
        tmp_path,
        """
        import enum, datetime
        from collections.abc import Reversible
        from typing import NewType, Optional, Union

        Name = NewType("Name", str)
        Names = Reversible[Name]
        LIMIT = 80

        class Mode(enum.Enum):
            FAST = "fast"

        def f(names: Names, day: "datetime.date", mode: Mode, size: Optional[int] = LIMIT) -> dict[Name, int]:
            "Count names."
            return {}
        """,
    )
    assert made.contract
    assert [slot.type for slot in made.contract.inputs] == ["list[str]", "date", "Mode", "int | None"]
    assert [slot.type for slot in made.contract.outputs] == ["dict[str, int]"]
    assert made.contract.inputs[2].constraints == ["Mode is an Enum: FAST='fast'"]
    assert made.contract.inputs[3].constraints == ["defaults to 80"]
    assert any("list[str]" in text for text in [made.files["implementation/__init__.py"].decode()])


LAZY = """
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

def f(names: Iterable[str] | None, rows: Iterator[Mapping[str, int]], key: Callable[[str], int]) -> RESULT:
    "Do it."
    yield 1
"""


@pytest.mark.parametrize(
    "result", ["Generator[int, None, None]", "Generator[int]", "Iterator[int]", "Iterable[int]"]
)
def test_iterables_and_callables_are_stated_as_such(tmp_path: Path, result: str) -> None:
    """With a bound that leaves room for what runs show (D-50-02)."""
    made = draft(tmp_path, LAZY.replace("RESULT", result))
    assert made.contract
    assert [(slot.type, slot.constraints) for slot in made.contract.inputs] == [
        ("Iterable[str] | None", ["takes at most 1000 items"]),
        ("Iterator[Mapping[str, int]]", ["takes at most 1000 items"]),
        ("Callable[[str], int]", []),
    ]
    (output,) = made.contract.outputs
    assert output.type == result.partition("[")[0].replace("Generator", "Iterator") + "[int]"
    assert output.invariants == ["yields at most 1000 items"]
    assert made.bounds == {"names": 1000, "rows": 1000, "return": 1000}


def test_parameters_stay_as_they_are_written(tmp_path: Path) -> None:
    """By name only, any number of them, an interface that is needed, a default of the standard library (issue 22)."""
    made = draft(
        tmp_path,
        """
        import decimal
        from collections.abc import Mapping, MutableMapping, Sequence

        def f(
            rates: Mapping[str, Sequence[int]],
            *names: str,
            scale: decimal.Decimal = decimal.Decimal("0.5"),
            strict: bool,
            seen: MutableMapping[str, int],
        ) -> int:
            "Count names."
            return len(names)
        """,
    )
    assert made.contract
    assert [(slot.type, slot.constraints) for slot in made.contract.inputs] == [
        ("Mapping[str, Sequence[int]]", []), ("str", ["any number of arguments"]),
        ("Decimal", ["passed by keyword only", "defaults to Decimal('0.5')"]), ("bool", ["passed by keyword only"]),
        ("dict[str, int]", ["passed by keyword only"]),
    ]  # fmt: skip
    assert any("is stated as `dict[str, int]`" in remark for remark in made.remarks)


def test_a_class_keeps_its_check_and_its_properties(tmp_path: Path) -> None:
    """What it refuses becomes an error surface (D-43-07, D-50-02)."""
    made = draft(
        tmp_path,
        """
        from dataclasses import dataclass

        class SpanError(Exception):
            pass

        @dataclass(frozen=True)
        class Span:
            first: int
            last: int

            def __post_init__(self) -> None:
                if self.last < self.first:
                    raise SpanError(self.first)

            @property
            def length(self) -> int:
                return self.last - self.first

        def f(span: Span) -> int:
            "Measure a span."
            return span.length
        """,
    )
    assert made.contract
    assert made.contract.inputs[0].constraints == [
        "Span is a frozen dataclass: first: int, last: int; properties: length: int; raises: SpanError"
    ]
    assert [(error.name, error.when) for error in made.contract.error_surfaces] == [
        ("SpanError", "a Span is made of fields that it refuses")
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def f(**names: str) -> int:\n    return 1", "any number of arguments"),
        ("def f(n: int):\n    yield n", "generator"),
        ("from typing import Callable\ndef f(g: Callable[..., int]) -> int:\n    return g(1)", "Callable"),
        ("from typing import Callable\ndef f(g: list[Callable[[int], int]]) -> int:\n    return 1", "Callable"),
        ("from typing import Callable\ndef f(*g: Callable[[int], int]) -> int:\n    return 1", "Callable"),
        ("from typing import Generator\ndef f(n: int) -> Generator[int, int, None]:\n    yield n", "Generator"),
        ("from typing import AsyncIterator\nasync def f(n: int) -> AsyncIterator[int]:\n    yield n", "generator"),
        ("def deco(g): return g\n@deco\ndef f(n: int) -> int:\n    return n", "decorated"),
        ("def f(n: list[int] = []) -> int:\n    return 1", "default"),
        ("class A:\n    def m(self): ...\ndef f(a: A) -> int:\n    return 1", "A cannot be given"),
        ("def F(n: int) -> int:\n    return n", "cannot be a module's name"),
        ("def round(n: int) -> int:\n    return n", "would hide"),
    ],
)  # fmt: skip
def test_what_no_contract_can_say_is_told_with_its_line(tmp_path: Path, text: str, what: str) -> None:
    """And there is no draft (D-50-02)."""
    name = "F" if "def F" in text else "round" if "def round" in text else "f"
    made = draft(tmp_path, text, name)
    assert made.contract is None
    assert any(what in one.what for one in made.obstacles), made.obstacles
    assert all(
        one.where.partition(":")[0] == "sample.py" and one.where[-1].isdigit() for one in made.obstacles
    )


def test_what_nobody_states_is_a_gap(tmp_path: Path) -> None:
    """A type, a purpose, a limit that the docstring only speaks of; the gate refuses such a contract (D-50-02)."""
    made = draft(
        tmp_path, 'def f(n, m: int):\n    """\n    :param m: must be positive\n    """\n    return n\n'
    )
    assert made.contract
    assert [slot.type for slot in made.contract.inputs] == ["Any", "int"]
    told = [gap.what for gap in made.gaps]
    assert [text for text in told if "type of `n`" in text or "what it returns" in text]
    assert "what it is for" in told
    assert "a constraint of `m`: the docstring says 'must be positive'" in told
    assert all(gap.write for gap in made.gaps)


def test_a_limit_whose_breach_meets_an_error_is_no_gap(tmp_path: Path) -> None:
    """The docstring names the parameter where it says when the error is raised (D-50-02)."""
    text = """
def f(m: int, n: int) -> int:
    '''Add.

    Args:
        m: Must be positive.
        n: Must be positive.

    Raises:
        ValueError: If `m` is not positive.
    '''
    if m < 1 or n < 1:
        raise ValueError(m)
    return m + n
"""
    told = [gap for gap in draft(tmp_path, text).gaps if gap.what.startswith("a constraint")]
    assert [gap.what for gap in told] == ["a constraint of `n`: the docstring says 'Must be positive.'"]
    assert "naming `n`, under `Raises`" in told[0].write


def test_documented_examples_are_those_of_the_function_alone(tmp_path: Path) -> None:
    """With what they need before them; one that needs another function is none of its own (D-50-01)."""
    path = tmp_path / "sample.py"
    path.write_text(
        dedent('''
        """Numbers.

        >>> import sample
        >>> x = 3
        >>> sample.f(x)
        4
        >>> sample.g(sample.f(1))
        9
        >>> print(sample.f(1))
        2
        >>> print(sample.f(2), end="")
        3
        >>> sample.f(-1)
        Traceback (most recent call last):
        ValueError: too small
        """
        def f(n: int) -> int:
            return n + 1
        def g(n: int) -> int:
            return 9
        ''')
    )
    selection = read_source(f"{path}:f")
    (function,) = selection.functions
    found = documented_examples(selection.tree, function, texts_of(selection.tree, function), ["f"])
    assert [(one.code, one.wanted, one.error) for one in found] == [
        ("x = 3\nf(x)", "4", ""), ("str(f(1))", "2", ""), ("str(f(2))", "3", ""),
        ("f(-1)", "ValueError: too small", "ValueError"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("none.py", "there is no such file"),
        ("{folder}", "no Python file and no package"),
        ("{folder}/broken.py", "not Python"),
        ("{folder}/empty.py", "no public function"),
        ("{folder}/sample.py:g", "no function 'g'"),
        ("no-package-of-this-name", "no such file or package"),
        ("nopackageofthisname", "no such file or installed package"),
        ("packaging.nothing", "has no module packaging.nothing"),
    ],
)
def test_a_source_that_cannot_be_used_is_one_clear_error(tmp_path: Path, source: str, what: str) -> None:
    """It says what, where and what to do (D-50-01)."""
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "sample.py").write_text("def f() -> int:\n    return 1\n")
    with pytest.raises(InputError, match=what) as caught:
        read_source(source.format(folder=tmp_path))
    assert caught.value.where
