from __future__ import annotations

import re

__all__ = ["read_table", "ReadError"]


class ReadError(ValueError):
    """The text is no table; line and column tell where."""

    line: int
    column: int

    def __init__(self, message: str, *, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def _where(text: str, place: int) -> tuple[int, int]:
    lines = text[:place].split("\n")
    return len(lines), len(lines[-1]) + 1


def _closing_quote(text: str, opening: int) -> int:
    place = text.find('"', opening + 1)
    while place >= 0 and text[place + 1 : place + 2] == '"':
        place = text.find('"', place + 2)
    if place < 0:
        line, column = _where(text, opening)
        raise ReadError(f"line {line}, column {column}: the quote is never closed", line=line, column=column)
    return place


def read_table(text: str, delimiter: str) -> list[list[str]]:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError("the delimiter is not one character other than a quote, CR and LF")
    mark = re.escape(delimiter)
    plain = re.compile(f'[^{mark}"\r\n]*(?:\r(?!\n)[^{mark}"\r\n]*)*')
    after = re.compile(f"{mark}|\r?\n|\\Z")
    rows = []
    place = 0
    while place < len(text):
        row = []
        while True:
            if text.startswith('"', place):
                closing = _closing_quote(text, place)
                row.append(text[place + 1 : closing].replace('""', '"'))
                place = closing + 1
                if not after.match(text, place):
                    line, column = _where(text, place)
                    raise ReadError(f"line {line}, column {column}: text after a closing quote", line=line, column=column)
            else:
                field = plain.match(text, place)
                assert field  # it matches an empty field too
                row.append(field.group())
                place = field.end()
                if text.startswith('"', place):
                    line, column = _where(text, place)
                    raise ReadError(f"line {line}, column {column}: a quote in a field that does not begin with one", line=line, column=column)
            if not text.startswith(delimiter, place):
                break
            place += 1
        rows.append(row)
        place += 2 if text.startswith("\r", place) else 1
    return rows
