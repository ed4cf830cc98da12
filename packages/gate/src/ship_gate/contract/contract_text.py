"""A contract as text for readers: a line for each statement, after the pointer that cites it (design: role-access)."""

from collections.abc import Iterator

from ship_gate import canonical_json
from ship_gate.contract.contract import DIMENSIONS, MicroModuleContract
from ship_gate.contract.statements import StatementKind, entries, statements


def contract_text(contract: MicroModuleContract) -> str:
    """What a contract says of its module; tags, budgets and other advice are left out."""
    return "\n".join(_lines(contract))


def text_for_callers(contract: MicroModuleContract) -> str:
    """What a contract says to those who call its module: callers see neither its scenarios nor its wiring (F§11.1)."""
    return "\n".join(one for one in _lines(contract) if not one.startswith(("/error_cases", "/dependencies")))


def _lines(contract: MicroModuleContract) -> list[str]:
    lines = (f"{one.pointer} {one.line}" for one in statements(contract))
    return [f"`{contract.name}` {contract.ref}", *lines]


_COMPARED = ("purpose", *DIMENSIONS, "error_cases", "dependencies")


def contract_changes(before: MicroModuleContract, after: MicroModuleContract) -> list[str]:
    """The differences of two contracts, for those who worked to the earlier one: a line for each statement that was
    removed, `-`, or added, `+`, by field; one for a field in another order.
    """
    lines: list[str] = []
    for field in _COMPARED:
        old, new = ([*_compared(contract, field)] for contract in (before, after))
        lines += [f"- {field}: {text}" for text in old if text not in new]
        lines += [f"+ {field}: {text}" for text in new if text not in old]
        if sorted(old) == sorted(new) and old != new:
            lines.append(f"~ {field}: the same statements in another order")
    return lines


def _compared(contract: MicroModuleContract, field: str) -> Iterator[str]:
    """The statements of a field; an error surface with what it says of its class is one."""
    for one, parts in entries(contract, field):
        if one.kind is StatementKind.MODES:
            yield canonical_json.canonical(contract.at(one.pointer)).decode()
        elif one.kind in (StatementKind.INPUT, StatementKind.OUTPUT):
            yield f"{one.name} is {one.text}"
            yield from (part.sentence for part in parts)
        else:
            yield "; ".join((one.sentence, *(f"{part.form} {part.text}" for part in parts)))
