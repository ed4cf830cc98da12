import re
from decimal import Decimal

from ..to_cents import to_cents

__all__ = ["parse_money"]

_AMOUNT = re.compile(r"(?:[$€£]|CHF)? *([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(\.[0-9]{1,2})?")


def parse_money(text: str) -> Decimal:
    """Read an amount of money that a person typed.

    Args:
        text:
            - digits, with commas between thousands or without, and up to two decimals after a point
            - an optional $, €, £ or CHF in front, and spaces around it
            - at most 1000000000.00

    Returns:
        amount:
            - has exactly two decimal places

    Raises:
        ValueError: text is not an amount of money
        ValueError: the amount is beyond 1000000000.00
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount of money, write it like 12.50: {text[:40]!r}")
    digits, decimals = match.groups(default="")
    cents = to_cents(Decimal(digits.replace(",", "") + decimals))
    return Decimal(cents).scaleb(-2)
