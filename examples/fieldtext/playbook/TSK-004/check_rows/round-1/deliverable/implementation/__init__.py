from __future__ import annotations

import re
from datetime import date
from typing import Literal, TypedDict

from ..read_amount import AmountError, read_amount

__all__ = ["check_rows", "ColumnsError", "Column", "Finding"]

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


class ColumnsError(ValueError):
    """Two columns have the same name."""


class Column(TypedDict):
    """What is asked of a column."""

    name: str
    kind: Literal['text', 'amount', 'date']
    may_be_empty: bool


class Finding(TypedDict):
    """What is wrong, and where."""

    row: int
    column: int
    name: str
    problem: Literal['missing column', 'unknown column', 'duplicate column', 'too few fields', 'too many fields', 'empty field', 'not an amount', 'not a date']


def _is_amount(field: str) -> bool:
    try:
        read_amount(field)
    except AmountError:
        return False
    return True


def _is_date(field: str) -> bool:
    try:
        return bool(_DATE.fullmatch(field) and date.fromisoformat(field))
    except ValueError:
        return False


def _problem(column: Column, field: str) -> Literal['empty field', 'not an amount', 'not a date'] | None:
    if not field:
        return None if column["may_be_empty"] else "empty field"
    if column["kind"] == "amount" and not _is_amount(field):
        return "not an amount"
    if column["kind"] == "date" and not _is_date(field):
        return "not a date"
    return None


def check_rows(rows: list[list[str]], columns: list[Column]) -> list[Finding]:
    known = {column["name"]: column for column in columns}
    if len(known) != len(columns):
        raise ColumnsError("two columns have the same name")
    names = rows[0] if rows else []
    findings: list[Finding] = []
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        if name not in known:
            findings.append(Finding(row=1, column=place, name=name, problem="unknown column"))
        elif name in seen:
            findings.append(Finding(row=1, column=place, name=name, problem="duplicate column"))
        seen.add(name)
    for name in known:
        if name not in seen:
            findings.append(Finding(row=1, column=len(names) + 1, name=name, problem="missing column"))
    for number, row in enumerate(rows[1:], 2):
        for place, (name, field) in enumerate(zip(names, row), 1):
            problem = _problem(known[name], field) if name in known else None
            if problem:
                findings.append(Finding(row=number, column=place, name=name, problem=problem))
        if len(row) < len(names):
            findings.append(Finding(row=number, column=len(row) + 1, name="", problem="too few fields"))
        elif len(row) > len(names):
            findings.append(Finding(row=number, column=len(names) + 1, name="", problem="too many fields"))
    return findings
