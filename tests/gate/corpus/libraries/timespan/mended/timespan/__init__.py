"""Lengths of time as people write them."""

from __future__ import annotations

import re

_UNITS: dict[str, int] = {
    "w": 7 * 24 * 60 * 60,
    "d": 24 * 60 * 60,
    "h": 60 * 60,
    "m": 60,
    "s": 1,
}
_ORDER = "wdhms"
_PART = re.compile(r"([0-9]+)([a-z])")
_MOST_CHARACTERS = 100
_MOST_PARTS = 100_000
_PLAIN = re.compile(r"[0-9]+")


def _unit_seconds(unit: str) -> int:
    """Return the number of seconds in a unit.

    Args:
        unit: One of the letters w, d, h, m, s.

    Returns:
        The length of the unit in seconds.

    Raises:
        ValueError: If the unit is unknown.
    """
    if unit not in _UNITS:
        raise ValueError(f"unknown unit: {unit!r}")
    return _UNITS[unit]


def _check_not_negative(seconds: int) -> None:
    """Raise if a number of seconds is negative.

    Args:
        seconds: The number to check.

    Raises:
        ValueError: If the number is negative.
    """
    if seconds < 0:
        raise ValueError(f"seconds must not be negative: {seconds}")


def parse_span(text: str) -> int:
    """Parse a length of time into seconds.

    Units are w, d, h, m and s in any case, each at most once and the largest
    first. Spaces are allowed between the parts. A bare number is taken as
    seconds.

    Args:
        text: The text to parse, such as ``"1h30m"`` or ``"2d 4h"``.

    Returns:
        The length in seconds.

    Raises:
        ValueError: If the text is empty, malformed or longer than 100
            characters, a unit is unknown, occurs twice or is in the wrong
            order.

    Examples:
        >>> parse_span("1h30m")
        5400
        >>> parse_span("45")
        45
    """
    rest = text.strip().lower()
    if not rest:
        raise ValueError("empty time span")
    if len(rest) > _MOST_CHARACTERS:
        raise ValueError("too long for a time span")
    if _PLAIN.fullmatch(rest):
        return int(rest)

    total = 0
    last = -1
    while rest:
        match = _PART.match(rest)
        if match is None:
            raise ValueError(f"not a time span: {text!r}")
        number, unit = match.groups()
        size = _unit_seconds(unit)
        position = _ORDER.index(unit)
        if position == last:
            raise ValueError(f"unit {unit!r} occurs twice: {text!r}")
        if position < last:
            raise ValueError(f"unit {unit!r} is out of order: {text!r}")
        last = position
        total += int(number) * size
        rest = rest[match.end():].lstrip()
    return total


def format_span(seconds: int) -> str:
    """Format seconds in the shortest exact form.

    Args:
        seconds: The length in seconds.

    Returns:
        The text, largest unit first and without empty parts.

    Raises:
        ValueError: If ``seconds`` is negative.

    Examples:
        >>> format_span(5400)
        '1h30m'
        >>> format_span(0)
        '0s'
    """
    _check_not_negative(seconds)
    if seconds == 0:
        return "0s"
    parts: list[str] = []
    rest = seconds
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def round_span(seconds: int, unit: str) -> int:
    """Round seconds to the nearest multiple of a unit, halves up.

    Args:
        seconds: The length in seconds.
        unit: One of w, d, h, m, s.

    Returns:
        The rounded length in seconds.

    Raises:
        ValueError: If the unit is unknown or ``seconds`` is negative.

    Examples:
        >>> round_span(90, "m")
        120
        >>> round_span(89, "m")
        60
    """
    size = _unit_seconds(unit)
    _check_not_negative(seconds)
    count, rest = divmod(seconds, size)
    if rest * 2 >= size:
        count += 1
    return count * size


def split_span(seconds: int, parts: int) -> list[int]:
    """Split seconds into whole parts that differ by at most one.

    Args:
        seconds: The length in seconds.
        parts: The number of parts.

    Returns:
        The parts, larger ones first; their sum is ``seconds``.

    Raises:
        ValueError: If ``parts`` is less than one or more than 100,000, or
            ``seconds`` is negative.

    Examples:
        >>> split_span(10, 3)
        [4, 3, 3]
    """
    if parts < 1:
        raise ValueError(f"parts must be at least one: {parts}")
    if parts > _MOST_PARTS:
        raise ValueError(f"too many parts: {parts}")
    _check_not_negative(seconds)
    base, extra = divmod(seconds, parts)
    return [base + 1] * extra + [base] * (parts - extra)
