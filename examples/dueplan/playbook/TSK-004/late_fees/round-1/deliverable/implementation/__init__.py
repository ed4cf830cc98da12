from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import TypedDict

__all__ = ["late_fees", "FeeError", "Allocation", "AllocatedInstalment"]

_CENT = Decimal("0.01")
_LIMIT = Decimal("999999999999.99")
# A rate beyond these gives the same fees as they do, and its exact fraction may be too long to work with.
_LEAST_RATE = Decimal("1E-40")
_GREATEST_RATE = Decimal("1E+40")


class FeeError(ValueError):
    """No fees can be given."""


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


def _cents(value: Decimal) -> int:
    if not value.is_finite() or not 0 <= value <= _LIMIT or value != value.quantize(_CENT):
        raise FeeError("a record's amount or open is no amount of money")
    return int(value * 100)


def late_fees(allocated: Allocation, today: date, rate: Decimal, grace_days: int) -> list[Decimal]:
    if not rate.is_finite() or rate < 0:
        raise FeeError("the rate is negative or not finite")
    if isinstance(grace_days, bool) or grace_days < 0:
        raise FeeError("the days of grace are negative or no number")
    if isinstance(today, datetime):
        raise FeeError("today is a datetime")
    yearly = Fraction(max(_LEAST_RATE, min(rate, _GREATEST_RATE)))
    fees = []
    for record in allocated["instalments"]:
        amount = _cents(record["amount"])
        open_ = _cents(record["open"])
        if amount == 0 or open_ > amount:
            raise FeeError("a record's amount is zero, or more is open than it")
        if isinstance(record["due"], datetime):
            raise FeeError("a record is due at a datetime")
        days = (today - record["due"]).days
        fee = 0
        if days > grace_days:
            # Half up: the whole cents of the exact value and a half.
            fee = min(int(open_ * yearly * days / 365 + Fraction(1, 2)), amount // 10)
        fees.append(Decimal(fee).scaleb(-2))
    return fees
