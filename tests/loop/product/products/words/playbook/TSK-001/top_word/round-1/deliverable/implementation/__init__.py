from ..tally_words import EmptyTextError, tally_words

__all__ = ["EmptyTextError", "top_word"]


def top_word(text: str) -> str:
    """Find the word that stands most often in a text.

    Args:
        text:
            - holds at least one word

    Returns:
        word:
            - the first of the words that stand most often

    Raises:
        EmptyTextError: text holds no word
    """
    counts = tally_words(text)
    return max(counts, key=lambda word: counts[word])
