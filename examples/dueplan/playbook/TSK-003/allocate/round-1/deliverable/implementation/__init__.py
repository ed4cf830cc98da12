from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TypedDict

__all__ = ["allocate", "InstalmentError", "PaymentError", "Instalment", "Payment", "Allocation", "AllocatedInstalment"]

_CENT = Decimal("0.01")
_LIMIT = Decimal("999999999999.99")


class InstalmentError(ValueError):
    """An instalment of the plan is at fault."""

    position: int

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.position = position


class PaymentError(ValueError):
    """A payment is at fault."""

    position: int

    def __init__(self, message: str, *, position: int) -> None:
        super().__init__(message)
        self.position = position


class Instalment(TypedDict):
    """What is to be paid on a day."""

    due: date
    amount: Decimal


class Payment(TypedDict):
    """What was paid on a day."""

    day: date
    amount: Decimal


class Allocation(TypedDict):
    """The plan with its payments."""

    instalments: list[AllocatedInstalment]
    overpaid: Decimal


class AllocatedInstalment(TypedDict):
    """An instalment with what is paid of it."""

    due: date
    amount: Decimal
    paid: Decimal
    open: Decimal
    paid_on: date | None


def _is_amount(value: Decimal) -> bool:
    return value.is_finite() and 0 < value <= _LIMIT and value == value.quantize(_CENT)


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def allocate(plan: list[Instalment], payments: list[Payment]) -> Allocation:
    for position, instalment in enumerate(plan):
        if not _is_amount(instalment["amount"]) or isinstance(instalment["due"], datetime):
            raise InstalmentError(f"instalment {position} has no valid amount or due day", position=position)
    for position, payment in enumerate(payments):
        if not _is_amount(payment["amount"]) or isinstance(payment["day"], datetime):
            raise PaymentError(f"payment {position} has no valid amount or day", position=position)
    amounts = [int(instalment["amount"] * 100) for instalment in plan]
    open_ = list(amounts)
    paid_on: list[date | None] = [None for _ in plan]
    # The positions that are still open, the one that is filled next at the end.
    waiting = sorted(range(len(plan)), key=lambda position: plan[position]["due"])[::-1]
    overpaid = 0
    for payment in sorted(payments, key=lambda payment: payment["day"]):
        left = int(payment["amount"] * 100)
        while left and waiting:
            position = waiting[-1]
            part = min(left, open_[position])
            left -= part
            open_[position] -= part
            if not open_[position]:
                paid_on[position] = payment["day"]
                waiting.pop()
        overpaid += left
    records = [
        AllocatedInstalment(
            due=instalment["due"],
            amount=_money(amount),
            paid=_money(amount - rest),
            open=_money(rest),
            paid_on=day,
        )
        for instalment, amount, rest, day in zip(plan, amounts, open_, paid_on)
    ]
    return Allocation(instalments=records, overpaid=_money(overpaid))
