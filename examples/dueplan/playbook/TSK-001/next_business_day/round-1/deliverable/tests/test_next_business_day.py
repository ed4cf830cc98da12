from datetime import date, datetime

import pytest

from modules.next_business_day import CalendarError, next_business_day


def test_a_holiday_and_the_weekend_and_holiday_after_it():
    assert next_business_day(date(2024, 3, 29), [date(2024, 4, 1), date(2024, 3, 29)]) == date(2024, 4, 2)


@pytest.mark.parametrize(
    "day, holidays",
    [
        (date(2024, 3, 1), []),
        (date(2024, 3, 4), [date(2024, 3, 5)]),
        (date(2024, 2, 29), [date(2024, 2, 28)]),
        (date(9999, 12, 31), []),
    ],
)
def test_business_day_stays(day, holidays):
    assert next_business_day(day, holidays) == day


@pytest.mark.parametrize(
    "day, holidays, business_day",
    [
        (date(2024, 3, 2), [], date(2024, 3, 4)),
        (date(2024, 3, 3), [], date(2024, 3, 4)),
        (date(2024, 3, 2), [date(2024, 3, 4)], date(2024, 3, 5)),
        (date(2024, 3, 6), [date(2024, 3, 6)], date(2024, 3, 7)),
        (date(2024, 12, 31), [date(2024, 12, 31), date(2025, 1, 1)], date(2025, 1, 2)),
        (date(1, 1, 6), [], date(1, 1, 8)),
    ],
)
def test_first_business_day_after(day, holidays, business_day):
    assert next_business_day(day, holidays) == business_day


@pytest.mark.parametrize(
    "holidays",
    [
        [date(2024, 3, 4), date(2024, 3, 5)],
        [date(2024, 3, 5), date(2024, 3, 4)],
        [date(2024, 3, 5), date(2024, 3, 4), date(2024, 3, 5)],
        [date(2024, 3, 2), date(2024, 3, 3), date(2024, 3, 4), date(2024, 3, 5)],
        [date(2024, 3, 1), date(2024, 3, 4), date(2024, 3, 5), date(2024, 3, 7)],
    ],
)
def test_order_and_other_holidays_change_nothing(holidays):
    assert next_business_day(date(2024, 3, 2), holidays) == date(2024, 3, 6)


@pytest.mark.parametrize(
    "day, holidays",
    [
        (date(9999, 12, 31), [date(9999, 12, 31)]),
        (date(9999, 12, 30), [date(9999, 12, 30), date(9999, 12, 31)]),
    ],
)
def test_end_of_the_calendar(day, holidays):
    with pytest.raises(CalendarError) as caught:
        next_business_day(day, holidays)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "day, holidays",
    [
        (datetime(2024, 3, 1, 12, 0), []),
        (date(2024, 3, 1), [date(2024, 3, 4), datetime(2024, 3, 5, 0, 0)]),
    ],
)
def test_datetime_is_refused(day, holidays):
    with pytest.raises(CalendarError) as caught:
        next_business_day(day, holidays)
    assert isinstance(caught.value, ValueError)
