"""The sentences of SPEC.md, and what two texts have in common (D41)."""

import pytest

from specwright.domain.spec.statements import (
    Statement,
    names_in,
    same_words,
    shared_values,
    shared_words,
    statements,
)

SPEC = """\
# Purse

A library. It splits
a bill evenly.

- **Split.** 10.00 is
  `3.34` and more.
- Nothing else!

```python
split(10)
```

1. Last one.
"""


def test_a_spec_is_read_as_sentences_with_their_lines():
    """Headings, wrapped lines, items and code, without the marks of Markdown (D-41-07)."""
    assert sorted(statements(SPEC)) == [
        Statement(1, "Purse", 1),
        Statement(3, "A library.", 1),
        Statement(3, "It splits a bill evenly.", 1),
        Statement(6, "Split. 10.00 is `3.34` and more.", 1),
        Statement(8, "Nothing else!", 1),
        Statement(11, "split(10)", 1),
        Statement(14, "Last one.", 1),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It splits a bill evenly.", "Given money, IT SPLITS a  bill evenly among all.", True),
        ("It splits a bill evenly.", "It splits bills evenly.", False),
        ("A bill.", "It splits a bill.", False),
    ],
)
def test_the_same_words_are_words_in_a_row(one: str, other: str, same: bool):
    """Whatever the case and the white space; a short text says too little (D-41-07)."""
    assert same_words(one, other) is same_words(other, one) is same


def test_values_names_and_words_in_common():
    """Quoted texts, code and numbers; names as whole words; at least two longer words (D-41-07)."""
    assert shared_values('10.00 gives `"a b"`', "f returns 'a b' for 10.00, not for 110.00") == [
        "10.00",
        "a b",
    ]
    assert shared_values("100 and 1", "1000 and 1") == []
    assert names_in("Settle_up, then split.", ["settle_up", "spl"]) == ["settle_up"]
    assert shared_words("Blank names are refused.", "It refused every blank name") == ["blank", "refused"]
    assert shared_words("Blank names", "A blank text") == []


def test_a_sentence_knows_its_section():
    """By the line of its heading; one within a fence is none (D-41-07)."""
    text = "First.\n\n# One\n\nSecond.\n\n```sh\n# no heading\n```\n\nThird.\n\n## Two\n\nFourth.\n"
    assert {one.text: one.section for one in statements(text)} == {
        "First.": 0,
        "One": 3,
        "Second.": 3,
        "# no heading": 3,
        "Third.": 3,
        "Two": 13,
        "Fourth.": 13,
    }
