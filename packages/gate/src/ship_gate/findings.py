"""The codes of what the gate finds: how grave each is, and what to do about it (design: ship-gate).

The values are stable: they stand in reports, in `ship.json` and in journals. `docs/gate.md` lists them.
"""

from enum import StrEnum
from typing import Self


class Severity(StrEnum):
    """What a finding means for the rest of a judgement. Every finding refuses the module."""

    FATAL = "ends the judgement"
    NOT_EXECUTED = "nothing of the module is executed"
    UNMEASURED = "strength and fuzz are not measured"
    REFUSED = "the other stages still run"


class FindingCode(StrEnum):
    """A code with its severity and its remedy."""

    severity: Severity
    remedy: str

    def __new__(cls, value: str, severity: Severity, remedy: str) -> Self:
        """A member whose value is the code."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.severity = severity
        member.remedy = remedy
        return member

    # the contract and the files
    CONTRACT_INVALID = (
        "contract.invalid",
        Severity.FATAL,
        "correct contract.json; it cannot be read as a contract",
    )
    CONTRACT_RULE = (
        "contract.rule",
        Severity.FATAL,
        "amend the contract; it breaks a rule and cannot be locked",
    )
    DOCSTRING_DRIFT = (
        "docstring.drift",
        Severity.REFUSED,
        "run `shipgate judge DIR --fix`; it writes the docstring",
    )
    FILES_MISSING = "files.missing", Severity.REFUSED, "add the file; a module directory holds it"
    FILES_UNEXPECTED = "files.unexpected", Severity.FATAL, "remove or rename the file"
    FILES_CONTRACT = "files.contract", Severity.REFUSED, "leave contract.json to the factory"
    FILES_SIZE = "files.size", Severity.FATAL, "use fewer or smaller files"

    # the source
    SOURCE_UNREADABLE = "source.unreadable", Severity.FATAL, "write Python in UTF-8"
    SOURCE_IMPORT = "source.import", Severity.NOT_EXECUTED, "import only what is in the module's scope"
    SOURCE_SIZE = "source.size", Severity.REFUSED, "make a module of its own of a part"
    STATIC_EFFECT = "static.effect", Severity.REFUSED, "remove the effect, or take the value as an input"
    STATIC_REFUSED = (
        "static.refused",
        Severity.NOT_EXECUTED,
        "remove it; no contract can declare such an effect",
    )
    STATIC_DYNAMIC = (
        "static.dynamic",
        Severity.NOT_EXECUTED,
        "write the code out instead of making it at run time",
    )
    STATIC_RAISE = "static.raise", Severity.REFUSED, "catch the exception, or raise a declared one"

    # what a module did when it was run
    EFFECTS_UNDECLARED = (
        "effects.undeclared",
        Severity.REFUSED,
        "remove the effect, or take the value as an input",
    )
    EFFECTS_REFUSED = "effects.refused", Severity.REFUSED, "remove it; no contract can declare such an effect"
    EFFECTS_CODE = "effects.code", Severity.REFUSED, "leave the function as it is written"
    EFFECTS_STATE = "effects.state", Severity.REFUSED, "pass state in and return it"

    # the public surface
    SURFACE_EXPORTS = "surface.exports", Severity.NOT_EXECUTED, "write `__all__` once, as a literal list"
    SURFACE_ENTRY_POINT = (
        "surface.entry_point",
        Severity.NOT_EXECUTED,
        "define the entry point once, undecorated",
    )
    SURFACE_PARAMETERS = "surface.parameters", Severity.NOT_EXECUTED, "use plain, annotated parameters"
    SURFACE_TWINS = "surface.twins", Severity.NOT_EXECUTED, "give `f` and `f_async` the same surface"
    SURFACE_DOCSTRING = "surface.docstring", Severity.NOT_EXECUTED, "leave the docstring to the factory"
    SURFACE_CLASS = "surface.class", Severity.NOT_EXECUTED, "make the exported class field-only"
    SURFACE_NAME = "surface.name", Severity.NOT_EXECUTED, "bind the name once, to what the contract means"
    SURFACE_STAR_IMPORT = "surface.star_import", Severity.NOT_EXECUTED, "name each import"
    SURFACE_MISMATCH = (
        "surface.mismatch",
        Severity.NOT_EXECUTED,
        "restore the signature of the locked contract",
    )
    SURFACE_DIVERGED = (
        "surface.diverged",
        Severity.NOT_EXECUTED,
        "change this dimension back to the contract's",
    )

    # the tests, read without running them
    TESTS_IMPORT = "tests.import", Severity.NOT_EXECUTED, "import the public surface only"
    TESTS_TRICK = "tests.trick", Severity.REFUSED, "write plain tests: no skips, patches, hooks or stand-ins"
    TESTS_INTERNALS = "tests.internals", Severity.REFUSED, "use public names only"
    TESTS_BROAD = "tests.broad", Severity.REFUSED, "name the declared error"
    TESTS_SLEEP = "tests.sleep", Severity.REFUSED, "assert what the call left behind when it returned"
    TESTS_CONSTANT = "tests.constant", Severity.REFUSED, "assert something that can fail"

    # the obligations
    OBLIGATIONS_UNREADABLE = "obligations.unreadable", Severity.REFUSED, "correct tests/obligations.json"
    OBLIGATIONS_UNKNOWN_TEST = "obligations.unknown_test", Severity.REFUSED, "name a test that exists"
    OBLIGATIONS_AMBIGUOUS_TEST = "obligations.ambiguous_test", Severity.REFUSED, "name the test with its file"
    OBLIGATIONS_UNKNOWN_POINTER = "obligations.unknown_pointer", Severity.REFUSED, "point into the contract"
    OBLIGATIONS_UNCOVERED = "obligations.uncovered", Severity.REFUSED, "write a test for the obligation"
    OBLIGATIONS_UNSEEN = (
        "obligations.unseen",
        Severity.REFUSED,
        "let a test that claims it assert what comes of the call",
    )

    # the run of the tests
    TESTS_NONE = "tests.none", Severity.NOT_EXECUTED, "write tests in tests/test_*.py"
    TESTS_FAILED = "tests.failed", Severity.UNMEASURED, "correct the module"
    TESTS_UNCOLLECTED = (
        "tests.uncollected",
        Severity.UNMEASURED,
        "make the file of tests and the module importable",
    )
    TESTS_NAMES = "tests.names", Severity.UNMEASURED, "give each test a name of its own, as a plain function"
    TESTS_INCOMPLETE = (
        "tests.incomplete",
        Severity.UNMEASURED,
        "let every test run; nothing may end the process",
    )
    TESTS_TIMEOUT = "tests.timeout", Severity.UNMEASURED, "find what hangs"
    TESTS_OUTPUT = "tests.output", Severity.UNMEASURED, "print and send less"
    TESTS_DISK = "tests.disk", Severity.UNMEASURED, "write fewer or smaller files"
    TESTS_BOUNDARY = "tests.boundary", Severity.UNMEASURED, "give and return values of boundary types"
    TESTS_ARGUMENT_CHANGED = "tests.argument_changed", Severity.UNMEASURED, "work on a copy of the argument"
    TESTS_UNCALLED = "tests.uncalled", Severity.UNMEASURED, "call the module, or remove the test"
    TESTS_FORGED = "tests.forged", Severity.UNMEASURED, "leave the test runner alone"
    TESTS_SURROUNDINGS = (
        "tests.surroundings",
        Severity.REFUSED,
        "let the module do the same whatever surrounds it",
    )
    TESTS_VACUOUS = (
        "tests.vacuous",
        Severity.REFUSED,
        "assert what a call returned, raised or wrote",
    )

    # the examples
    EXAMPLES_FORM = "examples.form", Severity.REFUSED, "correct the form of examples.md"
    EXAMPLES_PLACEHOLDER = "examples.placeholder", Severity.REFUSED, "replace the placeholder"
    EXAMPLES_UNCOVERED = "examples.uncovered", Severity.REFUSED, "add an example"
    EXAMPLES_FALSE = "examples.false", Severity.REFUSED, "correct the example or the module"
    EXAMPLES_BROKEN = "examples.broken", Severity.REFUSED, "correct the example or the module so that it ends"
    EXAMPLES_ARGUMENT_CHANGED = (
        "examples.argument_changed",
        Severity.REFUSED,
        "work on a copy of the argument",
    )

    # what the tests are worth, and what they do not show
    STRENGTH_WEAK = "strength.weak", Severity.REFUSED, "write tests that notice the listed faults"
    STRENGTH_FUNCTION = "strength.function", Severity.REFUSED, "write tests that notice the listed faults"
    STRENGTH_UNSTABLE = (
        "strength.unstable",
        Severity.REFUSED,
        "make the tests independent of chance and order",
    )
    STRENGTH_SLOW = "strength.slow", Severity.REFUSED, "draw fewer examples, or use smaller inputs"
    FUZZ_COUNTEREXAMPLE = (
        "fuzz.counterexample",
        Severity.REFUSED,
        "make the module keep its contract for this input",
    )
    FALSIFYING_FAILED = "falsifying.failed", Severity.REFUSED, "correct the module; a falsifying test fails"
    ACCEPTANCE_FAILED = (
        "acceptance.failed",
        Severity.REFUSED,
        "correct the module; an example that was approved with the spec fails",
    )
    ACCEPTANCE_PROPERTY = (
        "acceptance.property",
        Severity.REFUSED,
        "correct the module; a property that was approved with the spec does not hold",
    )
    REPORTED_FAILED = (
        "reported.failed",
        Severity.REFUSED,
        "correct the module; the example of a bug report fails",
    )


def finding_table() -> str:
    """The codes as a Markdown table, for `docs/gate.md`."""
    rows = [f"| `{code}` | {code.severity} | {code.remedy} |" for code in FindingCode]
    return "\n".join(["| code | besides the refusal | what to do |", "|---|---|---|", *rows])
