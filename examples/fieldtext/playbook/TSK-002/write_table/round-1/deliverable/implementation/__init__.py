from __future__ import annotations

__all__ = ["write_table", "RowError"]


class RowError(ValueError):
    """A row without fields cannot be written."""

    row: int

    def __init__(self, message: str, *, row: int) -> None:
        super().__init__(message)
        self.row = row


def _written(field: str, special: set[str]) -> str:
    if special.isdisjoint(field):
        return field
    return '"' + field.replace('"', '""') + '"'


def write_table(rows: list[list[str]], delimiter: str) -> str:
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError("the delimiter is not one character other than a quote, CR and LF")
    special = {delimiter, '"', "\r", "\n"}
    lines = []
    for number, row in enumerate(rows, 1):
        if not row:
            raise RowError(f"row {number} has no fields", row=number)
        lines.append(delimiter.join(_written(field, special) for field in row) + "\n")
    return "".join(lines)
