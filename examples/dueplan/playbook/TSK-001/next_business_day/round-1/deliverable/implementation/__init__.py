from __future__ import annotations

from datetime import date, datetime, timedelta

__all__ = ["next_business_day", "CalendarError"]

_SATURDAY = 5


class CalendarError(ValueError):
    """No business day can be given."""


def next_business_day(day: date, holidays: list[date]) -> date:
    if any(isinstance(given, datetime) for given in [day, *holidays]):
        raise CalendarError("a datetime is no day")
    closed = set(holidays)
    while day.weekday() >= _SATURDAY or day in closed:
        if day == date.max:
            raise CalendarError("the calendar ends before a business day")
        day += timedelta(days=1)
    return day
