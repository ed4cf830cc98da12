"""Twelve faults at the edges of small modules, each with the examples that its author would give, and with a property of its
spec. They were written before the code that tries properties."""

from typing import NamedTuple

from gate_testkit.fuzzing import Planted
from ship_gate.contract.examples_file import Example
from ship_gate.contract.properties import Property

__all__ = ["EDGE_FAULTS", "EdgeFault"]


class EdgeFault(NamedTuple):
    """A module that is wrong at an edge, and one that is not.

    Args:
        inputs: Of its function `f`, each with its type.
        returns: The type of what it returns.
        sound: The body that is right.
        faulty: What of it is replaced, and by what.
        examples: Calls and what they give, by both bodies.
        holds: The expression of the property, whose variables are the inputs.
        errors: That the contract declares and the property allows.
    """

    inputs: dict[str, str]
    returns: str
    sound: str
    faulty: tuple[str, str]
    examples: dict[str, str]
    holds: str
    errors: tuple[str, ...] = ()

    def planted(self, *, is_sound: bool = False) -> Planted:
        """The module in short."""
        assert self.sound.count(self.faulty[0]) == 1
        body = self.sound if is_sound else self.sound.replace(*self.faulty)
        return Planted(
            {f"{name}: {kind}": [] for name, kind in self.inputs.items()}, self.returns, body, self.errors
        )

    def approved_examples(self) -> list[Example]:
        """As the gate runs them."""
        return [Example(call, call, f"{_IMPORTS}\n{call}", gives, 1) for call, gives in self.examples.items()]

    def property(self) -> Property:
        """As the gate tries it."""
        codes = tuple(example.code for example in self.approved_examples())
        code = f"{_IMPORTS}\n{self.holds}"
        return Property("criterion 1", code, self.inputs, self.errors, codes)


_IMPORTS = "from datetime import date\nfrom decimal import Decimal\nfrom modules.f import f"

EDGE_FAULTS = {
    "more people than cents": EdgeFault(
        {"cents": "int", "people": "int"},
        "list[int]",
        """
        if cents < 0 or people < 1:
            raise ValueError("nothing to share")
        if people > 10_000:
            raise ValueError("too many people")
        share, rest = divmod(cents, people)
        return [share + (place < rest) for place in range(people)]
        """,
        (
            "share, rest = divmod(cents, people)",
            "share, rest = divmod(cents, people) if cents >= people else (0, 0)",
        ),
        {"f(100, 3)": "[34, 33, 33]", "f(10, 2)": "[5, 5]", "f(0, 2)": "[0, 0]"},
        "sum(f(cents, people)) == cents",
        errors=("ValueError",),
    ),
    "half a cent": EdgeFault(
        {"amount": "Decimal"},
        "Decimal",
        """
        from decimal import ROUND_HALF_UP
        if abs(amount) > 1_000_000:
            raise ValueError("too large")
        return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
        """,
        ('amount.quantize(Decimal("0.01"), ROUND_HALF_UP)', "Decimal(round(amount * 100)) / 100"),
        {"f(Decimal('1.239'))": "Decimal('1.24')", "f(Decimal('2.5')) == Decimal('2.50')": "True"},
        "f(amount) > amount - Decimal('0.005') or amount < 0",
        errors=("ValueError",),
    ),
    "a slug that ends in a mark": EdgeFault(
        {"title": "str"},
        "str",
        """
        import re
        return re.sub("[^a-z0-9]+", "-", title.lower()).strip("-")
        """,
        ('.strip("-")', '.lstrip("-")'),
        {"f('Hello World')": "'hello-world'", "f('A -- b')": "'a-b'"},
        "not f(title).endswith('-') and f(f(title)) == f(title)",
    ),
    "a span within another": EdgeFault(
        {"spans": "list[tuple[int, int]]"},
        "list[tuple[int, int]]",
        """
        merged = []
        for start, end in sorted(spans):
            if start > end:
                raise ValueError("it ends before it begins")
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged
        """,
        ("max(merged[-1][1], end)", "end"),
        {"f([(1, 3), (2, 5)])": "[(1, 5)]", "f([(4, 6), (1, 2)])": "[(1, 2), (4, 6)]"},
        "all(any(low <= start and end <= high for low, high in f(spans)) for start, end in spans)",
        errors=("ValueError",),
    ),
    "a last page that is full": EdgeFault(
        {"rows": "list[str]", "size": "int"},
        "list[list[str]]",
        """
        if size < 1:
            raise ValueError("no page is so small")
        pages = [rows[at : at + size] for at in range(0, len(rows), size)]
        return pages
        """,
        ("range(0, len(rows), size)", "range(0, len(rows) + (len(rows) > size), size)"),
        {"f(['a', 'b', 'c'], 2)": "[['a', 'b'], ['c']]", "f([], 2)": "[]", "f(['a'], 1)": "[['a']]"},
        "all(f(rows, size)) and sum(f(rows, size), []) == rows",
        errors=("ValueError",),
    ),
    "runs of one letter in two cases": EdgeFault(
        {"text": "str"},
        "list[tuple[str, int]]",
        """
        runs = []
        for letter in text:
            if runs and runs[-1][0] == letter:
                runs[-1] = (letter, runs[-1][1] + 1)
            else:
                runs.append((letter, 1))
        return runs
        """,
        ("runs[-1][0] == letter", "runs[-1][0].lower() == letter.lower()"),
        {"f('aab')": "[('a', 2), ('b', 1)]", "f('')": "[]", "f('Abb')": "[('A', 1), ('b', 2)]"},
        "''.join(letter * often for letter, often in f(text)) == text",
    ),
    "a width that is smaller than the dots": EdgeFault(
        {"text": "str", "width": "int"},
        "str",
        """
        if width < 0:
            raise ValueError("no width")
        if len(text) <= width:
            return text
        return text[: width - 3] + "..." if width > 3 else text[:width]
        """,
        (" if width > 3 else text[:width]", ""),
        {"f('engineering', 6)": "'eng...'", "f('short', 20)": "'short'"},
        "len(f(text, width)) <= width",
        errors=("ValueError",),
    ),
    "a month that ends in December": EdgeFault(
        {"day": "date", "months": "int"},
        "date",
        """
        import calendar
        if not -1200 <= months <= 1200:
            raise ValueError("too far")
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        month += 1
        if not 1 <= year <= 9999:
            raise ValueError("no such year")
        return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
        """,
        (
            "year, month = divmod(day.year * 12 + day.month - 1 + months, 12)",
            "year, month = divmod(day.year * 12 + day.month + months, 12)\n"
            "        year, month = year, (month or 12) - 1",
        ),
        {
            "f(date(2024, 1, 31), 1)": "datetime.date(2024, 2, 29)",
            "f(date(2024, 5, 2), 3)": "datetime.date(2024, 8, 2)",
        },
        "(f(day, months).year - day.year) * 12 + f(day, months).month - day.month == months",
        errors=("ValueError",),
    ),
    "the hundredth percentile": EdgeFault(
        {"values": "list[int]", "percent": "int"},
        "int",
        """
        if not values or not 0 <= percent <= 100:
            raise ValueError("nothing to choose from")
        place = min(len(values) * percent // 100, len(values) - 1)
        return sorted(values)[place]
        """,
        ("min(len(values) * percent // 100, len(values) - 1)", "len(values) * percent // 100 % len(values)"),
        {"f([3, 1, 2], 50)": "2", "f([3, 1, 2], 0)": "1", "f([5], 10)": "5"},
        "percent < 50 or f(values, percent) >= f(values, 50)",
        errors=("ValueError",),
    ),
    "a word that is empty": EdgeFault(
        {"words": "list[str]"},
        "list[str]",
        """
        found = []
        for word in words:
            if word not in found:
                found.append(word)
        return found
        """,
        ("if word not in found:", "if word and word not in found:"),
        {"f(['b', 'a', 'b'])": "['b', 'a']", "f([])": "[]"},
        "set(f(words)) == set(words) and len(f(words)) == len(set(words))",
    ),
    "no seconds at all": EdgeFault(
        {"seconds": "int"},
        "str",
        """
        if not 0 <= seconds <= 10**9:
            raise ValueError("no such span")
        minutes, rest = divmod(seconds, 60)
        parts = [f"{minutes}m"] * bool(minutes) + [f"{rest}s"] * bool(rest or not minutes)
        return " ".join(parts)
        """,
        ("bool(rest or not minutes)", "bool(rest)"),
        {"f(61)": "'1m 1s'", "f(120)": "'2m'", "f(5)": "'5s'"},
        "sum(int(part[:-1]) * {'m': 60, 's': 1}[part[-1]] for part in f(seconds).split(' ')) == seconds",
        errors=("ValueError",),
    ),
    "a stay within a stay": EdgeFault(
        {"first": "tuple[date, date]", "second": "tuple[date, date]"},
        "bool",
        """
        if first[0] >= first[1] or second[0] >= second[1]:
            raise ValueError("it ends before it begins")
        return first[0] < second[1] and second[0] < first[1]
        """,
        (
            "first[0] < second[1] and second[0] < first[1]",
            "first[0] <= second[0] < first[1] or first[0] < second[1] <= first[1]",
        ),
        {
            "f((date(2024, 1, 1), date(2024, 1, 5)), (date(2024, 1, 4), date(2024, 1, 9)))": "True",
            "f((date(2024, 1, 1), date(2024, 1, 5)), (date(2024, 1, 5), date(2024, 1, 9)))": "False",
        },
        "f(first, second) == f(second, first)",
        errors=("ValueError",),
    ),
}
"""By what is wrong."""
