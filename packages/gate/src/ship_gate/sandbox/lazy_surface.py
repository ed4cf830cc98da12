"""What both processes of a call know of its iterables, iterators and callables, from the contract (design: ship-gate)."""

from typing import Any

from ship_gate.contract.contract import MicroModuleContract
from ship_gate.contract.rules import is_any_number, is_keyword_only
from ship_gate.contract.types import is_callable, stated_bound


def lazy_surface(contract: MicroModuleContract) -> dict[str, Any] | None:
    """What crosses lazily, as JSON; None if nothing does.

    Args:
        contract: Of a module.

    Returns:
        `parameters`, those that are given by place, in their order; `takes`, the most items of each iterable by its name;
        the types of the `callables` by name; `yields`, the most items of the result, or 0; `returns`,
        the type of such a result.
    """
    takes = {
        slot.name: bound
        for slot in contract.inputs
        if (bound := stated_bound(slot.type, slot.constraints, "takes"))
    }
    callables = {slot.name: slot.type for slot in contract.inputs if is_callable(slot.type)}
    yields, returns = 0, ""
    if len(contract.outputs) == 1:
        output = contract.outputs[0]
        yields = stated_bound(output.type, output.invariants, "yields")
        returns = output.type
    if not (takes or callables or yields):
        return None
    plain = [slot.name for slot in contract.inputs if not (is_keyword_only(slot) or is_any_number(slot))]
    return {"parameters": plain, "takes": takes, "callables": callables, "yields": yields, "returns": returns}
