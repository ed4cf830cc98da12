from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from ..allocate import Instalment
from ..allocate import InstalmentError
from ..allocate import Payment
from ..allocate import PaymentError
from ..allocate import allocate

__all__ = ["render_statement", "StatementError", "InstalmentError", "PaymentError", "Instalment", "Payment"]

_CENT = Decimal("0.01")
_LIMIT = Decimal("999999999999.99")


class StatementError(ValueError):
    """No statement can be made of the name, the fees or today."""


def _text(amount: Decimal | int) -> str:
    return f"{amount:,.2f}"


def render_statement(name: str, plan: list[Instalment], payments: list[Payment], fees: list[Decimal], today: date) -> str:
    if name.splitlines() != [name]:
        raise StatementError("the name is empty or holds a line break")
    if len(fees) != len(plan):
        raise StatementError("there are not as many fees as instalments")
    for fee in fees:
        if not fee.is_finite() or not 0 <= fee <= _LIMIT or fee != fee.quantize(_CENT):
            raise StatementError("a fee is no amount of money")
    if isinstance(today, datetime):
        raise StatementError("today is a datetime")
    records = allocate(plan, payments)["instalments"]
    cells = [[_text(record[column]) for column in ("amount", "paid", "open")] for record in records]
    widths = [max(len(cell) for cell in column) for column in zip(*cells)]
    lines = [f"Statement for {name}, {today.isoformat()}"]
    for record, row, fee in zip(records, cells, fees):
        columns = [record["due"].isoformat(), *(cell.rjust(width) for cell, width in zip(row, widths))]
        if fee > 0:
            columns.append("late")
        lines.append("  ".join(columns))
    owed = sum(fees) + sum(record["open"] for record in records if record["due"] <= today)
    lines.append(f"Owed today: {_text(owed)}")
    return "\n".join(lines)
