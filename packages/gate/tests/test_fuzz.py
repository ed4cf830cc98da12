"""The contract fuzz finds what no contract allows, and leaves sound modules alone."""

from pathlib import Path
from typing import Any

import pytest

from gate_testkit.corpus_reading import sound, sound_names
from gate_testkit.fuzzing import Planted, fuzzed
from gate_testkit.judging import candidate, judge
from ship_gate.fuzz.check import FuzzBounds, examine_contract
from ship_gate.sandbox.staging import stage
from testkit.sampling import spread

QUICK = FuzzBounds(call_seconds=0.4)

ALWAYS = 3
"""How many of the planted faults, and of the sound modules, are tried in every run of the tests."""


_SEQUENCE = "from collections.abc import Sequence\n"
_ADDRESS = "from ipaddress import IPv4Address\n"


def _some_slow(cases: Any):
    """The names of cases: a few are fast, one in nine of the others is slow."""
    return spread(cases, fast=len(cases) // ALWAYS + 1, slow=9)


FAULTS = {
    "a result that does not cross": (
        Planted({"size: int": []}, "int", "return (n for n in [size]) if size > 100 else size"),
        "a value of type builtins.generator",
    ),
    "a tuple where a sequence is taken": (
        Planted({"parts: Sequence[int]": []}, "list[int]", "return parts + [0]", before=_SEQUENCE),
        "raises TypeError",
    ),
    "more than two of any number": (
        Planted(
            {
                "sep: str": [],
                "parts: str": ["any number of arguments"],
                "deep: bool": ["passed by keyword only"],
            },
            "str",
            "if len(parts) > 2 and deep:\n    return None\nreturn sep.join(parts)",
        ),
        "result is None",
    ),
    "a list within a list": (
        Planted(
            {"nested: Nested": ["Nested is a type: int | list[Nested]"]},
            "int",
            "return sum(nested) if isinstance(nested, list) else nested",
            before="from typing import TypeAlias\nNested: TypeAlias = int | list['Nested']\n",
        ),
        "raises TypeError",
    ),
    "a number of a span": (
        Planted(
            {"span: Span": ["Span is a NamedTuple: start: int, end: int"]},
            "float",
            "return 1 / (span.end - 100)",
            before="from typing import NamedTuple\nclass Span(NamedTuple):\n    start: int\n    end: int\n",
        ),
        "end=100)) raises ZeroDivisionError",
    ),
    "one address of its own kind": (
        Planted({"where: IPv4Address": []}, "bool", "return 1 // int(where) == 0", before=_ADDRESS),
        "f(IPv4Address('0.0.0.0')) raises ZeroDivisionError",
    ),
    "one number out of a hundred": (
        Planted({"size: int": ["between 1 and 100"]}, "int", "if size == 77:\n    return 'x'\nreturn size"),
        "f(77) returns a value of another type",
    ),
    "more words than any test has": (
        Planted(
            {"full: str": []},
            "str",
            "words = full.split()\nreturn None if len(words) > 6 and len(set(words)) == 2 else ' '.join(words)",
            tests="def test_a():\n    assert f('Ada Lovelace') == 'Ada Lovelace'\n",
        ),
        "result is None",
    ),
    "a word of another test": (
        Planted(
            {"line: str": []},
            "dict[str, str]",
            "words = line.split('=')\nif words[:2] == ['host', 'off']:\n    return None\nreturn {}",
            tests="def test_a():\n    assert f('host=local') == {}\n    assert f('debug=off') == {}\n",
        ),
        "f('host=off') returns a value of another type",
    ),
    "a call within a call for each character": (
        Planted(
            {"words: list[str]": []},
            "int",
            "def last(text, of):\n    return last(text, of - 1) if of > len(text) - 1000 > 0 else of\n"
            "return sum(last(word, len(word)) for word in words if set(word) == {'#'})",
            raises=("TypeError",),
            tests="def test_a():\n    assert f(['#.#', '..#']) == 0\n",
        ),
        "]) raises RecursionError",
    ),
    "a number in a text that is too large for what it becomes": (
        Planted(
            {"text: str": []},
            "timedelta",
            "import re\nfound = re.fullmatch('([0-9]{1,18})h', text)\n"
            "if not found:\n    raise ValueError(text)\nreturn timedelta(hours=int(found[1]))",
            tests="def test_a():\n    assert f('12h') == timedelta(hours=12)\n",
        ),
        "f('999999999999h') raises OverflowError",
    ),
    "a sum of what is large": (
        Planted(
            {"values: list[float]": []},
            "float",
            "import math\nif not all(map(math.isfinite, values)):\n    raise ValueError(values)\nreturn math.fsum(values)",
        ),
        "1e+308]) raises OverflowError",
    ),
    "an error that is another than the declared one, if of its kind": (
        Planted({"text: str": []}, "str", "return text.encode('utf-8').decode()"),
        "it is a ValueError, but errors match by exact class",
    ),
    "an empty list has no maximum": (
        Planted({"values: list[int]": []}, "int", "return max(values)", raises=()),
        "f([]) raises ValueError",
    ),
    "an unpaired surrogate has no UTF-8": (
        Planted({"text: str": []}, "int", "return len(text.encode('utf-8'))"),
        "f('\\ud800') raises UnicodeEncodeError",
    ),
    "a digit that is not decimal": (
        Planted(
            {"text: str": []},
            "int",
            "return int(text) if text.isdigit() and len(text) < 9 else -1",
            raises=("TypeError",),
            tests="def test_a():\n    assert f('12') == 12\n",
        ),
        "f('²') raises ValueError: invalid literal for int()",
    ),
    "a text over 4,300 digits": (
        Planted(
            {"text: str": []},
            "int",
            "return int(text) if text.isascii() and text.isdigit() else -1",
            raises=("TypeError",),
        ),
        "Exceeds the limit (4300 digits) for integer string conversion",
    ),
    "a float that is not finite": (
        Planted({"ratio: float": []}, "int", "return round(ratio)"),
        "cannot convert float",
    ),
    "a signalling NaN": (
        Planted({"amount: Decimal": []}, "bool", "return amount > 0"),
        "raises InvalidOperation",
    ),
    "an exponent out of reach": (
        Planted(
            {"amount: Decimal": ["a finite number"]},
            "Decimal",
            "if not amount.is_finite():\n    raise ValueError('not finite')\nreturn amount.quantize(Decimal('0.01'))",
        ),
        "raises InvalidOperation",
    ),
    "the end of the calendar": (
        Planted({"day: date": []}, "date", "return day + timedelta(days=30)"),
        "raises OverflowError: date value out of range",
    ),
    "equal arguments": (
        Planted({"low: int": [], "high: int": []}, "float", "return 1 / (high - low)"),
        "raises ZeroDivisionError",
    ),
    "a key that is missing": (
        Planted(
            {"owed: dict[str, int]": [], "payer: str": ["one of the keys of owed"]},
            "int",
            "return owed[payer]",
        ),
        "raises KeyError",
    ),
    "one element twice": (
        Planted(
            {"names: list[str]": []},
            "int",
            "positions = {name: place for place, name in enumerate(names)}\n"
            "for place, name in enumerate(names):\n    if positions[name] != place:\n        raise LookupError(name)\n"
            "return len(positions)",
        ),
        "raises LookupError",
    ),
    "one value of the tests in another place": (
        Planted(
            {"unit: str": [], "size: int": []},
            "float",
            "table = {'kilogram': 1000, 'gram': 1}\nif unit not in table:\n    raise ValueError(unit)\n"
            "return 1000 / (size - table[unit])",
            tests="def test_a():\n    assert f('kilogram', 3) == f('gram', 4)\n",
        ),
        "raises ZeroDivisionError: division by zero",
    ),
    "a limit that a text mentions": (
        Planted(
            {"text: str": []},
            "str",
            "if len(text) == 281:\n    return text[400]\nreturn text",
            returned=("at most 280 characters of the text",),
        ),
        "raises IndexError: string index out of range",
    ),
    "nothing instead of a text": (
        Planted(
            {"text: str": []},
            "list[str]",
            "return [part or None for part in text.split(',')]",
            tests="def test_a():\n    assert f('a,b') == ['a', 'b']\n",
        ),
        "returns a value of another type: result[0] is None, which is no str",
    ),
    "a truth instead of a number": (
        Planted({"count: int": []}, "dict[str, int]", "return {'count': count > 1}"),
        "result['count'] is False, which is no int",
    ),
    "a changed argument": (
        Planted({"values: list[int]": []}, "list[int]", "values.sort()\nreturn list(values)"),
        "changes an argument that it was given",
    ),
    "a changed argument within": (
        Planted(
            {"rows: dict[str, list[int]]": []},
            "int",
            "return sum(len(row) for row in rows.values() if row.append(0) is None)",
        ),
        "changes an argument that it was given",
    ),
    "a loop without end": (
        Planted(
            {"number: int": []},
            "int",
            "steps = 0\nwhile number != 1:\n    number, steps = abs(number) // 2, steps + 1\nreturn steps",
        ),
        "f(0) does not end within",
    ),
    "a random result": (
        Planted({"text: str": []}, "float", "import random\nreturn random.random()"),
        "and when it is called again it gives",
    ),
    "a result that counts the calls": (
        Planted({"text: str": []}, "int", "_SEEN.append(text)\nreturn len(_SEEN)", before="_SEEN = []"),
        "and when it is called again it gives",
    ),
    "a recursion that is too deep": (
        Planted({"text: str": []}, "int", "return 1 + f(text[1:]) if text else 0"),
        "raises RecursionError",
    ),
    "a subclass of what is declared": (
        Planted({"key: str": []}, "str", "return {'a': 'b'}[key]", raises=("LookupError",)),
        "f('') raises KeyError",
    ),
    "a process that is ended": (
        Planted({"text: str": []}, "str", "import os\nif not text:\n    os._exit(0)\nreturn text"),
        "f('') ends the process",
    ),
    "an exit": (
        Planted({"text: str": []}, "str", "if text == ' ':\n    raise SystemExit(1)\nreturn text"),
        "f(' ') raises SystemExit: 1",
    ),
    "a broken constraint that is accepted": (
        Planted(
            {"text: str": ["at most 10 characters"]},
            "str",
            "if len(text) > 11:\n    raise ValueError(text)\nreturn text",
        ),
        "though text breaks 'at most 10 characters'",
    ),
    "a choice that is not checked": (
        Planted({"mode: str": ["one of 'fast', 'slow'"]}, "bool", "return mode == 'fast'"),
        "though mode breaks \"one of 'fast', 'slow'\"",
    ),
    "a range without its end": (
        Planted(
            {"percent: int": ["between 0 and 100"]},
            "int",
            "if percent > 100:\n    raise ValueError(percent)\nreturn percent",
        ),
        "f(-1) gives -1, though percent breaks 'between 0 and 100'",
    ),
    "a twin that differs": (
        Planted({"text: str": []}, "str", "return text.strip()", twin="return text.strip(' ')"),
        "but f_async gives",
    ),
    "a member that is forgotten": (
        Planted(
            {"mode: Mode": ["Mode is an Enum: OPEN='open', SHUT='shut', AJAR='ajar'"]},
            "int",
            "return {'open': 1, 'shut': 0}[mode.value]",
            before="class Mode(Enum):\n    OPEN = 'open'\n    SHUT = 'shut'\n    AJAR = 'ajar'\n",
        ),
        "f(Mode.AJAR) raises KeyError",
    ),
    "a field of another type": (
        Planted(
            {"total: int": []},
            "Bill",
            "return Bill(total, None if total < 0 else '')",
            before="@dataclass(frozen=True)\nclass Bill:\n    total: int\n    note: str\n",
            returned=("Bill is a frozen dataclass: total: int, note: str",),
        ),
        "returns a value of another type: result.note is None, which is no str",
    ),
    "a file that is not text": (
        Planted(
            {"path: Path": []},
            "str",
            "return path.read_text(encoding='utf-8')",
            raises=("OSError",),
            effects=("CALL",),
        ),
        "f(Path('bytes.bin')) raises UnicodeDecodeError",
    ),
}


@pytest.mark.parametrize("fault", _some_slow(FAULTS))
def test_a_planted_fault_is_found_and_shown_as_a_call(fault: Any):
    """Rare undeclared behaviour meets the inputs that show it (D-S8-14, D-S8-18, D-S8-19, D-S8-20)."""
    planted, told = FAULTS[fault]
    findings = fuzzed(planted, QUICK)
    assert {finding.code for finding in findings} == {"fuzz.counterexample"}
    assert any(told in finding.message for finding in findings), [finding.message for finding in findings]
    assert all(finding.message.startswith("f(") for finding in findings)


UNSHOWN: dict[str, Any] = {
    "a number that is none": ({"n: int": []}, "int", "if n == 10:\n    return int('x')\nreturn n"),
    "a key that is no number": (
        {"text: str": []},
        "int",
        "if len(text) > 3000:\n    raise ValueError('long')\nreturn len(text) if '_' not in text else int(text[0])",
    ),
    "an item that is not there": (
        {"values: list[int]": []},
        "int",
        "if len(values) > 3000:\n    raise ValueError('long')\nreturn values.index(99) if len(values) == 1 else 1",
    ),
    "a day that is none": (
        {"n: int": []},
        "date",
        "if not 0 < n < 13:\n    raise ValueError('month')\nreturn date(2024, n, 31 if n == 2 else 1)",
    ),
    "too many parts": (
        {"text: str": []},
        "str",
        "if '@' in text:\n    raise ValueError('sign')\nif '=' not in text:\n    return text\n"
        "name, value = text.split('=')\nreturn name",
    ),
}


@pytest.mark.parametrize("fault", spread(UNSHOWN, fast=5, slow=4))
def test_a_declared_error_that_the_library_raises_is_to_be_shown(fault: Any):
    """Issue 13.5: its class is declared, but nothing says that the contract refuses this input."""
    inputs, returns, body = UNSHOWN[fault]
    planted = Planted(inputs, returns, body, tests="def test_a():\n    assert f('a=b=c') != f('a_b')\n")
    (finding,) = fuzzed(planted, QUICK, shown=())
    assert "raises ValueError out of what this line calls" in finding.message
    assert fuzzed(planted, QUICK, shown=tuple(range(1, 9))) == ()
    assert fuzzed(planted, QUICK) == ()


def test_a_declared_error_that_the_module_raises_need_not_be_shown():
    """D-S8-14: which inputs the module refuses by itself is for the tests and their mutants."""
    body = "if n > 9:\n    raise ValueError(n)\nreturn n"
    assert fuzzed(Planted({"n: int": []}, "int", body), QUICK, shown=()) == ()


SOUND = {
    "large inputs that take long": Planted(
        {"values: list[int]": []}, "int", "return sum(a == b for a in values for b in values for c in values)"
    ),
    "a large number that takes long": Planted(
        {"number: int": ["at least 0"]},
        "int",
        "if number < 0:\n    raise ValueError(number)\n"
        "total = 0\nfor step in range(number):\n    total += step\nreturn total",
    ),
    "naive times that are compared": Planted(
        {"start: datetime": [], "end: datetime": []},
        "timedelta",
        "if end < start:\n    raise ValueError('ends before it starts')\nreturn end - start",
    ),
    "a cache on a pure part": Planted(
        {"word: str": []},
        "int",
        "return _weight(word)",
        before="import functools\n@functools.lru_cache\ndef _weight(word):\n    return sum(map(ord, word))\n",
    ),
    "an error that is returned as a code": Planted(
        {"text: str": ["non-empty"]}, "str | None", "return text or None", raises=(), codes=("E_EMPTY",)
    ),
    "randomness that is declared": Planted(
        {"sides: int": ["between 1 and 100"]},
        "int",
        "import random\nif not 1 <= sides <= 100:\n    raise ValueError(sides)\nreturn random.randint(1, sides)",
        effects=("CALL",),
    ),
    "a file that grows": Planted(
        {"line: str": [], "path: Path": []},
        "int",
        "with path.open('a', encoding='utf-8', errors='surrogatepass') as stream:\n    stream.write(line)\n"
        "return path.stat().st_size",
        raises=("OSError",),
        effects=("WRITE",),
    ),
    "a result in the order of a set": Planted({"names: set[str]": []}, "list[str]", "return sorted(names)"),
    "classes that come in and go out": Planted(
        {
            "orders: list[Order]": [
                "Order is a frozen dataclass: name: str, price: Decimal, kind: Kind, extra: Extra | None",
                "Kind is an Enum: FOOD='food', DRINK='drink'",
                "Extra is a TypedDict: note: str, size: int",
            ]
        },
        "dict[str, Extra]",
        "return {order.name: order.extra for order in orders if order.extra and order.kind is Kind.FOOD}",
        before="class Kind(Enum):\n    FOOD = 'food'\n    DRINK = 'drink'\n"
        "class Extra(TypedDict):\n    note: str\n    size: int\n"
        "@dataclass(frozen=True)\nclass Order:\n    name: str\n    price: Decimal\n"
        "    kind: Kind\n    extra: Extra | None\n",
    ),
    "a walk through JSON": Planted(
        {"data: dict": []},
        "int",
        "def depth(value):\n    inner = value.values() if isinstance(value, dict) else value\n"
        "    return 1 + max(map(depth, inner), default=0) if isinstance(value, (dict, list)) else 0\n"
        "return depth(data)",
    ),
    "a table of cases is no JSON value": Planted(
        {"value: dict | list | str | int": []},
        "dict | list | str | int",
        "if isinstance(value, list):\n    return [f(one) for one in value]\n"
        "if isinstance(value, dict):\n    return {key: f(one) for key, one in value.items()}\n"
        "assert value is None or isinstance(value, (str, int, float, bool)), value\nreturn value",
        tests="""
            @pytest.mark.parametrize(("value", "same"), [(["a"], ["a"]), ({"a": 1}, {"a": 1})])
            def test_a(value, same):
                assert f(value) == same
        """,
    ),
    "an exception of its own": Planted(
        {"text: str": ["non-empty"], "sep: str": ["one of '-', '_'", "defaults to '-'"]},
        "str",
        "if not text or sep not in ('-', '_'):\n    raise BadTextError(text)\nreturn sep.join(text.split())",
        raises=("BadTextError",),
    ),
    "twins that agree": Planted(
        {"text: str": []},
        "str",
        "return text.strip()",
        twin="import asyncio\nawait asyncio.sleep(0)\nreturn text.strip()",
    ),
    "a whole number where a float is declared": Planted(
        {"values: tuple[float, ...]": []},
        "float",
        "return sum(v for v in values if v == v and abs(v) < 1e9) if values else 0",
    ),
    "every boundary type": Planted(
        {
            "a: bytes": [],
            "b: frozenset[date]": [],
            "c: tuple[UUID, time]": [],
            "d: Literal['x', 1] | None": [],
            "e: dict[str, tuple[timedelta, ...]]": [],
        },
        "tuple[bytes, frozenset[date], tuple[UUID, time], Literal['x', 1] | None, dict[str, tuple[timedelta, ...]]]",
        "return a, b, c, d, dict(e)",
    ),
}


@pytest.mark.parametrize("case", _some_slow(SOUND))
def test_a_sound_module_is_left_alone(case: Any):
    """Style and cost are no faults, and neither is what the contract allows (D-S8-14)."""
    assert fuzzed(SOUND[case], QUICK) == ()


@pytest.mark.parametrize("name", spread(["tally_words", "save_tally", "shorten"], fast=3, slow=2))
def test_the_good_module_directories_are_left_alone(name: Any, tmp_path: Path):
    """A module with a sibling and a class, one that writes files, and a pair of twins (D-S8-14, D-S8-18)."""
    found = candidate(name)
    seen = examine_contract(stage(tmp_path, found, found.files), found, found.files, QUICK)
    assert seen.findings == ()
    assert seen.summary().startswith(f"contract fuzz: {seen.inputs} inputs, no counterexample")
    assert seen.inputs > 100


def test_several_faults_are_told_apart_and_each_is_shrunk():
    """One repair should not only uncover the next fault (D18, D-S8-14)."""
    planted = Planted(
        {"text: str": [], "count: int": []},
        "str",
        "if count > 50:\n    return {}[text]\nif text.startswith('a'):\n    return text[99]\n"
        "return None if text.startswith('b') else text",
        tests="def test_a():\n    assert f('abc', 51) != f('bcd', 3)\n",
    )
    findings = fuzzed(planted)
    assert len(findings) == 3
    told = " ".join(finding.message.partition(";")[0] for finding in findings)
    assert all(
        part in told for part in ("raises KeyError", "raises IndexError", "returns a value of another type")
    )
    assert all(len(finding.message.partition(")")[0]) < 30 for finding in findings)
    lines = {finding.where for finding in findings}
    assert any(line.startswith("implementation/__init__.py:") for line in lines)


@pytest.mark.slow
def test_the_same_module_is_judged_the_same_twice():
    """The fuzz is seeded by the contract: a verdict can be repeated (DESIGN rule 4, D-S8-14)."""
    planted = FAULTS["a key that is missing"][0]
    assert fuzzed(planted) == fuzzed(planted)


_FRAMES = (
    "import json, os, struct, sys\n"
    "def _forge():\n"
    "    for word in ({'event': 'end'}, {'event': 'end', 'nonce': ''}, {'event': 'reply', 'id': 1}):\n"
    "        text = json.dumps(word).encode()\n"
    "        for place in range(3, 32):\n"
    "            try:\n                os.write(place, struct.pack('>II', len(text), 0) + text)\n"
    "                os.write(place, text + b'\\n')\n"
    "            except OSError:\n                pass\n"
)
ACQUITTALS = {
    "an end that nobody asked for": (_FRAMES + "_forge()\n", "return text[0]"),
    "an end in the middle of a call": (_FRAMES, "_forge()\nreturn text[0]"),
    "a fault that hides from the fuzz": (
        "import sys\n",
        "return text if 'hypothesis' in sys.modules else text[0]",
    ),
    "an end of the process": ("import os\n", "return text[0] if text else os._exit(0)"),
    "what judges it is patched": (
        "import sys\n"
        "for _module in list(sys.modules.values()):\n"
        "    for _name in ('_undeclared', 'examine', 'mismatch'):\n"
        "        if hasattr(_module, _name):\n            setattr(_module, _name, lambda *_: '')\n",
        "return text[0]",
    ),
}


@pytest.mark.parametrize("how", spread(ACQUITTALS, fast=5, slow=2))
def test_a_module_cannot_acquit_itself(how: Any):
    """Who draws and judges runs in another process than the module (D-S8-09, D-S8-14)."""
    before, body = ACQUITTALS[how]
    findings = fuzzed(Planted({"text: str": []}, "str", body, raises=(), before=before), QUICK)
    assert {finding.code for finding in findings} == {"fuzz.counterexample"}


def test_a_module_that_floods_its_output_is_stopped():
    """Everything is bounded: a counterexample of its own (DESIGN rule 4, D-S8-14)."""
    planted = Planted({"text: str": []}, "str", "print('x' * 5_000_000)\nreturn text")
    assert ["prints or returns too much" in finding.message for finding in fuzzed(planted)] == [True]


def test_a_fault_far_from_its_input_s_size_is_shown_in_short():
    """A text of thousands of characters is shown as what it is made of (D-S8-14)."""
    planted = Planted(
        {"text: str": []}, "int", "if len(text) > 4000:\n    raise KeyError(1)\nreturn 0", raises=()
    )
    (finding,) = fuzzed(planted)
    assert " * " in finding.message
    assert len(finding.message) < 200


@pytest.mark.parametrize("name", spread(sound_names(), slow=24))
def test_no_sound_module_of_the_corpus_is_refused(name: Any, tmp_path: Path):
    """Modules that were written without a thought of the fuzz (D-S8-14)."""
    found = sound(name)
    assert (
        examine_contract(stage(tmp_path, found, found.files), found, found.files, FuzzBounds()).findings == ()
    )


@pytest.mark.slow
def test_the_gate_tells_a_counterexample_beside_its_other_findings():
    """The fuzz is a stage of the thorough judgement; the evidence says how much was tried (D-S8-01, D-S8-14)."""
    source = candidate("tally_words").files["implementation/__init__.py"].decode()
    changed = source.replace("    words = ", "    if text == chr(0x85):\n        text[1]\n    words = ")
    assert changed != source
    verdict = judge("tally_words", {"implementation/__init__.py": changed}, fuzz=QUICK)
    assert [finding.code for finding in verdict.findings] == ["fuzz.counterexample"]
    assert "tally_words('\\x85'" in verdict.findings[0].message
    assert verdict.findings[0].where.startswith("implementation/__init__.py:")
    assert any(note.startswith("contract fuzz: ") for note in verdict.notes)
    assert not verdict.passed
