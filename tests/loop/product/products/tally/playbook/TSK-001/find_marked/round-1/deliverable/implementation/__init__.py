from dataclasses import dataclass

__all__ = ["Marked", "MarkSettings", "find_marked"]


@dataclass(frozen=True)
class MarkSettings:
    """What is looked for."""

    mark: str
    most: int = 100


@dataclass(frozen=True)
class Marked:
    """A line with its number."""

    line: int
    text: str


def find_marked(lines: list[str], settings: MarkSettings) -> list[Marked]:
    """Find the lines that hold a mark."""
    if not settings.mark:
        raise ValueError("the mark is empty")
    found = [Marked(number, line) for number, line in enumerate(lines, 1) if settings.mark in line]
    return found[: max(settings.most, 0)]
