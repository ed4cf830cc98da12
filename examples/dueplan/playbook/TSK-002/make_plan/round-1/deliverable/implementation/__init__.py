from __future__ import annotations

from calendar import monthrange
from datetime import MAXYEAR, date, datetime
from decimal import Decimal
from typing import TypedDict

from ..next_business_day import CalendarError, next_business_day

__all__ = ["make_plan", "PlanError", "Instalment"]

_CENT = Decimal("0.01")
_LIMIT = Decimal("999999999999.99")


class PlanError(ValueError):
    """No plan can be made."""


class Instalment(TypedDict):
    """What is to be paid on a day."""

    due: date
    amount: Decimal


def _cents(total: Decimal) -> int:
    if not total.is_finite() or not 0 < total <= _LIMIT:
        raise PlanError("the total is not positive or is too large")
    if total != total.quantize(_CENT):
        raise PlanError("the total has more than two places")
    return int(total * 100)


def _due_day(first_due: date, months: int, holidays: list[date]) -> date:
    year, month = divmod(first_due.year * 12 + first_due.month - 1 + months, 12)
    if year > MAXYEAR:
        raise PlanError("the plan goes past the end of the calendar")
    last = monthrange(year, month + 1)[1]
    try:
        return next_business_day(date(year, month + 1, min(first_due.day, last)), holidays)
    except CalendarError as error:
        raise PlanError(f"no due day can be found: {error}") from None


def make_plan(total: Decimal, first_due: date, count: int, holidays: list[date]) -> list[Instalment]:
    cents = _cents(total)
    if isinstance(count, bool) or not 1 <= count <= 120:
        raise PlanError("the count is not from 1 to 120")
    if cents < count:
        raise PlanError("the total is less than one cent for each instalment")
    if isinstance(first_due, datetime):
        raise PlanError("the first due day is a datetime")
    each, left_over = divmod(cents, count)
    plan = []
    for number in range(count):
        amount = Decimal(each + 1 if number < left_over else each).scaleb(-2)
        plan.append(Instalment(due=_due_day(first_due, number, holidays), amount=amount))
    return plan
