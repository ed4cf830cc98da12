"""Attacks that the source shows: hostile tests and hostile modules before the whole gate, static checks included.

The module is wrong in each attack by tests, and its examples do not show it: the attack stands in place of the one test
that would. So a verdict that passes is an attack that came through.
"""

from pathlib import Path
from typing import Any

import pytest

from gate_testkit.hostile import ENTRY, SOURCE
from gate_testkit.judging import candidate, judge
from gate_testkit.running import survivors
from gate_testkit.static_judging import cases, codes_of_source
from gate_testkit.verdicts import HOSTILE_TESTS, attacked
from ship_gate.errors import ShipGateError
from ship_gate.findings import FindingCode, Severity
from ship_gate.static.imports import import_findings
from ship_gate.static.stage import static_findings
from testkit.sampling import spread

BY_TESTS = HOSTILE_TESTS
BY_MODULES = cases("hostile_modules.md")
SHOWN_BY_A_RUN = {
    "tests.failed", "tests.incomplete", "tests.names", "tests.none", "tests.uncalled", "tests.uncollected",
    "tests.vacuous", "strength.weak",
}  # fmt: skip
# what an attack against the report needs is refused by the source; past it, the run has to tell
REACHING = [name for name in BY_TESTS if any(word in BY_TESTS[name] for word in ("forge(", "json.", "_exit"))]


def _due(name: Any):
    return name.partition(":")[0]


def test_the_module_under_attack_is_told_from_the_right_one():
    """D-S8-06: without an attack the wrong module fails, by the test that the attacks replace."""
    wrong = {ENTRY: SOURCE.replace("(text.casefold() if fold else text).split()", "text.split()")}
    found = judge("tally_words", wrong, static=True).findings
    assert [finding.code for finding in found] == ["tests.failed"]
    assert "test_case_counts_unless_it_is_folded" in found[0].where
    assert len(BY_TESTS) > 200


def test_hostile_tests_are_refused_by_their_source():
    """D-S8-06, D-S8-12: frames, hooks, fixtures, patches, rebindings, assertions that hold or never run."""
    missed = []
    for name in BY_TESTS:
        whole = candidate("tally_words", attacked(name))
        found = {finding.code for finding in (*static_findings(whole), *import_findings(whole))}
        if found if _due(name) in SHOWN_BY_A_RUN else _due(name) not in found:
            missed.append((name, found))
    assert missed == []


def test_hostile_modules_are_refused_by_their_source():
    """D-S8-05, D-S8-20: effects by aliases, dynamic imports, code made at run time, attribute walks."""
    found = {name: {code for code, _ in codes_of_source(source)} for name, source in BY_MODULES.items()}
    assert [(name, codes) for name, codes in found.items() if _due(name) not in codes] == []


@pytest.mark.parametrize("name", spread(BY_TESTS, fast=300, slow=80))
def test_no_hostile_test_comes_through_the_whole_gate(name: Any, place: Path):
    """D-S8-06, D-S8-08, D-S8-12: a refusal or an honest failure, and nothing is left."""
    verdict = judge("tally_words", attacked(name), timeout_seconds=10, static=True, strength=0.8)
    assert not verdict.passed
    assert _due(name) in {finding.code for finding in verdict.findings}
    assert not survivors(place)
    assert not list(place.iterdir())


@pytest.mark.slow
def test_a_call_that_outlives_its_test_leaves_a_verdict(monkeypatch: pytest.MonkeyPatch):
    """D-S8-06: a thread calls the module after the test has ended; what the source shows stands, whatever breaks off."""

    def breaks_off(*_: Any, **__: Any):
        raise ShipGateError("the tests broke off again and again", where="gate", remedy="")

    name = "tests.trick: thread"
    found = [judge("tally_words", attacked(name), static=True, strength=0.8).findings for _ in range(5)]
    monkeypatch.setattr("ship_gate.stages.observe", breaks_off)
    found.append(judge("tally_words", attacked(name), static=True, strength=0.8).findings)
    assert all("tests.trick" in {finding.code for finding in findings} for findings in found)


@pytest.mark.parametrize("name", spread(REACHING, fast=100, slow=24))
def test_nor_past_the_static_checks(name: Any, place: Path):
    """D-S8-09: a forged report is told by the guard, or by a run in which no module answers."""
    verdict = judge("tally_words", attacked(name), timeout_seconds=10, static=False, strength=0.8)
    assert not verdict.passed
    assert not survivors(place)
    assert not list(place.iterdir())


@pytest.mark.parametrize("name", spread(BY_MODULES, fast=100, slow=24))
def test_no_hostile_module_is_executed(name: Any, place: Path):
    """D-S8-01, D-S8-05: after what cannot be vouched for nothing is run, and the verdict says why."""
    whole = SOURCE + "\n\n" + BY_MODULES[name].replace("def f(", "def _deed(").replace("f,", "_deed,")
    verdict = judge("tally_words", {ENTRY: whole}, static=True)
    found = {finding.code for finding in verdict.findings}
    assert _due(name) in found
    assert not (verdict.tests and any(FindingCode(code).severity is Severity.NOT_EXECUTED for code in found))
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    "path",
    [
        "tests/conftest.py",
        "tests/pytest.ini",
        "conftest.py",
        "tests/__init__.py",
        "tests/sitecustomize.py",
        "pytest.py",
    ],
)
def test_files_that_steer_pytest_or_python_have_no_place(path: Any):
    """D-S8-06: they are told by their path, and nothing of them is read."""
    verdict = judge("tally_words", {path: "import os\nos._exit(0)\n"}, static=True)
    assert ("files.unexpected", path) in [(finding.code, finding.where) for finding in verdict.findings]
    assert verdict.tests == ()
