"""What of a module is its surface, and when there is none to compare."""

import pytest

from gate_testkit.judging import sealed
from ship_gate.contract.contract import ErrorSurface
from ship_gate.contract.docstring import render_stub
from ship_gate.public_surface import compare_surface, extract_surface
from ship_gate.source.files import ParsedFiles, SourceError

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


def test_what_stands_beside_the_surface_does_not_disturb_the_reading(tmp_path):
    """D-S8-19, D-21-03: local names, comprehensions and parameters are no rebinding of the module's names; siblings and
    files beside it are imported relatively."""
    bound = BODY.replace("return note", "bill = [date for date in note]\n    str = 1\n    return note")
    imported = HEAD + "from ..other import other\nfrom . import _a\nfrom ._b import c\n" + BODY
    assert read(tmp_path, HEAD + bound) == read(tmp_path, imported) == read(tmp_path, HEAD + BODY)


ODD_PROSE = {
    "    Modes:\n        none": ["    Example:\n        none", "    Modes:\n        none\n\n    Modes:\n        again",
                                "    Modes:\n        none\n\n    And more prose."],
    "Write a bill.": ["Write a bill.\n\n    At length."],
    "- in the future": ["in the future"],
    "- one line": ["one line"],
    "- E_OLD [variant]: due": ["- E_OLD: due"],
    "- CALL `the clock`: reads": ["- CALL the clock: reads"],
    "        note:\n": ["        note:\n        note:\n"],
}  # fmt: skip


def test_prose_out_of_the_grammar_is_refused_rather_than_dropped(tmp_path):
    """D-S8.1-01: a line that nobody reads would be a difference that nobody sees; the docstring carries the contract."""
    for old, new in ((old, new) for old, others in ODD_PROSE.items() for new in others):
        assert old in BODY
        assert fault(tmp_path, HEAD + BODY.replace(old, new)) == "surface.docstring", new
    assert fault(tmp_path, HEAD + "def bill(due: date) -> str:\n    return ''\n") == "surface.docstring"


TWIN = "\nasync def bill_async" + BODY.split("def bill", 1)[1]
PAIR = HEAD.replace('["bill"]', '["bill", "bill_async"]')


def test_twins_that_agree_are_one_surface_in_two_modes(tmp_path):
    """D-S8-19, D-S8.1-03: both are read, `f` is called and `f_async` is awaited; those that differ are refused."""
    assert read(tmp_path, PAIR + BODY + TWIN)["modes"] == {"sync": True, "async": True, "notes": "none"}
    for body, twin in (
        (BODY, TWIN.replace("note: str", "note: bytes")),
        (BODY, TWIN.replace('= "-"', '= "+"')),
        (BODY, TWIN.replace("-> str", "-> bytes")),
        (BODY, TWIN.replace("due is past", "due is near")),
        (BODY, TWIN.replace("async def", "def")),
        (BODY.replace("def bill", "async def bill"), TWIN),
    ):
        assert fault(tmp_path, PAIR + body + twin) == "surface.twins", twin


CLASSY = HEAD.replace('["bill"]', '["bill", "Bill"]')
RETURNS = BODY.replace("-> str", "-> Bill")
BILL = "class Bill:\n    total: int\n    note: str = ''\n"
FROZEN = "from dataclasses import dataclass\n@dataclass(frozen=True)\n" + BILL
STATEMENT = "Bill is a frozen dataclass: total: int, note: str = ''"


def test_a_class_of_the_module_is_read_with_its_fields(tmp_path):
    """D-S8-22: wherever in the module it is defined; a dependency's class belongs to the dependency's surface."""
    here = read(tmp_path, CLASSY + FROZEN + RETURNS)
    assert here["outputs"][0]["invariants"] == ["one line", STATEMENT]
    beside = read(tmp_path, CLASSY + "from ._types import Bill\n" + RETURNS, _types=FROZEN)
    assert beside == here
    sibling = read(tmp_path, CLASSY + "from ..open_bill import Bill\n" + RETURNS)
    assert sibling["outputs"] == [{"name": "text", "type": "Bill", "invariants": ["one line"]}]


NO_FIELDS_ONLY = [
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
]


def test_a_class_that_is_not_field_only_is_refused(tmp_path):
    """D-S8-22: frozen dataclasses, TypedDicts and Enums, with fields of the boundary's types."""
    found = {definition: fault(tmp_path, CLASSY + definition + RETURNS) for definition in NO_FIELDS_ONLY}
    assert {definition: code for definition, code in found.items() if code != "surface.class"} == {}


def test_an_error_derives_from_what_its_contract_says(tmp_path):
    """Issue 22: its class or one of its bases, in the module's files."""
    when = "DebtError is a ValueError: the bill is not paid"
    error = ErrorSurface(name="DebtError", when=when, surface="exception")
    contract = sealed("shorten").contract.model_copy(update={"error_surfaces": [error]})
    stub, codes = render_stub(contract), {}
    for bases in ("ValueError", "UnicodeError", "_Base", "Exception", "LookupError", "KeyError, OSError"):
        own = f"class _Base(ValueError):\n    pass\n\n\nclass DebtError({bases}):"
        source = stub.replace("class DebtError(ValueError):", own)
        (tmp_path / "__init__.py").write_text(source, encoding="utf-8")
        compared = compare_surface(ParsedFiles.of_implementation(tmp_path), contract)
        codes[bases] = [finding.code for finding in compared.findings]
    assert [*codes.values()] == [[]] * 3 + [["surface.class"]] * 3


def test_a_named_type_is_read_as_it_stands_for(tmp_path):
    """D-43-03: a `TypeAlias` with its own name in quotes, in whatever form of everyday Python."""
    for written in (
        "JSON: TypeAlias = None | int | list['JSON'] | dict[str, 'JSON']",
        "JSON: TypeAlias = 'None | int | list[JSON] | dict[str, JSON]'",
        "JSON: typing.TypeAlias = typing.Union[None, int, typing.List['JSON'], 'dict[str, JSON]']",
    ):
        head = HEAD.replace('["bill"]', '["bill", "JSON"]') + "import typing\nfrom typing import TypeAlias\n"
        (due, _) = read(tmp_path, f"{head}{written}\n" + BODY.replace("due: date", "due: JSON"))["inputs"]
        stated = "JSON is a type: None | int | list[JSON] | dict[str, JSON]"
        assert (due["type"], due["constraints"][-1]) == ("JSON", stated)


def test_a_module_within_a_package_is_imported_as_it_is_written(tmp_path):
    """Issue 22: `import collections.abc` binds `collections`."""
    source = (
        HEAD + "import collections.abc\n" + BODY.replace("due: date", "due: collections.abc.Sequence[date]")
    )
    assert read(tmp_path, source)["inputs"][0]["type"] == "Sequence[date]"


def test_a_class_that_comes_from_nowhere_allowed_is_refused(tmp_path):
    """D-S8.1-05: classes that the module or a declared dependency exports."""
    counter = "from collections import Counter as Bill\n"
    for extra in ("", counter, "from ._types import Bill\n", "Bill = dict\n", FROZEN + "Bill = dict\n"):
        assert fault(tmp_path, CLASSY + extra + RETURNS) == "surface.name", extra


TYPING = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from datetime import date\n"
HELPER = HEAD.replace('["bill"]', '["bill", "helper"]') + "def helper(): ...\n"
HEADS = {
    "surface.name": [
        HEAD.replace("from datetime import date\n", ""),
        HEAD.replace("import date", "import datetime as date"),
        HEAD.replace("from datetime import date\n", TYPING),
        HEAD + "str = bytes\n",
        HEAD + "def str(x): ...\n",
        HEAD + "if True:\n    date = str\n",
    ],
    "surface.exports": [
        HEAD + "__all__ += ['x']\n",
        HEAD + "__all__.append('x')\n",
        HEAD.replace('["bill"]', '["bill", "bill"]'),
        HEAD.replace('["bill"]', '["bill", "date"]'),
        HELPER,
        HEAD.replace('["bill"]', "[*()]"),
        HEAD.replace('["bill"]', "[]"),
    ],
    "surface.star_import": [HEAD + "from os import *\n"],
    "surface.entry_point": [
        HEAD + "try:\n    pass\nexcept ValueError as bill:\n    pass\n",
        HEAD + "import bill\n",
    ],
}


def test_names_mean_what_they_say_or_are_refused(tmp_path):
    """D-S8-19: literal exports, types by their own names, one binding of the entry point."""
    found = {code: [fault(tmp_path, head + BODY) for head in heads] for code, heads in HEADS.items()}
    assert found == {code: [code] * len(heads) for code, heads in HEADS.items()}


def test_parameters_are_plain_and_annotated(tmp_path):
    """D-S8-19: given by place or by name, by name only, or any number of them."""
    for old, new in (
        ("due: date, note", "due: date, /, note"),
        ('note: str = "-"', "**note: str"),
        ("due: date", "due"),
        ("-> str", ""),
    ):
        assert fault(tmp_path, HEAD + BODY.replace(old, new, 1)) == "surface.parameters", new


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
    """D-S8-04, D-S8-19: a package comes before a file of the same name, so its class is the one that runs; one that is bound
    again in its file may be another than the one that is read."""
    (tmp_path / "kinds").mkdir()
    (tmp_path / "kinds.py").write_text(ROWS.format("read"), encoding="utf-8")
    (tmp_path / "kinds/__init__.py").write_text(ROWS.format("runs"), encoding="utf-8")
    assert "runs: int" in _fields(tmp_path)
    (tmp_path / "kinds/__init__.py").unlink()
    assert "read: int" in _fields(tmp_path)
    (tmp_path / "kinds.py").write_text(ROWS.format("a") + "\nRow = dict\n", encoding="utf-8")
    assert fault(tmp_path, ROW_HEAD + ROW_BODY) == "surface.name"
