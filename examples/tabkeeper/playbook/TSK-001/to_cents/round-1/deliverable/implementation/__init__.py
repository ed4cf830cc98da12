from decimal import Decimal

__all__ = ["to_cents"]

_CENT = Decimal("0.01")
_LIMIT = Decimal("1000000000.00")


def to_cents(amount: Decimal) -> int:
    """Turn an exact amount of money into whole cents.

    Args:
        amount:
            - a finite number
            - at most two decimal places
            - between -1000000000.00 and 1000000000.00

    Returns:
        cents:
            - equals amount times 100

    Raises:
        ValueError: amount is NaN or infinite
        ValueError: amount has more than two decimal places
        ValueError: amount is beyond 1000000000.00 in either direction
    """
    if not amount.is_finite():
        raise ValueError(f"amount must be a finite number, got {amount}")
    # Compared before any arithmetic: comparing is exact and cheap even for 1E+999999999.
    if amount > _LIMIT or amount < -_LIMIT:
        raise ValueError("amount is beyond 1000000000.00")
    whole = amount.quantize(_CENT)
    if whole != amount:
        raise ValueError("amount has more than two decimal places")
    return int(whole * 100)
