"""A text as one line of a table, a graph or a progress line: a name may hold what would break it."""

__all__ = ["one_line", "shortened"]


def one_line(text: str) -> str:
    """The text without what cannot be printed, single-spaced."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shortened(text: str, most: int = 100) -> str:
    """The text as one line; of a long one the beginning, and how long it is."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(text):,} characters)"
