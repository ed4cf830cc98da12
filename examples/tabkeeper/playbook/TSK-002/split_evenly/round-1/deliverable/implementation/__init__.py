from decimal import Decimal

from ..to_cents import to_cents

__all__ = ["split_evenly"]


def split_evenly(amount: Decimal, people: list[str]) -> dict[str, Decimal]:
    """Divide an amount evenly among people, to the cent.

    Args:
        amount:
            - in whole cents
            - between 0 and 1000000000.00
        people:
            - at least one name
            - no name is blank
            - no name comes twice

    Returns:
        shares:
            - the shares add up to amount
            - no two shares differ by more than 0.01
            - the names in the order given, and nobody gets more than somebody named before

    Raises:
        ValueError: amount is not a finite number in whole cents
        ValueError: amount is negative or beyond 1000000000.00
        ValueError: people is empty
        ValueError: a name is blank
        ValueError: a name comes twice
    """
    cents = to_cents(amount)
    if cents < 0:
        raise ValueError("amount is negative")
    if not people:
        raise ValueError("people is empty: somebody has to share the amount")
    if not all(name.strip() for name in people):
        raise ValueError("a name is blank")
    if len(set(people)) != len(people):
        raise ValueError("a name comes twice")
    share, odd = divmod(cents, len(people))
    shares = dict.fromkeys(people, Decimal(share).scaleb(-2))
    shares[people[0]] = Decimal(share + odd).scaleb(-2)
    return shares
