from pathlib import Path

from ..tally_words import EmptyTextError, tally_words
from ._saved import Saved

__all__ = ["EmptyTextError", "Saved", "save_tally"]


def save_tally(text: str, target: Path) -> Saved:
    """Write how often each word stands in a text to a file.

    Args:
        text:
            - holds at least one word
        target:
            - its folder exists

    Returns:
        saved:
            - saved.words is the number of different words

    Raises:
        EmptyTextError: text holds no word
        OSError: target cannot be written

    Effects:
        - WRITE `target`: one line per word, as `word count`
    """
    counts = tally_words(text)
    lines = "".join(f"{word} {count}\n" for word, count in counts.items())
    target.write_text(lines, encoding="utf-8", errors="surrogatepass")
    return Saved(target, len(counts))
