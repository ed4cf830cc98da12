"""What of a module is its surface, and when there is none to compare."""

import pytest

from gate_testkit.judging import sealed
from ship_gate.contract.contract import ErrorSurface
from ship_gate.contract.docstring import render_stub
from ship_gate.source.files import ParsedFiles, SourceError
from ship_gate.surface.comparison import compare_surface
from ship_gate.surface.surface import extract_surface

HEAD = """from __future__ import annotations
from datetime import date
__all__ = ["bill"]
"""
BODY = '''
def bill(due: date, note: str = "-") -> str:
    """Write a bill.

    Args:
        due:
            - in the future
        note:

    Returns:
        text:
            - one line

    Raises:
        ValueError: due is past

    Errors:
        - E_OLD [variant]: due is long past

    Effects:
        - CALL `the clock`: reads today

    Modes:
        none
    """
    return note
'''


def read(folder, source, name="bill", **files):
    """The surface of a source, with further files beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text(source, encoding="utf-8")
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text, encoding="utf-8")
    return extract_surface(ParsedFiles.of_implementation(folder), name)


def fault(folder, source, **files):
    """The code of the fault in a source."""
    with pytest.raises(SourceError) as caught:
        read(folder, source, **files)
    assert caught.value.finding.message
    assert caught.value.finding.where.startswith("implementation/")
    return caught.value.finding.code


def test_a_surface_is_the_five_dimensions(tmp_path):
    """D-S8-04, F-11.1-04: as a contract gives them."""
    assert read(tmp_path, HEAD + BODY) == {
        "inputs": [
            {"name": "due", "type": "date", "constraints": ["in the future"]},
            {"name": "note", "type": "str", "constraints": ["defaults to '-'"]},
        ],
        "outputs": [{"name": "text", "type": "str", "invariants": ["one line"]}],
        "error_surfaces": [
            {"name": "ValueError", "when": "due is past", "surface": "exception"},
            {"name": "E_OLD", "when": "due is long past", "surface": "variant"},
        ],
        "effects": [{"type": "CALL", "target": "the clock", "description": "reads today"}],
        "modes": {"sync": True, "async": False, "notes": "none"},
    }


def test_what_a_function_binds_within_itself_is_its_own(tmp_path):
    """D-S8-19: local names, comprehensions and parameters are no rebinding of the module's names."""
    source = HEAD + BODY.replace(
        "return note", "bill = [date for date in note]\n    str = 1\n    return note"
    )
    assert read(tmp_path, source) == read(tmp_path, HEAD + BODY)


def test_relative_imports_do_not_disturb_the_reading(tmp_path):
    """D-21-03: siblings and files beside it are imported relatively."""
    source = HEAD + "from ..other import other\nfrom . import _a\nfrom ._b import c\n" + BODY
    assert read(tmp_path, source)["modes"]["sync"] is True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    Modes:\n        none", "    Example:\n        none"),
        ("    Modes:\n        none", "    Modes:\n        none\n\n    Modes:\n        again"),
        ("    Modes:\n        none", "    Modes:\n        none\n\n    And more prose."),
        ("Write a bill.", "Write a bill.\n\n    At length."),
        ("- in the future", "in the future"),
        ("- one line", "one line"),
        ("- E_OLD [variant]: due", "- E_OLD: due"),
        ("- CALL `the clock`: reads", "- CALL the clock: reads"),
        ("        note:\n", "        note:\n        note:\n"),
    ],
)
def test_prose_out_of_the_grammar_is_refused_rather_than_dropped(tmp_path, old, new):
    """D-S8.1-01: a line that nobody reads would be a difference that nobody sees."""
    assert old in BODY
    assert fault(tmp_path, HEAD + BODY.replace(old, new)) == "surface.docstring"


def test_an_entry_point_without_a_docstring_is_refused(tmp_path):
    """D-S8.1-01: the docstring carries the contract."""
    assert fault(tmp_path, HEAD + "def bill(due: date) -> str:\n    return ''\n") == "surface.docstring"


TWIN = "\nasync def bill_async" + BODY.split("def bill", 1)[1]
PAIR = HEAD.replace('["bill"]', '["bill", "bill_async"]')


def test_twins_that_agree_are_one_surface_in_two_modes(tmp_path):
    """D-S8-19, D-S8.1-03: both are read."""
    assert read(tmp_path, PAIR + BODY + TWIN)["modes"] == {"sync": True, "async": True, "notes": "none"}


@pytest.mark.parametrize(
    "twin",
    [
        TWIN.replace("note: str", "note: bytes"),
        TWIN.replace('= "-"', '= "+"'),
        TWIN.replace("-> str", "-> bytes"),
        TWIN.replace("due is past", "due is near"),
        TWIN.replace("async def", "def"),
    ],
)
def test_twins_that_differ_are_refused(tmp_path, twin):
    """D-S8-19: both twins agree."""
    assert fault(tmp_path, PAIR + BODY + twin) == "surface.twins"


def test_an_async_twin_of_an_async_function_is_refused(tmp_path):
    """D-S8.1-03: `f` is called, `f_async` is awaited."""
    assert fault(tmp_path, PAIR + BODY.replace("def bill", "async def bill") + TWIN) == "surface.twins"


CLASSY = HEAD.replace('["bill"]', '["bill", "Bill"]')
RETURNS = BODY.replace("-> str", "-> Bill")
BILL = "class Bill:\n    total: int\n    note: str = ''\n"
FROZEN = "from dataclasses import dataclass\n@dataclass(frozen=True)\n" + BILL
STATEMENT = "Bill is a frozen dataclass: total: int, note: str = ''"


def test_a_class_of_the_module_is_read_with_its_fields(tmp_path):
    """D-S8-22: wherever in the module it is defined."""
    here = read(tmp_path, CLASSY + FROZEN + RETURNS)
    assert here["outputs"][0]["invariants"] == ["one line", STATEMENT]
    beside = read(tmp_path, CLASSY + "from ._types import Bill\n" + RETURNS, _types=FROZEN)
    assert beside == here


def test_a_class_of_a_sibling_has_its_fields_there(tmp_path):
    """D-S8-22: a dependency's class belongs to the dependency's surface."""
    surface = read(tmp_path, CLASSY + "from ..open_bill import Bill\n" + RETURNS)
    assert surface["outputs"] == [{"name": "text", "type": "Bill", "invariants": ["one line"]}]


@pytest.mark.parametrize(
    "definition",
    [
        BILL,
        FROZEN.replace("(frozen=True)", ""),
        FROZEN.replace("frozen=True", "frozen=True, eq=False"),
        FROZEN.replace("class Bill:", "class Bill(dict):"),
        FROZEN + "    def pay(self): ...\n",
        FROZEN + "    __slots__ = ()\n",
        FROZEN.replace("total: int", "total: object"),
        FROZEN.replace("''", "list()"),
        "from enum import Enum\nclass Bill(Enum):\n    A = object()\n",
        "from enum import Enum\nclass Bill(str, Enum):\n    A = 'a'\n",
        "class Bill(NamedTuple):\n    a: int\n",
        "from typing import NamedTuple\nclass Bill(NamedTuple):\n    a: int\n    def pay(self): ...\n",
        "from typing import TypeAlias\nBill: TypeAlias = int | object\n",
        "from typing import TypedDict\nclass Bill(TypedDict, total=False):\n    a: int\n",
    ],
)
def test_a_class_that_is_not_field_only_is_refused(tmp_path, definition):
    """D-S8-22: frozen dataclasses, TypedDicts and Enums, with fields of the boundary's types."""
    assert fault(tmp_path, CLASSY + definition + RETURNS) == "surface.class"


@pytest.mark.parametrize(
    ("bases", "fits"),
    [("ValueError", True), ("UnicodeError", True), ("_Base", True), ("Exception", False), ("LookupError", False),
     ("KeyError, OSError", False)],
)  # fmt: skip
def test_an_error_derives_from_what_its_contract_says(tmp_path, bases, fits):
    """Issue 22: its class or one of its bases, in the module's files."""
    when = "DebtError is a ValueError: the bill is not paid"
    error = ErrorSurface(name="DebtError", when=when, surface="exception")
    contract = sealed("shorten").contract.model_copy(update={"error_surfaces": [error]})
    source = render_stub(contract).replace(
        "class DebtError(ValueError):", f"class _Base(ValueError):\n    pass\n\n\nclass DebtError({bases}):"
    )
    (tmp_path / "__init__.py").write_text(source, encoding="utf-8")
    compared = compare_surface(ParsedFiles.of_implementation(tmp_path), contract)
    assert [finding.code for finding in compared.findings] == ([] if fits else ["surface.class"])


@pytest.mark.parametrize(
    "written",
    [
        "JSON: TypeAlias = None | int | list['JSON'] | dict[str, 'JSON']",
        "JSON: TypeAlias = 'None | int | list[JSON] | dict[str, JSON]'",
        "JSON: typing.TypeAlias = typing.Union[None, int, typing.List['JSON'], 'dict[str, JSON]']",
    ],
)
def test_a_named_type_is_read_as_it_stands_for(tmp_path, written):
    """D-43-03: a `TypeAlias` with its own name in quotes, in whatever form of everyday Python."""
    head = (
        HEAD.replace('["bill"]', '["bill", "JSON"]')
        + f"import typing\nfrom typing import TypeAlias\n{written}\n"
    )
    surface = read(tmp_path, head + BODY.replace("due: date", "due: JSON"))
    assert surface["inputs"][0]["type"] == "JSON"
    assert (
        surface["inputs"][0]["constraints"][-1] == "JSON is a type: None | int | list[JSON] | dict[str, JSON]"
    )


def test_a_module_within_a_package_is_imported_as_it_is_written(tmp_path):
    """Issue 22: `import collections.abc` binds `collections`."""
    source = (
        HEAD + "import collections.abc\n" + BODY.replace("due: date", "due: collections.abc.Sequence[date]")
    )
    assert read(tmp_path, source)["inputs"][0]["type"] == "Sequence[date]"


@pytest.mark.parametrize(
    "extra",
    [
        "",
        "from collections import Counter as Bill\n",
        "from ._types import Bill\n",
        "Bill = dict\n",
        FROZEN + "Bill = dict\n",
    ],
)
def test_a_class_that_comes_from_nowhere_allowed_is_refused(tmp_path, extra):
    """D-S8.1-05: classes that the module or a declared dependency exports."""
    assert fault(tmp_path, CLASSY + extra + RETURNS) == "surface.name"


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (HEAD.replace("from datetime import date\n", ""), "surface.name"),
        (HEAD.replace("import date", "import datetime as date"), "surface.name"),
        (
            HEAD.replace(
                "from datetime import date\n",
                "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from datetime import date\n",
            ),
            "surface.name",
        ),
        (HEAD + "str = bytes\n", "surface.name"),
        (HEAD + "def str(x): ...\n", "surface.name"),
        (HEAD + "if True:\n    date = str\n", "surface.name"),
        (HEAD + "__all__ += ['x']\n", "surface.exports"),
        (HEAD + "__all__.append('x')\n", "surface.exports"),
        (HEAD.replace('["bill"]', '["bill", "bill"]'), "surface.exports"),
        (HEAD.replace('["bill"]', '["bill", "date"]'), "surface.exports"),
        (HEAD.replace('["bill"]', '["bill", "helper"]') + "def helper(): ...\n", "surface.exports"),
        (HEAD.replace('["bill"]', "[*()]"), "surface.exports"),
        (HEAD.replace('["bill"]', "[]"), "surface.exports"),
        (HEAD + "from os import *\n", "surface.star_import"),
        (HEAD + "try:\n    pass\nexcept ValueError as bill:\n    pass\n", "surface.entry_point"),
        (HEAD + "import bill\n", "surface.entry_point"),
    ],
)
def test_names_mean_what_they_say_or_are_refused(tmp_path, head, code):
    """D-S8-19: literal exports, types by their own names, one binding of the entry point."""
    assert fault(tmp_path, head + BODY) == code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("due: date, note", "due: date, /, note"),
        ('note: str = "-"', "**note: str"),
        ("due: date", "due"),
        ("-> str", ""),
    ],
)
def test_parameters_are_plain_and_annotated(tmp_path, old, new):
    """D-S8-19: given by place or by name, by name only, or any number of them."""
    assert fault(tmp_path, HEAD + BODY.replace(old, new, 1)) == "surface.parameters"


def test_a_directory_without_an_entry_file_has_no_surface(tmp_path):
    """D-S8-02: it is told, not raised as the gate's own failure."""
    with pytest.raises(SourceError, match="missing"):
        extract_surface(ParsedFiles.of_implementation(tmp_path), "bill")


ROWS = """from dataclasses import dataclass

@dataclass(frozen=True)
class Row:
    {}: int
"""
ROW_BODY = '''
def bill(due: date) -> Row:
    """Write a bill.

    Args:
        due:

    Returns:
        row:
    """
    return Row(1)
'''
ROW_HEAD = HEAD.replace('["bill"]', '["bill", "Row"]') + "from .kinds import Row\n"


def _fields(folder):
    """The statement of the class in the output."""
    (output,) = read(folder, ROW_HEAD + ROW_BODY)["outputs"]
    return output["invariants"][-1]


def test_a_class_is_read_from_the_file_that_python_imports(tmp_path):
    """D-S8-04: a package comes before a file of the same name, so its class is the one that runs."""
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds.py").write_text(ROWS.format("read"), encoding="utf-8")
    (tmp_path / "kinds/__init__.py").write_text(ROWS.format("runs"), encoding="utf-8")
    assert "runs: int" in _fields(tmp_path)
    (tmp_path / "kinds/__init__.py").unlink()
    assert "read: int" in _fields(tmp_path)


def test_a_class_that_is_bound_again_in_its_file_is_no_class_of_the_surface(tmp_path):
    """D-S8-19: the class that runs may be another than the one that is read."""
    (tmp_path / "kinds.py").write_text(ROWS.format("a") + "\nRow = dict\n", encoding="utf-8")
    assert fault(tmp_path, ROW_HEAD + ROW_BODY) == "surface.name"
