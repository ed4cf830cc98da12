from __future__ import annotations

import re
from bisect import bisect_left
from decimal import Decimal

__all__ = ["read_amount", "AmountError"]

_UNSIGNED = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
_AMOUNT = re.compile(rf"-?{_UNSIGNED}|\({_UNSIGNED}\)")
# With one of these each beginning of an amount becomes an amount.
_RESTS = ("", "0", "00", "000", ")", "0)", "00)", "000)")


class AmountError(ValueError):
    """The field is no amount; column tells the first character that does not fit."""

    column: int

    def __init__(self, message: str, *, column: int) -> None:
        super().__init__(message)
        self.column = column


def _begins_no_amount(text: str) -> bool:
    return not any(_AMOUNT.fullmatch(text + rest) for rest in _RESTS)


def read_amount(field: str) -> Decimal:
    if not _AMOUNT.fullmatch(field):
        lengths = range(1, len(field) + 1)
        column = 1 + bisect_left(lengths, True, key=lambda length: _begins_no_amount(field[:length]))
        raise AmountError(f"column {column} does not fit into an amount", column=column)
    amount = Decimal(field.strip("-()").replace(",", ""))
    if amount and field[0] in "-(":
        return amount.copy_negate()
    return amount
