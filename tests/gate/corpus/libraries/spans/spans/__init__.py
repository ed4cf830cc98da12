"""Sets of whole numbers as half-open spans.

A span is a tuple ``(start, end)`` with the start before the end; it holds the
numbers from ``start`` up to but not including ``end``.
"""

from __future__ import annotations

Span = tuple[int, int]


def normalise(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort spans and merge those that overlap or touch.

    Args:
        spans: The spans in any order; the list is not changed.

    Returns:
        The sorted, disjoint spans that cover the same numbers.

    Raises:
        ValueError: If the end of a span is not after its start.

    Examples:
        >>> normalise([(5, 8), (1, 3), (3, 4)])
        [(1, 4), (5, 8)]
    """
    for start, end in spans:
        if end <= start:
            raise ValueError(f"span must end after its start: ({start}, {end})")
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def subtract(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return what is in one set of spans and not in another.

    Args:
        left: The spans to take from.
        right: The spans to take away.

    Returns:
        The normalised difference.

    Raises:
        ValueError: If the end of a span is not after its start.

    Examples:
        >>> subtract([(0, 10)], [(3, 5)])
        [(0, 3), (5, 10)]
    """
    result: list[Span] = []
    holes = normalise(right)
    for start, end in normalise(left):
        position = start
        for hole_start, hole_end in holes:
            if hole_end <= position:
                continue
            if hole_start >= end:
                break
            if hole_start > position:
                result.append((position, hole_start))
            position = hole_end
        if position < end:
            result.append((position, end))
    return result


def contains(spans: list[tuple[int, int]], number: int) -> bool:
    """Tell whether a number is in one of the spans.

    Args:
        spans: The spans.
        number: The number to look for.

    Returns:
        True if the number is covered, otherwise False.

    Raises:
        ValueError: If the end of a span is not after its start.

    Examples:
        >>> contains([(1, 3)], 2)
        True
        >>> contains([(1, 3)], 3)
        False
    """
    return any(start <= number < end for start, end in normalise(spans))


def gaps(
    spans: list[tuple[int, int]], start: int, end: int
) -> list[tuple[int, int]]:
    """Return what of a range is in no span.

    Args:
        spans: The spans.
        start: The start of the range.
        end: The end of the range, not included.

    Returns:
        The normalised gaps; none if ``start`` equals ``end``.

    Raises:
        ValueError: If ``end`` is before ``start``, or the end of a span is
            not after its start.

    Examples:
        >>> gaps([(2, 4)], 0, 6)
        [(0, 2), (4, 6)]
    """
    if end < start:
        raise ValueError(f"end must not be before start: {start}..{end}")
    covered = normalise(spans)
    if start == end:
        return []
    return subtract([(start, end)], covered)


def total(spans: list[tuple[int, int]]) -> int:
    """Count the numbers that are covered, each once.

    Args:
        spans: The spans.

    Returns:
        How many numbers are covered.

    Raises:
        ValueError: If the end of a span is not after its start.

    Examples:
        >>> total([(0, 5), (3, 8)])
        8
    """
    return sum(end - start for start, end in normalise(spans))
