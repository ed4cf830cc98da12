from decimal import Decimal

from ..to_cents import to_cents

__all__ = ["render_report"]


def render_report(
    balances: dict[str, Decimal], transfers: list[tuple[str, str, Decimal]], title: str = 'Tab'
) -> str:
    """Render the balances and the transfers of a tab as plain text.

    Args:
        balances:
            - each name is printable and not blank
            - each in whole cents, between -1000000000.00 and 1000000000.00
        transfers:
            - the names of who pays and who receives are printable and not blank
            - each amount in whole cents, between 0.01 and 1000000000.00
        title:
            - printable and not blank

    Returns:
        report:
            - the title, underlined by as many equals signs as it has characters
            - a line for each person in the order given, the name on the left and the signed balance on the right of its column
            - a line for each transfer in the order given, or Nobody owes anything.
            - ends with exactly one newline

    Raises:
        ValueError: a name is blank or not printable
        ValueError: an amount is not a finite number in whole cents, or beyond 1000000000.00
        ValueError: a transfer is of less than 0.01
        ValueError: title is blank or not printable
    """
    if not _fits_on_a_line(title):
        raise ValueError("title is blank or not printable")
    names = [*balances, *(name for debtor, creditor, _ in transfers for name in (debtor, creditor))]
    if not all(_fits_on_a_line(name) for name in names):
        raise ValueError("a name is blank or not printable")
    if any(to_cents(amount) < 1 for _, _, amount in transfers):
        raise ValueError("a transfer is of less than 0.01")
    people = _columns({name: _money(balance, "+") for name, balance in balances.items()})
    payments = [f"{debtor} pays {creditor} {_money(amount)}" for debtor, creditor, amount in transfers]
    blocks = [[title, "=" * len(title)], people, payments or ["Nobody owes anything."]]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _fits_on_a_line(text: str) -> bool:
    return text.strip() != "" and text.isprintable()


def _money(amount: Decimal, sign: str = "") -> str:
    # Through cents, so that minus zero and 1E+3 are written like any other amount.
    return f"{Decimal(to_cents(amount)).scaleb(-2):{sign},.2f}"


def _columns(rows: dict[str, str]) -> list[str]:
    left = max(map(len, rows), default=0)
    right = max(map(len, rows.values()), default=0)
    return [f"{name:<{left}}  {money:>{right}}" for name, money in rows.items()]
