"""Text of people and models inside generated markdown: it stays on its line and starts no block.

Names and descriptions come from people and models. A newline or a leading `## ` in one must not look like a
heading of a task file (design: ids) or of the spec a person approves (design: approval).
"""

import re
import unicodedata
from collections.abc import Iterable

_KEPT_FORMAT_CHARACTERS = "\u200c\u200d"  # joiners: Persian and Indic words and emoji need them
_BLOCK_START = re.compile(
    r"""
    (?: \#{1,6}(?=\s|$)                  # heading
    |   [-+*](?=\s|$)                    # list item
    |   (?:[-*_]\s*){3,}$                # thematic break
    |   =+$                              # underline of a heading
    |   [>|<]                            # quote, table, HTML
    |   `{3} | ~{3}                      # fence
    |   \[[^\]]*\]:                      # link definition
    )""",
    re.VERBOSE,
)
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BREAK = re.compile(r" *[^\S ]\s*")
"""A line break, tab or other white space that is no plain space, with the spaces around it."""
_BACKTICKS = re.compile(r"`+")


def printable(text: str) -> str:
    """A text on one line, without control, bidirectional and other invisible characters.

    Spaces stay as they are: in a criterion such as "returns 'a' for '  a '" they are the point.
    """
    line = _BREAK.sub(" ", text).strip()
    if line.isprintable():  # nearly always; looking at each character costs a hundred times more
        return line
    return "".join(char for char in line if _is_visible(char)).strip()


def inline(text: str) -> str:
    """A plain text that starts no markdown block, also at the start of a line or list item."""
    line = printable(text)
    if _BLOCK_START.match(line):
        return f"\\{line}"
    return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line


def bullets(texts: Iterable[str]) -> str:
    """A list of plain texts."""
    return "\n".join(f"- {inline(text)}" for text in texts)


def fenced(text: str, info: str = "", indent: str = "") -> str:
    """A text of many lines as a fenced block that nothing in it can close.

    Args:
        text: Shown as it is, apart from the indent.
        info: The language after the fence.
        indent: Put before every line; two spaces inside a list item.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    lines = [f"{fence}{info}", *text.splitlines(), fence]
    return "\n".join(f"{indent}{line}" if line else "" for line in lines)


def _is_visible(char: str) -> bool:
    # Cc controls, Cf bidirectional marks and other format characters, Cs lone surrogates
    return char in _KEPT_FORMAT_CHARACTERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs")
