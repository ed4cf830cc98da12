"""Iterables, iterators and callables: slots whose values cross while a call is open, or in part (design: module-directory).

A parameter of type `Iterable[T]` or `Iterator[T]` says how many items the module takes of it at most, and a result of such a
type how many it yields at most, each in one constraint or invariant of these words:

    takes at most 100 items
    yields at most 100 items

The gate counts the items itself, so no test has to show it. A parameter of type `Callable[[A, B], R]` is called by the
module across the boundary.
"""

import ast
import re
from collections.abc import Collection, Iterator

from ship_gate.base.containers import CALLABLE, ITERATORS
from ship_gate.contract.boundary.limits import BoundaryLimit
from ship_gate.contract.boundary.types import type_problem
from ship_gate.contract.contract import MicroModuleContract
from ship_gate.syntax_tree import parse_expression

_BOUND = re.compile(r"(takes|yields) at most ([1-9][0-9]*) items?")


def is_item_bound(slot_type: str, text: str) -> bool:
    """Whether a constraint or invariant of a slot of this type states how many items there are at most."""
    return _BOUND.fullmatch(text) is not None and is_iterable(slot_type)


def is_iterable(slot_type: str) -> bool:
    """Whether a slot is an iterable or iterator."""
    found = _lazy_part(slot_type)
    return found is not None and _base(found) in ITERATORS


def is_lazy(slot_type: str) -> bool:
    """Whether a slot is an iterable, an iterator or a callable."""
    return _lazy_part(slot_type) is not None


def lazy_type_problems(contract: MicroModuleContract, many: Collection[str]) -> Iterator[str]:
    """What keeps the iterables, iterators and callables of a contract from being locked.

    Args:
        contract: Slots whose types do not cross are passed over.
        many: The inputs that stand for any number of arguments.
    """
    for index, slot in enumerate(contract.inputs):
        if not type_problem(slot.type, taken=True):
            alone = slot.name not in many
            yield from _slot_problems(f"inputs.{index}.constraints", slot.type, slot.constraints, alone=alone)
    for index, slot in enumerate(contract.outputs):
        if not type_problem(slot.type, returned=True):
            alone = len(contract.outputs) == 1
            yield from _slot_problems(f"outputs.{index}.invariants", slot.type, slot.invariants, alone=alone)


def _slot_problems(path: str, slot_type: str, texts: list[str], *, alone: bool) -> Iterator[str]:
    verb = "takes" if path.startswith("inputs") else "yields"
    if not is_lazy(slot_type):
        return
    if not alone:
        yield (
            f"{path.rpartition('.')[0]}.type: {slot_type!r} stands alone: it is the one output, or one plain "
            "parameter; write list[...] beside others"
        )
    if not is_iterable(slot_type):
        return
    most = BoundaryLimit.ITEMS.most
    found = [match for text in texts if (match := _BOUND.fullmatch(text))]
    stated = [int(match[2]) for match in found if match[1] == verb]
    if len(stated) != 1 or len(found) != 1:
        yield f"{path}: how many items it {verb} at most is not stated, once; add `{verb} at most 100 items`"
    elif stated[0] > most:
        yield f"{path}: {stated[0]} items are more than can be tried; state {most} at most"


def stated_bound(slot_type: str, texts: list[str], verb: str) -> int:
    """How many items a slot takes or yields at most; 0 if it is no iterable, or says nothing."""
    if not is_iterable(slot_type):
        return 0
    found = [match for text in texts if (match := _BOUND.fullmatch(text)) and match[1] == verb]
    return int(found[0][2]) if len(found) == 1 else 0


def is_callable(slot_type: str) -> bool:
    """Whether a slot is a function that the module calls."""
    found = _lazy_part(slot_type)
    return found is not None and _base(found) == CALLABLE


def _lazy_part(slot_type: str) -> ast.Subscript | None:
    """The iterable, iterator or callable of `Iterable[T]` and `Iterable[T] | None`."""
    try:
        node = parse_expression(slot_type).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node]
    found = [
        side for side in sides if isinstance(side, ast.Subscript) and _base(side) in {*ITERATORS, CALLABLE}
    ]
    return found[0] if found else None


def _base(node: ast.Subscript) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""
