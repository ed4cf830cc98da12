"""A text as one line of a table, a graph or a progress line: a name may hold what would break it."""

__all__ = ["one_line"]


def one_line(text: str) -> str:
    """The text without what cannot be printed, single-spaced."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
