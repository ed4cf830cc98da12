"""How long a file of an agent may become: an edit that replaces all could grow it tenfold each time (DESIGN §1, rule 4)."""

__all__ = ["MAX_CHARACTERS", "edited_length"]

MAX_CHARACTERS = 4_000_000


def edited_length(text: str, old: str, new: str, *, replace_all: bool) -> int:
    """The characters of a text after an edit, at most."""
    times = (text.count(old) if old else 0) if replace_all else 1
    return len(text) + times * max(0, len(new) - len(old))
