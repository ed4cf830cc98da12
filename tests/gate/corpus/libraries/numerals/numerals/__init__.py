"""Roman numerals from 1 to 3999."""

from __future__ import annotations

import re

_MAX = 3999
_VALUES: tuple[tuple[int, str], ...] = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)
_LETTERS: dict[str, int] = {
    "I": 1,
    "V": 5,
    "X": 10,
    "L": 50,
    "C": 100,
    "D": 500,
    "M": 1000,
}
_PATTERN = re.compile(
    r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})",
    re.ASCII | re.IGNORECASE,
)


def to_roman(number: int) -> str:
    """Write a number as a Roman numeral.

    Args:
        number: A number from 1 to 3999.

    Returns:
        The numeral in capitals and the usual subtractive form.

    Raises:
        ValueError: If the number is out of range.

    Examples:
        >>> to_roman(1994)
        'MCMXCIV'
    """
    if not 1 <= number <= _MAX:
        raise ValueError(f"number must be from 1 to {_MAX}: {number}")
    parts: list[str] = []
    rest = number
    for value, letters in _VALUES:
        count, rest = divmod(rest, value)
        parts.append(letters * count)
    return "".join(parts)


def from_roman(text: str) -> int:
    """Read a Roman numeral strictly.

    Upper and lower case are both accepted, as are surrounding blanks.

    Args:
        text: The numeral.

    Returns:
        Its value.

    Raises:
        ValueError: If the text is not a well-formed numeral.

    Examples:
        >>> from_roman("xlii")
        42
    """
    stripped = text.strip()
    if not stripped or _PATTERN.fullmatch(stripped) is None:
        raise ValueError(f"not a Roman numeral: {text!r}")
    total = 0
    previous = 0
    for letter in reversed(stripped.upper()):
        value = _LETTERS[letter]
        if value < previous:
            total -= value
        else:
            total += value
            previous = value
    return total


def is_roman(text: str) -> bool:
    """Tell whether a text is a Roman numeral.

    Args:
        text: The text to look at.

    Returns:
        True if ``from_roman`` accepts the text, otherwise False.

    Examples:
        >>> is_roman("IV")
        True
        >>> is_roman("IIII")
        False
    """
    try:
        from_roman(text)
    except ValueError:
        return False
    return True


def next_roman(text: str) -> str:
    """Return the numeral that follows another.

    Args:
        text: The numeral to start from.

    Returns:
        The following numeral in capitals.

    Raises:
        ValueError: If the text is not a numeral.
        OverflowError: If the text is the largest numeral, MMMCMXCIX.

    Examples:
        >>> next_roman("ix")
        'X'
    """
    value = from_roman(text)
    if value >= _MAX:
        raise OverflowError(f"there is no numeral after {text.strip().upper()}")
    return to_roman(value + 1)


def sort_roman(texts: list[str]) -> list[str]:
    """Sort numerals by value.

    Args:
        texts: The numerals; the list is not changed.

    Returns:
        A new list with the texts as they were, sorted by value. Equal ones
        keep their order.

    Raises:
        ValueError: If one of the texts is not a numeral.

    Examples:
        >>> sort_roman(["X", "IX", "V"])
        ['V', 'IX', 'X']
    """
    return sorted(texts, key=from_roman)
