"""Source in what judges are shown (F§9.7, D12)."""

import pytest

from specwright.domain.debate.reported_faults import quote_problems

STUB = {"implementation/__init__.py": b"def double(number: int) -> int:\n    raise NotImplementedError\n"}
FILES = {
    "implementation/__init__.py": b'''"""Doubles."""

from ._limits import check_the_limit


def double(number: int) -> int:
    """Double a number.

    a line = of(the docstring)
    """
    if number < 0:  # below nothing = refused(always)
        raise ValueError("number is negative")
    check_the_limit(number)
    numbers.as_text.join(
        str(number)
    )
    total = sum([number, number])
    return total
''',
    "implementation/_limits.py": b"LIMITS = {\n    'the longest number of all': 10**6,\n}\n",
    "tests/test_double.py": b"assert double(2) == int('4', base=10)\n",
}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("It says total = sum([number, number]) and that is right.", "line 17 of implementation/__init__.py"),
        ("It says `total=sum([ number,\n number ])` and that is right.", "line 17"),
        ("First raise ValueError('number is negative'), then the rest.", "line 12"),
        ("## Two\n\n```python\ncheck_the_limit(number)\n```\n", "line 13"),
    ],
)
def test_a_line_of_the_source_is_found_however_it_is_laid_out(text: str, place: str):
    """F-9.7-07, D-12-02: in any field, whatever its quotes, its spaces and its line breaks."""
    (problem,) = quote_problems(FILES, STUB, {"claim": text, "acceptance_checks.0": "Two and two are four."})
    assert problem.startswith(f"claim: it holds {place}")


@pytest.mark.parametrize(
    "text",
    [
        "double(number: int) -> int: is the signature def double(number: int) -> int:",
        "It imports from ._limits import check_the_limit and doubles.",
        "return total is what comes out",
        "ValueError: number is negative",
        "a line = of(the docstring), and a comment: below nothing = refused(always)",
        "connection = numbers.as_text.join(rows) is what a test says itself",
        "'the longest number of all': a text of its own",
        "assert double(2) == int('4', base=10)",
    ],
)
def test_what_is_no_secret_may_be_said(text: str):
    """F-9.7-07: the contract's own words, imports, texts, comments, tests, and lines that say nothing alone."""
    assert quote_problems(FILES, STUB, {"claim": text}) == []
