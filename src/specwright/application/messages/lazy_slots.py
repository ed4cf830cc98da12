"""What the Proposer is told of iterables, iterators and callables, where the contract has one (design: module-directory)."""

from specwright.domain.contract.boundary.lazy_types import callable_type, is_iterable
from specwright.domain.contract.contract import MicroModuleContract

_TAKEN = """What is declared `Iterable[...]` or `Iterator[...]` comes as an iterator, whatever a test passes, an endless \
generator too: it has no length and is read once, and code counts the items that you take. \
Of a generator that a test counts, one item more than the bound is read, whatever you take."""

_YIELDED = """Before the call comes back, code takes one item more of your result than the bound, so nothing may depend on \
when an item is taken; a test gets an iterator over them, and what iterating raises where it is reached."""

_CALLED = """A callable is called by place, with values of its declared types, while the call is open, and 10,000 times at \
most; tests pass plain functions that call nothing of the product, and count the calls. What it raises passes through."""


def lazy_slots_of(contract: MicroModuleContract) -> list[str]:
    """What follows a contract with an iterable, an iterator or a callable; nothing for others."""
    said = [
        *([_TAKEN] if any(is_iterable(slot.type) for slot in contract.inputs) else []),
        *([_YIELDED] if any(is_iterable(slot.type) for slot in contract.outputs) else []),
        *([_CALLED] if any(callable_type(slot.type) for slot in contract.inputs) else []),
    ]
    return [" ".join(said)] if said else []
