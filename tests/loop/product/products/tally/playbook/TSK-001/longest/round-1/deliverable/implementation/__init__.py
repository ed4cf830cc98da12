__all__ = ["longest"]


def longest(words: list[str]) -> str:
    """Find the longest word."""
    if not words:
        raise ValueError("there are no words")
    return max(words, key=len)
