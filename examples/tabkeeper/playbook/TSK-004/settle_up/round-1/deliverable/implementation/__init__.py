from decimal import Decimal

from ..to_cents import to_cents

__all__ = ["settle_up"]


def settle_up(balances: dict[str, Decimal]) -> list[tuple[str, str, Decimal]]:
    """Find few transfers that bring every balance to zero.

    Args:
        balances:
            - no name is blank
            - each in whole cents, between -1000000000.00 and 1000000000.00
            - they add up to zero

    Returns:
        transfers:
            - who pays, who receives, and an amount of at least 0.01
            - after the transfers every balance is zero
            - none if everybody is even, else fewer transfers than people
            - the largest debt is paid to the largest credit first, ties in the order of the names

    Raises:
        ValueError: a name is blank
        ValueError: a balance is not a finite number in whole cents, or beyond 1000000000.00
        ValueError: the balances do not add up to zero
    """
    if not all(name.strip() for name in balances):
        raise ValueError("a name is blank")
    cents = {name: to_cents(balance) for name, balance in balances.items()}
    if sum(cents.values()) != 0:
        raise ValueError("the balances do not add up to zero")
    transfers: list[tuple[str, str, Decimal]] = []
    # Each transfer brings the smaller of the two to zero, and the last one brings both.
    while any(cents.values()):
        debtor = min(cents, key=lambda name: (cents[name], name))
        creditor = min(cents, key=lambda name: (-cents[name], name))
        paid = min(-cents[debtor], cents[creditor])
        cents[debtor] += paid
        cents[creditor] -= paid
        transfers.append((debtor, creditor, Decimal(paid).scaleb(-2)))
    return transfers
