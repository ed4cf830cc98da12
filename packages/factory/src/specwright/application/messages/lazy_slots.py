"""What roles are told of iterables, iterators and callables, where the contract has one (design: module-directory)."""

from collections.abc import Sequence

from ship_gate.contract.boundary.lazy_types import callable_type, is_iterable
from ship_gate.contract.contract import MicroModuleContract

_TAKEN = """What is declared `Iterable[...]` or `Iterator[...]` comes to the module as an iterator, whatever a test \
passes, an endless generator too: it has no length and is read once. Code counts the items that are taken, so that no \
test has to. Of a generator that a test counts, one item more than the bound is read, whatever the module takes."""

_YIELDED = """Before the call comes back, code takes one item more of such a result than its bound, so that nothing \
may depend on when an item is taken; it counts them, and no test has to. A test gets an iterator over them, and what \
iterating raises where it is reached."""

_CALLED = """A callable is called by place, with values of its declared types, while the call is open, and 10,000 \
times at most; tests pass plain functions that call nothing of the product, and count the calls. What it raises passes \
through, and a test may raise an error of a class of its own."""


def lazy_slots_of(contracts: Sequence[MicroModuleContract]) -> list[str]:
    """What follows contracts with an iterable, an iterator or a callable; nothing for others."""
    inputs = [slot.type for contract in contracts for slot in contract.inputs]
    outputs = [slot.type for contract in contracts for slot in contract.outputs]
    said = [
        *([_TAKEN] if any(map(is_iterable, inputs)) else []),
        *([_YIELDED] if any(map(is_iterable, outputs)) else []),
        *([_CALLED] if any(map(callable_type, inputs)) else []),
    ]
    return [" ".join(said)] if said else []
