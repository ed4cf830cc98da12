"""Ten products whose modules are right by themselves and wrong together: what one gives is not what the other takes."""

import json
import textwrap
from typing import Any, NamedTuple

from ship_gate.contract.contract import ErrorSurface, Input, MicroModuleContract, Modes, Output
from ship_gate.verdict import Candidate
from specwright.domain.acceptance.calls import examples_of_product, properties_of_product
from specwright.domain.acceptance.records import TaskAcceptance, name_of
from specwright.ports import ApprovedExample, ApprovedProperty, ProductModule, ProductPackage

__all__ = ["WRONG_TOGETHER", "Together"]

_HEAD = "from datetime import date, timedelta\n\n"


class Part(NamedTuple):
    """A module in short.

    Args:
        signature: `name(input: type) -> type`.
        purpose: What it is for, as its contract says it.
        body: Of its function.
        gives: Calls, and what they give.
        when: The contract says that it raises ValueError.
        refuses: Calls that do.
    """

    signature: str
    purpose: str
    body: str
    gives: dict[str, str]
    when: str = ""
    refuses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Of the module and of its function."""
        return name_of(self.signature)

    def contract(self) -> MicroModuleContract:
        """Its own."""
        given, _, returns = self.signature.removeprefix(f"{self.name}(").partition(") -> ")
        pairs = [one.partition(": ") for one in given.split("; ")]
        surfaces = (
            [ErrorSurface(name="ValueError", when=self.when, surface="exception")] if self.refuses else []
        )
        return MicroModuleContract(
            module_id=f"MM-{sum(self.name.encode()):08x}",
            name=self.name,
            purpose=self.purpose,
            inputs=[Input(name=name, type=kind, constraints=[]) for name, _, kind in pairs],
            outputs=[Output(name="result", type=returns, invariants=[])],
            error_surfaces=surfaces,
            effects=[],
            modes=Modes(sync=True, async_=False),
        )

    def files(self) -> dict[str, bytes]:
        """As its Proposer would hand them in."""
        given, _, returns = self.signature.removeprefix(f"{self.name}(").partition(") -> ")
        body = textwrap.indent(textwrap.dedent(self.body).strip(), "    ")
        source = f'{_HEAD}__all__ = ["{self.name}"]\n\n\ndef {self.name}({given.replace(";", ",")}) -> {returns}:\n{body}\n'
        tests, examples, claims = (
            f"{_HEAD}import pytest\nfrom modules.{self.name} import {self.name}\n",
            "",
            {},
        )
        for number, (call, result) in enumerate(self.gives.items()):
            tests += f"\n\ndef test_{number}():\n    assert {call} == {result}\n"
            claims[f"test_{number}"] = [""]
        call, result = next(iter(self.gives.items()))
        examples = self.example("What it gives", f"repr({call}) == repr({result})", "True")
        for number, call in enumerate(self.refuses):
            tests += (
                f"\n\ndef test_refused_{number}():\n    with pytest.raises(ValueError):\n        {call}\n"
            )
            claims[f"test_refused_{number}"] = ["/error_surfaces/0"]
        if self.refuses:
            examples += self.example("What it refuses", self.refuses[0], "ValueError:")
        files = {
            "implementation/__init__.py": source,
            "tests/test_it.py": tests,
            "tests/obligations.json": json.dumps(claims),
            "examples.md": examples,
        }
        return {path: text.encode() for path, text in files.items()}

    def example(self, heading: str, code: str, gives: str) -> str:
        """As `examples.md` has it."""
        code = f"{_HEAD}from modules.{self.name} import {self.name}\n\n{code}"
        return f"## {heading}\n\nIt is shown.\n\n```python\n{code}\n```\n\n```text\n{gives}\n```\n\n"

    def candidate(self) -> Candidate:
        """For the gate."""
        return Candidate(self.contract(), self.files())


class Together(NamedTuple):
    """A product of two modules, each of a task of its own.

    Args:
        first: A module.
        second: That takes what the first one gives.
        criterion: Of the second one's task, that both break.
        shown: By this code.
        gives: Of an example; empty for a property.
        variables: Of a property.
        mended: The body that the second one ought to have.
    """

    first: Part
    second: Part
    criterion: str
    shown: str
    gives: str
    mended: str
    variables: dict[str, str] | None = None

    @property
    def acceptance(self) -> TaskAcceptance:
        """Of the second task."""
        names = f"{self.first.name}, {self.second.name}"
        item: dict[str, Any] = {
            "title": "Together",
            "criteria": [2],
            "success_criteria": [1],
            "code": f"{_HEAD}from together import {names}\n\n{self.shown}",
        }
        kind = {"properties": [{**item, "variables": self.variables, "errors": ["ValueError"]}]}
        if self.variables is None:
            kind = {"examples": [{**item, "gives": self.gives}]}
        provides = [one.signature.replace(";", ",") for one in (self.first, self.second)]
        return TaskAcceptance.model_validate({"provides": provides, **kind})

    @property
    def criteria(self) -> list[str]:
        """Of the second task."""
        return [self.second.purpose, self.criterion]

    def product(self, *, is_mended: bool = False) -> ProductPackage:
        """What is released."""
        second = self.second._replace(body=self.mended) if is_mended else self.second
        names = self.first.name, second.name
        return ProductPackage(
            "together",
            "together",
            "1.0.0",
            "Two modules.",
            tuple(_module(one, is_mended=one.body == self.mended) for one in (self.first, second)),
            names,
            approved=tuple(
                ApprovedExample("TSK-002", one) for one in examples_of_product(self.acceptance, names)
            ),
            properties=tuple(
                ApprovedProperty("TSK-002", one)
                for one in properties_of_product(self.acceptance, self.criteria, names)
            ),
        )


def _module(one: Part, *, is_mended: bool) -> ProductModule:
    files = {
        path.removeprefix("implementation/"): data
        for path, data in one.files().items()
        if path.startswith("implementation/")
    }
    examples = one.files()["examples.md"].decode()
    if is_mended:  # the examples are those of the wrong one
        examples = one.example("What it is", f"callable({one.name})", "True")
    return ProductModule(one.contract(), files, examples)


WRONG_TOGETHER = {
    "seconds and milliseconds": Together(
        Part(
            "span_of(text: str) -> int",
            "The seconds of a span such as '90s' or '2m'.",
            """
            number, unit = text[:-1], text[-1:]
            if not (number.isascii() and number.isdigit() and len(number) < 10) or unit not in ("s", "m"):
                raise ValueError("no span")
            return int(number) * (60 if unit == "m" else 1)
            """,
            {"span_of('90s')": "90", "span_of('2m')": "120", "span_of('123456789s')": "123456789"},
            "the text is no span",
            ("span_of('2h')", "span_of('1234567890s')", "span_of('s')"),
        ),
        Part(
            "clock(span: int) -> str",
            "A span of milliseconds as minutes and seconds, such as '1:30'.",
            """
            if span < 0:
                raise ValueError("before the beginning")
            seconds = span // 1000
            return f"{seconds // 60}:{seconds % 60:02}"
            """,
            {
                "clock(90000)": "'1:30'",
                "clock(5999)": "'0:05'",
                "clock(0)": "'0:00'",
                "clock(600000)": "'10:00'",
            },
            "the span is negative",
            ("clock(-1)",),
        ),
        "The clock of a span that was read shows its minutes and seconds.",
        "clock(span_of('90s'))",
        "'1:30'",
        'return f"{span // 60}:{span % 60:02}"',
    ),
    "cents and whole units": Together(
        Part(
            "price_of(text: str) -> int",
            "The cents of a price such as '12.50'.",
            """
            whole, _, cents = text.partition(".")
            if not (whole.isascii() and whole.isdigit() and len(whole) < 10):
                raise ValueError("no whole units")
            if not (cents.isascii() and cents.isdigit() and len(cents) == 2):
                raise ValueError("no cents")
            return int(whole) * 100 + int(cents)
            """,
            {"price_of('12.50')": "1250", "price_of('123456789.05')": "12345678905", "price_of('0.00')": "0"},
            "the text is no price",
            ("price_of('1.5')", "price_of('x.00')", "price_of('1234567890.00')", "price_of('1.xx')"),
        ),
        Part(
            "tag(price: int) -> str",
            "The label of a price in whole units.",
            """
            return f"EUR {price}.00"
            """,
            {"tag(12)": "'EUR 12.00'", "tag(0)": "'EUR 0.00'"},
        ),
        "The label of a price that was read shows units and cents.",
        "tag(price_of('12.50'))",
        "'EUR 12.50'",
        'return f"EUR {price // 100}.{price % 100:02}"',
    ),
    "the best comes last": Together(
        Part(
            "ranked(scores: dict[str, int]) -> list[str]",
            "The names by their scores, the lowest first; equal ones by name.",
            """
            return sorted(scores, key=lambda name: (scores[name], name))
            """,
            {"ranked({'b': 2, 'a': 3, 'c': 1})": "['c', 'b', 'a']", "ranked({'b': 1, 'a': 1})": "['a', 'b']"},
        ),
        Part(
            "podium(names: list[str]) -> list[str]",
            "The first three of names that are ordered from the best on.",
            """
            return names[:3]
            """,
            {"podium(['a', 'b', 'c', 'd'])": "['a', 'b', 'c']", "podium(['a'])": "['a']"},
        ),
        "On the podium of ranked scores stand the three best, the winner first.",
        "podium(ranked({'a': 1, 'b': 2, 'c': 3, 'd': 4}))",
        "['d', 'c', 'b']",
        "return names[::-1][:3]",
    ),
    "rounded twice": Together(
        Part(
            "net(gross: int) -> int",
            "What is left of a gross amount of cents without its tax of 25 percent, half a cent rounded up.",
            """
            if not 0 <= gross <= 1000000:
                raise ValueError("no amount")
            return (8 * gross + 5) // 10
            """,
            {
                "net(125)": "100",
                "net(0)": "0",
                "net(1)": "1",
                "net(2)": "2",
                "net(3)": "2",
                "net(1000000)": "800000",
            },
            "the amount is negative or too large",
            ("net(-1)", "net(1000001)"),
        ),
        Part(
            "tax(gross: int) -> int",
            "The tax of 25 percent within a gross amount of cents, any part of a cent rounded up.",
            """
            if not 0 <= gross <= 1000000:
                raise ValueError("no amount")
            return (2 * gross + 9) // 10
            """,
            {
                "tax(125)": "25",
                "tax(0)": "0",
                "tax(1)": "1",
                "tax(5)": "1",
                "tax(6)": "2",
                "tax(1000000)": "200000",
            },
            "the amount is negative or too large",
            ("tax(-1)", "tax(1000001)"),
        ),
        "Net amount and tax add up to the gross amount.",
        "net(gross) + tax(gross) == gross",
        "",
        """
        if not 0 <= gross <= 1000000:
            raise ValueError("no amount")
        return gross - (8 * gross + 5) // 10
        """,
        {"gross": "int"},
    ),
    "a record in another order": Together(
        Part(
            "point_of(text: str) -> tuple[int, int]",
            "Latitude and longitude of a text such as '52N 13E'.",
            """
            north, _, east = text.partition(" ")
            if not (north[:-1] + east[:-1]).isascii() or north[-1:] + east[-1:] != "NE":
                raise ValueError("no point")
            if not (north[:-1].isdigit() and east[:-1].isdigit() and len(text) < 10):
                raise ValueError("no degrees")
            return int(north[:-1]), int(east[:-1])
            """,
            {
                "point_of('52N 13E')": "(52, 13)",
                "point_of('1N 2E')": "(1, 2)",
                "point_of('123N 567E')": "(123, 567)",
            },
            "the text is no point",
            ("point_of('52S 13E')", "point_of('xN 1E')", "point_of('1N xE')", "point_of('1234N 567E')"),
        ),
        Part(
            "label_of(point: tuple[int, int]) -> str",
            "The label of a point of longitude and latitude, the latitude first.",
            """
            return f"lat {point[1]}, lon {point[0]}"
            """,
            {"label_of((13, 52))": "'lat 52, lon 13'"},
        ),
        "The label of a point that was read shows its latitude and its longitude.",
        "label_of(point_of('52N 13E'))",
        "'lat 52, lon 13'",
        'return f"lat {point[0]}, lon {point[1]}"',
    ),
    "an error that nobody sees": Together(
        Part(
            "amounts_of(text: str) -> list[int]",
            "The whole numbers of a text, with blanks between; of any other text none at all.",
            """
            words = text.split(" ")
            if all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
                return [int(word) for word in words]
            return []
            """,
            {
                "amounts_of('1 22')": "[1, 22]",
                "amounts_of('1 x')": "[]",
                "amounts_of('123456789')": "[123456789]",
                "amounts_of('1234567890')": "[]",
                "amounts_of('²')": "[]",
            },
        ),
        Part(
            "sum_of(amounts: list[int]) -> int",
            "The sum of amounts.",
            """
            return sum(amounts)
            """,
            {"sum_of([1, 22])": "23", "sum_of([])": "0"},
        ),
        "The sum of a text that holds something else is refused with ValueError.",
        "sum_of(amounts_of('1 x'))",
        "ValueError:",
        """
        if not amounts:
            raise ValueError("no amounts")
        return sum(amounts)
        """,
    ),
    "counted from 0 and from 1": Together(
        Part(
            "place_of(words: list[str]; word: str) -> int",
            "Where a word stands among words, counted from 0, or -1.",
            """
            return words.index(word) if word in words else -1
            """,
            {
                "place_of(['a', 'b'], 'b')": "1",
                "place_of(['a', 'a'], 'a')": "0",
                "place_of(['a'], 'b')": "-1",
            },
        ),
        Part(
            "word_at(words: list[str]; place: int) -> str",
            "The word at a place, counted from 1.",
            """
            if not 1 <= place <= len(words):
                raise ValueError("no such place")
            return words[place - 1]
            """,
            {"word_at(['a', 'b'], 2)": "'b'", "word_at(['a', 'b'], 1)": "'a'"},
            "there is no such place",
            ("word_at(['a'], 2)", "word_at(['a'], 0)"),
        ),
        "At the place of a word stands that word.",
        "word not in words or word_at(words, place_of(words, word)) == word",
        "",
        """
        if not 0 <= place < len(words):
            raise ValueError("no such place")
        return words[place]
        """,
        {"words": "list[str]", "word": "str"},
    ),
    "with its last day and without": Together(
        Part(
            "week_of(day: date) -> tuple[date, date]",
            "The Monday and the Sunday of the week of a day.",
            """
            if not 2 <= day.year <= 9998:
                raise ValueError("too far")
            monday = day - timedelta(days=day.weekday())
            return monday, monday + timedelta(days=6)
            """,
            {
                "week_of(date(2024, 5, 15))": "(date(2024, 5, 13), date(2024, 5, 19))",
                "week_of(date(2024, 5, 13))": "(date(2024, 5, 13), date(2024, 5, 19))",
                "week_of(date(2, 1, 1))": "(date(1, 12, 31), date(2, 1, 6))",
                "week_of(date(9998, 12, 31))": "(date(9998, 12, 28), date(9999, 1, 3))",
            },
            "the day is too far away",
            ("week_of(date(1, 12, 31))", "week_of(date(9999, 1, 1))"),
        ),
        Part(
            "days_in(span: tuple[date, date]) -> int",
            "How many days a span has, without the day of its end.",
            """
            return (span[1] - span[0]).days
            """,
            {
                "days_in((date(2024, 1, 1), date(2024, 1, 8)))": "7",
                "days_in((date(2024, 1, 1), date(2024, 1, 1)))": "0",
            },
        ),
        "The week of any day has seven days.",
        "days_in(week_of(day)) == 7",
        "",
        "return (span[1] - span[0]).days + 1",
        {"day": "date"},
    ),
    "keys in lower case": Together(
        Part(
            "counts_of(words: list[str]) -> dict[str, int]",
            "How often each word comes, whatever its case; the keys are in lower case.",
            """
            counts: dict[str, int] = {}
            for word in words:
                counts[word.lower()] = counts.get(word.lower(), 0) + 1
            return counts
            """,
            {"counts_of(['Ada', 'ada', 'B'])": "{'ada': 2, 'b': 1}", "counts_of([])": "{}"},
        ),
        Part(
            "count_in(counts: dict[str, int]; word: str) -> int",
            "What is counted under a word, 0 if it is not there.",
            """
            return counts.get(word, 0)
            """,
            {"count_in({'a': 2}, 'a')": "2", "count_in({}, 'a')": "0"},
        ),
        "A counted word is found as it was written.",
        "count_in(counts_of(['Ada', 'ada']), 'Ada')",
        "2",
        "return counts.get(word.lower(), 0)",
    ),
    "two ways to escape": Together(
        Part(
            "joined(fields: list[str]) -> str",
            "Fields with commas between; a comma or a tilde within one has a tilde before it.",
            """
            return ",".join(field.replace("~", "~~").replace(",", "~,") for field in fields)
            """,
            {"joined(['a', 'b'])": "'a,b'", "joined(['a,b', 'c'])": "'a~,b,c'", "joined(['~'])": "'~~'"},
        ),
        Part(
            "fields_of(line: str) -> list[str]",
            "The fields of a line with commas between; within quotes a comma is part of a field.",
            """
            parts = line.split('"')
            for place in range(0, len(parts), 2):
                parts[place] = parts[place].replace(",", "\\n")
            return "".join(parts).split("\\n")
            """,
            {
                "fields_of('a,b')": "['a', 'b']",
                "fields_of('\"a,b\",c')": "['a,b', 'c']",
                "fields_of('')": "['']",
            },
        ),
        "The fields of joined fields are those that were joined, at least one.",
        "not fields or fields_of(joined(fields)) == fields",
        "",
        """
        found, escaped = [""], False
        for letter in line:
            if escaped or letter not in "~,":
                found[-1] += letter
                escaped = False
            elif letter == ",":
                found.append("")
            else:
                escaped = True
        return found
        """,
        {"fields": "list[str]"},
    ),
}
"""By what is wrong."""
