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
    STRENGTH_IDIOM = "strength.idiom"
    STRENGTH_UNSTABLE = "strength.unstable"
    STRENGTH_SLOW = "strength.slow"
    FUZZ_COUNTEREXAMPLE = "fuzz.counterexample"
    FALSIFYING_FAILED = "falsifying.failed"
    ACCEPTANCE_FAILED = "acceptance.failed"
    ACCEPTANCE_PROPERTY = "acceptance.property"
    REPORTED_FAILED = "reported.failed"
    PACKAGE_EXAMPLE = "package.example"
    PACKAGE_TEST = "package.test"
    PACKAGE_TYPE = "package.type"
    PACKAGE_UNSHOWN = "package.unshown"
    PACKAGE_UNLOADED = "package.unloaded"

    @property
    def severity(self) -> Severity:
        """What it means for the rest of a judgement."""
        return Severity[_table()[self]["severity"].upper()]

    @property
    def remedy(self) -> str:
        """What to do, in a line."""
        return _table()[self]["remedy"]

    @property
    def means(self) -> str:
        """What was observed."""
        return _table()[self]["means"]

    @property
    def why(self) -> str:
        """Why that refuses the module."""
        return _table()[self]["why"]

    @property
    def steps(self) -> list[str]:
        """What to do, the usual case first."""
        return _table()[self]["steps"]


class Finding(NamedTuple):
    """One thing that is wrong.

    Args:
        code: Stable; for programs, which never read the message.
        where: The place; empty for the whole.
        message: A sentence that says what to change.
        pointer: The statement of the contract that nothing shows, if that is wrong.
    """

    code: str
    where: str
    message: str
    pointer: str = ""

    @property
    def remedy(self) -> str:
        """What to do about findings of its code; empty if it is none of the gate's."""
        return _table().get(self.code, {}).get("remedy", "")


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("ship_gate") / "findings.toml").read_text(encoding="utf-8"))


def known_code(code: str) -> FindingCode:
    """A code of the gate, which explains itself.

    Raises:
        InputError: there is no such code.
    """
    if code not in _table():
        raise InputError(
            f"the gate has no finding {code[:100]!r}",
            remedy=f"{did_you_mean(code[:100], _table())}a code stands in front of each finding, as tests.failed; "
            "docs/gate.md lists them",
        )
    return FindingCode(code)
