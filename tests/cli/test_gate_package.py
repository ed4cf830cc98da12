"""`specwright gate --package`: an ordinary source tree, judged function by function where it lies."""

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from jsonschema import Draft202012Validator

from specwright.domain.adoption.package_verdict import (
    FunctionFinding,
    FunctionResult,
    PackageVerdict,
    function_verdict,
)
from specwright.domain.adoption.report import (
    AdoptedFunction,
    AdoptionStatus,
    Evidence,
    Gap,
    Origin,
    Statement,
)
from testkit.cli.commands import ROOT, specwright

SOURCE = '''
def double(n: int) -> int:
    """Double a number.

    >>> double(2)
    4
    >>> double(-3)
    -6
    """
    return n * 2


def first(text: str) -> str:
    """Take the first character.

    >>> first("ab")
    'a'
    """
    return text[0]


def halve(n: int) -> int:
    """Halve a number."""
    return n // 2


def count(n: int):
    """Count."""
    yield n


def triple(n: int) -> int:
    """Triple a number."""
    return n * 3


def odd(n: int) -> int:
    """The odd number after the double of a number.

    >>> odd(0)
    1
    """
    return double(n) + 1
'''


TESTS = """
from numbers_of.core import double, triple


def test_triple():
    assert (triple(2), triple(-3)) == (6, -9)


def test_both():
    assert double(3) == triple(2)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with one package."""
    package = tmp_path / "src/numbers_of"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "core.py").write_text(dedent(SOURCE))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_core.py").write_text(dedent(TESTS))
    return tmp_path


@pytest.mark.slow
def test_each_function_is_judged_by_what_its_source_states(tree: Path) -> None:
    """What is shown, what is wrong, what nobody shows, what cannot be said; at places of the source (D-50-02, D-50-05)."""
    words = ("gate", "--package", tree, "--passed", tree / "known.json")
    told = specwright(*words, "--json", "--sarif", tree / "found.sarif")
    assert told.code == 1
    document = told.document
    schema = json.loads((ROOT / "schemas/command-line/v1/package.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    results = {one["name"].rpartition(".")[2]: one for one in document["functions"]}
    assert {name: one["result"] for name, one in results.items()} == {
        "double": "SHOWN", "first": "WRONG", "halve": "UNSHOWN", "count": "INEXPRESSIBLE",
        "triple": "UNSTATED",
        # that `odd(0)` notices no fault in `double` is the tests' of `double` to answer for
        "odd": "SHOWN",
    }  # fmt: skip
    assert any("IndexError" in one["message"] for one in results["first"]["wrong"])
    assert results["count"]["obstacles"][0]["where"] == "src/numbers_of/core.py:27"
    tests = results["triple"]["tests"]
    assert {name: tests[name] for name in ("found", "used", "run", "passed")} == {
        "found": 2, "used": 1, "run": 1, "passed": 1,
    }  # fmt: skip
    (ignored,) = tests["ignored"]
    assert (ignored["name"], ignored["where"]) == ("test_both", "tests/test_core.py:9")
    assert "it needs double as well" in ignored["why"]
    (told,) = results["triple"]["unshown"]
    assert (told["code"], ">>> triple(...)" in told["message"]) == ("unstated", True)
    codes = [
        one["code"] for function in results.values() for one in (*function["wrong"], *function["unshown"])
    ]
    for function in results.values():
        for one in (*function["wrong"], *function["unshown"]):
            assert not re.search(r"contract\.json|obligations\.json|examples\.md|/inputs/", one["message"])
    assert not {"examples.uncovered", "obligations.uncovered", "strength.function"} & {*codes}

    sarif = json.loads((tree / "found.sarif").read_text())["runs"][0]["results"]
    places = [one["locations"][0]["physicalLocation"] for one in sarif]
    assert {place["artifactLocation"]["uri"].rpartition("/src/")[2] for place in places} == {
        "numbers_of/core.py"
    }
    lines = len(SOURCE.splitlines())
    assert all(1 < place["region"]["startLine"] <= lines for place in places)

    path = tree / "src/numbers_of/core.py"
    path.write_text(path.read_text().replace("n // 2", "n >> 1"))
    one = specwright(*words, "--function", "core.double", "--function", "odd", "--json")
    assert one.code == 0
    assert [(f["name"], f["is_unchanged"]) for f in one.document["functions"]] == [
        ("numbers_of.core.double", True), ("numbers_of.core.odd", True),
    ]  # fmt: skip
    page = specwright(*words, "--allow-unshown")
    assert page.code == 1
    assert "5 as they were and not judged again" in page.out
    assert page.out.startswith(f"FAIL  {tree}  6 functions")
    assert "test_both: it needs double as well" in page.out
    assert "of these functions found" in page.out
    assert "numbers_of.core.first" in page.out.partition("Wrong")[2].partition("Nobody shows")[0]
    path.write_text(path.read_text().replace("text[0]", "text[:1]"))
    halved = specwright(*words, "--allow-unshown")
    assert (halved.code, halved.out.split()[0]) == (0, "PARTIAL")


@pytest.mark.slow
def test_what_was_not_judged_leaves_the_verdict_open_until_somebody_accepts_it(tree: Path) -> None:
    """PARTIAL and 1; with a reason in pyproject.toml PASS and 0, and the report names it (D-50-05)."""
    words = (
        "gate",
        "--package",
        tree,
        "--passed",
        tree / "known.json",
        "--function",
        "double",
        "--function",
        "count",
    )
    reports = ("--junit", tree / "found.xml", "--badge", tree / "badge.svg", "--sarif", tree / "found.sarif")
    partial = specwright(*words, *reports)
    assert (partial.code, partial.out.split()[0]) == (1, "PARTIAL")
    assert "Not judged: no contract can say" in partial.out
    assert 'skipped="1"' in (tree / "found.xml").read_text()
    assert 'failures="0"' in (tree / "found.xml").read_text()
    assert "1 of 2 pass, 1 not judged" in (tree / "badge.svg").read_text()
    (result,) = json.loads((tree / "found.sarif").read_text())["runs"][0]["results"]
    assert (result["ruleId"], result["level"], "suppressions" in result) == (
        "inexpressible",
        "warning",
        False,
    )

    accepted = '[tool.specwright.not-judged]\n"numbers_of.core.count" = "callers want a generator"\n'
    (tree / "pyproject.toml").write_text(accepted + '"numbers_of.core.double" = "no longer so"\n')
    passed = specwright(*words, *reports)
    assert (passed.code, passed.out.split()[0]) == (0, "PASS")
    named = passed.out.partition("Not judged, as pyproject.toml accepts")[2]
    assert "numbers_of.core.count" in named
    assert "callers want a generator" in named
    assert "numbers_of.core.double" in passed.out.partition("Can be judged after all")[2]
    assert "1 of 2 pass, 1 not judged" in (tree / "badge.svg").read_text()
    (result,) = json.loads((tree / "found.sarif").read_text())["runs"][0]["results"]
    assert (result["level"], result["suppressions"][0]["kind"]) == ("note", "external")

    alone = specwright(*words[:-4], "--function", "count")
    assert (alone.code, alone.out.split()[0]) == (1, "PARTIAL")  # of what nothing is shown nothing is said


def test_what_is_wrong_counts_before_what_is_not_shown() -> None:
    """And an error that no run showed is claimed (D-50-02, D-50-05)."""
    said = (
        Statement("", "Do it", Origin.DOCSTRING, Evidence.CLAIMED),
        Statement("/inputs/0", "n: int", Origin.SIGNATURE, Evidence.RUN),
        Statement("/error_surfaces/0", "KeyError: never", Origin.DOCSTRING, Evidence.CLAIMED),
    )
    gap = Gap("a test", "a.py:1", "it")
    record = AdoptedFunction("a.f", "a.py:1", AdoptionStatus.INCOMPLETE, statements=said, gaps=(gap,))
    weak = FunctionFinding("strength.weak", "a.py:1", "weak")
    false = FunctionFinding("fuzz.counterexample", "a.py:2", "f(0) raises ZeroDivisionError")

    unshown = function_verdict(record, (weak,), 0.1)
    assert (unshown.result, unshown.shown, unshown.claimed) == (
        FunctionResult.UNSHOWN, ("n: int",), ("KeyError: never",),
    )  # fmt: skip
    assert [one.code for one in unshown.unshown] == ["missing", "strength.weak"]
    wrong = function_verdict(record, (weak, false), 0.1)
    assert (wrong.result, wrong.wrong) == (FunctionResult.WRONG, (false,))
    refuted = function_verdict(record._replace(gaps=(gap._replace(refuted=True),)), (), 0.1)
    assert refuted.result is FunctionResult.WRONG
    shown = function_verdict(record._replace(gaps=(), documented=1), (), 0.1)
    outside = function_verdict(record._replace(status=AdoptionStatus.INEXPRESSIBLE), (), 0.1)
    assert [one.result for one in (shown, outside)] == [FunctionResult.SHOWN, FunctionResult.INEXPRESSIBLE]

    accepted = outside._replace(accepted="as it is")
    bare = function_verdict(record._replace(gaps=(), statements=said[:2]), (), 0.1)
    assert (bare.result, [one.code for one in bare.unshown]) == (FunctionResult.UNSTATED, ["unstated"])
    late = outside._replace(result=FunctionResult.UNJUDGED)
    results = {
        functions: tuple(
            (str(verdict.result(allows_unshown=allows)), verdict.succeeds(allows_unshown=allows))
            for verdict in (PackageVerdict("p", functions),)
            for allows in (False, True)
        )
        for functions in (
            (shown,), (shown, accepted), (accepted,), (shown, outside), (shown, bare), (shown, unshown),
            (shown, wrong), (shown, late),
        )
    }  # fmt: skip
    passes, partial = (("PASS", True), ("PASS", True)), (("PARTIAL", False), ("PARTIAL", True))
    fails = (("FAIL", False), ("FAIL", False))
    unshown_only = (("FAIL", False), ("PARTIAL", True))
    assert [*results.values()] == [
        passes, passes, partial, partial, partial, unshown_only, fails, fails,
    ]  # fmt: skip


def test_one_cause_is_one_finding() -> None:
    """A gap is not told again by the gate, and faults that all of them list are not listed by function (D-50-05)."""
    example = "no example calls f and shows what it returns"
    gaps = (
        Gap(example, "a.py:1", "one"),
        Gap("`f(float('nan'))` raises ValueError, and nothing states it", "a.py:1", "it"),
        Gap("`f(2)` raises KeyError, and nothing states it", "a.py:1", "it"),
    )
    record = AdoptedFunction("a.f", "a.py:1", AdoptionStatus.INCOMPLETE, gaps=gaps)
    inner = FunctionFinding("strength.function", "a.py:9", "in helper:\n  a.py:9: `+` to `-`")
    found = (
        FunctionFinding("examples.uncovered", "a.py:1", f"{example}; add one that shows the purpose"),
        FunctionFinding("obligations.uncovered", "a.py:1", "no test"),
        FunctionFinding("strength.weak", "a.py:1", "few:\n  a.py:2: `<` to `<=`\n  a.py:9: `+` to `-`"),
        inner,
        FunctionFinding(
            "fuzz.counterexample", "a.py:2", "f(nan) raises ValueError: no number; nothing states that"
        ),
    )
    verdict = function_verdict(record, found, 0.1)
    assert [one.code for one in verdict.wrong] == ["fuzz.counterexample"]
    assert [(one.code, one.message.partition(";")[0]) for one in verdict.unshown[:2]] == [
        ("missing", example), ("missing", gaps[2].what),
    ]  # fmt: skip
    assert [one.code for one in verdict.unshown[2:]] == ["strength.weak"]
    longer = inner._replace(message=f"{inner.message}\n  a.py:10: `1` to `2`")
    kept = function_verdict(record, (*found[2:3], longer), 0.1)
    assert "strength.function" in [one.code for one in kept.unshown]


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    """No package, a file of results that is none, options that do not go together (D-50-03)."""
    (tmp_path / "empty").mkdir()
    specwright("gate", "--package", tmp_path / "empty").refuses(
        "no package is in it", str(tmp_path / "empty")
    )
    specwright("gate", "--package", tmp_path / "none").refuses("no such directory")
    specwright("gate").refuses("no module directory is named")
    specwright("gate", tmp_path, "--package", tmp_path).refuses("source tree alone")
    specwright("gate", tmp_path, "--allow-unshown").refuses("--allow-unshown is for --package")
    specwright("gate", tmp_path, "--function", "f").refuses("--function is for --package")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/__init__.py").write_text("def f() -> int:\n    return 1\n")
    specwright("gate", "--package", tmp_path / "p", "--function", "g").refuses(
        "no public function 'g'", "name one of p.f"
    )
    (tmp_path / "pyproject.toml").write_text('[tool.specwright.not-judged]\n"p.g" = "so"\n')
    specwright("gate", "--package", tmp_path).refuses("no such public function", "pyproject.toml", "p.f")
    (tmp_path / "pyproject.toml").write_text('[tool.specwright]\nnot-judged = ["p.f"]\n')
    specwright("gate", "--package", tmp_path / "p").refuses(
        "no table of functions with the reasons", "pyproject.toml"
    )
    (tmp_path / "pyproject.toml").write_text("[")
    specwright("gate", "--package", tmp_path / "p").refuses("cannot be read", "pyproject.toml")
    (tmp_path / "pyproject.toml").unlink()
    (tmp_path / "known.json").write_text("[]")
    refused = specwright("gate", "--package", tmp_path / "p", "--passed", tmp_path / "known.json")
    refused.refuses("no file of what came of functions", str(tmp_path / "known.json"))
