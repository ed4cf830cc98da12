from typing import Literal

__all__ = ["shorten", "shorten_async"]


def shorten(text: str, limit: int = 10) -> tuple[str, Literal["E_CUT", "E_WHOLE"]]:
    """Cut a text to a number of characters and say whether it was cut.

    Args:
        text:
        limit:
            - at least 1

    Returns:
        short:
            - at most limit characters
        note:

    Raises:
        ValueError: limit is below 1

    Errors:
        - E_CUT [code]: the text was longer than limit

    Modes:
        both give the same
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    return text[:limit], "E_CUT" if len(text) > limit else "E_WHOLE"


async def shorten_async(text: str, limit: int = 10) -> tuple[str, Literal["E_CUT", "E_WHOLE"]]:
    """Cut a text to a number of characters and say whether it was cut.

    Args:
        text:
        limit:
            - at least 1

    Returns:
        short:
            - at most limit characters
        note:

    Raises:
        ValueError: limit is below 1

    Errors:
        - E_CUT [code]: the text was longer than limit

    Modes:
        both give the same
    """
    return shorten(text, limit)
