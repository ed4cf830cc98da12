from decimal import Decimal

from ..split_evenly import split_evenly
from ..to_cents import to_cents

__all__ = ["compute_balances"]

_LIMIT_CENTS = 100_000_000_000


def compute_balances(expenses: list[tuple[str, Decimal, list[str]]]) -> dict[str, Decimal]:
    """Work out from the expenses of a tab what each person gets back or owes.

    Args:
        expenses:
            - each is who paid, the amount, and the people who shared it
            - the name of who paid is not blank
            - each amount is zero or more, in whole cents
            - at least one person shared it, none is blank and none comes twice
            - the amounts add up to at most 1000000000.00

    Returns:
        balances:
            - for each person what was paid minus the even shares that are owed
            - the balances add up to zero
            - everybody who paid or shared, in the order of first appearance

    Raises:
        ValueError: the name of who paid is blank
        ValueError: an amount is negative or not a finite number in whole cents
        ValueError: an expense is shared by nobody, by a blank name or by a name twice
        ValueError: the amounts add up to more than 1000000000.00
    """
    total = 0
    balances: dict[str, int] = {}
    for payer, amount, people in expenses:
        if not payer.strip():
            raise ValueError("the name of who paid is blank")
        total += to_cents(amount)
        balances[payer] = balances.get(payer, 0) + to_cents(amount)
        for name, share in split_evenly(amount, people).items():
            balances[name] = balances.get(name, 0) - to_cents(share)
    if total > _LIMIT_CENTS:
        raise ValueError("the amounts add up to more than 1000000000.00")
    return {name: Decimal(cents).scaleb(-2) for name, cents in balances.items()}
