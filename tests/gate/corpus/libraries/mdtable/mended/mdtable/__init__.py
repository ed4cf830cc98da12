"""Tables of Markdown."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_DELIMITER_CELL = re.compile(r":?-+:?")
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_MIN_WIDTH = 3


def _split_row(line: str) -> list[str]:
    """Split one line of a table into its cells.

    Args:
        line: The line, with or without outer pipes.

    Returns:
        The stripped cells, with escaped pipes resolved.
    """
    line = line.strip()
    if line.startswith("|"):
        line = line[1:]
    cells: list[str] = []
    current: list[str] = []
    closed = False
    index = 0
    while index < len(line):
        char = line[index]
        closed = False
        if char == "\\" and line[index + 1 : index + 2] == "|":
            current.append("|")
            index += 2
            continue
        if char == "|":
            cells.append("".join(current).strip())
            current = []
            closed = True
        else:
            current.append(char)
        index += 1
    if not closed:
        cells.append("".join(current).strip())
    return cells


def parse_table(text: str) -> list[list[str]]:
    r"""Parse a Markdown table.

    Outer pipes are optional and ``\|`` stands for a pipe within a cell. Short
    rows are filled with empty cells, long rows are cut to the length of the
    header. The table ends at the first blank line after it.

    Args:
        text: The table.

    Returns:
        The rows of cells, the header first, without the delimiter row.

    Raises:
        ValueError: If the second line is not a delimiter row or has another
            number of cells than the header.

    Examples:
        >>> parse_table("| a | b |\n|---|---|\n| 1 | 2 |")
        [['a', 'b'], ['1', '2']]
    """
    lines = text.strip().splitlines()
    if len(lines) < 2:
        raise ValueError("a table needs a header and a delimiter row")
    header = _split_row(lines[0])
    delimiter = _split_row(lines[1])
    if not all(_DELIMITER_CELL.fullmatch(cell) for cell in delimiter):
        raise ValueError(f"not a delimiter row: {lines[1]!r}")
    width = len(header)
    if len(delimiter) != width:
        raise ValueError(
            f"delimiter row has {len(delimiter)} cells, header has {width}"
        )
    rows = [header]
    for line in lines[2:]:
        if not line.strip():
            break
        cells = _split_row(line)[:width]
        cells.extend([""] * (width - len(cells)))
        rows.append(cells)
    return rows


def _escape(cell: str) -> str:
    """Make the text of a cell safe for a table.

    Args:
        cell: The text of the cell.

    Returns:
        The text with pipes escaped and line ends replaced by a blank.
    """
    return _LINE_END.sub(" ", cell).replace("|", "\\|")


def _pad(cell: str, width: int, align: str) -> str:
    """Pad a cell to a width.

    Args:
        cell: The escaped text of the cell.
        width: The width of the column.
        align: One of l, r, c.

    Returns:
        The padded text.
    """
    if align == "r":
        return cell.rjust(width)
    if align == "c":
        return cell.center(width)
    return cell.ljust(width)


def _rule(width: int, align: str) -> str:
    """Build the delimiter cell of a column.

    Args:
        width: The width of the column.
        align: One of l, r, c.

    Returns:
        The delimiter cell, exactly ``width`` characters long.
    """
    if align == "r":
        return "-" * (width - 1) + ":"
    if align == "c":
        return ":" + "-" * (width - 2) + ":"
    return "-" * width


def format_table(rows: list[list[str]], align: str = "") -> str:
    r"""Format rows as an aligned Markdown table.

    Args:
        rows: The rows of cells, the header first, all of the same length.
        align: One of ``l``, ``r``, ``c`` for each column; empty means that
            all columns are aligned left.

    Returns:
        The table with outer pipes and a final newline.

    Raises:
        ValueError: If there are no rows or no columns, the rows differ in
            length, or ``align`` is wrong.

    Examples:
        >>> print(format_table([["a", "b"], ["1", "22222"]], "lr"), end="")
        | a   |     b |
        | --- | ----: |
        | 1   | 22222 |
    """
    if not rows:
        raise ValueError("no rows")
    count = len(rows[0])
    if count == 0:
        raise ValueError("no columns")
    if any(len(row) != count for row in rows):
        raise ValueError("rows of different lengths")
    aligns = align or "l" * count
    if len(aligns) != count:
        raise ValueError(f"align has {len(aligns)} letters for {count} columns")
    if any(letter not in "lrc" for letter in aligns):
        raise ValueError(f"align must consist of l, r and c: {align!r}")

    escaped = [[_escape(cell) for cell in row] for row in rows]
    widths = [
        max(_MIN_WIDTH, max(len(row[index]) for row in escaped))
        for index in range(count)
    ]
    lines = [
        [_pad(cell, width, letter) for cell, width, letter in zip(row, widths, aligns)]
        for row in escaped
    ]
    lines.insert(1, [_rule(width, letter) for width, letter in zip(widths, aligns)])
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def _column_index(rows: list[list[str]], name: str) -> int:
    """Find a column by its name.

    Args:
        rows: The rows, the header first.
        name: The name in the header.

    Returns:
        The index of the column.

    Raises:
        KeyError: If there is no such column.
        ValueError: If the name occurs more than once, or a row is too short.
    """
    header = rows[0] if rows else []
    count = header.count(name)
    if count == 0:
        raise KeyError(name)
    if count > 1:
        raise ValueError(f"column {name!r} occurs {count} times")
    index = header.index(name)
    if any(len(row) <= index for row in rows):
        raise ValueError(f"a row has no column {name!r}")
    return index


def column(rows: list[list[str]], name: str) -> list[str]:
    """Return the cells below a header.

    Args:
        rows: The rows, the header first.
        name: The name of the column.

    Returns:
        The cells of the column without the header.

    Raises:
        KeyError: If there is no such column.
        ValueError: If the name occurs more than once, or a row is too short.

    Examples:
        >>> column([["a", "b"], ["1", "2"], ["3", "4"]], "b")
        ['2', '4']
    """
    index = _column_index(rows, name)
    return [row[index] for row in rows[1:]]


def _number(cell: str) -> Decimal | None:
    """Read a cell as a number.

    Args:
        cell: The text of the cell.

    Returns:
        The number, or None if the cell is no finite number.
    """
    try:
        value = Decimal(cell.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def sort_rows(
    rows: list[list[str]], name: str, numeric: bool = False
) -> list[list[str]]:
    """Sort the rows below the header by a column.

    The sort is stable and the rows given are not changed.

    Args:
        rows: The rows, the header first.
        name: The name of the column to sort by.
        numeric: Whether to sort by number. Cells that are no number come last
            in the order given.

    Returns:
        A new list of rows, the header first.

    Raises:
        KeyError: If there is no such column.
        ValueError: If the name occurs more than once, or a row is too short.

    Examples:
        >>> sort_rows([["n"], ["10"], ["9"]], "n", numeric=True)
        [['n'], ['9'], ['10']]
    """
    index = _column_index(rows, name)

    def numeric_key(row: list[str]) -> tuple[bool, Decimal]:
        value = _number(row[index])
        return (value is None, Decimal(0) if value is None else value)

    def text_key(row: list[str]) -> str:
        return row[index]

    body = [list(row) for row in rows[1:]]
    if numeric:
        body.sort(key=numeric_key)
    else:
        body.sort(key=text_key)
    return [list(rows[0]), *body]
