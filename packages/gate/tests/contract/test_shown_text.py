"""Texts as they are shown on one line (DESIGN §9)."""

import pytest

from ship_gate.base.text import first_sentences

SAID = (
    "Show a name of two words. Then strike the test of the empty name; it contradicts criterion 2. "
    "Nothing else is due."
)


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (400, SAID),
        (70, "Show a name of two words. Then strike the test of the empty name; (and 2 more sentences)"),
        (5, "Show a name of two words. (and 3 more sentences)"),
    ],
)
def test_a_sentence_that_says_what_to_do_is_never_cut(most: int, shown: str) -> None:
    """Whole sentences, at least one, and how many more there are."""
    assert first_sentences(SAID, most) == shown
    assert first_sentences("word " * 40, 50) == ("word " * 40).strip()
