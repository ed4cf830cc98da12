"""Tests and properties that others than the author of a module state: falsifying tests, regression tests and properties
(design: falsifying-tests, executable-spec).
"""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from pydantic import Field

from ship_gate.base.ids import ModuleRefText
from ship_gate.base.record import OmittedIfEmpty, Record, Sha256

MAX_TEST_CHARACTERS = 4000
"""Of the source of one falsifying test."""


class FalsifyingTest(OmittedIfEmpty):
    """A black-box test of what the contract says and no listed test shows (design: falsifying-tests)."""

    omitted = ("criteria",)

    name: Annotated[
        str,
        Field(
            pattern=r"^test_[a-z0-9_]{1,80}$", description="The name of the one test function in `source`."
        ),
    ]
    obligation: Annotated[
        str,
        Field(
            description='What it tries to falsify: "" for the purpose, or a contract pointer such as '
            "/inputs/0/constraints/1, /outputs/0/invariants/0, /error_surfaces/0, /effects/0."
        ),
    ]
    source: Annotated[
        str,
        Field(
            min_length=20,
            max_length=MAX_TEST_CHARACTERS,
            description="A whole pytest file: imports, `from modules.<module> import <module>`, one test function.",
        ),
    ]
    criteria: Annotated[
        list[Annotated[int, Field(ge=1)]],
        Field(description="The acceptance criteria that it tries, by their numbers."),
    ] = Field(default_factory=list)


class RegressionTest(Record):
    """A falsifying test that a sealed version passed and that nobody struck.

    Args:
        contract_sha256: Of the whole contract that it was written against.
        criteria: The acceptance criteria that it tries, as they read then.
        since: The first version that it was kept with.
    """

    name: str
    obligation: str
    source: str
    contract_sha256: Sha256
    criteria: list[str] = Field(default_factory=list)
    since: ModuleRefText

    @property
    def test(self) -> FalsifyingTest:
        """As the gate runs it."""
        return FalsifyingTest(name=self.name, obligation=self.obligation, source=self.source)

    @property
    def about(self) -> str:
        """What it tries, in words."""
        named = "".join(f" and the criterion {text!r}" for text in self.criteria)
        return f"{self.obligation or 'the purpose'}{named}"


class RegressionTests(Record):
    """The falsifying tests beside a sealed version.

    Args:
        contract_sha256: Of the version's contract; under another one they say nothing.
        tests: The earliest first.
    """

    contract_sha256: Sha256
    tests: list[RegressionTest]


class Property(NamedTuple):
    """Code over typed variables that must be true for all of their values.

    Args:
        heading: The criteria that it shows, and its title.
        code: Ends in the expression that must be true.
        variables: Each with its type in normal form.
        errors: Those that may come out instead.
        examples: Code of the approved examples, whose constants are tried.
        texts: Prose of the criteria, whose numbers are tried.
    """

    heading: str
    code: str
    variables: Mapping[str, str]
    errors: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
