"""What a model drafts of an adopted function: the parts that nobody wrote (design: adoption).

Nothing of it counts until the sandbox bore it out; see `gate.drafted`.
"""

from typing import Annotated

from pydantic import Field

from specwright.domain.base.record import Record, Text


class DraftedType(Record):
    """A type that nobody states."""

    parameter: Annotated[str, Field(description="Its name; `return` for what the function returns.")]
    type: Text


class DraftedLimit(Record):
    """A limit of an input."""

    parameter: str
    text: Text


class DraftedError(Record):
    """An error that nobody states."""

    name: Annotated[str, Field(description="Of the exception's class.")]
    when: Text


class DraftedExample(Record):
    """A call to show in examples.md; what comes of it is observed."""

    sentence: Text
    call: Annotated[str, Field(description="One expression that calls the function.")]


class DraftedTest(Record):
    """A test."""

    code: Annotated[str, Field(description="One function, `def test_...`, with its decorators.")]
    shows: Annotated[
        list[str],
        Field(default=[], description="Pointers that it shows, or the text of a drafted statement."),
    ]


class DraftAnswer(Record):
    """What is drafted of one function."""

    types: list[DraftedType] = Field(default=[])
    constraints: list[DraftedLimit] = Field(default=[])
    invariants: list[Text] = Field(default=[])
    errors: list[DraftedError] = Field(default=[])
    examples: list[DraftedExample] = Field(default=[])
    imports: Annotated[
        list[str], Field(default=[], description="Import lines of the standard library that the tests need.")
    ]
    tests: list[DraftedTest] = Field(default=[])
