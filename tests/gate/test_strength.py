"""Mutants: what is changed, what is spared, and that tests which let them live are refused by name."""

import ast
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from gate_testkit.corpus_reading import sound
from gate_testkit.judging import candidate, judge
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.fuzz.check import FuzzBounds
from ship_gate.sandbox.staging import stage
from ship_gate.ship_gate import SandboxedShipGate
from ship_gate.strength.check import (
    Variant,
    VariantRun,
    run_variants,
    start_runner,
    unshown_limits,
    weak_findings,
)
from ship_gate.strength.claims import claims_of, unshown_finding
from ship_gate.strength.mutants import MODULE_LEVEL, Mutant, mutants_of, sampled
from ship_gate.verdict import Candidate
from testkit.domain.doubling import DOUBLE
from testkit.sampling import spread

ENTRY = "implementation/__init__.py"
AT_NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)
EAST = timezone(timedelta(hours=3))
_NO_FUZZ = FuzzBounds(examples=0)


def changes(source, path=ENTRY):
    """What is changed in a file, mutant by mutant."""
    return [mutant.change for mutant in mutants_of({path: source.encode()})]


def function(*lines):
    """A function of these lines."""
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


CHANGED = {
    "x = a < b": ["`<` to `<=` in `a < b`"],
    "x = a == b": ["`==` to `!=` in `a == b`"],
    "x = a in b": ["`in` to `not in` in `a in b`"],
    "x = a + b": ["`+` to `-` in `a + b`"],
    "a += b": ["`+` to `-` in `a += b`"],
    "x = a and b": ["`and` to `or` in `a and b`"],
    "x = not a": ["`not a` to `a`"],
    "x = -a": ["`-a` to `a`"],
    "x = 3": ["`3` to `4`"],
    "x = True": ["`True` to `False`"],
    "x = 'abc'": ["`'abc'` to `'abcX'`"],
    "x = set('abc')": ["`'abc'` to `'ab'`"],
    "x = a.strip('.-')": ["`'.-'` to `'.'`"],
    "x = a.strip('.')": ["`'.'` to `'.X'`"],
    "x = '0.01'": ["`'0.01'` to `'0.02'`"],
    "return a": ["`return a` to `return None`"],
    "return a, b": ["`return (a, b)` to `return None`", "two places of `(a, b)` swapped"],
    "x = [y for y, z in a]": ["two places of `(y, z)` swapped"],
    "a.clear()": ["`a.clear()` left out"],
    "raise a": ["`raise a` left out"],
    "x = a[:b]": ["the slice `:b` moved by one at its upper end"],
    "x = a[1:]": ["`1` to `2`"],
    "x = max(a)": ["`max` to `min` in `max(a)`"],
    "x = len(a)": ["`len(a)` to `len(a) + 1`"],
    "x = range(a)": ["`a` to `a + 1`"],
    "x = a.strip()": ["`a.strip()` to `a`"],
    "x = [y for y in a if y]": ["`if y` to `if not y`"],
    "x = a if b else b": ["`if b` to `if not b`"],
    "x = f'{a}!'": ["'!' to '!X' in `f'{a}!'`"],
}


def test_each_kind_of_fault_is_put_in_and_told():
    """D-S8-08: comparison, arithmetic, boolean, constant, return, removed call and raise, boundary, slice, default."""
    assert {line: changes(function(line)) for line in CHANGED} == CHANGED
    assert changes("def f(a=3):\n    pass\n") == ["`3` to `4`"]  # leaving an argument out is an obligation


def test_a_returned_text_becomes_another_one_that_the_function_returns():
    """D-S8-08: an assertion on the type or on membership alone does not notice it."""
    assert changes(function("if a:", "    return 'x'", "return 'y'")) == [
        "`if a` to `if not a`",
        "`'x'` to `'y'`",
        "`'y'` to `'x'`",
    ]


PATTERNS = {
    "re.match('a+', b)": ["`+` to `*` in the pattern 'a+'"],
    "re.sub(r'\\s*,', '', b)": [r"`\s` to `\S` in the pattern '\\s*,'", r"`*` to `+` in the pattern '\\s*,'"],
    "re.fullmatch('-?[0-9]{1,6}', b)": [
        "`?` left out in the pattern '-?[0-9]{1,6}'",
        "`[0-9]` to `[^0-9]` in the pattern '-?[0-9]{1,6}'",
    ],
    "re.search('^a$', b)": ["`^` left out in the pattern '^a$'", "`$` left out in the pattern '^a$'"],
    "re.match('a$', b)": ["`$` left out in the pattern 'a$'"],
    "re.compile('^(?P<x>a)(?!b)$')": [],
    "re.compile('a +  # many', re.VERBOSE)": [],
    "other.match('a+', b)": [],
}


def test_a_pattern_is_changed_within():
    """Issue 13.5: quantifiers, classes and anchors of literal patterns; whole numbers as bounds are left alone."""
    found = {call: changes(function(f"x = {call}")) for call in PATTERNS}
    assert {call: [one for one in said if "pattern" in one] for call, said in found.items()} == PATTERNS


LIMITS = {
    "one side": (["at most 64"], "if a > 64:", {"64"}),
    "both sides": (["from 1 to 64"], "if not 1 <= a <= 64:", {"1", "64"}),
    "two conditions": (["at least 1", "at most 64"], "if a < 1 or a > 64:", {"1", "64"}),
    "a length": (["at most 1000 characters"], "if len(a) > 1000:", {"1000"}),
    "a name": (["below 5"], "if a >= _MOST:", {"5"}),
    "a negative number": (["at least -5"], "if a < -5:", {"-5"}),
}


def test_a_stated_limit_that_can_be_moved_is_told():
    """Issue 13.4: a constraint is shown by calls at its edge and one beyond it, however many other mutants die."""
    rest = ("    raise ValueError(a)", "if a < 3:", "    return 64", "return a")
    for constraints, guard, limits in LIMITS.values():
        source = "_MOST = 5\n" + function(guard, *rest)
        mutants = mutants_of({ENTRY: source.encode()})
        assert {mutant.limit for mutant in mutants} == {"", *limits}
        contract = limited(constraints)
        found = [*unshown_limits(mutants, [mutant for mutant in mutants if mutant.limit], contract)]
        assert [finding.code for finding in found] == ["obligations.unseen"] * len(constraints)
        assert f"a: {constraints[0]} (/inputs/0/constraints/0)" in found[0].message
        assert found[0].pointer == "/inputs/0/constraints/0"
        others = [mutant for mutant in mutants if not mutant.limit]
        assert [*unshown_limits(mutants, others, contract)] == []


def test_a_number_that_no_constraint_names_may_be_moved():
    """Issue 13.6: what the source checks beside its contract is for the threshold; a default says what a parameter is if it
    is left out, not what it may be."""
    source = function("if a > 64:", "    raise ValueError(a)", "return a")
    mutants = mutants_of({ENTRY: source.encode()})
    assert [*unshown_limits(mutants, mutants, limited(["at most 65"]))] == []
    source = function("if a < 0:", "    raise ValueError(a)", "return a")
    mutants = mutants_of({ENTRY: source.encode()})
    moved = [mutant for mutant in mutants if mutant.limit == "0"]
    assert moved
    assert [*unshown_limits(mutants, moved, limited(["defaults to 0"]))] == []
    assert [*unshown_limits(mutants, moved, limited(["at least 0"]))] != []


def test_faults_of_a_line_that_read_alike_say_which_they_are():
    """Of two operators in one expression a finding says which one no test notices."""
    mutants = mutants_of(
        {ENTRY: function("if not 0 <= a <= 9:", "    raise ValueError(a)", "return a").encode()}
    )
    alike = [mutant.listed for mutant in mutants if mutant.change.startswith("`<=` to `<`")]
    assert alike == [
        "`<=` to `<` in `0 <= a <= 9` (number 1 of 2 in the line)",
        "`<=` to `<` in `0 <= a <= 9` (number 2 of 2 in the line)",
    ]
    assert len({(mutant.location, mutant.listed) for mutant in mutants}) == len(mutants)


def test_of_a_range_both_ends_are_due():
    """A range has two edges; that one is noticed both ways says nothing of the other."""
    source = function("if not 1 <= a <= 64:", "    raise ValueError(a)", "return a")
    mutants = mutants_of({ENTRY: source.encode()})
    upper = [mutant for mutant in mutants if mutant.limit == "64"]
    assert len([*unshown_limits(mutants, upper, limited(["from 1 to 64"]))]) == 1
    assert [*unshown_limits(mutants, upper[1:], limited(["from 1 to 64"]))] == []
    assert len([*unshown_limits(mutants, upper[1:], limited(["at least 1", "at most 64"]))]) == 1


IDIOMS = {
    "a // b + 1": ("-(-a // b)", (9, 2), (8, 2)),
    "-(-a // b)": ("a // b + 1", (9, 2), (8, 2)),
    "(a + b - 1) // b": ("a // b + 1", (9, 2), (8, 2)),
    "math.ceil(a)": ("int(a // 1) + 1", (2.5, 0), (2.0, 0)),
    "math.floor(a)": ("round(a)", (2.3, 0), (2.7, 0)),
    "int(a / b)": ("round(a / b)", (9, 4), (7, 4)),
    "a.astimezone(b)": ("a.replace(tzinfo=b)", (AT_NOON, UTC), (AT_NOON, EAST)),
    "a.replace(tzinfo=b)": ("a.astimezone(b)", (AT_NOON, UTC), (AT_NOON, EAST)),
}


def test_an_idiom_is_told_from_the_one_that_it_is_taken_for():
    """Each idiom is changed to the other; they agree on the first arguments and differ on the second."""

    def value(expression, arguments):
        return eval(expression, {"math": math, **dict(zip("ab", arguments, strict=True))})

    wrong = {}
    for idiom, (other, alike, apart) in IDIOMS.items():
        found = [m for m in mutants_of({ENTRY: function(f"return {idiom}").encode()}) if m.value]
        (expression,) = [ast.unparse(ast.parse(m.source).body[-1].body[-1].value) for m in found] or [""]
        agree = [value(idiom, one) == value(expression, one) for one in (alike, apart)] if expression else []
        if [m.change for m in found] != [f"`{idiom}` to `{other}`"] or agree != [True, False]:
            wrong[idiom] = (found, agree)
    assert wrong == {}


def test_a_moment_without_a_zone_tells_at_once():
    """A test of a moment without a zone notices: only moments with one can be converted."""
    (mutant,) = [m for m in mutants_of({ENTRY: function("return a.replace(tzinfo=b)").encode()}) if m.value]
    changed = ast.unparse(ast.parse(mutant.source).body[-1].body[-1].value)
    naive = AT_NOON.replace(tzinfo=None)
    assert eval(changed, {"a": naive, "b": UTC}) != naive.replace(tzinfo=UTC)


def limited(constraints):
    """A contract of one input with constraints."""
    whole = sound("clip_number").contract
    return whole.model_copy(
        update={"inputs": [whole.inputs[0].model_copy(update={"name": "a", "constraints": constraints})]}
    )


SPARED = {
    "a docstring": function('"""Text."""', "pass"),
    "annotations": "def f(a: 'int' = None) -> 'int':\n    x: 'int'\n",
    "exports": "__all__ = ['f']\n",
    "a decorator": "@cache(maxsize=3)\ndef f(): pass\n",
    "an error's text": function("try:", "    pass", "except E as e:", "    pass"),
    "an exception class": "class BadError(Exception):\n    code = 3\n    def __init__(self):\n        self.x = 1\n",
    "an enumeration": "class Light(Enum):\n    RED = 'red'\n",
    "an assertion": function("assert a > 3"),
    "what cannot happen": function("raise AssertionError(3)"),
    "a guard against wrong types": function("if not isinstance(a, str):", "    raise TypeError('no')"),
    "an encoding": function("x = a(b, encoding='utf-8')"),
    "clean-up": function("a.close()"),
    "a field's options": "@dataclass(frozen=True)\nclass A:\n    x: int\n",
    "a pair of names": "x, y = f()\n",
    "alternatives": function("x = isinstance(a, (a, b))"),
    "imports": "from a import b\n",
}


def test_what_no_test_could_notice_is_spared():
    """D-S8-08: equivalent mutants would cost sound modules."""
    assert {case: found for case, source in SPARED.items() if (found := changes(source))} == {}


def test_what_says_much_counts_little():
    """D-S8-08: a raise counts once, however long its message; a table of thirty constants would outweigh the code, so two of
    its entries stand for all."""
    left_out = "`raise ValueError('at least ' + str(1))` left out"
    assert changes(function("raise ValueError('at least ' + str(1))")) == [left_out]
    table = "T = {'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}\n"
    assert changes(table) == ["`'a'` to `'aX'`", "`1` to `2`", "`'e'` to `'eX'`", "`5` to `6`"]


def test_every_mutant_differs_from_the_source_in_one_place_and_can_be_compiled():
    """D-S8-08: over the corpus; the source itself is as it was after all were made."""
    for name in ("evaluate", "next_workday", "render_table", "order_tasks"):
        files = sound(name).files
        mutants = mutants_of(files)
        assert mutants == mutants_of(files)
        assert len({(mutant.path, mutant.source) for mutant in mutants}) == len(mutants)
        for mutant in mutants:
            compile(mutant.source, mutant.path, "exec")


def test_what_is_told_of_a_mutant_can_be_printed_whatever_the_source_says():
    """D-S8-08: a class of surrogates in a pattern is a sound way to look for them, and no UTF-8 text can hold one."""
    source = 'import re\n\ndef clean(text):\n    return re.sub("[\\ud800-\\udfff]+", "", text)\n'
    mutants = mutants_of({ENTRY: source.encode()})
    assert "`[\\ud800-\\udfff]` to `[^\\ud800-\\udfff]`" in " ".join(mutant.change for mutant in mutants)
    assert all(mutant.change.encode() and mutant.source.encode() for mutant in mutants)
    assert len(sampled(mutants, 2)) == 2


def test_mutants_are_told_apart_by_function_file_and_class():
    """D-S8-08: a function within a function belongs to the outer, a second file is named."""
    source = "N = 3\n" + "def f(a):\n    def g():\n        return a\n    return g\n"
    source += "class A:\n    def m(self):\n        return self\n"
    files = {ENTRY: source.encode(), "implementation/more.py": b"def f(a):\n    return a\n"}
    scopes = [mutant.scope for mutant in mutants_of(files)]
    assert scopes == [MODULE_LEVEL, "f", "f", "A.m", "more.py::f"]


def test_a_sample_is_the_same_each_time_and_takes_from_every_function():
    """D-S8-08: at most so many mutants of one module, chosen by their digests and spread evenly."""
    source = "".join(
        f"def f{n}(a):\n" + "".join(f"    x{i} = a + {i}\n" for i in range(n)) for n in range(2, 12)
    )
    mutants = mutants_of({ENTRY: source.encode()})
    chosen = sampled(mutants, 40)
    assert len(chosen) == 40
    assert chosen == sampled(mutants, 40)
    assert chosen == [mutant for mutant in mutants if mutant in chosen]
    assert {mutant.scope for mutant in chosen} == {f"f{n}" for n in range(2, 12)}
    assert sampled(mutants, 1000) == mutants


def test_another_draft_is_asked_about_the_same_faults_of_a_function_that_stayed():
    """D-S8-08: else each repair meets other findings, in functions that nobody touched."""
    body = "".join(f"    x{i} = a + {i}\n" for i in range(12))
    same, other = f"def same(a):\n{body}", f"def other(a):\n{body}"
    longer = f"import math\n\n\n{other}    return math.inf - a * 2\n\n\n{same}"

    def taken(source: str) -> list[tuple[str, str]]:
        mutants = sampled(mutants_of({ENTRY: source.encode()}), 20)
        return [(mutant.change, mutant.which) for mutant in mutants if mutant.scope == "same"]

    assert len(taken(f"{same}{other}")) == 10
    assert taken(longer) == taken(f"{same}{other}")


@pytest.mark.parametrize("name", spread(["tally_words", "save_tally", "shorten"], fast=3))
def test_a_sound_module_s_mutants_die_and_the_evidence_counts_them(name):
    """D-S8-08: what was measured is told with the verdict."""
    verdict = judge(name, static=True, strength=0.8)
    assert verdict.findings == ()
    assert any("mutants died (all " in note for note in verdict.notes)


TESTS = "tests/test_shorten.py"


def _weakened(old, new):
    text = candidate("shorten").files[TESTS].decode()
    assert old in text
    return {TESTS: text.replace(old, new)}


def test_survivors_are_named_with_their_place_and_change():
    """D-S8-08: a weak suite; a repair needs to know what is not noticed."""
    weak = _weakened('== ("abc", "E_CUT")', '[1] == "E_CUT"')
    weak = {
        TESTS: weak[TESTS]
        .replace("[1, 2, 9]", "[9]")
        .replace('== ("0123456789", "E_WHOLE")', "")
        .replace("[0, -1]", "[-1]")
    }
    verdict = judge("shorten", weak, strength=0.8)
    weak_codes = {"strength.weak", "strength.function", "obligations.unseen"}
    assert {finding.code for finding in verdict.findings} == weak_codes
    told = verdict.findings[0].message
    assert "80% are due" in told
    assert "implementation/__init__.py:28: `<` to `<=` in `limit < 1`" in told


def test_strong_error_tests_do_not_hide_weak_happy_ones():
    """D-S8-08: each function with at least five mutants counts for itself, over all files."""
    whole = sound("add_percent")
    more = "def weigh(a, b):\n    if a < b:\n        return a - b\n    return a + 1\n"
    source = whole.files[ENTRY].decode().replace("__all__", "from ._more import weigh\n\n__all__")
    source = source.replace("    total = ", "    weigh(1, 2)\n    total = ")
    files = {**whole.files, ENTRY: source.encode(), "implementation/_more.py": more.encode()}
    verdict = SandboxedShipGate(fuzz=_NO_FUZZ, strength=0.6).judge(Candidate(whole.contract, files))
    assert [finding.code for finding in verdict.findings] == ["strength.function"]
    assert verdict.findings[0].where.startswith("implementation/_more.py:")


def test_a_function_needs_three_quarters_of_what_the_module_needs():
    """D-S8-08: a guard that only saves time brings three faults of few that no test can fail on (ADR 0079)."""
    for noticed, of, enough in (
        (7, 9, True),
        (6, 8, True),
        (3, 5, True),
        (2, 5, False),
        (3, 6, False),
        (0, 4, True),
    ):
        judged = ended(("helper", "failed", noticed), ("helper", "passed", of - noticed), ("f", "failed", 40))
        found = [*weak_findings(judged, 0.8)]
        assert [finding.code for finding in found] == ["strength.function"] * (not enough)
        assert all("60% are due" in finding.message for finding in found)


def test_who_shows_a_result_by_requests_alone_is_told_to_assert_it_beside_them():
    """D-S8-08: what was asked of a host is an effect and no result."""
    pointer = "/outputs/0/invariants/0"
    for target, told in (("https://api.example.org", True), ("the file at `path`", False)):
        effect = {"type": "CALL", "target": target, "description": "is asked once"}
        contract = MicroModuleContract.model_validate({**DOUBLE.to_json(), "effects": [effect]})
        finding = unshown_finding(claims_of(contract, {"test_it": (pointer,)}, ["test_it"]), pointer)
        assert finding.pointer == pointer
        assert ("beside what `web.requests` holds," in finding.message) == told


def ended(*outcomes: tuple[str, str, int]) -> list[tuple[Mutant, VariantRun]]:
    """Mutants of functions, so many of each, that ended in one way."""
    rows = [(scope, how) for scope, how, count in outcomes for _ in range(count)]
    return [
        (Mutant(ENTRY, line, scope, f"fault {line}", ""), VariantRun(how, (), (), 0.0))
        for line, (scope, how) in enumerate(rows, start=1)
    ]


def test_a_weak_module_is_told_of_all_its_functions_at_once():
    """D-S8-08: of many survivors as many of each function, so that one repair can see to all."""
    judged = ended(("f", "passed", 30), ("g", "passed", 30), ("h", "passed", 3), ("i", "failed", 30))
    weak = next(iter(weak_findings(judged, 0.8)))
    listed = [int(line.rpartition(" ")[2]) for line in weak.message.splitlines() if "fault" in line[:60][-9:]]
    assert (weak.code, len(listed)) == ("strength.weak", 40)
    assert [sum(first <= n < last for n in listed) for first, last in ((1, 31), (31, 61), (61, 64))] == [
        19,
        18,
        3,
    ]
    assert weak.message.endswith("\n  and 23 more")


def test_who_mends_one_function_sees_what_is_not_noticed_of_the_others():
    """D-S8-08: in one line, which is no fault of that function."""
    judged = ended(("f", "passed", 4), ("f", "failed", 4), ("g", "passed", 1), ("g", "failed", 40))
    (weak,) = weak_findings(judged, 0.8)
    assert weak.code == "strength.function"
    assert weak.message.endswith(f"\nNot noticed either, where enough is: {ENTRY}:9 in g: fault 9")
    assert weak.message.count("\n  ") == 4


def test_a_mutant_that_runs_for_ever_is_stopped_and_counts_as_noticed():
    """Rule 4: the run is bounded by processor time."""
    source = "def tally_words(text: str, fold: bool = False) -> dict[str, int]:\n"
    original = candidate("tally_words").files[ENTRY].decode()
    loop = original.replace("    words = ", "    n = 0\n    while n < 2:\n        n += 1\n    words = ", 1)
    assert loop != original
    assert source in original
    verdict = judge("tally_words", {ENTRY: loop}, strength=0.5)
    assert verdict.findings == ()


def test_tests_that_pass_only_once_are_refused():
    """F-11.3-03: what holds by chance shows nothing."""
    text = candidate("shorten").files[TESTS].decode()
    flaky = (
        "\n\ndef test_only_there():\n    from pathlib import Path\n\n"
        "    assert shorten('a')\n    assert Path.cwd().name == 'test_runner' or not shorten('a')\n"
    )
    verdict = judge("shorten", {TESTS: text + flaky}, strength=0.8)
    assert "strength.unstable" in {finding.code for finding in verdict.findings}


def test_a_variant_reports_on_itself_alone(tmp_path):
    """D-S8-08: the last variant says in every pipe that it finds that the first mutant was noticed; nobody hears it."""
    whole = candidate("shorten")
    source = whole.files[ENTRY].decode()
    word = b'{"event": "variant", "place": 1, "outcome": "failed", "passed": [], "failed": []}\n'
    forging = f"import os\nfor place in range(3, 64):\n    try:\n        os.write(place, {word!r})\n"
    forging += "    except OSError:\n        pass\n"
    # those between see to it that the first ones have long reported
    variants = [Variant(ENTRY, source, whole=True)] * 12 + [Variant(ENTRY, source + forging)]
    staged = stage(tmp_path, whole, whole.files)
    with start_runner(staged, draws=False) as runner:
        runs = run_variants(staged, "shorten", variants, runner, seconds=5)
    assert {run.outcome for run in runs[:12]} == {"passed"}


def test_a_preflight_runs_no_mutants():
    """D-S8-01, D18: tests, examples and changed answers, and nothing that takes long."""
    weak = _weakened('== ("abc", "E_CUT")', '[1] == "E_CUT"')
    verdict = SandboxedShipGate(fuzz=_NO_FUZZ).judge(candidate("shorten", weak), thorough=False)
    assert verdict.passed
    assert not any("mutants" in note for note in verdict.notes)
