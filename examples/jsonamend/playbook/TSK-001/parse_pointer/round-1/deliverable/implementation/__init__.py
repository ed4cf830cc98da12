from __future__ import annotations

import re

__all__ = ["parse_pointer", "PointerSyntaxError"]

_BAD_ESCAPE = re.compile("~(?![01])")


class PointerSyntaxError(ValueError):
    """The text is not a JSON Pointer."""


def parse_pointer(text: str) -> list[str]:
    if not text:
        return []
    if not text.startswith("/"):
        raise PointerSyntaxError("a pointer that is not empty begins with '/'")
    if _BAD_ESCAPE.search(text):
        raise PointerSyntaxError("a '~' is followed by '0' or '1'")
    # "~1" goes first: a "~" that "~0" yields must not take part in an escape.
    return [token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/")]
