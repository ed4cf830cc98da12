"""Which obligations the tests show: each by a test that claims it and notices a change of what it is about (design:
contracts).

    happy path         what a call returned, or wrote, is read; where nothing is, that the call ends without an error
    output invariant   the same, of the output that the invariant is about
    error surface      an exception of that class came out of a call, and the test fails where a value comes instead; a
                       code came back, and is read
    effect             the files that a call wrote are read back; what POST, PUT and PATCH sent is read in the script's log;
                       of a CALL on a host anything of a call that asked it; of another effect anything of the call
    input constraint   what a call returned, raised or wrote is read

A change that a test notices is one that it fails by.

Where a contract states several invariants of one output, a test of the one shows nothing of the other: each needs an
assertion of its own, or a test that notices whatever is changed, as a comparison of the whole result does. An assertion that
holds several conditions counts as often.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ship_gate.contract.contract import (
    SENDING,
    Effect,
    EffectType,
    MicroModuleContract,
    SurfaceKind,
    is_covered,
    is_network,
    network_effects,
)
from ship_gate.contract.examples import same_error
from ship_gate.contract.obligations import CLAIMS_FILE, matching_tests, obligations
from ship_gate.contract.rules import is_vocabulary, own_statements
from ship_gate.contract.statements import Statement
from ship_gate.findings import Finding, FindingCode
from ship_gate.inside.variants.changes import WAYS
from ship_gate.source.files import ParsedFiles
from ship_gate.strength.perturbations import Aspect, Perturbation

_READS = {Aspect.VALUE, Aspect.FILES, Aspect.PRINTED, Aspect.SLEPT, Aspect.REQUESTS}


class Claims(NamedTuple):
    """What is due, and who claims to show it.

    Args:
        contract: The locked one.
        due: The obligations by their pointers.
        by_test: The pointers that each test claims; tests are named without parameters.
    """

    contract: MicroModuleContract
    due: Mapping[str, Statement]
    by_test: Mapping[str, frozenset[str]]

    def of(self, test: str) -> frozenset[str]:
        """The pointers that a test claims."""
        return self.by_test.get(test, frozenset())

    def shows(self, pointer: str, one: Perturbation) -> bool:
        """Whether a test that notices this change shows the obligation."""
        kind, place = _place(pointer)
        if one.answer.entry in self._classes_with_code and not self._is_about(kind, place, one.answer.entry):
            return False
        match kind:
            case "outputs":
                alone = len(self.contract.outputs) == 1 or is_vocabulary(self.contract)
                part = None if alone else place
                # None is a value of the declared type, or it is none
                nothing = {Aspect.KIND} if "None" in self.contract.outputs[place].type else set[Aspect]()
                return one.part == part and one.aspect in {Aspect.VALUE, *nothing}
            case "error_surfaces":
                return self._shows_error(place, one)
            case "effects":
                effect = self.contract.effects[place]
                if is_network(effect):
                    return _shows_request(effect, one)
                is_written = effect.type is EffectType.WRITE
                return one.aspect in ({Aspect.FILES} if is_written else {*_READS, Aspect.ERROR})
            case "inputs":
                return one.aspect in {*_READS, Aspect.ERROR, Aspect.RETURN}
            case _:
                return one.aspect in {*_READS, Aspect.RETURN}

    @property
    def _classes_with_code(self) -> set[str]:
        """The classes of which values are made by a call."""
        return {one.name for one in own_statements(self.contract).values() if one.has_code}

    def _is_about(self, kind: str, place: int, class_name: str) -> bool:
        """Whether a value that was made may show an obligation: of a function it shows what the class refuses."""
        if is_vocabulary(self.contract):
            return kind != "outputs" or self.contract.outputs[place].type == class_name
        return kind == "error_surfaces"

    def _shows_error(self, place: int, one: Perturbation) -> bool:
        surface = self.contract.error_surfaces[place]
        if surface.surface is SurfaceKind.EXCEPTION:
            return one.aspect is Aspect.ERROR and same_error(surface.name, one.answer.errors)
        parts = self._code_parts(surface.name) or [one.part]
        came = surface.name.encode() in one.answer.payload
        return came and one.aspect is Aspect.VALUE and one.part in parts

    def _code_parts(self, code: str) -> list[int]:
        """The parts of the result that carry a code by their types."""
        outputs = self.contract.outputs
        return [at for at, output in enumerate(outputs) if len(outputs) > 1 and code in output.type]

    def parts(self, pointers: Iterable[str]) -> list[int]:
        """The parts of the result that are to be changed by themselves for these obligations."""
        found: set[int] = set()
        is_tuple = len(self.contract.outputs) > 1 and not is_vocabulary(self.contract)
        for pointer in pointers if is_tuple else ():
            kind, place = _place(pointer)
            if kind == "outputs":
                found.add(place)
            elif kind == "error_surfaces":
                found.update(self._code_parts(self.contract.error_surfaces[place].name))
        return sorted(found)


def _place(pointer: str) -> tuple[str, int]:
    """The dimension that an obligation belongs to, and where in it; the happy path belongs to none."""
    kind, _, rest = pointer.removeprefix("/").partition("/")
    return kind, int(rest.partition("/")[0] or 0)


def _shows_request(effect: Effect, one: Perturbation) -> bool:
    own = [(effect.type.value, effect.target)]
    if not any(is_covered(own, method, *origin) for method, origin in one.answer.requests):
        return False
    return one.aspect in (
        {Aspect.REQUESTS} if effect.type in SENDING else {*_READS, Aspect.ERROR, Aspect.ASKED}
    )


def claims_of(
    contract: MicroModuleContract, claims: Mapping[str, tuple[str, ...]], named: Iterable[str]
) -> Claims:
    """Resolve what was read from `tests/obligations.json`, in which nothing is wrong."""
    tests = list(named)
    by_test = {test: frozenset[str]() for test in tests}
    for name, pointers in claims.items():
        for test in matching_tests(name, tests):
            by_test[test] |= frozenset(pointers)
    return Claims(contract, {one.pointer: one for one in obligations(contract)}, by_test)


def unshown_finding(claims: Claims, pointer: str, *, apart: bool = False) -> Finding:
    """Names the tests that claim an obligation and do not show it, and what to write.

    Args:
        claims: Who claims what.
        pointer: The obligation's.
        apart: Whether they show something, which shows another invariant of the same output already.
    """
    obligation = claims.due[pointer]
    tests = [name for name, pointers in claims.by_test.items() if pointer in pointers]
    subject = f"{', '.join(tests)} claim{'s' * (len(tests) == 1)} {obligation.kind}: {obligation.sentence}"
    message = (
        f"{subject} ({pointer or 'the empty pointer'}), but {_APART if apart else _missing(claims, pointer)}"
    )
    return Finding(FindingCode.OBLIGATIONS_UNSEEN, CLAIMS_FILE, message, pointer)


_APART = (
    "no assertion shows it beside the other invariants of that output; give it an assertion of its own, or compare the "
    "whole result with what is expected"
)


def _missing(claims: Claims, pointer: str) -> str:
    kind, place = _place(pointer)
    match kind:
        case "outputs":
            name, asks = claims.contract.outputs[place].name, bool(network_effects(claims.contract))
            also = ", beside what `web.requests` holds," if asks else ""
            return f"passes whatever {name} is; assert what it is{also} for inputs where the invariant could break"
        case "error_surfaces":
            surface = claims.contract.error_surfaces[place]
            if surface.surface is SurfaceKind.EXCEPTION:
                return (
                    f"passes although no {surface.name} comes out of the module; put the one call that raises it, and "
                    f"nothing else, below `with pytest.raises({surface.name})`: {surface.when}"
                )
            return f"passes whether {surface.name} comes back or not; assert it: {surface.when}"
        case "effects":
            effect, target = claims.contract.effects[place], claims.contract.effects[place].target
            if is_network(effect):
                return (
                    f"passes whatever a call asks of {target}; assert method, address and body of what `web.requests` "
                    "holds after the call"
                )
            return f"passes whatever the call leaves in {target}; read it back after the call and assert all of it"
        case "inputs":
            return (
                "passes whatever the call returns or raises; call it with a value at the limit and with one beyond it, "
                "and assert what comes of both"
            )
        case _:
            return "passes whatever the call returns; assert the result of a call that succeeds"


def unstable_finding(names: str, hint: str = "") -> Finding:
    """Tests passed once and not again.

    Args:
        names: Of them.
        hint: What else may be the reason, behind the advice.
    """
    message = (
        f"the tests passed once and not when they were run again on the same module ({names}); "
        f"make them independent of chance, time and one another{hint}"
    )
    return Finding(FindingCode.STRENGTH_UNSTABLE, "tests", message)


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
