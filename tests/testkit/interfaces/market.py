"""A product with a command, an HTTP API and an MCP server: prices, bills that are settled, lines that are kept."""

from ship_gate.contract.contract import Effect, EffectType, MicroModuleContract
from specwright.application.pages import interface_guide
from specwright.domain.interfaces.document import ProductHead, functions_of, interface_document
from specwright.domain.interfaces.records import Interfaces
from specwright.ports import ProductModule, ProductPackage
from testkit.interfaces.notebook import EXAMPLE, contract

__all__ = ["INTERFACES", "contracts", "market"]

_QUOTE = '''
from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

__all__ = ["NoSuchItem", "Price", "quote"]


class NoSuchItem(ValueError):
    """Named by the contract."""


@dataclass(frozen=True)
class Price:
    """Named by the contract."""

    item: str
    total: Decimal


def quote(item: str, count: int = 1, tags: list[str] | None = None) -> Price:
    """Say what some of an item cost."""
    if item == "boom":
        raise KeyError("/secret/place")
    if item == "end":
        raise SystemExit(0)
    if item == "gold":
        raise PermissionError("not for sale")
    if len(item) > 5:
        raise NoSuchItem(f"there is no {item}")
    return Price("-".join([item, *(tags or [])]), Decimal(count) * Decimal("1.10"))
'''

_SETTLE = '''
from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum

__all__ = ["Bill", "Mode", "settle"]


class Mode(Enum):
    """Named by the contract."""

    UP = 1
    DOWN = 2


@dataclass(frozen=True)
class Bill:
    """Named by the contract."""

    amount: Decimal
    due: date


def settle(bills: list[Bill], mode: Mode, wait: timedelta, today: date) -> dict[str, Decimal]:
    """Sum bills up by month."""
    if not bills:
        raise ValueError("there are no bills")
    found: dict[str, Decimal] = {}
    for bill in bills:
        due = bill.due + wait
        if due >= today:
            found[due.strftime("%Y-%m")] = found.get(due.strftime("%Y-%m"), Decimal(0)) + bill.amount
    return found if mode is Mode.UP else {month: -amount for month, amount in found.items()}
'''

_KEEP = '''
from __future__ import annotations

from pathlib import Path

__all__ = ["keep"]


def keep(line: str) -> None:
    """Keep a line."""
    with Path("kept.txt").open("a") as file:
        file.write(f"{line}\\n")
'''

INTERFACES = Interfaces.model_validate(
    {
        "command": {
            "name": "market",
            "calls": "quote",
            "parameters": [{"parameter": "count", "short": "n"}, {"parameter": "tags", "name": "tag"}],
        },
        "http": {
            "name": "market-http",
            "routes": [
                {"calls": "quote", "path": "/items/{item}", "errors": {"NoSuchItem": 404}},
                {"calls": "settle", "defaults": {"today": "today", "wait": "1d"}},
                {"calls": "keep", "method": "PUT", "path": "/kept"},
            ],
        },
        "mcp": {
            "name": "market-mcp",
            "tools": [
                {"calls": "quote", "name": "price"},
                {"calls": "settle", "defaults": {"today": "today"}},
                {"calls": "keep"},
            ],
        },
    }
)


def contracts() -> list[MicroModuleContract]:
    """Those of the product."""
    quote = contract(
        "quote",
        "Say what some of an item cost.",
        [
            ("item", "str", "is a name"),
            ("count", "int", "defaults to 1"),
            ("tags", "list[str] | None", "defaults to None"),
        ],
        ("price", "Price", "Price is a frozen dataclass: item: str, total: Decimal"),
        ("NoSuchItem", "there is no such item"),
    )
    more = quote.error_surfaces[0].model_copy(
        update={"name": "PermissionError", "when": "it is not for sale"}
    )
    settle = contract(
        "settle",
        "Sum bills up by month.",
        [
            ("bills", "list[Bill]", "Bill is a frozen dataclass: amount: Decimal, due: date"),
            ("mode", "Mode", "Mode is an Enum: UP=1, DOWN=2"),
            ("wait", "timedelta"),
            ("today", "date"),
        ],
        ("months", "dict[str, Decimal]"),
        ("ValueError", "there are no bills"),
    )
    keep = contract("keep", "Keep a line.", [("line", "str")], ("nothing", "None"))
    effect = Effect(type=EffectType.WRITE, target="kept.txt", description="appends the line")
    return [
        quote.model_copy(update={"error_surfaces": [*quote.error_surfaces, more]}),
        settle,
        keep.model_copy(update={"outputs": [], "effects": [effect]}),
    ]


def market(*, interfaces: Interfaces = INTERFACES, settle: str = _SETTLE) -> ProductPackage:
    """The product.

    Args:
        interfaces: As they were approved.
        settle: The source of the module `settle`.
    """
    sources = {"quote": _QUOTE, "settle": settle, "keep": _KEEP}
    modules = [
        ProductModule(one, {"__init__.py": sources[one.name].encode()}, EXAMPLE) for one in contracts()
    ]
    head = ProductHead("market", "market", "2.0.0", "Prices of a market.")
    return ProductPackage(
        "market",
        "market",
        "2.0.0",
        "Prices of a market.",
        tuple(modules),
        ("keep", "quote", "settle"),
        interface=interface_document(interfaces, contracts(), head),
        guide=interface_guide(interfaces, functions_of(interfaces, contracts()), "market"),
    )
