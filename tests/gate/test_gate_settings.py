"""What the settings bind at the gate: limits, threshold, fuzz, and who may run without a sandbox."""

import pytest

from gate_testkit.judging import MODULES, candidate, codes
from specwright.bootstrap.project import gate_of, uses_shipped_playbooks
from specwright.settings import Settings
from testkit.paths import ROOT

ENTRY = "implementation/__init__.py"
SHIPPED = f"playbook:{ROOT / 'examples/tabkeeper/playbook'}"
TESTS = "tests/test_tally_words.py"


def judged(changes, **settings):
    """The preflight's verdict under some settings."""
    return gate_of(Settings(**settings)).judge(candidate("tally_words", changes), thorough=False)


def changed(line):
    """The entry file with a line more."""
    source = (MODULES / "tally_words" / ENTRY).read_text(encoding="utf-8")
    return {ENTRY: source.replace("    words = ", f"    {line}\n    words = ", 1)}


def with_lines(*lines):
    """The tests with lines more."""
    tests = (MODULES / "tally_words" / TESTS).read_text(encoding="utf-8")
    return {TESTS: "\n".join([tests, "", *lines, ""])}


MUCH = with_lines("print('x' * 2 * 1024 * 1024)")
LARGE = with_lines("with open('big', 'wb') as big:", "    big.write(bytes(2 * 1024 * 1024))")
LONG = with_lines("import select", "select.select([], [], [], 4)")
LIMITS = {
    "memory": (changed("bytearray(260 * 1024 * 1024)"), {"gate_memory_mib": 256}, "tests.failed"),
    "output": (MUCH, {"gate_output_mib": 1}, "tests.output"),
    "disk": (LARGE, {"gate_disk_mib": 4}, "tests.uncollected"),
    "time": (LONG, {"gate_timeout_seconds": 1.5}, "tests.timeout"),
}


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_the_sandbox_is_a_setting(limit):
    """D-S8-11, issue 6: what the default allows is refused by a tighter setting."""
    changes, settings, code = LIMITS[limit]
    assert code not in codes(judged(changes))
    assert code in codes(judged(changes, **settings))


@pytest.mark.slow
def test_threshold_and_fuzz_are_settings_and_told_in_the_evidence():
    """D-S8-08, D-S8-14: the notes of a verdict say what was asked for."""
    strict = gate_of(Settings(gate_strength=1.0, gate_fuzz_examples=50)).judge(candidate("shorten"))
    usual = gate_of(Settings()).judge(candidate("shorten"))
    assert "threshold 1)" in strict.notes[1]
    assert "threshold 0.8)" in usual.notes[1]
    fewer, more = (int(verdict.notes[2].split()[2]) for verdict in (strict, usual))
    assert fewer < more


@pytest.mark.parametrize(
    ("settings", "shipped"),
    [
        ({"model": SHIPPED}, True),
        ({"model": SHIPPED, "role_models": {"challenger": SHIPPED}}, True),
        ({"model": SHIPPED, "role_models": {"challenger": "openai:gpt-5"}}, False),
        ({"model": f"playbook:{ROOT / 'tests/loop/product/products/pair/playbook'}"}, False),
        ({"model": f"{SHIPPED}/../../../tests"}, False),
        ({"model": "openai:examples"}, False),
        ({}, False),
    ],
)
def test_only_a_playbook_among_the_examples_ships_with_specwright(settings, shipped):
    """D-S8-16: one role that a model or another playbook answers is enough to need a sandbox."""
    assert uses_shipped_playbooks(Settings(**settings)) is shipped
