"""Words and documents as values of a contract's types, and values as JSON and lines, in the shell of a product (D45)."""

import datetime as dt
import json
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from jsonschema_rs import validator_for
from pydantic import TypeAdapter, ValidationError

from ship_gate.base.boundary_values import ROWS
from specwright.application.pages import interface_guide
from specwright.domain.interfaces.records import (
    CLOCK_TYPES,
    JSON_FORMS,
    VALUES,
    Interfaces,
    Subcommand,
    function_of_contract,
    function_of_signature,
)
from specwright.domain.interfaces.rules import use_problems
from specwright.wheels.shell.calls import CLOCK
from specwright.wheels.shell.command import print_result
from specwright.wheels.shell.models import Models, given
from specwright.wheels.shell.results import json_text, json_value, lines_of, named_results
from specwright.wheels.shell.scalars import SCALARS, ValueProblem, word_of
from specwright.wheels.shell.types import Types, read_json
from testkit.interfaces.notebook import contract
from testkit.paths import ROOT

TABLE = [row for row in ROWS.values() if row.is_word]


class Mode(Enum):
    """Words are the values of its members."""

    FAST = "fast"
    SLOW = "slow"


class Level(Enum):
    """Words are the names of its members."""

    LOW = 1
    HIGH = 2


@dataclass(frozen=True)
class Item:
    """A record."""

    name: str
    price: Decimal = Decimal(1)
    inner: "Item | None" = None


@dataclass(frozen=True)
class Span:
    """A record that refuses some fields."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"{self.first} lies after {self.last}")


@dataclass(frozen=True)
class Spans:
    """A record of records."""

    spans: list[Span]


CLASSES = {
    "Span": {
        "module": "parts",
        "kind": "frozen dataclass",
        "fields": [["first", "int", True], ["last", "int", True]],
    },
    "Spans": {"module": "parts", "kind": "frozen dataclass", "fields": [["spans", "list[Span]", True]]},
    "Mode": {"module": "parts", "kind": "Enum", "fields": []},
    "Level": {"module": "parts", "kind": "Enum", "fields": []},
    "Item": {
        "module": "parts",
        "kind": "frozen dataclass",
        "fields": [["name", "str", True], ["price", "Decimal", False], ["inner", "Item | None", False]],
    },
    "Row": {"module": "parts", "kind": "TypedDict", "fields": [["n", "int", True]]},
    "Nested": {"module": "parts", "kind": "type", "fields": [["", "int | list[Nested]", True]]},
}


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Types:
    """The types of a package that has these classes."""
    parts = types.ModuleType("wares.parts")
    parts.Span, parts.Spans = Span, Spans  # type: ignore[attr-defined]
    parts.Mode, parts.Level, parts.Item, parts.Row = Mode, Level, Item, dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wares.parts", parts)
    monkeypatch.setitem(sys.modules, "wares", types.ModuleType("wares"))
    return Types("wares", CLASSES)


WORDS: list[tuple[str, str, Any]] = [
    ("str", " a ", " a "),
    ("int", "-12", -12),
    ("int | None", "7", 7),
    ("float", "1.5", 1.5),
    ("Decimal", "1.10", Decimal("1.10")),
    ("bool", "on", True),
    ("datetime", "2026-01-31T12:00:00+01:00", dt.datetime.fromisoformat("2026-01-31T12:00:00+01:00")),
    ("timedelta", "1h30m", dt.timedelta(minutes=90)),
    ("timedelta", "-1.5s", dt.timedelta(seconds=-1.5)),
    ("Fraction", "-2/6", Fraction(-1, 3)),
    ("Mode", "slow", Mode.SLOW),
    ("Level | None", "HIGH", Level.HIGH),
    ("Literal['a', 2, True]", "2", 2),
]


def test_a_word_is_a_value_of_its_type(kinds: Types):
    """Each type that a command line carries (D-45-04)."""
    assert [(kind, word, kinds.from_word(kind, word)) for kind, word, _ in WORDS] == WORDS


def test_the_shell_knows_each_type_that_the_gate_calls_a_word(kinds: Types):
    """D-45-04, D-45-05: the shell's reader, which needs only Python, agrees with the table of types."""
    assert SCALARS.keys() == {one.name for one in TABLE}
    for row in TABLE:
        printed, adapter = json_text({"value": row.plain()}), TypeAdapter(Models(kinds, {}).type_of(row.name))
        assert kinds.from_data(row.name, read_json(printed)) == row.plain()
        assert adapter.validate_python(json.loads(printed)) == row.plain()


def test_a_parameter_that_says_what_it_needs_is_given_an_array_or_an_object(kinds: Types):
    """Issue 22: as words and from a document."""
    assert kinds.from_words("Iterable[int]", ["1", "2"]) == [1, 2]
    assert kinds.from_data("Iterator[int] | None", [1, 2]) == [1, 2]
    assert kinds.from_data("Mapping[str, Sequence[date]]", {"a": ["2026-01-31"]}) == {
        "a": [dt.date(2026, 1, 31)]
    }


def test_a_record_that_refuses_its_fields_is_a_wrong_document(kinds: Types):
    """D-43-07, D-45-05: its words are the class's own, with the place."""
    with pytest.raises(ValueProblem, match=r"spans\[1\]: this is no Span: ValueError: 5 lies after 4"):
        kinds.from_data("Spans", {"spans": [{"first": 1, "last": 2}, {"first": 5, "last": 4}]})


def test_results_of_the_library_are_texts():
    """Issue 22: a fraction, an address, a pattern; a buffer as bytes are."""
    values = [Fraction(1, 3), IPv4Address("192.0.2.1"), re.compile("a+"), bytearray(b"a"), ZoneInfo("UTC")]
    assert json_value(values) == ["1/3", "192.0.2.1", "a+", "YQ==", "UTC"]


def test_an_iterator_is_printed_as_its_items():
    """D-43-05: where it is called, so that an error on the way is the function's."""
    assert named_results(["sums"], iter([1, 2])) == {"sums": [1, 2]}
    with pytest.raises(ZeroDivisionError):
        named_results(["sums"], (1 // one for one in (1, 0)))


def test_a_document_of_a_named_type_is_read(kinds: Types):
    """Issue 22: however deep it is nested."""
    assert kinds.from_data("Nested", [1, [2, []]]) == [1, [2, []]]
    with pytest.raises(ValueProblem, match="expected int"):
        kinds.from_data("Nested", ["a"])


NO_WORDS = [
    ("int", "1_000"), ("int", "١٢x"), ("int", "9" * 5000), ("float", "1,5"), ("Decimal", "x"), ("bool", "maybe"),
    ("date", "20260131"), ("date", "2026-02-30"), ("time", "25:00"), ("timedelta", "5"),
    ("timedelta", "99999999999999d"), ("UUID", "1"), ("ZoneInfo", "Nowhere/Atall"), ("IPv4Address", "192.0.2.256"),
    ("Path", "a\0b"), ("Fraction", "1/0"), ("Fraction", "1e999999999"), ("ZoneInfo", "Europe"), ("ZoneInfo", "../x"),
    ("IPv4Network", "192.0.2.1/24"), ("Mode", "FAST"), ("Literal['a', 2]", "b"),
]  # fmt: skip


def test_any_other_word_is_refused_in_a_sentence(kinds: Types):
    """It never becomes another value, and no other error comes out (D-45-05)."""
    for kind, word in NO_WORDS:
        with pytest.raises(ValueProblem, match=r"is not|is none of"):
            kinds.from_word(kind, word)


DOCUMENTS: list[tuple[str, str, Any]] = [
    ("Item", '{"name": "a", "price": 0.10}', Item("a", Decimal("0.10"))),
    ("Item", '{"name": "a", "inner": {"name": "b", "price": 2}}', Item("a", inner=Item("b", Decimal(2)))),
    ("list[Row]", '[{"n": 1}]', [{"n": 1}]),
    ("dict[date, list[int]]", '{"2026-01-31": [1]}', {dt.date(2026, 1, 31): [1]}),
    ("tuple[int, ...]", "[1, 2]", (1, 2)),
    ("tuple[int, str]", '[1, "a"]', (1, "a")),
    ("frozenset[str]", '["a", "a"]', frozenset("a")),
    ("int | str | None", "null", None),
    ("bytes", '"YQ=="', b"a"),
    ("Literal['a', 1]", "1", 1),
    ("dict", '{"a": 1.5}', {"a": 1.5}),
    ("Level", "2", Level.HIGH),
    ("Level", '"HIGH"', Level.HIGH),
    ("timedelta", "1.5", dt.timedelta(seconds=1.5)),
    ("Sequence[Fraction]", '["1/3"]', [Fraction(1, 3)]),
    ("Mapping[str, IPv4Address]", '{"a": "192.0.2.1"}', {"a": IPv4Address("192.0.2.1")}),
]


def test_a_document_is_a_value_and_comes_back(kinds: Types):
    """Numbers stay exact; what `--json` prints can be read again (D-45-04, D-45-06)."""
    assert [(kind, text, kinds.from_data(kind, read_json(text))) for kind, text, _ in DOCUMENTS] == DOCUMENTS
    for kind, _, value in DOCUMENTS:
        assert kinds.from_data(kind, read_json(json_text({"it": value}))) == value


WRONG_PRICE = '{"name": "a", "inner": {"name": "b", "price": true}}'
NO_DOCUMENTS = [
    ("Item", '{"name": 1}', "name: expected a text, found 1"),
    ("Item", '{"nam": "a"}', "nam: there is no such key; known are name, price, inner"),
    ("Item", "{}", "name: it is missing"),
    ("Item", WRONG_PRICE, "inner.price: expected a number, found True"),
    ("Item", "[]", "the document: expected an object, found []"),
    ("int", "true", "expected a whole number, found True"),
    ("list[int]", "[1, 2.5]", "[1]: expected a whole number"),
    ("tuple[int, str]", "[1]", "expected an array of 2"),
    ("bytes", '"?"', "expected base64"),
    ("dict[int, str]", '{"x": "a"}', "the key 'x' is not int"),
    ("timedelta", "1e400", "expected a span such as"),
    ("Literal['a', 1]", "true", "expected one of 'a', 1"),
    ("int | str", "[]", "expected int | str"),
]


def test_a_wrong_document_is_refused_with_its_place(kinds: Types):
    """The key, what is expected, and what is there; two keys of one name, no JSON (D-45-05, D-45-06, D-45-12)."""
    for kind, text, problem in NO_DOCUMENTS:
        with pytest.raises(ValueProblem, match=re.escape(problem)):
            kinds.from_data(kind, read_json(text))
    too_large = r"^limits\.seconds: expected a number that a float can hold, found 1000"
    with pytest.raises(ValueProblem, match=too_large):
        kinds.from_data("dict[str, float]", {"seconds": 10**400}, "limits")
    for text in ('{"a": 1, "a": 2}', "NaN", "{", "[1,]"):
        with pytest.raises(ValueError, match=r"."):
            read_json(text)


LINES: list[tuple[Any, list[str]]] = [
    (None, []),
    ("a\nb\n", ["a\nb"]),
    (True, ["yes"]),
    (Decimal("1E+3"), ["1000"]),
    (["a", "b\x1b[1m"], ["a", "b\\x1b[1m"]),
    ({"b", "a"}, ["a", "b"]),
    ([("a", 1), ("b", 2)], ["a  1", "b  2"]),
    (Item("a"), ["name: a", "price: 1", "inner: -"]),
    (Item("a", inner=Item("b")), ["name: a", "price: 1", "inner:", "  name: b", "  price: 1", "  inner: -"]),
    ([{"n": 1}, {"n": 20}], ["n", "1", "20"]),
    ([{"n": [1]}], ["- n:", "    1"]),
    ([[], [1]], ["- -", "- 1"]),
    (b"a", ["YQ=="]),
]


def test_results_are_lines():
    """Records, tables, lists; nothing in a line of a table can move a cursor (D-45-04)."""
    assert [(value, list(lines_of(value))) for value, _ in LINES] == LINES


def test_json_has_one_form_of_each_value():
    """Sets are in order, what is not finite is a text (D-45-04)."""
    values = {"x": float("nan"), "s": {3, 1}, "d": dt.timedelta(minutes=1), "p": Path("a"), "m": Mode.FAST}
    assert json_value(values) == {"x": "nan", "s": [1, 3], "d": 60.0, "p": "a", "m": "fast"}


def test_a_type_that_no_document_has_is_told_before():
    """Of the fields of a record as well (D-45-01)."""
    parameters = [{"parameter": "box", "content": "json"}]
    stated = Subcommand.model_validate({"name": "w", "calls": "weigh", "parameters": parameters})

    def told(kind: str) -> list[str]:
        box = ("box", "Box", f"Box is a frozen dataclass: side: {kind}")
        return use_problems(stated, function_of_contract(contract("weigh", "Weigh.", [box], ("sum", "int"))))

    assert told("Odd") == []
    assert told("complex") == [
        "the parameter box of weigh: complex has no form in a document; take a type that JSON has, or a text of it"
    ]


def test_several_single_values_are_named(capsys: pytest.CaptureFixture[str]):
    """D-45-04: as the fields of a record are; one alone needs no name, and lists stand apart."""
    for shows, outputs, printed in (
        ((), {"files": 2, "gone": 0}, "files: 2\ngone: 0\n"),
        (("gone", "files"), {"scan": {"files": 2, "gone": 0, "new": 1}}, "gone: 0\nfiles: 2\n"),
        (("files",), {"files": 2, "gone": 0}, "2\n"),
        (("files", "names"), {"files": 2, "names": ["a", "b"]}, "2\n\na\nb\n"),
        ((), {"files": 2}, "2\n"),
    ):
        print_result({"shows": shows}, outputs, as_json=False)
        assert capsys.readouterr().out == printed


IS: dict[str, Any] = {
    "an object": lambda value, printed: printed == {"name": "tea", "price": "1", "inner": None},
    "an array": lambda value, printed: printed == [1, 2],
    "a sorted array": lambda value, printed: printed == sorted(value),
    "its value if that is a text, else its name": lambda value, printed: printed in ("fast", "LOW"),
    "its ISO text": lambda value, printed: type(value).fromisoformat(printed) == value,
    "its seconds": lambda value, printed: printed == value.total_seconds(),
    "base64": lambda value, printed: printed == "YQ==",
    "a text": lambda value, printed: printed == str(value),
}
"""What a form that roles are told of means."""

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone(dt.timedelta(hours=1)))
OF_FORMS: dict[str, list[Any]] = {
    "a record or a dict": [Item("tea"), {"name": "tea", "price": Decimal(1), "inner": None}],
    "a list, a tuple or an iterator": [[1, 2], (1, 2), iter([1, 2])],
    "a set": [{"b", "a"}, frozenset({"b", "a"})],
    "a member of an Enum": [Mode.FAST, Level.LOW],
    "a date, a datetime or a time": [NOON.date(), NOON, NOON.replace(tzinfo=None), NOON.timetz()],
    "a timedelta": [dt.timedelta(minutes=90)],
    "bytes": [b"a"],
    "a Decimal, a UUID, a Path, NaN, an infinity and the like": [
        *(Decimal("0.10"), UUID(int=1), Path("a/b"), float("nan"), float("inf"), Fraction(2, 3)),
        *(ZoneInfo("Europe/Berlin"), IPv4Address("192.0.2.1")),
    ],
}


@pytest.mark.parametrize(("what", "form"), JSON_FORMS)
def test_what_roles_and_users_are_told_of_json_is_what_is_printed(what: str, form: str):
    """Each form of the table, with values of each kind that it names (D-45-01)."""
    for value in OF_FORMS[what]:
        printed = json.loads(json_text(named_results(["found"], value)))
        assert IS[form](value, printed), (value, printed)
    assert f"{what} is {form}" in VALUES


def test_several_outputs_are_an_object_and_none_is_null(capsys: pytest.CaptureFixture[str]):
    """One is its value (D-45-01)."""
    assert "one output is its value, several are an object with their names, none is null" in VALUES
    for outputs in ({"one": 1}, {"one": 1, "two": [2]}, {}):
        print_result({"shows": []}, outputs, as_json=True)
    assert "".join(capsys.readouterr().out.split()) == '1{"one":1,"two":[2]}null'


def test_what_roles_and_users_are_told_of_the_clock_is_what_is_passed():
    """`now` has the machine's offset, `today` is its date, and a datetime that is written without an offset has none
    (D-45-01)."""
    assert "`now` is a datetime with the machine's offset from UTC, and with microseconds" in VALUES
    assert "`today` is the machine's date" in VALUES
    assert "A datetime that somebody writes without an offset has none." in VALUES
    script = (
        "import datetime as dt\nfrom specwright.wheels.shell.calls import clock_value\n"
        "now, day, here = clock_value('now'), clock_value('today'), dt.datetime.now(dt.UTC) + dt.timedelta(hours=9)\n"
        "print(type(now) is dt.datetime, now.utcoffset(), type(day) is dt.date, abs((day - here.date()).days) < 2)\n"
        "print(any(clock_value('now').microsecond for _ in range(9)))\n"
        "print(abs(now - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=5))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"TZ": "Somewhere-9"}
    )
    assert ran.stdout.split("\n") == ["True 9:00:00 True True", "True", "True", ""]
    assert word_of("datetime", "2026-01-31T12:00").tzinfo is None
    assert set(CLOCK_TYPES) == set(CLOCK)


def test_the_page_and_the_documents_say_it_too():
    """Whoever approves, and whoever installs, reads what is passed and printed (D-45-01)."""
    command = {"name": "hours", "calls": "start", "parameters": [{"parameter": "at", "default": "now"}]}
    interfaces = Interfaces.model_validate({"command": command})
    functions = {"start": function_of_signature("start(at: datetime) -> str")}
    assert interface_guide(interfaces, functions, "hours").endswith(f"\n\n{VALUES}\n")
    page = (ROOT / "docs" / "interfaces.md").read_text(encoding="utf-8")
    assert VALUES in " ".join(page.split())


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("int | None", [1, None], ["x", 1.5]),
        ("Sequence[Fraction]", [["1/3"]], [["x"], 1]),
        ("Mapping[str, int]", [{"a": 1}], [{"a": "x"}]),
        ("Decimal", [1, 1.5, "1.50"], [True, None]),
        ("Literal['a', 2]", ["a", 2], ["b"]),
        ("tuple[int, str]", [[1, "a"]], [[1], [1, "a", 2]]),
        ("tuple[int, ...]", [[], [1, 2]], [["a"]]),
        ("dict[str, list[date]]", [{"a": ["2026-01-31"]}], [{"a": "b"}, []]),
        ("Item", [{"name": "a", "inner": {"name": "b"}}], [{"inner": None}, {"name": "a", "more": 1}]),
        ("Spans", [{"spans": [{"first": 1, "last": 2}]}], [{"spans": [{"first": 2, "last": 1}]}]),
        ("Row", [{"n": 1}], [{}]),
        ("Level", [1, "LOW"], [3, "low"]),
        ("Mode | None", ["fast", None], ["FAST"]),
        ("Nested", [1, [2, []]], ["a", [1, ["a"]]]),
        ("dict", [{}, {"a": [1]}], [[]]),
        ("timedelta", [60, 1.5, "1h30m", "90"], ["x", []]),
        ("bytes", ["YQ=="], ["?"]),
        ("frozenset[UUID]", [["12345678-1234-5678-1234-567812345678"]], [["1"]]),
        ("list[datetime | ZoneInfo]", [["2026-01-31T12:00:00+01:00", "Europe/Berlin"]], [["x"]]),
        ("Iterable[IPv4Address]", [["192.0.2.1"]], [["x"]]),
    ],
)
def test_a_server_takes_what_the_shell_prints_and_its_schema_says_so(
    kinds: Types, kind: str, good: list[Any], bad: list[Any]
):
    """Of every type; a class and a named type may name themselves (D-45-12, D-45-11)."""
    model = Models(kinds, CLASSES).object_of("call", [("copy", kind, True, "")])
    schema = validator_for(model.model_json_schema())

    for one in good:
        value = given(model.model_validate({"copy": one}))
        assert schema.is_valid({"copy": one})
        assert given(model.model_validate({"copy": json_value(value["copy"])})) == value
    for one in bad:
        with pytest.raises(ValidationError):
            model.model_validate({"copy": one})
