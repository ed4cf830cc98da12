"""Amounts of an invoice, exact to the cent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

_CENT = Decimal("0.01")
_HUNDRED = Decimal(100)


@dataclass(frozen=True)
class Line:
    """One line of an invoice.

    Attributes:
        text: What is charged.
        quantity: How much of it.
        price: The price of one.
        tax: The tax rate in percent.
    """

    text: str
    quantity: Decimal
    price: Decimal
    tax: Decimal


def _round_cents(value: Decimal) -> Decimal:
    """Round half up to cents.

    Args:
        value: The value to round.

    Returns:
        The value with two decimals.
    """
    return value.quantize(_CENT, rounding=ROUND_HALF_UP)


def _check_line(line: Line) -> None:
    """Raise if a number of a line is not usable.

    Args:
        line: The line to check.

    Raises:
        ValueError: If quantity, price or tax is negative or not finite.
    """
    for name in ("quantity", "price", "tax"):
        value: Decimal = getattr(line, name)
        if not value.is_finite():
            raise ValueError(f"{name} is not finite: {value}")
        if value < 0:
            raise ValueError(f"{name} is negative: {value}")


def line_total(line: Line) -> Decimal:
    """Return quantity times price, rounded half up to cents.

    Args:
        line: The line of the invoice.

    Returns:
        The total of the line without tax.

    Raises:
        ValueError: If quantity, price or tax is negative or not finite.

    Examples:
        >>> line_total(Line("Tea", Decimal("3"), Decimal("1.25"), Decimal("7")))
        Decimal('3.75')
    """
    _check_line(line)
    return _round_cents(line.quantity * line.price)


def tax_by_rate(lines: list[Line]) -> dict[Decimal, Decimal]:
    """Return the tax for each rate.

    The tax is computed on the sum of the line totals of a rate and rounded
    half up to cents. Rates that are equal in value are one rate, in the form
    that comes first.

    Args:
        lines: The lines of the invoice.

    Returns:
        The tax for each rate, rates ascending.

    Raises:
        ValueError: If a number of a line is negative or not finite.

    Examples:
        >>> tax_by_rate([Line("Tea", Decimal(1), Decimal("10.00"), Decimal(7))])
        {Decimal('7'): Decimal('0.70')}
    """
    sums: dict[Decimal, Decimal] = {}
    for line in lines:
        amount = line_total(line)
        sums[line.tax] = sums.get(line.tax, Decimal(0)) + amount
    return {rate: _round_cents(sums[rate] * rate / _HUNDRED) for rate in sorted(sums)}


def grand_total(lines: list[Line]) -> Decimal:
    """Return the sum of the line totals and the taxes.

    Args:
        lines: The lines of the invoice.

    Returns:
        The amount to pay.

    Raises:
        ValueError: If a number of a line is negative or not finite.

    Examples:
        >>> grand_total([Line("Tea", Decimal(1), Decimal("10.00"), Decimal(7))])
        Decimal('10.70')
    """
    net = sum((line_total(line) for line in lines), Decimal("0.00"))
    taxes = sum(tax_by_rate(lines).values(), Decimal("0.00"))
    return net + taxes


def discount(lines: list[Line], percent: Decimal) -> list[Line]:
    """Reduce the prices of lines.

    Args:
        lines: The lines of the invoice; they are not changed.
        percent: The discount in percent, from 0 to 100.

    Returns:
        New lines with prices reduced and rounded half up to cents, other
        fields as they were.

    Raises:
        ValueError: If the percentage is outside 0 to 100, or a number of a
            line is negative or not finite.

    Examples:
        >>> tea = Line("Tea", Decimal(1), Decimal("9.99"), Decimal(7))
        >>> discount([tea], Decimal(10))[0].price
        Decimal('8.99')
    """
    if not percent.is_finite() or not 0 <= percent <= _HUNDRED:
        raise ValueError(f"percent must be from 0 to 100: {percent}")
    result: list[Line] = []
    for line in lines:
        _check_line(line)
        price = _round_cents(line.price * (_HUNDRED - percent) / _HUNDRED)
        result.append(replace(line, price=price))
    return result


def split_amount(amount: Decimal, weights: list[int]) -> list[Decimal]:
    """Split an amount in proportion to weights.

    The cents left over go to the largest remainders, ties to the earlier
    weight.

    Args:
        amount: The amount, with at most two decimals.
        weights: The weights, at least one of them not zero.

    Returns:
        One share for each weight; they sum to the amount.

    Raises:
        ValueError: If there are no weights, a weight is negative, all are
            zero, or the amount is negative, not finite or has more than two
            decimals.

    Examples:
        >>> split_amount(Decimal("1.00"), [1, 1, 1])
        [Decimal('0.34'), Decimal('0.33'), Decimal('0.33')]
    """
    if not weights:
        raise ValueError("no weights")
    if any(weight < 0 for weight in weights):
        raise ValueError("weights must not be negative")
    weight_sum = sum(weights)
    if weight_sum == 0:
        raise ValueError("all weights are zero")
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"amount must be finite and not negative: {amount}")
    scaled = amount * _HUNDRED
    if scaled != scaled.to_integral_value():
        raise ValueError(f"amount has more than two decimals: {amount}")
    cents = int(scaled)

    shares = [cents * weight // weight_sum for weight in weights]
    remainders = [cents * weight % weight_sum for weight in weights]
    left = cents - sum(shares)
    order = sorted(range(len(weights)), key=lambda index: -remainders[index])
    for index in order[:left]:
        shares[index] += 1
    return [Decimal(share).scaleb(-2) for share in shares]
