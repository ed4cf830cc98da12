"""Tells the invariants of one output apart: a test of the one shows nothing of the other (design: ship-gate, contracts).

A change of the output is noticed by a test of any of its invariants. Where a contract states several of one output, each
needs an assertion of its own, or a test that notices whatever is changed, as a comparison of the whole result does. An
assertion that holds several conditions counts as often.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ship_gate.inside.variants.values import WAYS
from ship_gate.source.files import ParsedFiles
from ship_gate.strength.claims import Claims
from ship_gate.strength.perturbations import Aspect, Perturbation

_ANY_NUMBER = 99
"""Conditions of an assertion by a function of the tests, which may ask for anything."""

Assertions = Mapping[tuple[str, int], tuple[int, int]]
"""The statements of tests by file and line: the line where each begins, and how many conditions it holds."""


def assertions_of(files: Mapping[str, bytes]) -> Assertions:
    """The statements of a candidate's tests; all of them can be parsed."""
    parsed = ParsedFiles.of(files)
    found: dict[tuple[str, int], tuple[int, int]] = {}
    for path in parsed.tests():
        tree = parsed.tree(path)
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assert, ast.Expr)):
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[(path.removeprefix("tests/"), line)] = node.lineno, _conditions(node, own)
    return found


def _conditions(statement: ast.stmt, own: set[str]) -> int:
    """How many conditions an assertion holds, at least one."""
    count = 1
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in own:
                return _ANY_NUMBER
            case ast.BoolOp(op=ast.And(), values=values):
                count += len(values) - 1
            case ast.Compare(left=left, comparators=others):
                parts = [
                    len(side.elts) for side in (left, *others) if isinstance(side, (ast.Tuple, ast.List))
                ]
                count += len(others) - 1 + max([1, *parts]) - 1
            case _:
                pass
    return count


class _Call(NamedTuple):
    """What was changed: a call of a test, and of what it returned one part or the whole."""

    test: str
    place: int
    part: int | None


class Invariants:
    """The invariants of outputs that have several, and what shows each of them.

    Args:
        claims: Who claims what.
        assertions: Of `assertions_of`.
    """

    def __init__(self, claims: Claims, assertions: Assertions) -> None:
        self._assertions = assertions
        groups: dict[str, list[str]] = {}
        for pointer in claims.due:
            if pointer.startswith("/outputs/"):
                groups.setdefault(pointer.rpartition("/")[0], []).append(pointer)
        self._groups = [group for group in groups.values() if len(group) > 1]
        self._several = {pointer for group in self._groups for pointer in group}
        self._slots: dict[str, dict[tuple[str, int, int], None]] = {pointer: {} for pointer in self._several}
        self._whole: set[str] = set()
        self._noticed: dict[_Call, set[str]] = {}

    def __contains__(self, pointer: str) -> bool:
        """Whether there is another invariant of the same output."""
        return pointer in self._several

    def tried(self, test: str, change: Perturbation, pointers: set[str], *, noticed: bool) -> None:
        """A change that a test noticed, or that changed nothing there; of these `pointers` it says something."""
        variation = change.reply.get("change")
        if change.aspect is not Aspect.VALUE or variation not in WAYS:
            return
        known = self._noticed.setdefault(_Call(test, change.call, change.part), set())
        known |= {variation, *(["seen"] if noticed else [])}
        if known.issuperset({*WAYS, "seen"}):
            self._whole |= pointers & self._several

    def asserted(self, pointers: set[str], file: str, line: int) -> None:
        """An assertion of a test that claims these invariants failed."""
        begin, conditions = self._assertions.get((file, line), (line, 1))
        for pointer in pointers & self._several:
            self._slots[pointer] |= dict.fromkeys((file, begin, number) for number in range(conditions))

    def unshown(self) -> Iterator[str]:
        """The invariants that have no assertion of their own, as far as is known."""
        for group in self._groups:
            holders: dict[tuple[str, int, int], str] = {}
            for pointer in group:
                if pointer not in self._whole and not self._assigned(pointer, holders, set()):
                    yield pointer

    def goals(self) -> set[str]:
        """All invariants of outputs of which one is not shown: who shows it may depend on who shows the others."""
        unshown = {*self.unshown()}
        return {pointer for group in self._groups if unshown & {*group} for pointer in group}

    def _assigned(
        self, pointer: str, holders: dict[tuple[str, int, int], str], visited: set[tuple[str, int, int]]
    ) -> bool:
        """Give an invariant an assertion of its own, also by giving another one to who has it (augmenting paths)."""
        for slot in self._slots[pointer]:
            if slot in visited:
                continue
            visited.add(slot)
            if slot not in holders or self._assigned(holders[slot], holders, visited):
                holders[slot] = pointer
                return True
        return False
