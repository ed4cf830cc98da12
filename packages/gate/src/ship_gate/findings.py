"""The codes of what the gate finds (design: ship-gate). `findings.toml` says of each how grave it is, and what to do."""

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ship_gate.base.text import did_you_mean
from ship_gate.errors import InputError


class Severity(StrEnum):
    """What a finding means for the rest of a judgement. Every finding refuses the module."""

    FATAL = "ends the judgement"
    NOT_EXECUTED = "nothing of the module is executed"
    UNMEASURED = "strength and fuzz are not measured"
    REFUSED = "the other stages still run"


class FindingCode(StrEnum):
    """A code, with its severity and its remedy."""

    MODULE_UNREADABLE = "module.unreadable"
    CONTRACT_INVALID = "contract.invalid"
    CONTRACT_RULE = "contract.rule"
    DOCSTRING_DRIFT = "docstring.drift"
    FILES_MISSING = "files.missing"
    FILES_UNEXPECTED = "files.unexpected"
    FILES_CONTRACT = "files.contract"
    FILES_SIZE = "files.size"
    SOURCE_UNREADABLE = "source.unreadable"
    SOURCE_IMPORT = "source.import"
    SOURCE_SIZE = "source.size"
    STATIC_EFFECT = "static.effect"
    STATIC_REFUSED = "static.refused"
    STATIC_DYNAMIC = "static.dynamic"
    STATIC_RAISE = "static.raise"
    EFFECTS_UNDECLARED = "effects.undeclared"
    EFFECTS_REFUSED = "effects.refused"
    EFFECTS_CODE = "effects.code"
    EFFECTS_STATE = "effects.state"
    SURFACE_EXPORTS = "surface.exports"
    SURFACE_ENTRY_POINT = "surface.entry_point"
    SURFACE_PARAMETERS = "surface.parameters"
    SURFACE_TWINS = "surface.twins"
    SURFACE_DOCSTRING = "surface.docstring"
    SURFACE_CLASS = "surface.class"
    SURFACE_NAME = "surface.name"
    SURFACE_STAR_IMPORT = "surface.star_import"
    SURFACE_MISMATCH = "surface.mismatch"
    SURFACE_DIVERGED = "surface.diverged"
    TESTS_IMPORT = "tests.import"
    TESTS_TRICK = "tests.trick"
    TESTS_INTERNALS = "tests.internals"
    TESTS_BROAD = "tests.broad"
    TESTS_SLEEP = "tests.sleep"
    TESTS_CONSTANT = "tests.constant"
    OBLIGATIONS_UNREADABLE = "obligations.unreadable"
    OBLIGATIONS_UNKNOWN_TEST = "obligations.unknown_test"
    OBLIGATIONS_AMBIGUOUS_TEST = "obligations.ambiguous_test"
    OBLIGATIONS_UNKNOWN_POINTER = "obligations.unknown_pointer"
    OBLIGATIONS_UNCOVERED = "obligations.uncovered"
    OBLIGATIONS_UNSEEN = "obligations.unseen"
    TESTS_NONE = "tests.none"
    TESTS_FAILED = "tests.failed"
    TESTS_UNCOLLECTED = "tests.uncollected"
    TESTS_NAMES = "tests.names"
    TESTS_INCOMPLETE = "tests.incomplete"
    TESTS_TIMEOUT = "tests.timeout"
    TESTS_OUTPUT = "tests.output"
    TESTS_DISK = "tests.disk"
    TESTS_BOUNDARY = "tests.boundary"
    TESTS_ARGUMENT_CHANGED = "tests.argument_changed"
    TESTS_UNCALLED = "tests.uncalled"
    TESTS_FORGED = "tests.forged"
    TESTS_SURROUNDINGS = "tests.surroundings"
    TESTS_VACUOUS = "tests.vacuous"
    EXAMPLES_FORM = "examples.form"
    EXAMPLES_PLACEHOLDER = "examples.placeholder"
    EXAMPLES_UNCOVERED = "examples.uncovered"
    EXAMPLES_FALSE = "examples.false"
    EXAMPLES_BROKEN = "examples.broken"
    EXAMPLES_ARGUMENT_CHANGED = "examples.argument_changed"
    STRENGTH_WEAK = "strength.weak"
    STRENGTH_FUNCTION = "strength.function"
    STRENGTH_UNSTABLE = "strength.unstable"
    STRENGTH_SLOW = "strength.slow"
    FUZZ_COUNTEREXAMPLE = "fuzz.counterexample"
    FALSIFYING_FAILED = "falsifying.failed"
    ACCEPTANCE_FAILED = "acceptance.failed"
    ACCEPTANCE_PROPERTY = "acceptance.property"
    REPORTED_FAILED = "reported.failed"

    @property
    def severity(self) -> Severity:
        """What it means for the rest of a judgement."""
        return Severity[_table()[self]["severity"].upper()]

    @property
    def remedy(self) -> str:
        """What to do, in a line."""
        return _table()[self]["remedy"]


class ExplainedFinding(NamedTuple):
    """What there is to say of a code.

    Args:
        code: The finding's.
        severity: What it means for the rest of a judgement.
        means: What was observed.
        why: Why that refuses the module.
        steps: What to do, the usual case first.
    """

    code: str
    severity: str
    means: str
    why: str
    steps: tuple[str, ...]


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("ship_gate") / "findings.toml").read_text(encoding="utf-8"))


def explain_finding(code: str) -> ExplainedFinding:
    """Explain a code of the gate.

    Raises:
        InputError: there is no such code.
    """
    if code not in _table():
        raise InputError(
            f"the gate has no finding {code[:100]!r}",
            remedy=f"{did_you_mean(code[:100], _table())}a code stands in front of each finding, as tests.failed; "
            "docs/gate.md lists them",
        )
    row = _table()[code]
    return ExplainedFinding(code, FindingCode(code).severity, row["means"], row["why"], tuple(row["steps"]))


def remedy_of(code: str) -> str:
    """What to do about findings of a code; empty if it is none of the gate's."""
    return str(_table().get(code, {}).get("remedy", ""))
