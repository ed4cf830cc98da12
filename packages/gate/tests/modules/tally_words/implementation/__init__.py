from collections import Counter

__all__ = ["EmptyTextError", "tally_words"]


class EmptyTextError(Exception):
    """A text without a word."""


def tally_words(text: str, fold: bool = False) -> dict[str, int]:
    """Count how often each word stands in a text.

    Args:
        text:
            - holds at least one word
        fold:

    Returns:
        counts:
            - every count is at least 1

    Raises:
        EmptyTextError: text holds no word
    """
    words = (text.casefold() if fold else text).split()
    if not words:
        raise EmptyTextError("the text holds no word")
    return dict(Counter(words))
