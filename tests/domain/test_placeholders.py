"""What stands for a text that nobody has written yet (F§10.1, D10)."""

import pytest
from pydantic import TypeAdapter, ValidationError

from ship_gate.base.text import is_placeholder
from specwright.domain.answers import NoneBecause

LONGER = ["to be determined", "To be decided later.", "TODO: say it", "FIXME: wrong", "none: TBD", "none: —"]
WRITTEN = ["T.B.D.", "N / A", "ＴＢＤ", "TBD (later)", "TBD, see above", "none - TBD"]


@pytest.mark.parametrize(
    "text",
    [
        "TBD",
        "tbc.",
        "N/A",
        "n.a.",
        "[TODO]",
        "<TBD>",
        '"TBD"',
        "(none)",
        "—",
        "...",
        "?",
        "xxx",
        *LONGER,
        *WRITTEN,
    ],
)
def test_a_placeholder_is_known_whatever_stands_around_it(text: str):
    """F-10-05, D-19-01: brackets, quotes, dots and dashes hide none."""
    assert is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "none: pure",
        "none - pure",
        "none of the lines is empty",
        "none-empty text",
        "todo-lists are sorted",
        "a / b is the quotient",
        "Todo lists are sorted",
        "na is the code of Namibia",
        "[]",
        "''",
        "0",
        "defaults to None",
    ],
)
def test_a_text_that_says_something_is_none(text: str):
    """F-10-05, D-19-01: a word within a sentence, and an empty value, are no placeholders."""
    assert not is_placeholder(text)


def test_an_absence_needs_a_reason():
    """F-10-05: `none: TBD` says that nobody has thought of it."""
    absence = TypeAdapter(NoneBecause)
    assert absence.validate_python("none: pure") == "none: pure"
    with pytest.raises(ValidationError, match="placeholder"):
        absence.validate_python("none: TBD")
